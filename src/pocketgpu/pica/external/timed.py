"""The external registers of a machine with emulated time: units take time, displays scan.

A fill or a transfer writes its memory when it is done. A fill that is restarted while it runs keeps what it filled
until then. A command list writes memory when it starts, because its cost is known only afterwards; its interrupt comes
when it is done. Registers of the display controllers count. Every read of a register takes a little time, so that a
program's polling loop ends.

Source: 3dbrew GPU/External Registers; GBATEK for reads that wait; facts/timing.py for durations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from pocketgpu.events import EventLog
from pocketgpu.facts import timing
from pocketgpu.facts.external import EXTERNAL, SCREENS
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.lanes import Engine
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.stats import Stats
from pocketgpu.pica.display.lcd import fill_colour
from pocketgpu.pica.display.screens import cover
from pocketgpu.pica.engines.fill import MemoryFill
from pocketgpu.pica.engines.transfer import WORDS as TRANSFER_WORDS
from pocketgpu.pica.engines.transfer import TransferEngine
from pocketgpu.pica.external.clock import Clock
from pocketgpu.pica.external.registers import (
    FILL_FINISHED,
    FILL_START,
    FILL_WIDTH,
    FILLS,
    FIRST_REQUEST,
    FIRST_STATE,
    LIST_STARTS,
    TRANSFER_CONTROL,
    TRANSFER_FINISHED,
    TRANSFER_START,
    ExternalRegisters,
)
from pocketgpu.pica.external.writes import TRIGGER, RepeatedWork
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.pdc.controller import DisplayController
from pocketgpu.pictures import Screen

_PDC_FIRST, _PDC_WORDS = EXTERNAL["PDC0_HTOTAL"].offset // 4, 64
_COUNTERS = {
    EXTERNAL[f"PDC{unit}_{name}"].offset // 4: (unit, name)
    for unit in range(2)
    for name in ("HCOUNT", "VCOUNT", "STATUS")
}
_ADDRESS = EXTERNAL["PPF_INPUT_ADDRESS"]["address"]
_FILL_GRAIN = 48
"""Bytes per step of a fill's progress: whole stores of 16 bytes, and whole patterns."""


class Job:
    """The work of a unit. due: when it is done, None while the unit is idle."""

    def __init__(self) -> None:
        self.due: int | None = None
        self.started = 0
        self._finish: Callable[[], None] | None = None

    def start(self, now: int, cycles: int, finish: Callable[[], None]) -> None:
        """Be done in this number of cycles."""
        self.started, self.due, self._finish = now, now + max(1, cycles), finish

    def stop(self) -> None:
        """Stop without finishing."""
        self.due = self._finish = None

    def run(self, _now: int) -> None:
        finish = self._finish
        self.stop()
        if finish is not None:
            finish()


