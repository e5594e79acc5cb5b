"""Checkpoints of a replay, within a budget of bytes."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

INTERVAL = 0.008
"""Seconds of replay between two checkpoints, once there are too many of them."""
BUDGET = 768 << 20
"""Bytes that all checkpoints of a replay may keep together; beyond that every second one is dropped."""
SHARE = 8
"""Times as long as the last checkpoint took, at least, the replay goes on before the next one."""


@dataclass(frozen=True, order=True)
class Position:
    """A position in a replay: so many events of a frame are done. With 0 the frame is about to start, and the one
    before is finished."""

    frame: int
    events: int = 0


class Kept(Protocol):
    """What a checkpoint must provide."""

    def bytes_beside(self, other: Kept, /) -> int:
        """Bytes of this state that are not shared with another."""


C = TypeVar("C", bound=Kept)


@dataclass(frozen=True)
class Checkpoint(Generic[C]):
    """A state of a replay. seconds: of replay until it, without the time of observers."""

    position: Position
    seconds: float
    state: C


class Checkpoints(Generic[C]):
    """Checkpoints of one replay, in order. The first one is never dropped.

    interval: initial seconds of replay between checkpoints; it doubles whenever every second one is dropped.
    """

    def __init__(self, first: C, budget: int = BUDGET, interval: float = INTERVAL) -> None:
        self._kept = [Checkpoint(Position(0), 0.0, first)]
        self._positions = [Position(0)]
        self._budget, self._interval = budget, interval
        self._since = self._wait = 0.0
        self.bytes = 0
        """Bytes that are kept besides those of the first."""

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"<Checkpoints: {counted(len(self), 'place')}, {self.bytes} of {counted(self._budget, 'byte')}>"

    def due(self, seconds: float) -> bool:
        """Whether a checkpoint is due after so many seconds of replay."""
        return seconds - self._since > max(self._interval, self._wait)

    def add(self, position: Position, seconds: float, state: C, took: float = 0.0) -> None:
        """Add a checkpoint after all others, and drop some if there is no room. took: seconds for making it."""
        self._wait = SHARE * took
        self._kept.append(Checkpoint(position, seconds, state))
        self._since = seconds
        self.bytes += state.bytes_beside(self._kept[-2].state)
        while self.bytes > self._budget:
            self._kept = self._kept[::2]
            self._interval = max(2 * self._interval, INTERVAL)
            self.bytes = sum(after.state.bytes_beside(before.state) for before, after in pairwise(self._kept))
        self._positions = [one.position for one in self._kept]

    def forget_after(self, position: Position) -> None:
        """Drop what is after a position: the replay goes another way from there."""
        self._kept = self._kept[: bisect_right(self._positions, position)]
        self._positions = self._positions[: len(self._kept)]
        self._since = self._kept[-1].seconds
        self.bytes = sum(after.state.bytes_beside(before.state) for before, after in pairwise(self._kept))

    def before(self, position: Position) -> Checkpoint[C]:
        """The last checkpoint at or before a position."""
        return self._kept[bisect_right(self._positions, position) - 1]


__all__ = ["BUDGET", "INTERVAL", "Checkpoint", "Checkpoints", "Kept", "Position"]
