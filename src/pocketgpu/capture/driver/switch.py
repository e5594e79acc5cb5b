"""Replaying channel logs on the Switch's GPU, and the presented pictures.

A frame ends with a present: the submissions since the last one run, then the surface is read. Memory has the lifetimes
of the log: mappings come and go between submissions, those of one handle show the same bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver.base import Driver, Measure, Played, Player, ProgramView, named_ranges
from pocketgpu.capture.driver.checkpoints import BUDGET, Position
from pocketgpu.capture.formats.mxcap import ChannelLog, ChunkRecord, Present
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.interruption import look
from pocketgpu.maxwell.display.scan_out import picture_at, picture_of
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.error_codes import DEADLOCK, error_code
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.host.waits import SemaphoreWait
from pocketgpu.pictures import Screen
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.memory.gpu_memory import Backing
    from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping

SCREEN = "screen"
"""The name of the only screen."""

COUNTS = (
    "draws", "clears", "copies", "blits", "uploads", "launches", "launch_steps", "semaphores", "syncpoint_increments",
    "constbuf_binds", "macro_calls", "macro_steps", "methods", "words",
)  # fmt: skip
"""The machine's counts in each frame. Shaded pixels are not counted."""

PATIENCE = 180
"""Frames that a channel may wait: a console resets it after 3 seconds."""

LOAD, SUBMISSION, SHOW = "load", "submission", "show"
"""Kinds of events besides the records of engines."""
Heard = Callable[[Any, Any], None]
"""Called with each event: its kind or the record of an engine, and further data (see `SwitchPlayer`)."""
Loaded = Callable[[ChunkRecord, int, int, int], None]
"""Called with what a load of a log has stored: the chunk, the first byte of it, the arena offset of that, number of
bytes."""


