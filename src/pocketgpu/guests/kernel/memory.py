"""The virtual address space of a program: areas with permissions, and checked reads and writes.

    space.map(Area(0x00100000, 0x1000, Permission.READ | Permission.EXECUTE, "code", view))
    space.read(0x00100000, 4)

An area's bytes belong to somebody else: host memory of its own, or memory of the machine, which the GPU sees too. A
wrong address of a program is an AddressError with the address; the kernel answers with a result code.
"""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntFlag
from typing import Protocol

from pocketgpu.late_dataclass import dataclass

PAGE = 4096
MOST_AREAS = 1024
"""Of one program. A processor takes longer for each area that there is already, and programs have a few dozen."""


class Permission(IntFlag):
    """What a program may do with an area."""

    NONE = 0
    READ = 1
    WRITE = 2
    EXECUTE = 4


class AddressError(Exception):
    """A program named memory that it does not have."""

    def __init__(self, address: int, size: int, what: str = "there is no memory") -> None:
        super().__init__(f"{what}: {size:#x} bytes at {address:#010x}")
        self.address, self.size = address, size


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """Mapped memory of whole pages. state: the kernel's number for its kind. view: its bytes, writable. physical: the
    address that the GPU has for it, if it sees it."""

    base: int
    size: int
    permission: Permission
    name: str
    view: memoryview
    state: int = 0
    physical: int | None = None

    def __repr__(self) -> str:
        return f"<Area {self.base:#010x}+{self.size:#x} {self.name}, {self.permission!r}>"

    @property
    def end(self) -> int:
        """First address after it."""
        return self.base + self.size

    def part(self, base: int, size: int) -> Area:
        """A piece of it."""
        at = base - self.base
        physical = None if self.physical is None else self.physical + at
        return replace(self, base=base, size=size, view=self.view[at : at + size], physical=physical)


class Follower(Protocol):
    """Who keeps a copy of the map: a processor."""

    def mapped(self, area: Area) -> None:
        """An area is new."""
        ...

    def unmapped(self, base: int, size: int) -> None:
        """An area, all of it, is gone; parts that stay are mapped again."""
        ...


def host_memory(size: int) -> memoryview:
    """Zeros on pages of their own, which use host memory only when they are touched."""
    return memoryview(mmap.mmap(-1, size))


def _alike(one: Area, other: Area) -> bool:
    """Whether two areas are of the same kind, with the same permission."""
    return one.state == other.state and one.permission == other.permission


