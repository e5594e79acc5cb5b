"""Replaying a channel log on the Switch's GPU, and the pictures that it shows.

A frame ends with a present: the submissions since the one before run, then the surface is read. Memory lives as long as
the log says: mappings come and go between submissions, those of one handle show the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.mxcap import ChannelLog, ChunkRecord, Present
from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.capture.replay import Frame
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.maxwell.present import to_picture
from pocketgpu.pica.display.screens import Screen

if TYPE_CHECKING:
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.maxwell.memory.gpu_memory import Backing
    from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping

SCREEN = "screen"
"""The name of the only screen."""

COUNTS = (
    "draws", "clears", "copies", "blits", "uploads", "launches", "launch_steps", "semaphores", "syncpoint_increments",
    "constbuf_binds", "macro_calls", "macro_steps", "methods", "words",
)  # fmt: skip
"""What frames tell of the machine's counts."""


class ChannelFrame(Frame):
    """One replayed frame of a Switch recording; its only screen is called "screen".

    Its counts are those of this frame. How many pixels were shaded is not counted: triangles and fragments are 0.
    """

    def __init__(
        self,
        index: int,
        replay: Replay,
        present: Present,
        milliseconds: float,
        counts: Mapping[str, int],
        seconds: Mapping[str, float],
    ) -> None:
        super().__init__(index, replay.machine, milliseconds, counts, seconds)
        self._replay = replay
        self._present = present

    def _scan_out(self) -> dict[str, Screen]:
        picture = self._replay.picture(self._present, self.index)
        return {} if picture is None else {SCREEN: Screen(SCREEN, picture)}


Loaded = Callable[[ChunkRecord, int, int, int], None]
"""Told of what a load of a log has brought: the chunk, the first byte of it, the arena offset of that, how many."""


class Replay:
    """A log on a machine that was just switched on: the memory side of it, submission by submission.

    loaded: told of all that the processor has stored, as far as memory is there.
    """

    def __init__(self, log: ChannelLog, machine: GM20B, loaded: Loaded | None = None) -> None:
        self.log = log
        self.machine = machine
        self._loaded = loaded
        self._loads = 0.0
        self.channels: dict[int, int] = {}
        self.backings: dict[int, Backing] = {}
        self.live: dict[int, GpuMapping] = {}
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for number, mapping in enumerate(log.mappings):
            if mapping.start < mapping.end:
                self._starts.setdefault(mapping.start, []).append(number)
                self._ends.setdefault(mapping.end, []).append(number)
        machine.syncpoints.foreign_reached = True
        for id, value in log.syncpoints.items():
            machine.syncpoints[id] = value
        for state in log.state:
            channel_state.restore(machine.channel(self.channels.setdefault(state.channel, len(self.channels))), state)

    def save(self) -> object:
        """What it knows beside the machine, as a value that stays as it is."""
        return dict(self.channels), dict(self.backings), dict(self.live)

    def restore(self, kept: Any) -> None:
        """Be as `save` found it; the machine must be brought back, too."""
        self.channels, self.backings, self.live = (dict(one) for one in kept)

    def run(self, number: int) -> None:
        """Do what comes before submission `number`, then that."""
        self.prepare(number)
        self.submit(number)

    def prepare(self, number: int) -> None:
        """Do what comes before submission `number`: mappings, and what the processor wrote."""
        start = perf_counter()
        for ending in self._ends.get(number, ()):
            self.machine.memory.unmap(self.live.pop(ending))
        for starting in self._starts.get(number, ()):
            self._map(starting)
        for update in self.log.submissions[number].updates:
            self._load(self.log.chunks[update], number)
        self._loads += perf_counter() - start

    def submit(self, number: int) -> None:
        """Hand over the entries of submission `number`."""
        submission = self.log.submissions[number]
        # Recordings number channels as their system did, the machine from 0.
        channel = self.channels.setdefault(submission.channel, len(self.channels))
        try:
            self.machine.submit(submission.entries, channel=channel)
        except UsageError as error:
            raise self._refused(f"submissions[{number}]", error) from error

    def _map(self, number: int) -> None:
        record = self.log.mappings[number]
        try:
            backing = self._backing(record.handle)
            self.live[number] = self.machine.memory.map(record.gpu_va, record.size, backing, kind=record.kind)
        except UsageError as error:
            raise self._refused(f"mappings[{number}]", error) from error

    def _backing(self, handle: int) -> Backing:
        found = self.backings.get(handle)
        if found is None:
            found = self.backings[handle] = self.machine.memory.allocate(self.log.handles[handle])
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

    def totals(self) -> dict[str, int]:
        """All that the machine has counted so far."""
        return {name: int(getattr(self.machine.stats, name)) for name in COUNTS}

    def times(self) -> dict[str, float]:
        """Seconds so far, by phase."""
        return {"loads": self._loads, **self.machine.stats.seconds}

    def _refused(self, place: str, error: UsageError) -> CaptureError:
        location = f"{self.log.file}, {place}" if self.log.file else place
        return CaptureError(error.message, file=self.log.file, location=location, hint=error.hint)

    def check_fence(self, present: Present, frame: int) -> None:
        """Tell if the program would have shown the surface before its fence was reached."""
        if present.fence is None:
            return
        id, value = present.fence
        if not self.machine.syncpoints.reached(id, value):
            reached = self.machine.syncpoints[id]
            message = f"shown when syncpoint {id} has reached {value}; it is at {reached}"
            self.machine.events.report("warning", "present.fence", message, at=f"f{frame}")

    def picture(self, present: Present, frame: int) -> NDArray[np.uint8] | None:
        """Upright RGB (height, width, 3) of a surface as it is in memory now; None where there is no memory."""
        memory = self.machine.memory
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


def replay(log: ChannelLog, machine: GM20B, wanted: range, pictures: bool = True) -> Iterator[ChannelFrame]:
    """Replay `log` on a fresh `machine` up to the last of `wanted` (rising, within the log); yield those frames.

    They keep their pictures when the machine moves on, if `pictures`.
    """
    running = Replay(log, machine)
    for index in range(wanted[-1] + 1 if wanted else 0):
        counted, timed = running.totals(), running.times()
        machine.log.clear()  # long recordings must not fill the memory: it tells of one frame
        start = perf_counter()
        for number in log.submissions_of(index):
            running.run(number)
        machine.finish()
        milliseconds = 1000.0 * (perf_counter() - start)
        present = log.presents[index]
        running.check_fence(present, index)
        counts = {name: count - counted[name] for name, count in running.totals().items()}
        if index in wanted:
            seconds = {name: passed - timed[name] for name, passed in running.times().items()}
            frame = ChannelFrame(index, running, present, milliseconds, counts, seconds)
            yield frame
            frame.leave(pictures)


def make_machine(
    log: ChannelLog, threads: int = 1, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
) -> GM20B:
    """A machine with as much memory as the log needs."""
    from pocketgpu.maxwell.gm20b import GM20B

    return GM20B(threads=threads, evaluator=evaluator, switches=dict(switches or {}))
