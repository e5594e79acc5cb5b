"""What one thread of a launch does, instruction by instruction.

The launch is replayed in three parts: the blocks before the thread's, that block, and those behind it. The block in the
middle is run by NumPy first and listened to; then memory is brought back, the machine's own code runs the same block,
and both must have written the same pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.errors import UsageError
from pocketgpu.inspect.address import Address
from pocketgpu.inspect.event import Event
from pocketgpu.inspect.switch.trace import Instruction, Tracer
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.lanes import Value
from pocketgpu.maxwell.compute.grids import Grids, Read
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.gm20b import DRAWING_SIZE, GRIDS_SIZE, TEXTURES_SIZE
from pocketgpu.maxwell.sass.launch.launcher import Launcher, Result
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH
from pocketgpu.maxwell.sass.warp.specialise import run_warp
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

Three = tuple[int, int, int]


@dataclass
class ThreadWhy:
    """What a thread did. instructions: those of its warp, with the registers of its lane; steps: how many there were,
    those that are not kept included. proved: whether NumPy's block and the machine's wrote the same bytes, which are
    `pages` pages of memory."""

    address: Address
    event: Event
    program: int
    instructions: list[Instruction] = field(default_factory=list)
    steps: int = 0
    pages: int = 0
    proved: bool = False

    @property
    def conclusion(self) -> list[str]:
        """At most three lines."""
        own = sum(one.executed for one in self.instructions)
        kept = f" (the first {len(self.instructions)} are kept)" if self.steps > len(self.instructions) else ""
        end = "the block of NumPy and that of the machine wrote the same bytes"
        return [
            f"ran {own} of the {self.steps} instructions of its warp{kept}, program {self.program:#x}  {self.address}",
            f"{self.event.title}; its block wrote to {self.pages} pages of memory  {self.event.address}",
            f"proved: {end}" if self.proved else f"NOT proved: it is not so that {end}",
        ]

    def text(self) -> str:
        """The conclusion, then all instructions."""
        return "\n".join([*self.conclusion, "", *map(str, self.instructions)])

    def to_json(self) -> dict[str, Any]:
        """Plain data; words and addresses as hexadecimal strings."""
        return {
            "address": str(self.address), "event": str(self.event.address), "program": f"{self.program:#x}",
            "conclusion": self.conclusion, "steps": self.steps, "pages": self.pages, "proved": self.proved,
            "instructions": [one.to_json() for one in self.instructions],
        }  # fmt: skip

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


class _WatchedTextures:
    """The machine's textures, with kernels of the watched engine."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def kernel(self, number: int) -> int:
        return self._watch.textures.kernel(number, self._watch.engine)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watch.textures, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_watch":
            object.__setattr__(self, name, value)
        else:
            setattr(self._watch.textures, name, value)


class _WatchedLauncher(Launcher):
    """Runs one block of a grid on the watched engine."""

    def __init__(self, watch: Watch) -> None:
        machine = watch.machine
        end = sum(machine.scratch) + GRIDS_SIZE + TEXTURES_SIZE + DRAWING_SIZE
        textures: Any = _WatchedTextures(watch)
        self.relay = watch.relay
        super().__init__(
            machine.memory, watch.engine, machine.events, (watch.end, end - watch.end), 1, textures
        )  # fmt: skip
        self.block = 0

    def _pieces(self, blocks: int) -> Iterator[tuple[int, int]]:  # type: ignore[override]
        yield self.block, self.block + 1

    def _function(self, shape: Any, tier: str, count: bool) -> Callable[[], tuple[int, int]]:
        data, start, indirect = shape.code.key
        static = {"code": data, "start": start, "indirect": indirect, "stride": shape.layout.warp_stride}
        handle = self.engine.handle(run_warp, **static, count=count, observer=self.relay)
        return lambda: (handle, 0)


class _OneWarp:
    """Looks on at one warp of a block, for a tracer that is made when the warp first runs."""

    def __init__(self, warp: int, make: Callable[[], Tracer]) -> None:
        self._warp, self._make, self._mine = warp, make, False
        self.tracer: Tracer | None = None

    def begins(self, warp: VariableMachine) -> None:
        if self._mine and self.tracer is not None:
            self.tracer.close()
        self._mine = int(warp.place.warp.raw) == self._warp
        if self._mine:
            self.tracer = self.tracer or self._make()
            self.tracer.begins(warp)

    def comes_to(self, step: Step, active: Value) -> None:
        if self._mine and self.tracer is not None:
            self.tracer.comes_to(step, active)

    def holds_for(self, mask: Value) -> None:
        if self._mine and self.tracer is not None:
            self.tracer.holds_for(mask)

    def hear(self, name: str, value: Any) -> None:
        """A value that a kernel names."""
        if self._mine and self.tracer is not None:
            self.tracer.hear(name, value)


