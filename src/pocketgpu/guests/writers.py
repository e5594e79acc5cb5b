"""Who fills memory: the functions of a program that store to watched ranges, with their callers.

    watch = Writers(app.console.kernel, physical=[(0x20001000, 64)])
    app.frames(3)
    watch.last().trace[0].place     # draw+0x1c (main.c:42)

Watching a range costs nothing elsewhere. A run that has gone by cannot be watched any more, but a second one gives the
same bytes: `App.again` makes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.memory import Area
from pocketgpu.guests.kernel.report import Step
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

MOST: Final = 4096
"""Stores that are kept; of more, the last ones."""


@dataclass(frozen=True, slots=True)
class Written:
    """Stores of one function, one after the other. address: of the last one, as the program sees it. count: how many.
    step: of the kernel, when the last one was made. trace: the function, its caller and so on."""

    address: int
    count: int
    step: int
    thread: int
    trace: tuple[Step, ...]

    def __str__(self) -> str:
        return " < ".join(str(one) for one in self.trace) or f"code at an unknown place, address {self.address:#010x}"


class Writers:
    """Watches ranges of a program that is about to run.

    physical: addresses and sizes as the GPU has them. named: names of areas that are watched whole.
    """

    def __init__(
        self, kernel: Kernel, physical: Sequence[tuple[int, int]] = (), named: Sequence[str] = ()
    ) -> None:
        self._kernel, self._physical, self._named = kernel, tuple(physical), frozenset(named)
        self._ends: list[Callable[[], None]] = []
        self.written: deque[Written] = deque(maxlen=MOST)
        self._here: tuple[int, int] | None = None
        self._traces: dict[int, tuple[Step, ...]] = {}
        for area in kernel.space:
            self.mapped(area)
        kernel.space.followers.append(self)

    def __repr__(self) -> str:
        return f"<Writers: {counted(len(self.written), 'function')}>"

    def stop(self) -> None:
        """Watch no longer."""
        for one in self._ends:
            one()
        self._ends.clear()

    # -- a follower of the address space ----------------------------------------------------------------------------
    def mapped(self, area: Area) -> None:
        """An area of the program is new."""
        ranges = [(area.base, area.end)] if area.name in self._named else []
        if area.physical is not None:
            for address, size in self._physical:
                low = max(address, area.physical)
                high = min(address + size, area.physical + area.size)
                if low < high:
                    ranges.append((area.base + low - area.physical, area.base + high - area.physical))
        for low, high in ranges:
            self._ends.append(self._kernel.processor.watch(low, high - low, self._stored))

    def unmapped(self, base: int, size: int) -> None:
        """An area is gone; nothing is stored there."""

    def _stored(self, address: int) -> None:
        kernel = self._kernel
        thread = kernel.current
        registers = None if thread is None else kernel.processor.registers(thread)
        if thread is None or registers is None:
            return
        # An instruction has the same callers while the stack stays where it is, up to the next call of the system.
        here = (registers["sp"], kernel.steps)
        if self._here != here:
            self._here = here
            self._traces.clear()
        trace = self._traces.get(registers.pc)
        if trace is None:
            trace = kernel.tracer.trace(registers, in_call=False) if kernel.tracer is not None else ()
            self._traces[registers.pc] = trace
        before = self.written[-1] if self.written else None
        count = before.count + 1 if before is not None and before.trace is trace else 1
        if count > 1:
            self.written.pop()
        self.written.append(Written(address, count, kernel.steps, thread.number, trace))

    def last(self, before: int | None = None) -> Written | None:
        """The last stores, or the last before a step of the kernel; None if there are none."""
        return next((one for one in reversed(self.written) if before is None or one.step < before), None)
