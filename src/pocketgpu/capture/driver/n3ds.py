"""Replaying captures of a 3DS.

The machine is used through a few bulk calls, because the time between a frame's first event and its marker is what is
measured and promised.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver.base import Driver, Measure, Played, Player, ProgramView, named_ranges
from pocketgpu.capture.driver.checkpoints import BUDGET, Position
from pocketgpu.capture.formats.n3ds_trace import GxRun, LoadRun, N3DSTrace, NarrowWrite, Step, WriteRun
from pocketgpu.errors import GuestMemoryError
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE
from pocketgpu.interruption import look
from pocketgpu.pica.core.observer import Observer, Run
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pictures import Screen
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture.driver.gsp_program import GspProgram

_COUNTS = ("draws", "triangles", "fragments")
_NEVER = sys.maxsize
_WORD = 0xFFFFFFFF


class N3DSDriver(Driver[N3DS]):
    """A capture of a 3DS, and the machine that replays it."""

    screens = ("top", "bottom", "top-right")
    nothing_shown = "in these frames no display controller points at an image in memory"
    measure = Measure(
        ("loads", "list", "vertex", "raster", "fill", "transfer"), "fragments", "mpixel_per_second", "Mpixel/s"
    )

    def __init__(self, trace: N3DSTrace, machine: N3DS) -> None:
        self.trace = trace
        super().__init__(trace, machine)

    @staticmethod
    def make_machine(
        trace: N3DSTrace, threads: int = 1, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        tier: str = "auto", *, timed: bool = False, new_model: bool = False,
    ) -> N3DS:  # fmt: skip
        fcram = FCRAM_NEW_SIZE if trace.needs_new_model else FCRAM.size
        return N3DS(
            fcram=fcram, threads=threads, evaluator=evaluator, switches=choices, tier=tier,
            timing="emulated" if timed else "instant", model="new" if new_model else None,
        )  # fmt: skip

    @staticmethod
    def memory_hint(machine: N3DS) -> str:
        regions = ((region.name, region.base, region.end) for region, _ in machine.memory.regions)
        return f"Stay inside one region: {named_ranges(regions)}."

    def _begin(self) -> None:
        trace, machine = self.trace, self.machine
        machine.load_initial(**vars(trace.initial))
        if trace.tables:
            machine.load_tables(trace.tables)
        if trace.virt_to_phys:
            from pocketgpu.pica.gsp.address_map import AddressMap  # with the rest of gsp, which other traces do not use

            machine.gsp.virt_to_phys = AddressMap(trace.virt_to_phys)

    # -- frames -------------------------------------------------------------------------------------------------------
    def play_frame(self) -> Played:
        runs, stats = self.trace.runs(self.frame), self.machine.stats
        stats.reset()
        start = perf_counter()
        self.do(runs)
        self._end_frame()
        milliseconds = 1000.0 * (perf_counter() - start)
        return Played(milliseconds, {name: int(getattr(stats, name)) for name in _COUNTS}, stats.seconds)

    def steps(self) -> Iterator[int]:
        rest = self.frame >= self.frame_count
        if rest and not self.trace.has_rest:
            return
        for run in self.trace.runs(self.frame):
            self.do((run,))
            yield run.element
        if rest:
            self.machine.finish()
        else:
            self._end_frame()

    def play_as_program(self, registers: Sequence[int] = ()) -> ProgramView:
        from pocketgpu.capture.driver.gsp_program import GspProgram  # replays of records do without

        program = GspProgram(self.machine)
        while self.frame < self.frame_count:
            self._submit(program)
            program.wait()
            self._end_frame()
            if program.stopped:
                self.frame = self.frame_count
        pictures = self.shown(self.frame_count - 1) if self.frame_count else {}
        if self.trace.has_rest and not program.stopped:
            self._submit(program)
        read = {physical: self.machine.read_register(physical) for physical in registers}
        program.wait()
        refused = tuple(f"{code & _WORD:08X}" for code in program.refused)
        return ProgramView(pictures, dict(program.interrupts), read, tuple(program.hung), refused)

    def _submit(self, program: GspProgram) -> None:
        """The steps of the current frame, as a program has them done."""
        for run in self.trace.runs(self.frame):
            look()
            if isinstance(run, WriteRun | GxRun):
                program.submit(run, f"f{self.frame}/e{run.element}")
            else:
                program.wait()
                if program.stopped:
                    return
                if isinstance(run, NarrowWrite):
                    program.begin(program.started_by(run.address, run.value))
                self.do((run,))

    def do(self, runs: Sequence[Step]) -> None:
        """Play steps, as if they came next in the current frame."""
        machine = self.machine
        for run in runs:
            look()
            if isinstance(run, WriteRun):
                machine.write_registers(run.addresses, run.values)
            elif isinstance(run, LoadRun):
                self._load(run)
            elif isinstance(run, GxRun):
                # A command of a log did run, even if gsp would reject its alignment today.
                machine.gsp.gx(run.words, recorded=True, at=f"f{self.frame}/e{run.element}")
            else:
                self._write_narrow(run)

    def _end_frame(self) -> None:
        self.machine.step_vblank()
        self.machine.finish()
        self.frame += 1

    def _load(self, run: LoadRun) -> None:
        """Store the bytes of a load; bytes where there is no memory are an event."""
        if not run.data:
            return
        try:
            self.machine.load_memory(run.address, run.data)
        except GuestMemoryError:
            left = len(run.data) - self._load_parts(run)
            if left:
                self.machine.events.report(
                    "warning",
                    "capture.unmapped-load",
                    f"{left} of the {counted(len(run.data), 'byte')} loaded to {run.address:#010x} are outside of "
                    f"memory",
                    at=f"f{self.frame}/e{run.element}",
                )

    def _load_parts(self, run: LoadRun) -> int:
        """Store the parts of a load that is in no single region (some regions are adjacent); returns the stored
        bytes."""
        stored = 0
        for region, _ in self.machine.memory.regions:
            low = max(run.address, region.base)
            high = min(run.address + len(run.data), region.base + region.size)
            if low < high:
                self.machine.load_memory(low, run.data[low - run.address : high - run.address])
                stored += high - low
        return stored

    def _write_narrow(self, run: NarrowWrite) -> None:
        """The registers are words: the rest of the word keeps its current value."""
        word = run.address & ~3
        shift = 8 * (run.address - word)
        mask = ((1 << run.width) - 1) << shift
        value = (self.machine.read_register(word) & ~mask) | (run.value << shift)
        self.machine.write_registers(np.array([word], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32))

    def shown(self, frame: int) -> dict[str, Screen]:
        return dict(self.machine.screens)

    # -- checkpoints --------------------------------------------------------------------------------------------------
    def _save(self) -> None:
        """Nothing: the machine has all state."""

    def _restore(self, kept: None) -> None:
        """Nothing to restore."""


class _EventReached(Exception):
    """Internal: the requested event has happened."""


class _EventCounter(Observer):
    """Counts the events of a frame, and stops the machine after one of them."""

    def __init__(self) -> None:
        self.events, self.stop = 0, _NEVER

    def _happened(self) -> None:
        self.events += 1
        if self.events >= self.stop:
            raise _EventReached

    def memory_loaded(self, address: int, size: int) -> None:
        self._happened()

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        self._happened()

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        if unit != "P3D":  # its list is an event when it starts
            self._happened()

    def memory_copied(self, words: Sequence[int]) -> None:
        self._happened()

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._happened()

    def list_starts(self, offset: int, size: int) -> None:
        self._happened()

    def draws(self, packets: DrawPackets, run: Run) -> None:
        wanted = min(len(packets), self.stop - self.events)
        if wanted > 0:
            run(0, wanted)
        self.events += wanted
        if self.events >= self.stop:
            if wanted > 0:  # the list was walked further before the last of them ran
                self.machine.see_again(packets, wanted - 1)
            raise _EventReached


class N3DSPlayer(Player[N3DSDriver]):
    """Random access to a 3DS capture.

    Events are loads, consecutive writes to display registers, fills, transfers, flushes and copies of GX commands,
    starts of lists, and draws. If the machine stops in the middle of a list, it cannot continue from there: a later
    event of the same frame is reached from the frame's start.
    """

    interval: ClassVar[float] = 0.0  # each frame begins with a checkpoint while there is room

    def __init__(self, driver: N3DSDriver, budget: int = BUDGET) -> None:
        self._position = Position(0)
        self._counter = _EventCounter()
        driver.machine.observe(self._counter)
        self._clock = [0.0]
        """Seconds of replay until the start of each frame."""
        super().__init__(driver, budget)

    @property
    def machine(self) -> N3DS:
        """The machine of the driver."""
        return self.driver.machine

    @property
    def position(self) -> Position:
        return self._position

    @property
    def resumable(self) -> bool:
        return self._position.events == 0

    def _seconds(self, position: Position) -> float:
        return self._clock[position.frame]

    def _mark(self) -> None:
        """Nothing: the driver counts frames."""

    def _came_back(self, position: Position, mark: None) -> None:
        self._position = position

    def _run(self, position: Position) -> None:
        while self.position.frame < min(position.frame, self.driver.frame_count):
            self._play(_NEVER)
        if self.position.frame < self.driver.frame_count and position.events:
            self._play(position.events)
        elif position > Position(self.driver.frame_count) and self.driver.trace.has_rest:
            self._play(position.events if position.frame == self.driver.frame_count else _NEVER)

    def _play(self, stop: int) -> None:
        """Play the current frame, which has just started, or what comes after the last one, until so many of its events
        are done."""
        frame, counter = self.position.frame, self._counter
        counter.events, counter.stop = 0, stop
        self.machine.stats.reset()
        try:
            seconds = self._rest() if frame == self.driver.frame_count else self.driver.play_frame().milliseconds / 1000
        except _EventReached:
            self._position = Position(frame, counter.events)
            return
        except BaseException:
            self.diverged = True
            raise
        self._position = Position(frame + 1)
        if len(self._clock) == frame + 1:
            passed = self._clock[-1] + seconds
            self._clock.append(passed)
            if self.checkpoints.due(passed):
                self._keep(passed)

    def _rest(self) -> float:
        """Play what comes after the last frame; returns its seconds."""
        start = perf_counter()
        for _ in self.driver.steps():
            pass
        return perf_counter() - start


__all__ = ["N3DSDriver", "N3DSPlayer"]