class SwitchDriver(Driver[GM20B]):
    """A channel log, and the machine that replays it: submission by submission, with the memory changes of each.

    loaded: called with everything that the processor has stored, as far as it is mapped. channels: of the machine, by
    number in the recording. backings: memory by handle. live: current mappings, by number in the log.
    """

    screens = (SCREEN,)
    nothing_shown = "the surfaces of these frames are not in mapped memory"
    measure = Measure(("loads", "parse", "effects", "launches", "draws"), "words", "mword_per_second", "Mword/s")

    def __init__(self, trace: ChannelLog, machine: GM20B, loaded: Loaded | None = None) -> None:
        self.trace = trace
        self._loaded = loaded
        self._hung: list[int] = []
        self._errors: dict[int, int] | None = None
        """By channel, in a run as a program; None in a replay."""
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for number, mapping in enumerate(trace.mappings):
            if mapping.start < mapping.end:
                self._starts.setdefault(mapping.start, []).append(number)
                self._ends.setdefault(mapping.end, []).append(number)
        super().__init__(trace, machine)

    @staticmethod
    def make_machine(
        trace: ChannelLog, threads: int = 1, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        *, timed: bool = False, new_model: bool = False,
    ) -> GM20B:  # fmt: skip
        """A machine for a log. All logs need the same: memory is there as soon as the log maps it."""
        if timed or new_model:
            raise UsageError("a Switch has one model here, whose units finish at once")
        return GM20B(threads=threads, evaluator=evaluator, switches=dict(choices or {}))

    @staticmethod
    def memory_hint(machine: GM20B) -> str:
        mapped = named_ranges((f"{one.size >> 10} KiB", one.address, one.end) for one in machine.memory.mappings)
        return f"Mapped after this frame: {mapped or 'nothing'}."

    def _begin(self) -> None:
        machine = self.machine
        self._loads = 0.0
        self.channels: dict[int, int] = {}
        self.backings: dict[int, Backing] = {}
        self.live: dict[int, GpuMapping] = {}
        machine.syncpoints.foreign_reached = True
        for id, value in self.trace.syncpoints.items():
            machine.syncpoints[id] = value
        if not self.trace.state:
            return
        from pocketgpu.capture.formats.pgc import channel_state

        for state in self.trace.state:
            channel_state.restore(machine.channel(self.channel_of(state.channel)), state)

    def channel_of(self, number: int) -> int:
        """The machine's number of a channel: recordings use their system's numbers, the machine counts from 0."""
        return self.channels.setdefault(number, len(self.channels))

    # -- frames -------------------------------------------------------------------------------------------------------
    def play_frame(self) -> Played:
        counted, timed = self.totals(), self._times()
        self.machine.log.clear()  # long recordings must not fill the memory: the log has one frame
        start = perf_counter()
        for number in self.trace.submissions_of(self.frame):
            self.prepare(number)
            self.submit(number)
        self.finish()
        milliseconds = 1000.0 * (perf_counter() - start)
        self.end_frame()
        counts = {name: count - counted[name] for name, count in self.totals().items()}
        return Played(milliseconds, counts, {name: passed - timed[name] for name, passed in self._times().items()})

    def steps(self) -> Iterator[int]:
        rest = self.frame >= self.frame_count
        self.machine.log.clear()
        for number in self.trace.tail if rest else self.trace.submissions_of(self.frame):
            self.prepare(number)
            self.submit(number)
            yield number
        self.finish()
        if not rest:
            self.end_frame()

    def finish(self) -> None:
        """Do all that can be done in the current frame. A channel that waits for a later frame goes on waiting; if
        nothing later can release it, it is reported and its work dropped."""
        self.machine.run()
        waiting = [one for one in self.machine.channels.values() if one.waiting is not None]
        if not any(map(self._may_go_on, waiting)):
            if self._errors is not None:
                numbers = {id: number for number, id in self.channels.items()}
                self._hung += [numbers[one.id] for one in waiting]
                self._errors |= {numbers[one.id]: error_code(DEADLOCK) for one in waiting}
            self.machine.finish()

    def _may_go_on(self, channel: Channel) -> bool:
        """Whether something that comes after this frame may release a channel: another channel, or the processor."""
        trace, wait = self.trace, channel.waiting
        done = trace.submissions_of(self.frame).stop if self.frame < self.frame_count else len(trace.submissions)
        since = bisect_left(trace.presents, channel.submission, key=lambda one: one.after)
        if self.frame - since >= PATIENCE:
            return False
        word = self.machine.memory.offset_of(wait.address, 4) if isinstance(wait, SemaphoreWait) else None
        for one in islice(trace.submissions, done, None):
            if self.channels.get(one.channel) != channel.id:
                return True
            if word is not None and any(self._stores(trace.chunks[update], word) for update in one.updates):
                return True
        return False

    def _stores(self, chunk: ChunkRecord, offset: int) -> bool:
        """Whether the processor stores to a place in the arena, as far as memory is mapped now."""
        size, handle = len(chunk.data), chunk.handle
        if handle is None:
            spans = self.machine.memory.spans(chunk.gpu_va, size)
        else:
            spans = [(self.backings[handle].offset + chunk.offset if handle in self.backings else None, size)]
        return any(start is not None and start <= offset < start + length for start, length in spans)

    def end_frame(self) -> None:
        """Show the current frame."""
        self._check_fence(self.trace.presents[self.frame], self.frame)
        self.frame += 1

    def totals(self) -> dict[str, int]:
        """All counts of the machine so far."""
        return {name: int(getattr(self.machine.stats, name)) for name in COUNTS}

    def _times(self) -> dict[str, float]:
        """Seconds so far, by phase."""
        return {"loads": self._loads, **self.machine.stats.seconds}

    # -- checkpoints --------------------------------------------------------------------------------------------------
    def _save(self) -> Any:
        return dict(self.channels), dict(self.backings), dict(self.live)

    def _restore(self, kept: Any) -> None:
        self.channels, self.backings, self.live = (dict(one) for one in kept)

    # -- submissions --------------------------------------------------------------------------------------------------
    def prepare(self, number: int) -> None:
        """Do what comes before submission `number`: mappings, and the processor's writes."""
        start = perf_counter()
        for ending in self._ends.get(number, ()):
            self.machine.memory.unmap(self.live.pop(ending))
        for starting in self._starts.get(number, ()):
            self._map(starting)
        for update in self.trace.submissions[number].updates:
            self._load(self.trace.chunks[update], number)
        self._loads += perf_counter() - start

    def submit(self, number: int) -> None:
        """Submit the entries of submission `number`."""
        submission = self.trace.submissions[number]
        before = self._faults() if self._errors is not None else {}
        try:
            self.machine.submit(submission.entries, channel=self.channel_of(submission.channel))
        except UsageError as error:
            raise self._refused(f"submissions[{number}]", error) from error
        if self._errors is not None:
            new = [id for id, count in self._faults().items() if count > before.get(id, 0)]
            if new:
                self._errors[submission.channel] = error_code(new[0])

    def _faults(self) -> dict[str, int]:
        """How often the machine reported each fault or hang."""
        return {one.id: one.count for one in self.machine.events if one.kind != "warning"}

    def _map(self, number: int) -> None:
        record = self.trace.mappings[number]
        try:
            backing = self._backing(record.handle)
            self.live[number] = self.machine.memory.map(
                record.gpu_va, record.size, backing, record.offset, record.kind
            )
        except UsageError as error:
            raise self._refused(f"mappings[{number}]", error) from error

    def _backing(self, handle: int) -> Backing:
        found = self.backings.get(handle)
        if found is None:
            found = self.backings[handle] = self.machine.memory.allocate(self.trace.handles[handle])
        return found

    def _load(self, chunk: ChunkRecord, number: int) -> None:
        self._store(chunk, number)
        if self._loaded is None:
            return
        if chunk.handle is not None:
            self._loaded(chunk, 0, self._backing(chunk.handle).offset + chunk.offset, len(chunk.data))
            return
        at = 0
        for offset, length in self.machine.memory.spans(chunk.gpu_va, len(chunk.data)):
            if offset is not None:
                self._loaded(chunk, at, offset, length)
            at += length

    def _store(self, chunk: ChunkRecord, number: int) -> None:
        memory = self.machine.memory
        if chunk.handle is not None:
            try:
                memory.store(self._backing(chunk.handle).offset + chunk.offset, chunk.data)
            except UsageError as error:
                raise self._refused(f"submissions[{number}].memory_updates", error) from error
        elif missed := memory.try_write(chunk.gpu_va, chunk.data):
            self.machine.events.report(
                "warning",
                "capture.unmapped-load",
                f"{missed} of the {counted(len(chunk.data), 'byte')} loaded to {chunk.gpu_va:#x} are not mapped",
                at=f"s{number}",
            )

    def _refused(self, place: str, error: UsageError) -> CaptureError:
        location = f"{self.trace.file}, {place}" if self.trace.file else place
        return CaptureError(error.message, file=self.trace.file, location=location, hint=error.hint)

    def _check_fence(self, present: Present, frame: int) -> None:
        """Report if the program would have shown the surface before its fence was reached."""
        if present.fence is None:
            return
        id, value = present.fence
        if not self.machine.syncpoints.reached(id, value):
            reached = self.machine.syncpoints[id]
            message = f"shown when syncpoint {id} has reached {value}; it is at {reached}"
            self.machine.events.report("warning", "present.fence", message, at=f"f{frame}")

    def play_as_program(self, registers: Sequence[int] = ()) -> ProgramView:
        """As a replay, since channels take all that a program submits. interrupts: the values of syncpoints. errors:
        the last code that the system's driver notes of a channel."""
        if registers:
            raise UsageError("programs of a Switch cannot read registers")
        self._errors = {}
        while self.frame < self.frame_count:
            self.play_frame()
        pictures = self.shown(self.frame_count - 1) if self.frame_count else {}
        self.play_rest()
        reached = self.machine.syncpoints.values()
        raised = {f"syncpoint {id}": value for id, value in sorted(reached.items()) if value}
        order = list(self.channels)
        hung = tuple(f"CHANNEL{number}" for number in order if number in self._hung)
        errors = tuple(f"CHANNEL{number} {self._errors[number]}" for number in order if number in self._errors)
        return ProgramView(pictures, raised, {}, hung, errors)

    # -- pictures -----------------------------------------------------------------------------------------------------
    def shown(self, frame: int) -> dict[str, Screen]:
        picture = self.picture(frame)
        return {} if picture is None else {SCREEN: Screen(SCREEN, picture)}

    def picture(self, frame: int) -> NDArray[np.uint8] | None:
        """Upright RGB (height, width, 3) of the surface that a frame shows, from current memory; None if it is not
        mapped."""
        machine, present = self.machine, self.trace.presents[frame]
        memory, size = machine.memory, present.size
        backing = self.backings.get(present.handle) if present.handle is not None else None
        if backing is not None:
            return picture_at(memory, machine.engine, backing.offset + present.offset, present, size)
        missed = sum(length for offset, length in memory.spans(present.gpu_va, size) if offset is None)
        if missed:
            message = f"{missed} of the {size} bytes of the surface at {present.gpu_va:#x} are not mapped"
            self.machine.events.report("fault", "present.unmapped", message, at=f"f{frame}")
            if missed == size:
                return None
        return picture_of(memory, machine.engine, present.gpu_va, present, size)


