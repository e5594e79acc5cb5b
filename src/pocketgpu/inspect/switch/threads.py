"""What one thread of a launch does, instruction by instruction.

The launch is replayed in three parts: the blocks before the thread's, that block, and those behind it. The block in the
middle is run by NumPy first and listened to; then memory is brought back, the machine's own code runs the same block,
and both must have written the same pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.switch.trace import Instruction, Tracer
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.inspect.switch.watched_warp import WatchedWarp, watched_warp
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.observer import Observer, Order, RunGrid
from pocketgpu.maxwell.sass.launch.launcher import Code, Launcher, Result
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH

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


class _OneThread(Observer):
    """Listens to one block of one launch, for the sake of a thread of it. order: launches before it in the replay."""

    def __init__(self, watch: Watch, found: ThreadWhy, block: Three, thread: Three, order: int) -> None:
        self._watch, self._found, self._block, self._thread, self._order = watch, found, block, thread, order

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """The launch, with the block in the middle watched."""
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
            total.faults += part.faults
            total.hung |= part.hung
        return total

    def _page(self, page: int) -> bytes:
        return self._watch.bytes(page << PAGE_SHIFT, PAGE_SIZE).tobytes()

    def _listen(self, launch: Launch, run: RunGrid, number: int) -> None:
        """Run a block by NumPy."""
        warp, lane = divmod(_number(self._thread, launch.block), LANES)
        watch = self._watch
        launcher = Launcher(self.machine.memory, watch.engine, self.machine.events, watch.rest, 1, watch.textures)
        record = watch.words(launcher.record, LAUNCH.size // 4)
        tracer: Tracer | None = None
        mine = False

        def watched(code: Code, interpreter: int) -> int:
            data, start, indirect = code.key
            stride = int(record[LAUNCH.WARP_STRIDE // 4])
            static = {"code": data, "start": start, "indirect": indirect, "stride": stride, "count": False}
            return watch.engine.handle(watched_warp, **static)

        def hear(name: str, value: Any) -> None:
            nonlocal tracer, mine
            if not name.startswith(("sass.", "texture.")):
                return
            if name == "sass.warp":
                assert isinstance(value, WatchedWarp)
                if mine and tracer is not None:
                    tracer.close()
                mine = int(value.place.warp.raw) == warp
                if mine and tracer is None:
                    assert launch.code is not None
                    constants = int(record[LAUNCH.CONSTANTS // 4])
                    arena = self.machine.memory.arena
                    tracer = Tracer(arena, value.flow.steps, launch.code.data, constants, lane)
            if mine and tracer is not None:
                tracer.hear(name, value)

        launcher.watch = watched
        with watch.listening(hear):
            run(Order(number, number + 1, launcher=launcher))
        if tracer is not None:
            tracer.close()
            self._found.instructions, self._found.steps = tracer.instructions, tracer.total


def _number(place: Three, size: Three) -> int:
    """The number of a block in a grid, or of a thread in a block."""
    return (place[2] * size[1] + place[1]) * size[0] + place[0]


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
    player.go(player.at(start))
    player.play_to(player.at(tick), _OneThread(watch, found, block, thread, tick - 1 - start))
    return found