class AddressSpace:
    """The areas of one program, in order of address. limit: end of the address space. most: how many there can be.
    join: gives one view of the bytes of two areas, if they lie together; it is asked when there are too many areas."""

    outside_state = frozenset({"followers", "join"})

    def __init__(self, limit: int, most: int = MOST_AREAS) -> None:
        self.limit, self.most = limit, most
        self._bases: list[int] = []
        self._areas: list[Area] = []
        self.followers: list[Follower] = []
        self.join: Callable[[Area, Area], memoryview | None] | None = None

    def __repr__(self) -> str:
        return f"<AddressSpace: {len(self._areas)} areas>"

    def __iter__(self) -> Iterator[Area]:
        return iter(tuple(self._areas))

    # -- the map ----------------------------------------------------------------------------------------------------
    def _insert(self, area: Area) -> None:
        at = bisect_right(self._bases, area.base)
        self._bases.insert(at, area.base)
        self._areas.insert(at, area)

    def map(self, area: Area) -> Area:
        """Add an area.

        :raises AddressError: it is not of whole pages, leaves the address space, or something is there.
        """
        if area.base % PAGE or area.size % PAGE or area.size <= 0 or area.base < 0 or area.end > self.limit:
            raise AddressError(area.base, area.size, "not a range of pages")
        if any(self.within(area.base, area.size)):
            raise AddressError(area.base, area.size, "something is mapped there")
        if len(self._areas) >= self.most:
            self._tidy()
            if len(self._areas) >= self.most:
                raise AddressError(area.base, area.size, "too many areas")
        self._insert(area)
        for one in self.followers:
            one.mapped(area)
        return area

    def unmap(self, base: int, size: int) -> None:
        """Remove all that is mapped in a range; areas that reach beyond it are cut.

        :raises AddressError: there would be too many pieces.
        """
        self._change(base, size, lambda piece: None)

    def protect(self, base: int, size: int, permission: Permission, state: int | None = None) -> None:
        """Other permissions for a range. state: it is of another kind, too.

        :raises AddressError: not all of it is mapped, or there would be too many pieces.
        """
        self._covered(base, size)

        def changed(piece: Area) -> Area:
            return replace(piece, permission=permission, state=piece.state if state is None else state)

        self._change(base, size, changed)

    def _change(self, base: int, size: int, make: Callable[[Area], Area | None]) -> None:
        """Replace each area of a range by up to three: what is before, what `make` gives for the part inside, what is
        after."""
        if self._too_many(base, size, make):
            self._tidy()
            if self._too_many(base, size, make):
                raise AddressError(base, size, "too many areas")
        for area in list(self.within(base, size)):
            at = self._areas.index(area)
            del self._areas[at], self._bases[at]
            low, high = max(base, area.base), min(base + size, area.end)
            parts = [
                area.part(area.base, low - area.base) if area.base < low else None,
                make(area.part(low, high - low)),
                area.part(high, area.end - high) if high < area.end else None,
            ]
            for follower in self.followers:
                follower.unmapped(area.base, area.size)
            for part in filter(None, parts):
                self._insert(part)
                for follower in self.followers:
                    follower.mapped(part)

    def _too_many(self, base: int, size: int, make: Callable[[Area], Area | None]) -> bool:
        """Whether `_change` would leave more areas than there can be."""
        touched = list(self.within(base, size))
        if not touched:
            return False
        outside = (touched[0].base < base) + (touched[-1].end > base + size)
        more = outside - (len(touched) if make(touched[0]) is None else 0)
        return more > 0 and len(self._areas) + more > self.most

    def _tidy(self) -> None:
        """Make one area of neighbours that are alike and whose bytes lie together: pieces of a heap whose permissions
        were changed and changed back."""
        areas, self._areas, self._bases = self._areas, [], []
        for area in areas:
            last = self._areas[-1] if self._areas else None
            view = None
            if last is not None and last.end == area.base and _alike(last, area) and self.join is not None:
                view = self.join(last, area)
            if last is not None and view is not None:
                self._areas[-1] = replace(last, size=last.size + area.size, view=view)
            else:
                self._areas.append(area)
        self._bases = [one.base for one in self._areas]
        self.follow_again(areas)

    def follow_again(self, before: Iterable[Area]) -> None:
        """The map was put back to what it was earlier: tell the followers. before: the areas that they know."""
        now, known = dict.fromkeys(self._areas), dict.fromkeys(before)
        for follower in self.followers:
            for area in known:
                if area not in now:
                    follower.unmapped(area.base, area.size)
            for area in now:
                if area not in known:
                    follower.mapped(area)

    def within(self, base: int, size: int) -> Iterator[Area]:
        """Areas that have bytes of a range, in order."""
        at = max(bisect_right(self._bases, base) - 1, 0)
        while at < len(self._areas) and self._areas[at].base < base + size:
            if self._areas[at].end > base:
                yield self._areas[at]
            at += 1

    def find(self, address: int) -> Area | None:
        """The area of an address."""
        at = bisect_right(self._bases, address) - 1
        return self._areas[at] if at >= 0 and address < self._areas[at].end else None

    def gap(self, address: int) -> tuple[int, int]:
        """The unmapped range around an address: base and size."""
        at = bisect_right(self._bases, address)
        low = self._areas[at - 1].end if at else 0
        high = self._bases[at] if at < len(self._bases) else self.limit
        return low, high - low

    def alike(self, area: Area) -> tuple[int, int]:
        """First address and end of all that lies at an area without a gap and is of the same kind, with the same
        permission."""
        at = self._areas.index(area)
        low = high = at
        while low and self._follows(low - 1):
            low -= 1
        while high + 1 < len(self._areas) and self._follows(high):
            high += 1
        return self._areas[low].base, self._areas[high].end

    def _follows(self, number: int) -> bool:
        """Whether the area after one of this number is its continuation."""
        one, other = self._areas[number : number + 2]
        return one.end == other.base and _alike(one, other)

    def free(self, low: int, high: int, size: int) -> int | None:
        """The lowest address from `low` on where `size` bytes are free below `high`."""
        at = low
        for area in list(self.within(low, high - low)):
            if area.base - at >= size:
                return at
            at = max(at, area.end)
        return at if high - at >= size else None

    def _covered(self, base: int, size: int) -> None:
        at = base
        for area in self.within(base, size):
            if area.base > at:
                break
            at = area.end
        if at < base + size or size < 0:
            raise AddressError(at, base + size - at)

    # -- bytes ------------------------------------------------------------------------------------------------------
    def view(self, address: int, size: int, need: Permission = Permission.READ) -> memoryview:
        """The bytes themselves, of a range inside one area.

        :raises AddressError: it is not inside one, or the program may not do that there.
        """
        area = self.find(address)
        if area is None or size < 0 or address + size > area.end:
            raise AddressError(address, size)
        if need.value & ~area.permission.value:
            raise AddressError(address, size, "not allowed there")
        at = address - area.base
        return area.view[at : at + size]

    def _pieces(self, address: int, size: int, need: Permission) -> Sequence[memoryview]:
        end = address + size
        if size < 0 or end > self.limit:
            raise AddressError(address, size)
        area = self.find(address)
        if area is not None and end <= area.end:  # nearly always
            return (self.view(address, size, need),)
        self._covered(address, size)
        pieces = []
        for area in self.within(address, size):
            low, high = max(area.base, address), min(area.end, end)
            pieces.append(self.view(low, high - low, need))
        return pieces

    def check(self, address: int, size: int, need: Permission = Permission.READ) -> None:
        """Whether the program may do that to a range, which may lie in several areas.

        :raises AddressError: it may not.
        """
        self._pieces(address, size, need)

    def read(self, address: int, size: int) -> bytes:
        """A copy of bytes, which may lie in several areas.

        :raises AddressError: not all of it is there for reading.
        """
        return b"".join(self._pieces(address, size, Permission.READ))

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes, all or none.

        :raises AddressError: not all of it is there for writing.
        """
        at = 0
        for piece in self._pieces(address, len(data), Permission.WRITE):
            piece[:] = data[at : at + len(piece)]
            at += len(piece)

    def word(self, address: int) -> int:
        """A 32-bit word."""
        found: int = struct.unpack("<I", self.read(address, 4))[0]
        return found

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Consecutive words."""
        return struct.unpack(f"<{count}I", self.read(address, 4 * count))

    def set_words(self, address: int, *words: int) -> None:
        """Store consecutive words."""
        self.write(address, struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words)))

    def text(self, address: int, limit: int) -> str:
        """A string that ends with 0 or after `limit` bytes; bytes that are no ASCII become escapes."""
        data = bytearray()
        while len(data) < limit and (byte := self.read(address + len(data), 1)) != b"\0":
            data += byte
        return data.decode("ascii", "backslashreplace")
