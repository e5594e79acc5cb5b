"""Replaying channel logs on the Switch's GPU, and the pictures that it shows.

A frame ends with a present: the submissions since the one before run, then the surface is read. Memory lives as long as
the log says: mappings come and go between submissions, those of one handle show the same bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver.base import Driver, Measure, Played, Player, named_ranges
from pocketgpu.capture.driver.checkpoints import BUDGET, Position
from pocketgpu.capture.formats.mxcap import ChannelLog, ChunkRecord, Present
from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.maxwell.display.present import to_picture
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.pica.display.screens import Screen

if TYPE_CHECKING:
    from pocketgpu.maxwell.memory.gpu_memory import Backing
    from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping

SCREEN = "screen"
"""The name of the only screen."""

COUNTS = (
    "draws", "clears", "copies", "blits", "uploads", "launches", "launch_steps", "semaphores", "syncpoint_increments",
    "constbuf_binds", "macro_calls", "macro_steps", "methods", "words",
)  # fmt: skip
"""What frames tell of the machine's counts. How many pixels were shaded is not counted."""

LOAD, SUBMISSION, SHOW = "load", "submission", "show"
"""What an event can be beside the record of an engine."""
Heard = Callable[[Any, Any], None]
"""Told of each event: its kind or the record of an engine, and what goes with it (see `SwitchPlayer`)."""
Loaded = Callable[[ChunkRecord, int, int, int], None]
"""Told of what a load of a log has brought: the chunk, the first byte of it, the arena offset of that, how many."""


class SwitchDriver(Driver[GM20B]):
    """A channel log, and the machine that replays it: submission by submission, with the memory side of each.

    loaded: told of all that the processor has stored, as far as memory is there. channels: of the machine, by number in
    the recording. backings: memory by handle. live: mappings that there are now, by number in the log.
    """

    screens = (SCREEN,)
    nothing_shown = "the surfaces of these frames lie where no memory is mapped"
    measure = Measure(("loads", "parse", "effects", "launches", "draws"), "words", "mword_per_second", "Mword/s")

    def __init__(self, trace: ChannelLog, machine: GM20B, loaded: Loaded | None = None) -> None:
        self.trace = trace
        self._loaded = loaded
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for number, mapping in enumerate(trace.mappings):
            if mapping.start < mapping.end:
                self._starts.setdefault(mapping.start, []).append(number)
                self._ends.setdefault(mapping.end, []).append(number)
        super().__init__(trace, machine)

    @staticmethod
    def make_machine(
        trace: ChannelLog, threads: int = 1, choices: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> GM20B:
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
        for state in self.trace.state:
            channel_state.restore(machine.channel(self.channel_of(state.channel)), state)

    def channel_of(self, number: int) -> int:
        """The machine's number of a channel: recordings number them as their system did, the machine from 0."""
        return self.channels.setdefault(number, len(self.channels))

    # -- frames -------------------------------------------------------------------------------------------------------
    def play_frame(self) -> Played:
        counted, timed = self.totals(), self._times()
        self.machine.log.clear()  # long recordings must not fill the memory: it tells of one frame
        start = perf_counter()
        for number in self.trace.submissions_of(self.frame):
            self.prepare(number)
            self.submit(number)
        self.machine.finish()
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
        self.machine.finish()
        if not rest:
            self.end_frame()

    def end_frame(self) -> None:
        """The frame at hand is shown."""
        self._check_fence(self.trace.presents[self.frame], self.frame)
        self.frame += 1

    def totals(self) -> dict[str, int]:
        """All that the machine has counted so far."""
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
        """Do what comes before submission `number`: mappings, and what the processor wrote."""
        start = perf_counter()
        for ending in self._ends.get(number, ()):
            self.machine.memory.unmap(self.live.pop(ending))
        for starting in self._starts.get(number, ()):
            self._map(starting)
        for update in self.trace.submissions[number].updates:
            self._load(self.trace.chunks[update], number)
        self._loads += perf_counter() - start

    def submit(self, number: int) -> None:
        """Hand over the entries of submission `number`."""
        submission = self.trace.submissions[number]
        try:
            self.machine.submit(submission.entries, channel=self.channel_of(submission.channel))
        except UsageError as error:
            raise self._refused(f"submissions[{number}]", error) from error

    def _map(self, number: int) -> None:
        record = self.trace.mappings[number]
        try:
            backing = self._backing(record.handle)
            self.live[number] = self.machine.memory.map(record.gpu_va, record.size, backing, kind=record.kind)
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
                f"{missed} of the {len(chunk.data)} bytes loaded to {chunk.gpu_va:#x} go where no memory is",
                at=f"s{number}",
            )

    def _refused(self, place: str, error: UsageError) -> CaptureError:
        location = f"{self.trace.file}, {place}" if self.trace.file else place
        return CaptureError(error.message, file=self.trace.file, location=location, hint=error.hint)

    def _check_fence(self, present: Present, frame: int) -> None:
        """Tell if the program would have shown the surface before its fence was reached."""
        if present.fence is None:
            return
        id, value = present.fence
        if not self.machine.syncpoints.reached(id, value):
            reached = self.machine.syncpoints[id]
            message = f"shown when syncpoint {id} has reached {value}; it is at {reached}"
            self.machine.events.report("warning", "present.fence", message, at=f"f{frame}")

    # -- pictures -----------------------------------------------------------------------------------------------------
    def shown(self, frame: int) -> dict[str, Screen]:
        picture = self.picture(frame)
        return {} if picture is None else {SCREEN: Screen(SCREEN, picture)}

    def picture(self, frame: int) -> NDArray[np.uint8] | None:
        """Upright RGB (height, width, 3) of the surface that a frame shows, as it is in memory now; None where there is
        no memory."""
        memory, present = self.machine.memory, self.trace.presents[frame]
        backing = self.backings.get(present.handle) if present.handle is not None else None
        if backing is not None:
            start = backing.offset + present.offset
            data, missed = memory.arena[start : start + present.size].tobytes(), 0
        else:
            data, missed = memory.try_read(present.gpu_va, present.size)
        if missed:
            message = f"{missed} of the {present.size} bytes of the surface at {present.gpu_va:#x} are not mapped"
            self.machine.events.report("fault", "present.unmapped", message, at=f"f{frame}")
            if missed == present.size:
                return None
        return to_picture(data, present)


