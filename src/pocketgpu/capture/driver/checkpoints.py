"""Places of a replay that can be come back to, as many as a budget of bytes holds."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

INTERVAL = 0.008
"""Seconds of replay between two checkpoints, once there are too many of them."""
BUDGET = 768 << 20
"""Bytes that all checkpoints of a replay may keep together; beyond that every second one goes."""


@dataclass(frozen=True, order=True)
class Position:
    """A place in a replay: so many events of a frame are over. With 0 the frame begins, and the one before is over."""

    frame: int
    events: int = 0


class Kept(Protocol):
    """What a checkpoint has to say."""

    def bytes_beside(self, other: Kept, /) -> int:
        """How many bytes it keeps that another does not share."""


C = TypeVar("C", bound=Kept)


@dataclass(frozen=True)
class Checkpoint(Generic[C]):
    """A state of a replay. seconds: what had passed of it, without what looking on took."""

    position: Position
    seconds: float
    state: C


class Checkpoints(Generic[C]):
    """Checkpoints of one replay, in order. The first one always stays.

    interval: seconds of replay from one to the next, at first; it doubles whenever every second one goes.
    """

    def __init__(self, first: C, budget: int = BUDGET, interval: float = INTERVAL) -> None:
        self._kept = [Checkpoint(Position(0), 0.0, first)]
        self._positions = [Position(0)]
        self._budget, self._interval = budget, interval
        self._since = 0.0
        self.bytes = 0
        """How many are kept beside those of the first."""

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"<Checkpoints: {len(self)} places, {self.bytes} of {self._budget} bytes>"

    def due(self, seconds: float) -> bool:
        """Whether another one is wanted after so many seconds of replay."""
        return seconds - self._since > self._interval

    def add(self, position: Position, seconds: float, state: C) -> None:
        """Keep a place after all others, and make room for it."""
        self._kept.append(Checkpoint(position, seconds, state))
        self._since = seconds
        self.bytes += state.bytes_beside(self._kept[-2].state)
        while self.bytes > self._budget:
            self._kept = self._kept[::2]
            self._interval = max(2 * self._interval, INTERVAL)
            self.bytes = sum(after.state.bytes_beside(before.state) for before, after in pairwise(self._kept))
        self._positions = [one.position for one in self._kept]

    def before(self, position: Position) -> Checkpoint[C]:
        """The last one at a position or before it."""
        return self._kept[bisect_right(self._positions, position) - 1]


__all__ = ["BUDGET", "INTERVAL", "Checkpoint", "Checkpoints", "Kept", "Position"]
