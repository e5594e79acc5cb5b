"""The GPU of a Switch as an object: memory, channels, registers.

    gpu = GM20B()
    gpu.map(0x5_0000_0000, 0x10000)
    gpu.memory.write(0x5_0000_0000, words.tobytes())
    gpu.submit([0x5_0000_0000 | len(words) << 42])
    gpu.finish()
    gpu.registers(0xB197)[0x360]
    gpu.present(0x6_0000_0000, Surface(1280, 720)).image.save("screen.png")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.events import EventKind, EventLog
from pocketgpu.facts.choices import choose, departures
from pocketgpu.lanes import Engine as LanesEngine
from pocketgpu.lanes import late
from pocketgpu.maxwell.checkpoint import Checkpoint
from pocketgpu.maxwell.display.present import Picture, Surface
from pocketgpu.maxwell.display.scan_out import picture_of
from pocketgpu.maxwell.engines import ENGINE_CLASSES
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.dispatch import ask, code_table, defer
from pocketgpu.maxwell.host.layout import (
    CHANNEL_COUNT,
    CLASS_OF_FILE,
    COUNTERS,
    FILE_WORDS,
    FILES,
    INLINE_PLACES_SIZE,
    OTHER_FILE,
    WorkLayout,
    work_size,
)
from pocketgpu.maxwell.host.log import Log
from pocketgpu.maxwell.host.observer import USUAL, Observer, Order
from pocketgpu.maxwell.host.stats import ChannelStats
from pocketgpu.maxwell.host.stops import PARSE_CHOICES
from pocketgpu.maxwell.host.syncpoints import Syncpoints
from pocketgpu.maxwell.host.waits import SemaphoreWait, Wait
from pocketgpu.maxwell.memory.gpu_memory import Backing, GpuMemory
from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE
from pocketgpu.observer import Observed
from pocketgpu.wording import counted
from pocketgpu.workers import Workers

if TYPE_CHECKING:
    from pocketgpu.forced import ForcedWord
    from pocketgpu.maxwell.compute.grids import Grids, Read
    from pocketgpu.maxwell.engines.common.report import Counters
    from pocketgpu.maxwell.engines.common.state import State
    from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.graphics.draw.drawing import Drawing
    from pocketgpu.maxwell.memory.places import Offsets
    from pocketgpu.maxwell.sampling.store import Textures
    from pocketgpu.maxwell.sass.launch.launcher import Result

_parse = late("pocketgpu.maxwell.host.pushbuffer", "parse")

T = TypeVar("T")

MIB = 1 << 20
SCRATCH_SIZE = 64 * MIB
GRIDS_SIZE = 160 * MIB
"""For the threads of grids; not touched before the first grid."""
TEXTURES_SIZE = 256 * MIB
"""For copies of texels in the samplers' storage."""
DRAWING_SIZE = 256 * MIB
"""For vertices, shapes and programs of draws."""
MACRO_BUDGET = 1 << 28
"""Instructions that the macros of one submission may take."""


class Areas(NamedTuple):
    """Parts of the work area after those of channels: arena offset and bytes of each.

    scratch: free for the next kernel. inline_places: see `layout.inline_places`.
    """

    scratch: tuple[int, int]
    grids: tuple[int, int]
    textures: tuple[int, int]
    drawing: tuple[int, int]
    inline_places: tuple[int, int]

    @classmethod
    def after(cls, start: int, sizes: Sequence[int]) -> Areas:
        """Areas of these sizes, one after the other."""
        return cls(*zip(accumulate(sizes[:-1], initial=start), sizes, strict=True))


