"""The shared system font: its file format, and how it lies in memory.

    font = Font.read(system_font())
    font.glyph("A").pixels  # array of 30 rows, 0 to 15

Programs get it from APT as memory at 0x18000000, which the GPU sees too: citro2d draws from its sheets. The font of the
console cannot be distributed; the one here is `data/system_font.bcfnt.xz`, made by `tools/make_system_font.py`.
Source: libctru's font.h and font.c; 3dbrew BCFNT.
"""

from __future__ import annotations

import lzma
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import CaptureError
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.late_dataclass import dataclass

_PACKAGED: Final = Path(__file__).parents[2] / "data" / "system_font.bcfnt.xz"
HEADER: Final = 0x80
"""Bytes before the font in shared memory."""
_IN_FILE, _IN_MEMORY = b"CFNT", b"CFNU"
_HEADER_SIZE, _INFO_SIZE = 0x14, 0x20
SHEETS_AT: Final = _HEADER_SIZE + _INFO_SIZE + 8
"""Where the record of the sheets lies: after the header, the info and its own signature."""
_ALTERNATIVE_AT, _POINTERS_AT = 0x1E, 0x24
_SHEET_DATA_AT: Final = 0x14
_NEXT_WIDTHS_AT, _NEXT_MAP_AT = 4, 8
A4: Final = 0xB
"""The format of sheets: 4 bits of coverage."""
_MOST_PARTS: Final = 0x1000
_MOST_PAIRS: Final = 1 << 17
_LOADED: Final = 2
_NONE: Final = 0xFFFF


_Pair = TypeVar("_Pair")


class Method:
    """How a map finds the glyphs of its characters."""

    DIRECT, TABLE, SCAN = range(3)


@dataclass(frozen=True)
class Glyph:
    """A character's picture. left: columns before it. advance: columns to the next character. pixels: rows of 0 to 15,
    as high as a cell."""

    left: int
    advance: int
    pixels: NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"<Glyph {self.pixels.shape[1]}x{self.pixels.shape[0]}>"


