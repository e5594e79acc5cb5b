"""What one thread of a launch does, instruction by instruction.

The launch is replayed in three parts: the blocks before the thread's block, that block, and those after it. NumPy runs
the thread's block first, and its values are noted. Then memory is restored, the machine's own code runs the same block,
and both must have written the same pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.inspect.switch.lane_trace import Instruction, LaneTracer
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.lanes import Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.host.observer import Observer, Order, RunGrid
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher, Result
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH
from pocketgpu.maxwell.sass.warp.row import run_warp
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

Three = tuple[int, int, int]


@dataclass(repr=False)
class ThreadWhy(Answer):
    """What a thread did. instructions: those of its warp, with the registers of its lane; steps: how many there were,
    including those that are not kept. proved: whether NumPy's block and the machine's wrote the same bytes. pages: how
    many pages of memory they wrote."""

    schema: ClassVar[str] = "pocketgpu.thread/1"

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
        same = "NumPy's block and the machine's wrote"
        return [
            f"ran {own} of the {counted(self.steps, 'instruction')} of its warp{kept}, program {self.program:#x}  "
            f"{self.address}",
            f"{self.event.title}; its block wrote to {counted(self.pages, 'page')} of memory  {self.event.address}",
            f"proved: {same} the same bytes" if self.proved else f"NOT proved: {same} different bytes",
        ]

    @property
    def because(self) -> str:
        """What the thread did, in a line."""
        return self.conclusion[0]

    @property
    def programs(self) -> list[Steppable]:
        return [Steppable(f"program {self.program:#x}", self.address)]

    def details(self) -> Iterator[str]:
        """All instructions."""
        yield from map(str, self.instructions)

    def to_json(self) -> dict[str, Any]:
        return self.head() | {
            "event": str(self.event.address), "program": f"{self.program:#x}",
            "steps": self.steps, "pages": self.pages, "proved": self.proved,
            "instructions": [one.to_json() for one in self.instructions],
        }  # fmt: skip


class _OneWarp:
    """Observes one warp of a block, and passes it to a tracer that is made when the warp first runs."""

    def __init__(self, warp: int, make: Callable[[], LaneTracer]) -> None:
        self._warp, self._make, self._mine = warp, make, False
        self.tracer: LaneTracer | None = None

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

    def note(self, name: str, value: Any) -> None:
        """A value that a kernel names."""
        if self._mine and self.tracer is not None:
            self.tracer.note(name, value)


class _OneThread(Observer):
    """Observes one block of one launch, for one of its threads. order: how many launches the replay has before it."""

    def __init__(self, watch: Watch, found: ThreadWhy, block: Three, thread: Three, order: int) -> None:
        self._watch, self._found, self._block, self._thread, self._order = watch, found, block, thread, order

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """Run the launch, and watch the thread's block."""
        self._order -= 1
        if self._order != -1:
            return run()
        number = _number(self._block, launch.grid)
        total = run(Order(0, number))
        memory = self.machine.memory
        before = memory.snapshot()
        self._listen(launch, run, number)
        ours = {page: self._page(page) for page in memory.changed_since(before)}
        memory.restore(before)
        again = memory.snapshot()
        one = run(Order(number, number + 1))
        changed = memory.changed_since(again)
        theirs = {page: self._page(page) for page in {*ours, *changed}}
        self._found.pages = len(changed)
        self._found.proved = all(data == (ours.get(page) or before.page(page)) for page, data in theirs.items())
        rest = run(Order(number + 1))
        for part in (one, rest):
            total.steps += part.steps
            total.fault_count += part.fault_count
            total.faults += part.faults
            total.hung |= part.hung
        return total

    def _page(self, page: int) -> bytes:
        return self._watch.bytes(page << PAGE_SHIFT, PAGE_SIZE).tobytes()

    def _listen(self, launch: Launch, run: RunGrid, number: int) -> None:
        """Run a block by NumPy."""
        warp, lane = divmod(_number(self._thread, launch.block), LANES)
        watch, machine = self._watch, self.machine
        launcher = Launcher(machine.memory, watch.engine, machine.events, watch.rest, 1, watch.textures)
        record = watch.words(launcher.record, LAUNCH.size // 4)

        def watched(code: Code, interpreter: int) -> int:
            data, start, indirect = code.key
            stride = int(record[LAUNCH.WARP_STRIDE // 4])
            static = {"code": data, "start": start, "indirect": indirect, "stride": stride, "count": False}
            return watch.engine.handle(run_warp, **static, observer=watch.relay)

        def tracer_of() -> LaneTracer:
            assert launch.code is not None
            return LaneTracer(machine.memory.arena, launch.code.data, int(record[LAUNCH.CONSTANTS // 4]), lane)

        looks_on = _OneWarp(warp, tracer_of)
        launcher.watch = watched
        with watch.listening(looks_on.note, looks_on):
            run(Order(number, number + 1, launcher=launcher))
        tracer = looks_on.tracer
        if tracer is not None:
            tracer.close()
            self._found.instructions, self._found.steps = tracer.instructions, tracer.total


def _number(place: Three, size: Three) -> int:
    """The number of a block in a grid, or of a thread in a block."""
    return (place[2] * size[1] + place[1]) * size[0] + place[0]


def check_thread(launch: Launch, address: Address) -> tuple[Three, Three]:
    """Block and thread that an address names; a missing part is 0.

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
    """How many ticks come before the first launch of the group that the launch `tick` belongs to: launches that follow
    each other without a stop between them."""
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
    player.go(player.at(start))
    player.play_to(player.at(tick), _OneThread(watch, found, block, thread, tick - 1 - start))
    return found
