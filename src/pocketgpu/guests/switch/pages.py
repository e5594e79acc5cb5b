"""Pages of the Switch's memory: which of the program's RAM are free, and what mapped ones are used for.

    ram = RamPages(layout.RAM)
    ram.take(0x200000)  # 0: its offset

    uses = PageUses()
    uses.set(0x2100000000, 0x1000, Use.UNCACHED, Use.UNCACHED)
    uses.at(0x2100000000)  # (8, 0x2100000000, 0x2100001000)
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from pocketgpu.guests.switch.abi import layout

_ALL: Final = -1


class RamPages:
    """Free pieces of a memory, by offset. used_up_to: from there on nothing was ever given back."""

    def __init__(self, size: int) -> None:
        self._free: list[tuple[int, int]] = [(0, size)]
        self.used_up_to = 0

    def __repr__(self) -> str:
        return f"<RamPages: {self.left:#x} bytes free>"

    @property
    def left(self) -> int:
        """Bytes that are free."""
        return sum(size for _, size in self._free)

    def take(self, size: int, at: int | None = None) -> int | None:
        """Offset of a piece that is free no more: the first one, or at a place; None if there is none."""
        for number, (offset, room) in enumerate(self._free):
            place = offset if at is None else at
            if offset <= place and place + size <= offset + room:
                rest = [(offset, place - offset), (place + size, offset + room - place - size)]
                self._free[number : number + 1] = [one for one in rest if one[1]]
                return place
        return None

    def give_back(self, offset: int, size: int) -> None:
        """A piece is free again."""
        self.used_up_to = max(self.used_up_to, offset + size)
        joined: list[tuple[int, int]] = []
        for at, room in sorted([*self._free, (offset, size)]):
            if joined and sum(joined[-1]) == at:
                joined[-1] = joined[-1][0], joined[-1][1] + room
            else:
                joined.append((at, room))
        self._free = joined


class PageUses:
    """What addresses are used for: `Use` bits in ranges."""

    def __init__(self) -> None:
        self._starts, self._values = [0], [0]

    def __repr__(self) -> str:
        return f"<PageUses: {len(self._starts)} ranges>"

    def at(self, address: int) -> tuple[int, int, int]:
        """The bits of an address, and first address and end of the range that has the same."""
        number = bisect_right(self._starts, address) - 1
        end = self._starts[number + 1] if number + 1 < len(self._starts) else layout.LIMIT
        return self._values[number], self._starts[number], end

    def any(self, base: int, size: int) -> int:
        """Bits that some address of a range has."""
        found, at = 0, base
        while at < base + size:
            value, _, at = self.at(at)
            found |= value
        return found

    def set(self, base: int, size: int, mask: int, value: int) -> None:
        """Replace the bits of `mask` in a range."""
        for edge in (base, base + size):
            self._cut(edge)
        first, last = bisect_right(self._starts, base) - 1, bisect_right(self._starts, base + size - 1)
        for number in range(first, last):
            self._values[number] = self._values[number] & ~mask | value & mask
        self._join(max(first, 1), last)

    def clear(self, base: int, size: int) -> None:
        """Nothing is known of a range any more."""
        self.set(base, size, _ALL, 0)

    def _cut(self, address: int) -> None:
        number = bisect_right(self._starts, address) - 1
        if self._starts[number] != address and address < layout.LIMIT:
            self._starts.insert(number + 1, address)
            self._values.insert(number + 1, self._values[number])

    def _join(self, first: int, last: int) -> None:
        for number in range(min(last, len(self._starts) - 1), first - 1, -1):
            if self._values[number] == self._values[number - 1]:
                del self._starts[number], self._values[number]