class _Paused(Exception):
    """Internal: the event that was wanted is over."""


class _Ticks(Observer):
    """Tells a player where the machine can stop."""

    wants_draws = True  # nobody could stop in front of others

    def __init__(self, stopped: Callable[[Channel], None]) -> None:
        self._stopped = stopped

    def stopped(self, channel: Channel) -> None:
        self._stopped(channel)


class SwitchPlayer(Player[SwitchDriver]):
    """A Switch that can be anywhere in a recording.

    Events are counted over the whole run in *ticks*: memory that the processor writes, a submission that begins,
    everything that an engine logs, a picture that is shown, which ends the frame. heard: told of ticks the first time
    that they happen, in order: (LOAD, submission number), (SUBMISSION, its number), (a record of an engine, the
    channel), (SHOW, frame number). tick: how many are over.
    """

    def __init__(self, driver: SwitchDriver, heard: Heard = lambda what, more: None, budget: int = BUDGET) -> None:
        self.trace, self._heard = driver.trace, heard
        self.tick = 0
        self._first = [0]  # ticks that are over when a frame begins
        self._number, self._phase = 0, "prepare"
        self._told = 0  # ticks that were heard
        self._stop = 0
        self._clock = [0.0]
        """Seconds of replay that were over after each tick, when it was heard."""
        self._heard_at = perf_counter()
        driver.machine.observe(_Ticks(self._stopped))
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
        """The position where so many events of the whole run are over."""
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

    # -- going --------------------------------------------------------------------------------------------------------
    def finish_frame(self, frame: int) -> None:
        """Go on, from where the ticks heard end, until a frame has been shown."""
        if self.spoilt or self.tick < self._told:
            self.go(self.at(self._told))
        self._heard_at = perf_counter()
        while self.driver.frame <= frame < self.driver.frame_count:
            self._step()

    def _run(self, position: Position) -> None:
        frame = min(position.frame, self.driver.frame_count)
        while len(self._first) <= frame:  # nobody knows yet how many ticks there are before
            self._step()
        self._stop = tick = self._first[frame] + position.events
        while self.tick < tick and self.driver.frame < self.driver.frame_count:
            self._step()
        self._stop = 0

    def _step(self) -> None:
        """The next phase, as far as it goes. Whoever comes back finds the phase that goes on."""
        with suppress(_Paused):
            getattr(self, f"_{self._phase}")()
            self._settle()

    # -- phases -------------------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        if self._number not in self.trace.submissions_of(self.driver.frame):
            self._phase = "finish"
            return
        self.driver.prepare(self._number)
        self._phase = "announce"
        if self.trace.submissions[self._number].updates:
            self._count(LOAD, self._number)

    def _announce(self) -> None:
        self._phase = "submit"
        with suppress(UsageError):  # `submit` will say what is wrong
            # The channel is there before its first word runs, so that its registers can be compared.
            self.machine.channel(self.driver.channel_of(self.trace.submissions[self._number].channel))
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
        self.machine.finish()
        self._phase = "show"

    def _show(self) -> None:
        self._phase = "prepare"
        shown = self.driver.frame
        self.driver.frame += 1
        if len(self._first) == self.driver.frame:
            self._first.append(self.tick + 1)
        self._count(SHOW, shown)

    # -- ticks --------------------------------------------------------------------------------------------------------
    def _stopped(self, channel: Channel) -> None:
        """The machine has come to a stop between two methods: count what it did."""
        log = self.machine.log
        if not len(log):
            return
        records = list(log)
        log.clear()
        for record in records:
            self._count(record, channel)
        self._settle()
        if self._stop and self.tick >= self._stop:
            raise _Paused

    def _count(self, what: Any, more: Any) -> None:
        self.tick += 1
        if self.tick > self._told:
            self._told = self.tick
            self._clock.append(self._clock[-1] + perf_counter() - self._heard_at)
            self._heard(what, more)
            self._heard_at = perf_counter()

    def _settle(self) -> None:
        """What was counted is all that has happened: a place for a checkpoint."""
        if self.tick == self._told and self.checkpoints.due(self._clock[-1]):
            self._keep(self._clock[-1])
            self._heard_at = perf_counter()


__all__ = ["COUNTS", "LOAD", "SCREEN", "SHOW", "SUBMISSION", "SwitchDriver", "SwitchPlayer"]
