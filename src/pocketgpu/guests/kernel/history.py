"""The checkpoints that a run keeps, so that it can go back by frames.

The start is always there, so every frame can be reached again: from the checkpoint before it, by running. Within a
budget of bytes; beyond it every second one is dropped, and new ones come at twice the distance. A run that goes on for
hours keeps those of late instead, `recent`: the way back to a frame of late stays short.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import PocketGPUError
from pocketgpu.guests.kernel.checkpoint import Checkpoint, RunningConsole
from pocketgpu.guests.kernel.recent import Recent

if TYPE_CHECKING:
    from pocketgpu.capture.driver.checkpoints import Checkpoints, Position

BUDGET: Final = 256 << 20
"""Bytes that the checkpoints of one run may take together."""
INTERVAL: Final = 0.2
"""Seconds of running between two of them at first: taking one costs a twentieth of that."""
_LONGEST: Final = 0.5
"""Seconds of a frame that count as running; in the rest a program stood."""


class History:
    """Checkpoints at the begin of frames. It keeps only the start until `keep` is called, so a run that never goes
    back has no cost."""

    def __init__(self, console: RunningConsole, budget: int = BUDGET, interval: float = INTERVAL) -> None:
        self._console, self._budget, self._interval = console, budget, interval
        self._problem: PocketGPUError = PocketGPUError("")
        self._start = self._last = self._taken()
        self._kept: Checkpoints[Checkpoint] | None = None
        self.recent: Recent | None = None
        """The checkpoints of late, if they are kept."""
        self._frame = console.frame_count
        self._begun = 0.0
        self._ran = self._at = 0.0
        """Seconds of running while `recent` is kept, and when the last frame was over."""

    def __repr__(self) -> str:
        return f"<History of {self._console.frame_count} frames: {self._kept or 'the start'}>"

    def _taken(self) -> Checkpoint | None:
        """The start; None if it cannot be kept, which matters only to who goes back."""
        try:
            return Checkpoint.take(self._console)
        except PocketGPUError as error:
            self._problem = error
            return None

    def _begin(self) -> Checkpoint:
        if self._start is None:
            raise self._problem
        return self._start

    def keep(self) -> None:
        """Take checkpoints from now on.

        :raises UnknownStateError: something of the program's start cannot be kept.
        """
        from pocketgpu.capture.driver.checkpoints import Checkpoints

        if self._kept is None:
            self._kept = Checkpoints(self._begin(), self._budget, self._interval)
            self._begun = perf_counter()

    def keep_recent(self, budget: int | None = None) -> Recent:
        """Take checkpoints from now on, and keep those of late, within a budget of bytes.

        :raises UnknownStateError: something of the program's start cannot be kept.
        """
        self.recent = Recent(self._begin(), self._budget if budget is None else budget, self._interval)
        self._ran, self._at = 0.0, perf_counter()
        return self.recent

    def stepped(self) -> None:
        """The kernel made a step: if a frame has begun, this may be a place for a checkpoint."""
        kept, frame = self._kept, self._console.frame_count
        if frame == self._frame or (kept is None and self.recent is None):
            return
        self._frame = frame
        if self.recent is not None:
            self._keep_recent(self.recent, frame)
            return
        assert kept is not None
        seconds = perf_counter() - self._begun
        if kept.due(seconds) and self._last is not None and frame > self._last.frame:
            self._last = Checkpoint.take(self._console, self._last)
            kept.add(_position(frame), seconds, self._last)

    def _keep_recent(self, recent: Recent, frame: int) -> None:
        now = perf_counter()
        self._ran += min(now - self._at, _LONGEST)
        if recent.due(self._ran) and frame > recent.last.frame:
            point = Checkpoint.take(self._console, recent.last)
            recent.add(frame, self._ran, point, perf_counter() - now)
        self._at = perf_counter()

    def to(self, frame: int) -> None:
        """Put the console back to the last checkpoint at or before a frame. Later ones stay: they are of the same run
        until something is done in another way."""
        late = self.recent.before(frame) if self.recent is not None else None
        if late is not None:
            point = late.state
        else:
            point = self._begin() if self._kept is None else self._kept.before(_position(frame)).state
        point.restore(self._console)
        self._frame = point.frame

    def forget_after(self, frame: int) -> None:
        """From this frame on the run may go another way."""
        if self.recent is not None:
            self.recent.forget_after(frame)
        if self._kept is not None:
            self._kept.forget_after(_position(frame))
            self._last = self._kept.before(_position(frame)).state
        self._frame = self._console.frame_count


def _position(frame: int) -> Position:
    from pocketgpu.capture.driver.checkpoints import Position  # a run that never goes back need not load it

    return Position(frame)
