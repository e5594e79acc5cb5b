"""How to leave a function: rules from call frame information, of an ELF or of an image in memory.

    frames = ImageFrames(image, base, header)
    frames.rules(0x7100000234)              # where the caller's registers are

An image has them for exceptions of C++: .eh_frame, which a small header points to. Damaged ones give no rules. Source:
DWARF 5; Linux Standard Base, "Exception Frames".
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from pocketgpu.late_dataclass import dataclass

_HEADER: Final = struct.Struct("<BBBBi")
"""Version; how the pointer, the count and the table are stored; the pointer."""
_VERSION: Final = 1
_FROM_HERE: Final = 0x1B
"""A pointer of 32 bits with a sign, from its own place."""
_POINTER_AT: Final = 4
_LENGTH: Final = struct.Struct("<I")
_LONG: Final = 0xFFFFFFFF
"""A length of 64 bits follows, which nothing of this size has."""


@dataclass(frozen=True, slots=True)
class FrameRules:
    """How to leave a function at an address.

    The frame address is a register plus an offset. saved: registers that lie in memory, by their distance from the
    frame address. return_register: the one that holds the return address. outermost: there is no caller.
    """

    register: int
    offset: int
    saved: Mapping[int, int]
    return_register: int
    outermost: bool = False


class FrameSource(Protocol):
    """Who knows how to leave functions."""

    def rules(self, address: int) -> FrameRules | None:
        """How to leave the function at an address; None if nobody says."""
        ...


class FrameTable:
    """The entries of call frame information, as pyelftools gives them, by address."""

    def __init__(self, entries: Sequence[Any]) -> None:
        from elftools.dwarf.callframe import FDE

        found = [one for one in entries if isinstance(one, FDE)]
        self._frames: list[Any] = sorted(found, key=lambda one: int(one["initial_location"]))
        self._starts = [int(one["initial_location"]) for one in self._frames]

    def __repr__(self) -> str:
        return f"<FrameTable: {len(self._starts)} functions>"

    def rules(self, address: int) -> FrameRules | None:
        """How to leave the function at an address; None if the table does not say."""
        starts, frames = self._starts, self._frames
        at = bisect_right(starts, address) - 1
        if at < 0 or address >= starts[at] + frames[at]["address_range"]:
            return None
        try:
            row: dict[Any, Any] = {}
            for one in frames[at].get_decoded().table:
                if one["pc"] > address:
                    break
                row = one
            base = row["cfa"]
            if base.reg is None:
                return None
            saved = {
                number: rule.arg for number, rule in row.items()
                if isinstance(number, int) and rule.type == "OFFSET"
            }  # fmt: skip
            link = frames[at].cie["return_address_register"]
            outermost = link in row and row[link].type == "UNDEFINED"
            return FrameRules(base.reg, base.offset, saved, link, outermost)
        except damages():
            return None


class ImageFrames:
    """The rules of an image. image: its bytes, from the address `base` on. header: offset of .eh_frame_hdr in it."""

    def __init__(self, image: bytes, base: int, header: int) -> None:
        self._image, self._base, self._header = image, base, header

    def __repr__(self) -> str:
        return f"<ImageFrames at {self._base + self._header:#x}>"

    @cached_property
    def _table(self) -> FrameTable | None:
        """The table, read when it is asked for the first time; None where it cannot be read."""
        place = self._place()
        if place is None:
            return None
        try:
            from elftools.dwarf.callframe import CallFrameInfo
            from elftools.dwarf.structs import DWARFStructs
        except ImportError:
            return None
        start, size = place
        try:
            structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
            data = io.BytesIO(self._image[start : start + size])
            return FrameTable(CallFrameInfo(data, size, self._base + start, structs, for_eh_frame=True).get_entries())
        except damages():
            return None

    def _place(self) -> tuple[int, int] | None:
        """Offset and size of .eh_frame: from where the header points to, up to an entry without a length."""
        image, header = self._image, self._header
        if not 0 <= header <= len(image) - _HEADER.size:
            return None
        version, stored, _, _, distance = _HEADER.unpack_from(image, header)
        start = at = header + _POINTER_AT + distance
        if version != _VERSION or stored != _FROM_HERE or at < 0:
            return None
        while at + _LENGTH.size <= len(image):
            (length,) = _LENGTH.unpack_from(image, at)
            if length == 0 or length == _LONG:
                break
            at += _LENGTH.size + length
        return (start, min(at, len(image)) - start) if at > start else None

    def rules(self, address: int) -> FrameRules | None:
        """How to leave the function at an address; None if the image does not say."""
        return self._table.rules(address) if self._table is not None else None


def damages() -> tuple[type[Exception], ...]:
    """What pyelftools raises for a damaged file."""
    import zlib

    from elftools.common.exceptions import DWARFError, ELFError

    return (
        ELFError, DWARFError, struct.error, zlib.error, ValueError, LookupError, TypeError, AttributeError,
        AssertionError, ArithmeticError, NotImplementedError, RecursionError, EOFError, OSError,
    )  # fmt: skip