def _part(data: bytes | bytearray, format: str, at: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(format, data, at)
    except struct.error:
        raise CaptureError("not a font of a 3DS: it points outside itself") from None


def _bounded(pairs: Iterator[_Pair]) -> Iterator[_Pair]:
    """As many as there are characters, or some more."""
    for number, pair in enumerate(pairs):
        if number > _MOST_PAIRS:
            raise CaptureError("not a font of a 3DS: it has more characters than there are")
        yield pair


class Font:
    """A font. data: the file with pointers that count from its beginning. codes: glyphs by code point."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        sheets, widths, maps = _part(data, "<3I", _POINTERS_AT)
        if _part(data, "<I", SHEETS_AT - 8)[0] != int.from_bytes(b"TGLP", "little"):
            raise CaptureError("not a font of a 3DS: there are no sheets")
        cell = _part(data, "<4BIHHHHHHI", sheets)
        self.cell_width, self.cell_height, self.baseline, _ = cell[:4]
        self.sheet_size, self.sheet_count, self.format, self.columns, self.lines, self.width, self.height = cell[4:11]
        self.sheets_at = cell[11]
        self.line_feed = data[_HEADER_SIZE + 9]
        (self.alternative,) = _part(data, "<H", _ALTERNATIVE_AT)
        if not self.columns * self.lines or self.sheets_at + self.sheet_size * self.sheet_count > len(data):
            raise CaptureError("not a font of a 3DS: its sheets are not in it")
        self.codes = dict(_bounded(self._codes(maps)))
        self._widths = dict(_bounded(self._width_parts(widths)))

    def __repr__(self) -> str:
        return f"<Font: {len(self.codes)} characters, {self.sheet_count} sheets of {self.width}x{self.height}>"

    @classmethod
    def read(cls, data: bytes) -> Font:
        """Read a file, or a dump of shared memory, whose pointers are addresses.

        :raises CaptureError: it is no font of a 3DS.
        """
        if data[HEADER : HEADER + 4] == _IN_MEMORY:
            data = data[HEADER:]
        if data[:4] not in (_IN_FILE, _IN_MEMORY):
            raise CaptureError(
                "not a font of a 3DS: it begins with neither CFNT nor CFNU",
                hint="A .lz file must be unpacked first." if data[:1] in (b"\x10", b"\x11") else "",
            )
        if len(data) > layout.FONT_SIZE - HEADER:
            raise CaptureError("the font is larger than the memory for it")
        base = _part(data, "<I", _POINTERS_AT)[0] - SHEETS_AT
        moved = bytearray(data)
        moved[:4] = _IN_FILE
        _relocate(moved, base, 0)
        return cls(bytes(moved))

    def _chain(self, at: int, next_at: int) -> Iterator[int]:
        for _ in range(_MOST_PARTS):
            if not at:
                return
            yield at
            (at,) = _part(self.data, "<I", at + next_at)

    def _codes(self, at: int) -> Iterator[tuple[int, int]]:
        for place in self._chain(at, _NEXT_MAP_AT):
            first, last, method = _part(self.data, "<HHH", place)
            body = place + 12
            if method == Method.DIRECT:
                (start,) = _part(self.data, "<H", body)
                pairs = [(code, start + code - first) for code in range(first, last + 1)]
            elif method == Method.TABLE:
                found = _part(self.data, f"<{last + 1 - first if last >= first else 0}H", body)
                pairs = [(first + n, glyph) for n, glyph in enumerate(found)]
            else:
                words = _part(self.data, f"<{2 * _part(self.data, '<H', body)[0]}H", body + 2)
                pairs = list(zip(words[::2], words[1::2], strict=True))
            yield from (pair for pair in pairs if pair[1] != _NONE)

    def _width_parts(self, at: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        for place in self._chain(at, _NEXT_WIDTHS_AT):
            first, last = _part(self.data, "<HH", place)
            for glyph in range(first, last + 1):
                yield glyph, _part(self.data, "<bBB", place + 8 + 3 * (glyph - first))

    def sheet(self, number: int) -> NDArray[np.uint8]:
        """The texels of a sheet, 0 to 15, first row at the top.

        :raises CaptureError: its format is not the usual one.
        """
        if self.format != A4 or self.sheet_size * 2 != self.width * self.height or self.width % 8 or self.height % 8:
            raise CaptureError(f"sheets of format {self.format:#x} cannot be read")
        at = self.sheets_at + self.sheet_size * number
        packed = np.frombuffer(self.data, np.uint8, self.sheet_size, at)
        texels = np.stack([packed & 0xF, packed >> 4], axis=-1).reshape(-1)
        return np.asarray(texels[tile_order(self.width, self.height)])

    def glyph(self, character: str) -> Glyph:
        """The glyph of a character; the one for unknown characters, if it has none."""
        number = self.codes.get(ord(character), self.alternative)
        left, width, advance = self._widths.get(number, (0, 0, 0))
        sheet, place = divmod(number, self.columns * self.lines)
        line, column = divmod(place, self.columns)
        x, y = column * (self.cell_width + 1) + 1, line * (self.cell_height + 1) + 1
        return Glyph(left, advance, self.sheet(sheet)[y : y + self.cell_height, x : x + width])

    def shared_memory(self) -> bytes:
        """How it lies at 0x18000000: a header, and the file with addresses in it."""
        moved = bytearray(self.data)
        moved[:4] = _IN_MEMORY
        _relocate(moved, 0, layout.FONT + HEADER)
        return struct.pack("<III", _LOADED, 1, len(moved)).ljust(HEADER, b"\0") + bytes(moved)


def tile_order(width: int, height: int) -> NDArray[np.int64]:
    """For each texel of a sheet, its number in memory: tiles of 8x8, and in them a curve."""
    y, x = np.mgrid[0:height, 0:width]
    in_tile = sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(3))
    return np.asarray((y // 8 * (width // 8) + x // 8) * 64 + in_tile, np.int64)


def _relocate(data: bytearray, old: int, new: int) -> None:
    """Let the pointers of a font count from `new` instead of `old`. Chains end with 0."""

    def move(at: int) -> int:
        (pointer,) = _part(data, "<I", at)
        if not pointer:
            return 0
        place = pointer - old
        if not 0 <= place < len(data):
            raise CaptureError("not a font of a 3DS: it points outside itself")
        struct.pack_into("<I", data, at, place + new)
        return place

    move(move(_POINTERS_AT) + _SHEET_DATA_AT)
    for pointer_at, next_at in ((_POINTERS_AT + 4, _NEXT_WIDTHS_AT), (_POINTERS_AT + 8, _NEXT_MAP_AT)):
        seen: set[int] = set()
        at = move(pointer_at)
        while at and at not in seen and len(seen) < _MOST_PARTS:
            seen.add(at)
            at = move(at + next_at)
        if at:
            raise CaptureError("not a font of a 3DS: its parts are a circle")


def system_font(path: str | os.PathLike[str] | None = None) -> bytes:
    """A font file, by default the one of this package.

    :raises CaptureError: the file cannot be read.
    """
    if path is None:
        return lzma.decompress(_PACKAGED.read_bytes())
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CaptureError(f"cannot be read: {error.strerror}", file=str(path)) from None
