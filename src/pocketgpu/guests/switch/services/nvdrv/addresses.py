"""Addresses of a GPU address space: which are taken, and which come next."""

from __future__ import annotations

from bisect import insort
from typing import Final

from pocketgpu.guests.kernel.memory import PAGE
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE

FIRST: Final = 0x5_0000_0000
"""Where addresses begin that the driver picks, as in recordings."""
LOWEST: Final = 0x400_0000
"""Where a program may ask for addresses itself."""
STEP: Final = 0x1_0000
"""Addresses are multiples of it, and so much stays free between two ranges."""
_LARGE: Final = 1 << 32
"""Ranges of this size begin at multiples of it."""
MOST: Final = 8192
"""Ranges that there can be at a time."""


class Addresses:
    """The ranges that are taken, in order. Addresses are not used again before all have been used once."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []
        self._next = FIRST

    def __repr__(self) -> str:
        return f"<Addresses: {len(self._taken)} ranges>"

    def take(self, size: int, align: int = 0) -> int | None:
        """A new range; None if there is no room."""
        size += -size % STEP
        align = max(align, STEP, _LARGE if size >= _LARGE else 0)
        if size <= 0 or align & (align - 1) or len(self._taken) >= MOST:
            return None
        start = self._fit(self._next, size, align)
        if start is None:
            start = self._fit(FIRST, size, align)
        if start is None:
            return None
        self._next = start + size + STEP
        insort(self._taken, (start, start + size))
        return start

    def _fit(self, start: int, size: int, align: int) -> int | None:
        start += -start % align
        for low, end in self._taken:
            if end + STEP <= start:
                continue
            if start + size + STEP <= low:
                break
            start = end + STEP
            start += -start % align
        return start if start + size <= ADDRESS_SPACE else None

    def take_at(self, start: int, size: int) -> bool:
        """Take a range that a program wants; False if something of it is taken, or it is no place for it."""
        end = start + size
        if start % PAGE or size <= 0 or start < LOWEST or end > ADDRESS_SPACE or len(self._taken) >= MOST:
            return False
        if any(low < end and start < high for low, high in self._taken):
            return False
        insort(self._taken, (start, end))
        return True

    def size_at(self, start: int) -> int | None:
        """The bytes of the range that begins at an address."""
        return next((high - low for low, high in self._taken if low == start), None)

    def release(self, start: int) -> None:
        """Give the range back that begins at an address."""
        self._taken = [one for one in self._taken if one[0] != start]