class _WatchedGrids(Grids):
    """Stands in for a machine's grids during one launch."""

    def __init__(self, watch: Watch, real: Grids, found: ThreadWhy, block: Three, thread: Three, order: int) -> None:
        self._watch, self._real, self._found = watch, real, found
        self._block, self._thread, self._order = block, thread, order
        self.programs, self.limit, self.budget, self.tier = real.programs, real.limit, real.budget, real.tier
        self.backwards = real.backwards
        self.launcher = self._own = _WatchedLauncher(watch)

    def run(self, launch: Launch, state: State, read: Read) -> Result:
        """The launch, with the block in the middle watched."""
        self._order -= 1
        if self._order >= 0:
            return self._real.run(launch, state, read)
        width, height, depth = launch.grid
        number = (self._block[2] * height + self._block[1]) * width + self._block[0]
        total = self._part(launch, state, read, 0, number)
        memory = self._watch.machine.memory
        before = memory.snapshot()
        self._listen(launch, state, read, number)
        ours = {page: self._page(page) for page in memory._changed_since(before)}
        memory.restore(before)
        again = memory.snapshot()
        steps = self._part(launch, state, read, number, number + 1)
        theirs = {page: self._page(page) for page in {*ours, *memory._changed_since(again)}}
        self._found.pages = len(memory._changed_since(again))
        self._found.proved = all(data == (ours.get(page) or self._kept(before, page)) for page, data in theirs.items())
        rest = self._part(launch, state, read, number + 1, width * height * depth)
        for one in (steps, rest):
            total.steps += one.steps
            total.faults += one.faults
            total.hung |= one.hung
        return total

    def _part(self, launch: Launch, state: State, read: Read, first: int, last: int) -> Result:
        """Some blocks, by the machine's own code."""
        if first >= last:
            return Result()
        launcher: Any = self._real.launcher
        launcher._pieces = lambda blocks: iter([(first, last)])
        try:
            return self._real.run(launch, state, read)
        finally:
            del launcher._pieces

    def _page(self, page: int) -> bytes:
        return self._watch.bytes(page << PAGE_SHIFT, PAGE_SIZE).tobytes()

    @staticmethod
    def _kept(snapshot: Any, page: int) -> bytes:
        kept: bytes = snapshot.pages.get(page, bytes(PAGE_SIZE))
        return kept

    def _listen(self, launch: Launch, state: State, read: Read, number: int) -> None:
        width, height, _ = launch.block
        thread = (self._thread[2] * height + self._thread[1]) * width + self._thread[0]
        warp, lane = divmod(thread, LANES)
        record = self._watch.words(self.launcher.record, LAUNCH.size // 4)
        arena = self._watch.machine.memory.arena

        def tracer_of() -> Tracer:
            assert launch.code is not None
            return Tracer(arena, launch.code.data, int(record[LAUNCH.CONSTANTS // 4]), lane)

        looks_on = _OneWarp(warp, tracer_of)
        self._own.block = number
        with self._watch.listening(looks_on.hear, looks_on):
            super().run(launch, state, read)
        tracer = looks_on.tracer
        if tracer is not None:
            tracer.close()
            self._found.instructions, self._found.steps = tracer.instructions, tracer.total


def check_thread(launch: Launch, address: Address) -> tuple[Three, Three]:
    """Block and thread that an address names; what it does not say is 0.

    :raises UsageError: the launch has no such block or thread.
    """
    block, thread = address.block or (0, 0, 0), address.thread or (0, 0, 0)
    for name, wanted, size in (("block", block, launch.grid), ("thread", thread, launch.block)):
        if any(n >= limit for n, limit in zip(wanted, size, strict=True)):
            sizes = "x".join(map(str, size))
            text = ",".join(map(str, wanted))
            raise UsageError(f"there is no {name} {text}", location=str(address), hint=f"There are {sizes}.")
    return block, thread


def first_of_row(inspection: SwitchInspection, launch: Launch, tick: int) -> int:
    """How many ticks are over before the first of the launches that come together with the one that `tick` is:
    those that follow each other without a stop between them."""
    traces, start = inspection.recorder.traces, tick - 1
    while start and isinstance(traces[start - 1].what, Launch):
        if traces[start - 1].record.place != launch.place:
            break
        start -= 1
    return start


def thread_why(inspection: SwitchInspection, watch: Watch, address: Address) -> ThreadWhy:
    """What a thread of a launch did.

    :raises UsageError: the address names no launch, or no block or thread of it.
    """
    tick = inspection.tick_of(address.place)
    recorder = inspection.recorder
    trace = recorder.traces[tick - 1]
    launch = trace.what
    if not isinstance(launch, Launch):
        raise UsageError("this event launches no threads", location=str(address))
    block, thread = check_thread(launch, address)
    found = ThreadWhy(address, trace.event, launch.program)
    player = inspection.player
    start = first_of_row(inspection, launch, tick)
    player.go(start)
    machine = player.machine
    real = machine.grids
    stand_in = _WatchedGrids(watch, real, found, block, thread, tick - 1 - start)
    machine.__dict__["grids"] = stand_in
    try:
        player.replay_to(tick)
    except BaseException:
        player.spoilt = True
        raise
    finally:
        machine.__dict__["grids"] = real
    return found
