"""Syncpoints: counters that units of the console raise and wait for.

A wait is over when the counter has reached the threshold, compared as a signed difference of 32 bits, so that
counters may wrap. Source: the syncpoint methods of the Tegra channel class A26F.
"""

from __future__ import annotations

from typing import Any

COUNT = 256  # the range of SYNCPOINTB's bits 15:8; the engine's own method has numbers up to 4096
_LIMIT = 4096


class Syncpoints:
    """All syncpoints of a machine, 0 at first; `syncpoints[8] = 64` sets one.

    foreign_reached: whether a wait is over at once if no channel of this machine ever raises its syncpoint, because
    another unit (a display) does. Replays of recordings set it; otherwise such a wait is a deadlock.
    """

    def __init__(self) -> None:
        self._values: dict[int, int] = {}
        self.counted: set[int] = set()
        """Those that channels have raised."""
        self.foreign_reached = False

    def __getitem__(self, index: int) -> int:
        return self._values.get(index % _LIMIT, 0)

    def __setitem__(self, index: int, value: int) -> None:
        self._values[index % _LIMIT] = value & 0xFFFFFFFF

    def values(self) -> dict[int, int]:
        """All syncpoints that ever had a value."""
        return dict(self._values)

    def increment(self, index: int, by: int = 1) -> int:
        """Increment one; returns its new value."""
        self[index] = self[index] + by
        self.counted.add(index % _LIMIT)
        return self[index]

    def reached(self, index: int, threshold: int) -> bool:
        """Whether a wait for `threshold` is over."""
        if self.foreign_reached and index % _LIMIT not in self.counted:
            return True
        return ((self[index] - threshold) & 0xFFFFFFFF) < 0x80000000

    def save(self) -> object:
        """Values, which channels have raised, and `foreign_reached`."""
        return dict(self._values), frozenset(self.counted), self.foreign_reached

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        values, counted, self.foreign_reached = kept
        self._values, self.counted = dict(values), set(counted)

    def reset(self) -> None:
        """Set all to zero."""
        self._values.clear()
        self.counted.clear()