class TimedRegisters(ExternalRegisters):
    """`clock` is the machine's time; `displays` are both controllers. on_vblank is called at each one's VBlank (0,
    1)."""

    def __init__(
        self,
        memory: GuestMemory,
        engine: Engine,
        core: Core3D,
        fill: MemoryFill,
        transfer: TransferEngine,
        repeated: RepeatedWork,
        events: EventLog,
        stats: Stats,
        choices: Mapping[str, str],
    ) -> None:
        super().__init__(memory, engine, core, fill, transfer, repeated, events, stats, choices)
        self.clock = Clock()
        self.on_vblank: Callable[[int], None] = lambda unit: None
        self.raised: set[str] = set()
        self._seen: set[int] = set()
        self._fills, self._mover, self._list = (Job(), Job()), Job(), Job()
        self._jobs = (*self._fills, self._mover, self._list)
        self._filling: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * 2
        first = lambda unit: _PDC_FIRST + unit * _PDC_WORDS
        self.displays = tuple(
            DisplayController(
                unit, self.words[first(unit) : first(unit) + _PDC_WORDS], memory, self.luts[unit], self, choices
            )
            for unit in range(2)
        )
        self.clock.sources += [*self._jobs, *self.displays]
        self.clock.watchers += self.displays
        for unit in range(2):
            for index in range(first(unit), first(unit) + _PDC_WORDS):
                self._triggers.setdefault(index, partial(self._set_display, unit, index))
                self._kind[index] = TRIGGER

    # -- time ---------------------------------------------------------------------------------------------------------
    def advance(self, cycles: int) -> None:
        """Let time pass."""
        self.clock.advance_to(self.clock.now + cycles)

    def run_until(self, name: str, limit: int) -> bool:
        """Let time pass until an interrupt is raised, or for `limit` cycles at most; returns whether it was raised."""
        self.raised.discard(name)
        self.clock.advance_to(self.clock.now + limit, lambda: name in self.raised)
        return name in self.raised

    def step_vblank(self) -> None:
        """Let time pass until both controllers reached VBlank; a controller that never does is ignored."""
        self.settle()
        waiting = {unit for unit, display in enumerate(self.displays) if display.has_vblank}
        frames = [self.displays[unit].mode.frame_cycles for unit in waiting]
        self._seen.clear()
        stop = (lambda: self._seen >= waiting) if waiting else None
        self.clock.advance_to(self.clock.now + max(frames, default=timing.FRAME_CYCLES), stop)

    def finish(self) -> None:
        """Let time pass until no unit is working."""
        while (ends := [job.due for job in self._jobs if job.due is not None]) and not self.clock.running:
            self.clock.advance_to(max(ends))

    @property
    def work_ends_later(self) -> bool:
        """Whether a unit has work that is not done yet."""
        return any(job.due is not None for job in self._jobs)

    def settle(self) -> None:
        """Pass register writes on to the displays."""
        for display in self.displays:
            display.settle(self.clock.now)

    def restart(self) -> None:
        """All registers have new contents."""
        for display in self.displays:
            display.dirty = True
        self.settle()

    def interrupt(self, name: str, count: int = 1) -> None:
        if count:
            self.raised.add(name)
        super().interrupt(name, count)

    # -- displays -----------------------------------------------------------------------------------------------------
    def traffic(self, name: str, count: int) -> None:
        self.moved[name] += count

    def vblank(self, unit: int) -> None:
        self._seen.add(unit)
        self.on_vblank(unit)

    def _set_display(self, unit: int, index: int, word: int) -> None:
        self._store(index, word)
        self.displays[unit].dirty = True

    def _select(self, unit: int, word: int) -> None:
        super()._select(unit, word)
        if EXTERNAL["PDC0_SELECT"]["reset_fifo"].raw(word):
            self.displays[unit].reset_fifo()

    def screens(self) -> dict[str, Screen]:
        self.settle()
        shown = {screen.name: screen for display in self.displays for screen in display.screens()}
        for name in SCREENS:
            cover(shown, name, fill_colour(name, self.peek))
        return shown

    # -- reading ------------------------------------------------------------------------------------------------------
    def read(self, address: int) -> int:
        if not self.clock.running:
            self.advance(timing.READ_CYCLES)
        return super().read(address)

    def _read_active(self, index: int) -> int:
        place = _COUNTERS.get(index)
        if place is None:
            return super()._read_active(index)
        unit, name = place
        display, now = self.displays[unit], self.clock.now
        if name == "STATUS":
            return display.status(now)
        return display.position(now)[name == "VCOUNT"]

    def _read_core(self, number: int) -> int:
        if self._list.due is not None:
            if self.choices["external.core_reads"] == "at-once":
                if number in LIST_STARTS:
                    return START_LIST
            elif number in range(FIRST_REQUEST, PICA["IRQ_CMP0"].offset) or number >= FIRST_STATE:
                self._await_list()
        return super()._read_core(number)

    def reset_units(self) -> None:
        for unit, job in enumerate(self._fills):
            if job.due is not None:
                self._stop_fill(unit)
        for job in (self._mover, self._list):
            job.stop()
        super().reset_units()

    def _core_at_work(self) -> bool:
        return self._list.due is not None

    def _core_matches(self) -> bool:
        return not self._core_at_work() and super()._core_matches()

    # -- units --------------------------------------------------------------------------------------------------------
    def _fill(self, unit: int, word: int) -> None:
        first, index, name = FILLS[unit]
        written, word = word, self._controlled(word, index, FILL_FINISHED)
        job, now = self._fills[unit], self.clock.now
        if not word & FILL_START:
            self.words[index] = word | (FILL_START if job.due is not None else 0)
            return
        if job.due is not None:
            self._stop_fill(unit)
            self.report("warning", "fill.aborted", f"PSC{unit} was started again before it was done")
        if self.observers:
            self._notify_start(name, written)
        start, end, value = self._fill_range(first)
        self._filling[unit] = start, end, value, FILL_WIDTH.raw(word)
        self.words[index] = word
        size = max(0, end - start)
        job.start(now, timing.UNIT_LATENCY + timing.FILL.cost(size), lambda: self._run_fill(unit, *self._filling[unit]))

    def _stop_fill(self, unit: int) -> None:
        """Stop a running fill; its progress is written."""
        job = self._fills[unit]
        start, end, value, width = self._filling[unit]
        worked = max(0, self.clock.now - job.started - timing.UNIT_LATENCY)
        done = min(int(worked / timing.FILL.cycles * timing.FILL.amount), end - start) // _FILL_GRAIN * _FILL_GRAIN
        job.stop()
        if done > 0:
            self._fill_memory(unit, start, start + done, value, width)

    def _transfer(self, word: int) -> None:
        index, job = TRANSFER_CONTROL, self._mover
        written, word = word, self._controlled(word, index, TRANSFER_FINISHED)
        if job.due is not None:
            if word & TRANSFER_START:
                self.report(
                    "warning", "transfer.busy", "a transfer was started while one runs: the running one goes on"
                )
            word |= TRANSFER_START
        elif word & TRANSFER_START:
            if self.observers:
                self._notify_start("PPF", written)
            words = self.words[TRANSFER_WORDS].copy()
            job.start(self.clock.now, self._transfer_cycles(words), lambda: self._run_transfer(words))
        self.words[index] = word

    def _transfer_cycles(self, words: np.ndarray) -> int:
        outcome = self.transfer.prepare(words).outcome
        # The input and output addresses are the first two words.
        sides = [VRAM.contains(int(_ADDRESS.decode(int(word)))) for word in words[:2]]
        rate = (timing.TRANSFER, timing.TRANSFER_VRAM, timing.TRANSFER_VRAM_ONLY)[sum(sides)]
        return timing.UNIT_LATENCY + rate.cost(max(outcome.read, outcome.written))

    # -- lists --------------------------------------------------------------------------------------------------------
    def _start_list(self, channel: int) -> None:
        self._work_on(lambda: self._run_list(channel))

    def submit(self, words: Sequence[int] | np.ndarray) -> int:
        """As in `ExternalRegisters`; returns after the list's time has passed."""
        fired = self._work_on(lambda: self.core.run_words(words))
        self._await_list()
        return fired

    def _work_on(self, run: Callable[[], int]) -> int:
        """Run a list; it is done after its time. Returns how often it raises the P3D interrupt."""
        self._await_list()
        triangles, fragments = self.stats.triangles, self.stats.fragments
        self.core.control[C.WORDS // 4] = 0  # a list at unmapped addresses is not walked at all
        fired = run()
        front = timing.COMMAND.cost(int(self.core.control[C.WORDS // 4]))
        front += timing.TRIANGLE.cost(self.stats.triangles - triangles)
        cycles = timing.UNIT_LATENCY + max(front, timing.FRAGMENT.cost(self.stats.fragments - fragments))
        self._list.start(self.clock.now, cycles, lambda: self.list_done(fired))
        return fired

    def _await_list(self) -> None:
        """Wait until the 3D core is idle."""
        if self._list.due is None:
            return
        if self.clock.running:
            self._list.run(self.clock.now)
        else:
            self.clock.advance_to(self._list.due)