class GM20B(Observed[Observer]):
    """A Tegra X1's GPU: its channels and engines.

    threads: how many an engine may use; any number gives the same bytes. evaluator: "llvm" (machine code) or "numpy"
    (slow; the reference for the other). switches: named choices and their values (`pocketgpu switches` lists them); the
    others have their defaults.

    `submit` runs all channels until each is idle or waits. The caller may release a waiting channel by another
    submission, or by writing memory or `syncpoints`; the channel continues in the next `submit`, `run` or `finish`. If
    channels still wait in `finish`, that is a deadlock: an event names each of them and what it waits for, and the
    choice `channel.deadlock` says whether their work is dropped or the wait is skipped. `events` lists errors of the
    guest, `log` what was done, in order. `observed` adds an observer for a `with` block (host/observer.py).

    memory: of another machine, which is not used any more; see `under`.

    :raises UsageError: an argument, a choice or a choice's value is not valid.
    """

    def __init__(
        self, threads: int = 1, evaluator: str = "llvm", switches: Mapping[str, str] | None = None,
        memory: GpuMemory | None = None,
    ) -> None:  # fmt: skip
        if threads < 1:
            raise UsageError(f"threads must be at least 1, not {threads}")
        if evaluator not in ("llvm", "numpy"):
            raise UsageError(f"evaluator must be 'llvm' or 'numpy', not {evaluator!r}")
        try:
            self.choices: Mapping[str, str] = choose(switches)
        except ValueError as error:
            raise UsageError(str(error), hint="See: pocketgpu switches") from error
        self.threads = threads
        self.workers = Workers(threads)
        sizes = (SCRATCH_SIZE, GRIDS_SIZE, TEXTURES_SIZE, DRAWING_SIZE, INLINE_PLACES_SIZE)
        self.memory = memory or GpuMemory(work_size=work_size(64 + sum(sizes)))
        self.layout = WorkLayout(self.memory.work_offset)
        self.areas = Areas.after((self.layout.end + 63) & ~63, sizes)
        self.scratch = self.areas.scratch
        self.engine = LanesEngine(self.memory.arena, evaluator)
        self.events = EventLog()
        self.stats = ChannelStats()
        self.syncpoints = Syncpoints()
        self.engine_classes = ENGINE_CLASSES
        self.forced: tuple[ForcedWord, ...] = ()
        """Registers of the 3D class that hold other words than commands write; see `force`."""
        self.macro_budget = MACRO_BUDGET
        """Instructions that the macros of one submission may take; more of them are a hang."""
        self.ram_words = int(self.choices["mme.instruction_ram"])
        self.inline_places = 0
        """Arena offset where the parser stores the places of inline data (`layout.inline_places`); 0: it does not."""
        self.parse = self._parser()
        self._code_table = code_table(self.choices)
        self._power_on()

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self.channels), 'channel')}, {counted(len(self.events), 'event')}")

    def _power_on(self) -> None:
        """Set everything but memory to its initial state."""
        size = FILES * FILE_WORDS
        self.codes = self.memory.arena[self.layout.effects : self.layout.effects + size].reshape(FILES, FILE_WORDS)
        self.codes[:] = self._code_table
        self.channels: dict[int, Channel] = {}
        self.log = Log()
        self.interrupts: dict[str, int] = {}
        self._running: Channel | None = None
        self._submissions = 0
        self._spent = 0

    def reset(self) -> None:
        """Reset the GPU: no mappings, no channels, all counts zero."""
        self.memory.reset()
        self.__dict__.pop("drawing", None)  # its state refers to the old memory; grids and textures check memory
        self.events.drain()
        self.stats.reset()
        self.syncpoints.reset()
        self._power_on()

    def _parser(self) -> Callable[..., None]:
        """The parser of pushbuffers for the current observers."""
        choices = tuple(name for name, _ in departures(self.choices, *PARSE_CHOICES))
        return self.engine.get(
            _parse, start=self.memory.work_offset, ram_words=self.ram_words, choices=choices,
            inline_places=self.inline_places,
        )  # fmt: skip

    def under(self, switches: Mapping[str, str]) -> GM20B:
        """A machine with other choices that takes over this one's memory, and may `restore` its checkpoints. This one
        must not be used any more."""
        return GM20B(self.threads, self.engine.evaluator, switches, self.memory)

    def force(self, words: Sequence[ForcedWord]) -> None:
        """Have registers of the 3D class hold other words than commands write. To be called before there are channels.
        Draws then are made one by one."""
        self.forced = tuple(words)

    # -- observers --------------------------------------------------------------------------------------------------
    def _observers_changed(self) -> None:
        for one in self.observers:
            one.machine = self
        wanted = any(one.wants_inline for one in self.observers)
        if wanted != bool(self.inline_places):
            self.inline_places = self.areas.inline_places[0] if wanted else 0
            self.parse = self._parser()
        if self.has_drawn and self.drawing.quick.on == self.single_draws:
            self.drawing.quick.on = not self.single_draws

    @property
    def single_draws(self) -> bool:
        """Whether an observer has `wants_draws`, or registers are forced, so that kernels make no draws without
        Python."""
        return bool(self.forced) or any(one.wants_draws for one in self.observers)

    def leap(self, draws: int) -> None:
        """Let kernels make up to so many draws without Python, whatever observers want; then the channel stops as after
        any draw. 0: observers decide again."""
        if self.has_drawn:
            quick = self.drawing.quick
            quick.on, quick.most = (draws > 0 and not self.forced) or not self.single_draws, draws or quick.NO_LIMIT

    def writing(self, run: Callable[[], T]) -> T:
        """Run a function that writes memory, and notify observers of the pages that it wrote."""
        if not self.observers:
            return run()
        watching = [one for one in self.observers if one.wants_pages]
        if not watching:
            return run()
        before = self.memory.page_versions.copy()
        found = run()
        pages = np.flatnonzero(before != self.memory.page_versions)
        for one in watching:
            one.memory_written(pages)
        return found

    # -- memory -----------------------------------------------------------------------------------------------------
    def map(
        self, gpu_va: int, size: int, backing: Backing | None = None, offset: int = 0, kind: str | int = "pitch"
    ) -> GpuMapping:
        """Map memory to a GPU virtual address; see `GpuMemory.map`."""
        return self.memory.map(gpu_va, size, backing, offset, kind)

    # -- channels ---------------------------------------------------------------------------------------------------
    def channel(self, id: int = 0) -> Channel:
        """The channel of that number, made at first use.

        :raises UsageError: there are too many.
        """
        found = self.channels.get(id)
        if found is None:
            if len(self.channels) >= CHANNEL_COUNT:
                raise UsageError(f"more than {CHANNEL_COUNT} channels")
            found = self.channels[id] = Channel(self, id, len(self.channels))
        return found

    def renew(self, id: int) -> None:
        """Put a new channel in the place of one that a program has closed: its registers are those at power-on. Counts
        go on."""
        old = self.channels.get(id)
        if old is None:
            return
        counters, calls = old.counters.copy(), old.macro_counts.copy()
        made = self.channels[id] = Channel(self, id, old.index)
        made.counters[:], made.macro_counts[:] = counters, calls

    def ask(self, file: int, words: Iterable[int]) -> None:
        """Make writes of these words of a register file return to Python."""
        ask(self.codes, file, words)

    def defer(self, file: int, words: Iterable[int], code: str = "deferred") -> None:
        """Mark effects of these words of a register file as deferred; see `dispatch.defer`."""
        defer(self.codes, file, words, code)

    def hurry(self, on: bool) -> None:
        """Set whether effects of the current channel that are usually deferred run at once."""
        if self._running is not None:
            self._running.hurry(on)

    def submit(self, entries: Sequence[int] | NDArray[np.uint64], channel: int = 0) -> int:
        """Submit GPFIFO entries (64 bits each) to a channel and run what can run; returns the submission's number.

        Nothing in what a guest submits raises: see `events`.

        :raises UsageError: too many channels, or something that is not a list of 64-bit numbers.
        """
        try:
            words = np.array([int(entry) for entry in entries], np.uint64)
        except (OverflowError, TypeError, ValueError) as error:
            raise UsageError("GPFIFO entries are numbers of 64 bits") from error
        target = self.channel(channel)
        number = self._submissions
        self._submissions += 1
        self.stats.submissions += 1
        target.submit(number, words)
        for one in self.observers:
            one.submitted(target, number, words)
        self.run()
        return number

    def run(self) -> None:
        """Run the channels in turn, until each is idle or waits for something that has not happened."""
        self.memory.look()  # kernels read versions themselves
        going = True
        while going:
            going = False
            for channel in tuple(self.channels.values()):
                self._running = channel
                going |= channel.run()
        self._running = None
        self._count()

    def finish(self) -> None:
        """Wait until all work is done. A channel whose wait nothing can release is reported as a hang."""
        self.run()
        while True:
            stuck = [channel for channel in self.channels.values() if channel.waiting is not None]
            if not stuck:
                return
            self._report_deadlock(stuck)
            if self.choices["channel.deadlock"] == "stop":
                for channel in stuck:
                    channel.drop()
            else:
                stuck[0].waiting = None
            self.run()

    def _report_deadlock(self, stuck: Sequence[Channel]) -> None:
        sides = []
        for channel in stuck:
            assert channel.waiting is not None
            what = channel.waiting.text(self.memory, self.syncpoints)
            sides.append(f"channel {channel.id} waits at {channel.waiting.place} for {what}")
        rest = len(self.channels) - len(stuck)
        others = f"the other {rest} have nothing left to do" if rest else "there is no other channel"
        first = stuck[0].waiting
        assert first is not None
        self.events.report("hang", "channel.deadlock", "; ".join([*sides, others]), first.place)

    # -- interface for engines --------------------------------------------------------------------------------------
    @property
    def running(self) -> Channel | None:
        """The current channel; None between submissions."""
        return self._running

    @property
    def place(self) -> str:
        """The current place: "s3/e2+17" is submission 3, entry 2 of it, word 17 of the entry."""
        return self._running.place if self._running is not None else ""

    def report(self, kind: EventKind, id: str, message: str) -> None:
        """Report an event at the current place."""
        self.events.report(kind, id, message, self.place)

    def timestamp(self) -> int:
        """Ticks of 614.4 MHz, computed from the work done: the same in every run."""
        return self._spent + sum(channel.work for channel in self.channels.values())

    def spend(self, ticks: int) -> None:
        """Add time for work that no counter of methods contains."""
        self._spent += max(ticks, 0)

    def interrupt(self, name: str) -> None:
        """Raise an interrupt; `interrupts` counts them by name."""
        self.interrupts[name] = self.interrupts.get(name, 0) + 1

    def take_interrupts(self) -> dict[str, int]:
        """How often each interrupt was raised since the last call."""
        taken, self.interrupts = self.interrupts, {}
        return taken

    def wait(self, wait: Wait) -> None:
        """Make the current channel wait; then it continues with its next word."""
        if self._running is not None:
            self._running.waiting = wait

    def wait_semaphore(self, address: int, payload: int, operation: str) -> None:
        """Make the current channel wait for a word of memory: "equal", "geq", "and"."""
        if self.memory.unmapped(address, 4):
            self.report("fault", "channel.semaphore_unmapped", f"no memory for a semaphore at {address:#x}")
            return
        self.wait(SemaphoreWait(address, payload, operation, self.place))

    @property
    def inline_words(self) -> Offsets | None:
        """Arena offsets of the words of the inline data that has just arrived; None if no observer wants them."""
        return self._running.inline_words if self._running is not None else None

    @property
    def constant_words(self) -> int:
        """Words that channels have written into constant buffers so far."""
        return sum([channel.constant_words for channel in self.channels.values()])

    @cached_property
    def textures(self) -> Textures:
        """The textures of shaders by handle. Before shaders run, its `pools` must be set."""
        from pocketgpu.maxwell.sampling.store import Textures

        return Textures(self.memory, self.engine, self.areas.textures, self.choices, self)

    @cached_property
    def grids(self) -> Grids:
        """Runs the grids of compute launches."""
        from pocketgpu.maxwell.compute.grids import Grids

        return Grids(self.memory, self.engine, self.events, self.areas.grids, self.threads, self.textures)

    @property
    def has_drawn(self) -> bool:
        """Whether any draw was shaded, so that `drawing` exists; making it takes a while."""
        return "drawing" in self.__dict__

    @cached_property
    def drawing(self) -> Drawing:
        """Runs draws."""
        from pocketgpu.maxwell.graphics.draw.drawing import Drawing

        drawing = Drawing(self, self.areas.drawing, self.textures)
        drawing.quick.on = not self.single_draws
        return drawing

    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Shade a draw whose state is in the live registers."""
        if not self.observers:
            self._shade(draw, state, counters)
            return
        run = partial(self.writing, partial(self._shade, draw, state, counters))
        for one in reversed(self.observers):
            run = partial(one.draw, draw, run)
        run()

    def _shade(self, draw: Draw, state: State, counters: Counters) -> None:
        started = perf_counter()
        self.drawing.draw(draw, state, counters)
        self.stats.add_draw(perf_counter() - started)

    def launch(self, launch: Launch, state: State, read: Read) -> Result:
        """Run the grid of a launch. state: registers of the class; read: returns bytes of memory, and reports unmapped
        ones.

        :raises UsageError: there is no program, or a size that this GPU does not have.
        """

        def run(observers: Sequence[Observer], order: Order) -> Result:
            if observers:
                return observers[0].launch(launch, lambda order=order: run(observers[1:], order))
            return self.writing(partial(self.grids.run, launch, state, read, order))

        return run(self.observers, USUAL)

    def go_on(self, counters: Counters) -> None:
        """Make the rest of a draw that a kernel has begun."""
        started = perf_counter()
        self.drawing.go_on(self.place, counters)
        self.stats.add_draw(perf_counter() - started)

    def take_drawn(self, count: int, counters: Counters) -> tuple[NDArray[np.uint32], tuple[NDArray[np.uint32], ...]]:
        """The log of draws that kernels made, see `EngineHost`."""
        return self.drawing.quick.take(count, counters)

    # -- checkpoints ------------------------------------------------------------------------------------------------
    def checkpoint(self) -> Checkpoint:
        """The machine's current state, between two methods: after a submission, or in `Observer.stopped`."""
        kept = Checkpoint(
            self.memory.snapshot(), tuple((one, one.save()) for one in self.channels.values()), self.syncpoints.save(),
            dict(self.interrupts), self._submissions, self._spent,
        )  # fmt: skip
        for channel in self.channels.values():
            channel.open_version()  # later writes have stamps that are newer than the snapshot
        return kept

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore a checkpoint of this machine, or of one whose memory it took over. The log is empty then; events and
        statistics stay as they are.

        :raises UsageError: the checkpoint is of another machine.
        """
        self.memory.restore(checkpoint.memory)
        self.channels = {}
        for channel, kept in checkpoint.channels:
            own = channel if channel.machine is self else Channel(self, channel.id, channel.index)
            self.channels[own.id] = own
            own.restore(kept)
        self.syncpoints.restore(checkpoint.syncpoints)
        self.interrupts = dict(checkpoint.interrupts)
        self._submissions, self._spent = checkpoint.submissions, checkpoint.spent
        self.log.clear()

    # -- pictures -----------------------------------------------------------------------------------------------------
    def present(self, gpu_va: int, surface: Surface) -> Picture:
        """Finish all work and show a surface: its picture, as `image` and as `array`.

        Unmapped bytes are black, with an event.

        :raises UsageError: the surface leaves the 40-bit address space.
        """
        self.finish()
        if gpu_va < 0 or gpu_va + surface.size > ADDRESS_SPACE:
            raise UsageError(f"no surface of {surface.size} bytes at {gpu_va:#x} in a 40-bit address space")
        missed = sum(length for offset, length in self.memory.spans(gpu_va, surface.size) if offset is None)
        if missed:
            message = f"{missed} of the {surface.size} bytes of the surface at {gpu_va:#x} are not mapped"
            self.events.report("fault", "present.unmapped", message, f"p{self.stats.presents}")
        self.stats.presents += 1
        picture = Picture(picture_of(self.memory, self.engine, gpu_va, surface, surface.size))
        for one in self.observers:
            one.presented(gpu_va, surface, picture)
        return picture

    # -- searching --------------------------------------------------------------------------------------------------
    def registers(self, class_id: int, channel: int = 0) -> NDArray[np.uint32]:
        """The live registers of a class on a channel: 0x1000 words, word N of the class at index N.

        :raises UsageError: there is no such class.
        """
        classes = CLASS_OF_FILE[:OTHER_FILE]
        if class_id not in classes:
            known = ", ".join(f"{number:#06x}" for number in classes)
            raise UsageError(f"there is no class {class_id:#x}", hint=f"There are: {known}.")
        return self.channel(channel).files[classes.index(class_id)]

    def _count(self) -> None:
        """Update the statistics."""
        counters = [channel.counters.tolist() for channel in self.channels.values()]
        if not counters:
            return
        totals = counters[0] if len(counters) == 1 else [sum(counts) for counts in zip(*counters, strict=True)]
        longest = COUNTERS.index("longest_macro")
        totals[longest] = max(counts[longest] for counts in counters)
        calls = [channel.macro_counts for channel in self.channels.values()]
        self.stats.take(totals, calls[0] if len(calls) == 1 else np.sum(calls, axis=0))


__all__ = ["GM20B"]


def __dir__() -> list[str]:
    return [*__all__]
