"""Syncpoints: counters that units of the console raise and wait for.

A wait is over when the counter has reached the threshold, compared as a signed difference of 32 bits, so that
counters may wrap. Source: the syncpoint methods of the Tegra channel class A26F.
"""

from __future__ import annotations

from typing import Any

COUNT = 256  # what SYNCPOINTB can name in bits 15:8; the engine's own method names up to 4096
_LIMIT = 4096


class Syncpoints:
    """All syncpoints of a machine, 0 at first; `syncpoints[8] = 64` gives one another value.

    foreign_reached: whether waits for syncpoints that no channel of this machine ever counts are over at once, because
    another unit (a display) counts them. Replays of recordings say so; else such a wait is a deadlock.
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
        """All that ever had a value."""
        return dict(self._values)

    def increment(self, index: int, by: int = 1) -> int:
        """Raise one; returns its new value."""
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
        """Be as `save` found it."""
        values, counted, self.foreign_reached = kept
        self._values, self.counted = dict(values), set(counted)

    def reset(self) -> None:
        """All zero again."""
        self._values.clear()
        self.counted.clear()
