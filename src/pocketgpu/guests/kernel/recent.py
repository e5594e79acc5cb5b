"""The checkpoints of a run that goes on for hours: many of late, fewer of before, none beyond a budget of bytes.

    recent = Recent(budget=256 << 20)
    recent.add(frame, seconds, checkpoint)
    recent.before(frame)

From a checkpoint, a run goes on to any later frame. So their distance says how long the way to a frame takes, and the
oldest one how far back it goes. Beyond the budget, first every second one of the older ones goes, as long as they stay
near to each other, then the oldest.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from pocketgpu.guests.kernel.checkpoint import Checkpoint
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

DENSE: Final = 8
"""Checkpoints of late that stay at their distance."""
MOST_APART: Final = 2.0
"""Seconds of running that may be between two older ones."""
SHARE: Final = 12
"""Times as long as a checkpoint took, at least, the run goes on before the next one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A checkpoint. frame: VBlanks until then. seconds: of running until then. bytes: that it does not share with the
    one before it."""

    frame: int
    seconds: float
    state: Checkpoint
    bytes: int


class Recent:
    """Checkpoints by frame, oldest first. There is always one.

    interval: seconds of running between two. pinned: a frame whose checkpoint stays, if any.
    """

    def __init__(self, first: Checkpoint, budget: int, interval: float) -> None:
        self._kept = [Taken(first.frame, 0.0, first, 0)]
        self._budget, self._interval = budget, interval
        self._wait = 0.0
        self.pinned: int | None = None

    def __repr__(self) -> str:
        held = f"{self.bytes} of {counted(self._budget, 'byte')}"
        return f"<Recent: {counted(len(self._kept), 'place')} from frame {self.first} on, {held}>"

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def first(self) -> int:
        """The first frame that is reached from a checkpoint without a gap."""
        return self._kept[1 if self._has_far_pin and len(self._kept) > 1 else 0].frame

    @property
    def frames(self) -> list[int]:
        """The frames of all checkpoints."""
        return [one.frame for one in self._kept]

    @property
    def bytes(self) -> int:
        """What they hold together."""
        return sum(one.bytes for one in self._kept)

    @property
    def last(self) -> Checkpoint:
        """The newest one."""
        return self._kept[-1].state

    @property
    def _has_far_pin(self) -> bool:
        """Whether the first one is there only because it is pinned."""
        if self._pin != 0 or len(self._kept) < 2:
            return False
        return self._kept[1].seconds - self._kept[0].seconds > MOST_APART

    @property
    def _pin(self) -> int | None:
        """Which one is pinned."""
        return None if self.pinned is None else max(0, self._index(self.pinned))

    def due(self, seconds: float) -> bool:
        """Whether a checkpoint is due after so many seconds of running."""
        return seconds - self._kept[-1].seconds > max(self._interval, self._wait)

    def add(self, frame: int, seconds: float, state: Checkpoint, took: float = 0.0) -> None:
        """Add a checkpoint after all others. took: seconds for making it."""
        self._wait = SHARE * took
        self._kept.append(Taken(frame, seconds, state, state.bytes_beside(self.last)))
        while self.bytes > self._budget and len(self._kept) > 2:
            self._drop(self._least())

    def _least(self) -> int:
        """The one whose loss matters least."""
        kept, pin = self._kept, self._pin
        for index in range(1, len(kept) - DENSE):
            if index != pin and kept[index + 1].seconds - kept[index - 1].seconds <= MOST_APART:
                return index
        return 1 if pin == 0 else 0

    def _drop(self, index: int) -> None:
        del self._kept[index]
        if index < len(self._kept):  # it shares with another one now
            one, before = self._kept[index], self._kept[index - 1].state if index else None
            size = one.state.bytes_beside(before) if before is not None else 0
            self._kept[index] = Taken(one.frame, one.seconds, one.state, size)

    def forget_after(self, frame: int) -> None:
        """Drop what is after a frame: the run goes another way from there. The oldest one stays."""
        del self._kept[max(1, self._index(frame) + 1) :]

    def before(self, frame: int) -> Taken | None:
        """The last one at or before a frame; None if all are later."""
        index = self._index(frame)
        return self._kept[index] if index >= 0 else None

    def _index(self, frame: int) -> int:
        return bisect_right(self._kept, frame, key=lambda one: one.frame) - 1


__all__ = ["DENSE", "MOST_APART", "Recent", "Taken"]