class _Paused(Exception):
    """Internal: the requested event is done."""


class _Ticks(Observer):
    """Notifies a player where the machine can stop, and before each draw."""

    wants_draws = True  # the machine cannot stop before other draws

    def __init__(self, stopped: Callable[[Channel], None], drawing: Callable[[], None]) -> None:
        self._stopped, self._drawing = stopped, drawing

    def stopped(self, channel: Channel) -> None:
        self._stopped(channel)

    def draw_recorded(self, draw: Draw) -> None:
        self._drawing()


class SwitchPlayer(Player[SwitchDriver]):
    """Random access to a Switch recording.

    Events are counted over the whole run in *ticks*: memory that the processor writes, the start of a submission, every
    record of an engine, a present, which ends the frame. heard: called with each tick the first time that it happens,
    in order: (LOAD, submission number), (SUBMISSION, its number), (a record of an engine, the channel), (SHOW, frame
    number). drawing: called before a draw that `heard` is not yet called with. tick: how many are done.
    """

    def __init__(
        self, driver: SwitchDriver, heard: Heard = lambda what, more: None, budget: int = BUDGET,
        drawing: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.trace, self._heard, self._drawing = driver.trace, heard, drawing
        self.tick = 0
        self._first = [0]  # ticks before each frame
        self._number, self._phase = 0, "prepare"
        self._heard_ticks = 0  # ticks passed to `heard`
        self._stop = 0
        self._clock = [0.0]
        """Seconds of replay until each tick, when it happened first."""
        self._heard_at = perf_counter()
        driver.machine.observe(_Ticks(self._stopped, self._draws))
        super().__init__(driver, budget)

    @property
    def machine(self) -> GM20B:
        """The machine of the driver."""
        return self.driver.machine

    # -- positions ----------------------------------------------------------------------------------------------------
    @property
    def position(self) -> Position:
        return self.at(self.tick)

    def at(self, tick: int) -> Position:
        """The position after so many events of the whole run."""
        frame = bisect_right(self._first, tick) - 1
        return Position(frame, tick - self._first[frame])

    def _tick(self, position: Position) -> int:
        return self._first[position.frame] + position.events

    def proper(self, position: Position) -> Position:
        """The end of a frame is the beginning of the next one."""
        known = position.frame < len(self._first)
        return self.at(self._tick(position)) if known else position

    def _seconds(self, position: Position) -> float:
        return self._clock[self._tick(position)]

    def _mark(self) -> Any:
        return self._number, self._phase

    def _came_back(self, position: Position, mark: Any) -> None:
        self.tick = self._tick(position)
        self._number, self._phase = mark

    # -- seeking ------------------------------------------------------------------------------------------------------
    def finish_frame(self, frame: int) -> None:
        """Continue from the last tick passed to `heard` until a frame has been shown. The machine stays where it is if
        that frame was passed before."""
        if frame < self.finished:
            return
        if self.diverged or self.tick < self._heard_ticks:
            self.go(self.at(self._heard_ticks))
        self._heard_at = perf_counter()
        while self.driver.frame <= frame and not self._over:
            self._step()

    @property
    def finished(self) -> int:
        """How many frames have been passed to `heard` as a whole, up to their presents; what comes after the last one
        counts as a frame."""
        return len(self._first) - 1

    def hear(self, ticks: int) -> bool:
        """Continue from the last tick passed to `heard` for so many more, or to the end. Returns whether there was any
        other."""
        if self.diverged or self.tick < self._heard_ticks:
            self.go(self.at(self._heard_ticks))
        self._heard_at, before = perf_counter(), self._heard_ticks
        self._stop = before + ticks
        try:
            while self.tick < before + ticks and not self._over:
                self._step()
        finally:
            self._stop = 0
        return self._heard_ticks > before

    def _run(self, position: Position) -> None:
        frame = min(position.frame, self.driver.frame_count + bool(self.trace.tail))
        while len(self._first) <= frame:  # the number of ticks before it is not known yet
            self._step()
        self._stop = tick = self._first[frame] + position.events
        self._leap()
        try:
            while self.tick < tick and not self._over:
                self._step()
        finally:
            self._stop = 0
            self.machine.leap(0)

    def _leap(self) -> None:
        """Let the machine make draws at once that were heard before: as many as come before the stop at the most."""
        if self.tick < self._heard_ticks and len(self.machine.observers) == 1:
            self.machine.leap(max(min(self._stop, self._heard_ticks) - self.tick, 0))
        else:
            self.machine.leap(0)

    @property
    def _over(self) -> bool:
        """Whether all has been played, also what comes after the last frame."""
        return self.driver.frame >= self.driver.frame_count and (self._phase == "over" or not self.trace.tail)

    def _step(self) -> None:
        """Run the next phase, until it ends or pauses. After a pause, `_phase` is the phase that continues."""
        look()
        with suppress(_Paused):
            getattr(self, f"_{self._phase}")()
            self._settle()

    # -- phases -------------------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        rest = self.driver.frame >= self.driver.frame_count
        if self._number not in (self.trace.tail if rest else self.trace.submissions_of(self.driver.frame)):
            self._phase = "finish"
            return
        self.driver.prepare(self._number)
        self._phase = "announce"
        if self.trace.submissions[self._number].updates:
            self._count(LOAD, self._number)

    def _announce(self) -> None:
        self._phase = "submit"
        with suppress(UsageError):  # `submit` will report the error
            # The channel exists before its first word runs, so that its registers can be compared.
            self.machine.channel(self.driver.channel_of(self.trace.submissions[self._number].channel))
        if len(self.trace.submissions[self._number].entries):  # else it only has what the processor wrote
            self._count(SUBMISSION, self._number)

    def _submit(self) -> None:
        self._phase = "run_on"
        self.driver.submit(self._number)
        self._run_on()

    def _run_on(self) -> None:
        self.machine.run()
        self._number += 1
        self._phase = "prepare"

    def _finish(self) -> None:
        self.driver.finish()
        self._phase = "show"
        if self.driver.frame >= self.driver.frame_count:
            self._phase = "over"
            if len(self._first) == self.driver.frame + 1:
                self._first.append(self.tick)

    def _show(self) -> None:
        self._phase = "prepare"
        shown = self.driver.frame
        self.driver.frame += 1
        if len(self._first) == self.driver.frame:
            self._first.append(self.tick + 1)
        self._count(SHOW, shown)

    # -- ticks --------------------------------------------------------------------------------------------------------
    def _stopped(self, channel: Channel) -> None:
        """The machine has stopped between two methods: count what it did."""
        log = self.machine.log
        if not len(log):
            return
        if self.tick + len(log) <= self._heard_ticks:
            self.tick += len(log)
            log.clear()
        else:
            records = list(log)
            log.clear()
            for record in records:
                self._count(record, channel)
        self._settle()
        look()
        if self._stop:
            if self.tick >= self._stop:
                raise _Paused
            self._leap()

    def _draws(self) -> None:
        """A draw is about to be made."""
        if self.tick >= self._heard_ticks:
            self._drawing()

    def _count(self, what: Any, more: Any) -> None:
        self.tick += 1
        if self.tick > self._heard_ticks:
            self._heard_ticks = self.tick
            self._clock.append(self._clock[-1] + perf_counter() - self._heard_at)
            self._heard(what, more)
            self._heard_at = perf_counter()

    def _settle(self) -> None:
        """All events are counted: a checkpoint can be made here."""
        if self.tick == self._heard_ticks and self.checkpoints.due(self._clock[-1]):
            self._keep(self._clock[-1])
            self._heard_at = perf_counter()


__all__ = ["COUNTS", "LOAD", "SCREEN", "SHOW", "SUBMISSION", "SwitchDriver", "SwitchPlayer"]
