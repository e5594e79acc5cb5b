"""Fonts of consoles, and how one is found in a program.

    font = Font.of_table(table, 8, 8, CHARACTERS)
    font.character(bytes.fromhex("7c66667c66667c00"))  # "B", or None

A program that prints has its font among its data: all glyphs one after the other. `find_table` looks for one that has
known glyphs at the right places, `find_other_table` for one that has the glyphs that a picture shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from pocketgpu.late_dataclass import dataclass

_BYTE: Final = 8
_COMMONEST: Final = " etaoinshrdlcumwfgypbvkjxqz,."
_ANCHORS: Final = 12
"""Glyphs that are searched for; the others are only compared."""
_MOST_PLACES: Final = 64
"""Of one glyph in one piece of data."""
_FEWEST_GLYPHS: Final = 6
"""That a picture must show before a font is guessed from it."""
_SHARE: Final = 0.75
"""Of the known glyphs, or of those of a picture, that a table must have."""


@dataclass(frozen=True)
class Font:
    """Glyphs and what they mean. width, height: pixels of a glyph. characters: by the bytes of a glyph, rows from the
    top, the left pixel in the highest bit. lines: rows that an underline and the like fill."""

    width: int
    height: int
    characters: Mapping[bytes, str]
    lines: Sequence[int] = ()
    _lined: dict[tuple[tuple[int, ...], bytes], str] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for rows in self._line_sets():
            for glyph, character in self.characters.items():
                self._lined.setdefault((rows, self._filled(glyph, rows)), character)

    def _line_sets(self) -> list[tuple[int, ...]]:
        """Which rows may be filled together: each, then all."""
        every = tuple(self.lines)
        return [*((row,) for row in every), *([every] if len(every) > 1 else [])]

    def __repr__(self) -> str:
        return f"<Font {self.width}x{self.height}: {len(self.characters)} glyphs>"

    @classmethod
    def of_glyphs(
        cls, glyphs: Mapping[int, bytes], width: int, height: int, names: Sequence[str], lines: Sequence[int] = ()
    ) -> Font:
        """A font of glyphs by code. names: the character of each code. Of codes with the same glyph, or whose glyphs
        an underline makes the same, the commonest in English text wins."""
        codes = sorted(glyphs, key=lambda code: _rank(code, names[code]))
        characters: dict[bytes, str] = {bytes(width * height // 8): " "}
        for code in codes:
            characters.setdefault(glyphs[code], names[code])
        return cls(width, height, characters, lines)

    @classmethod
    def of_table(cls, table: bytes, width: int, height: int, names: Sequence[str], lines: Sequence[int] = ()) -> Font:
        """A font of consecutive glyphs, the first with code 0."""
        size = width * height // 8
        glyphs = {code: table[code * size : (code + 1) * size] for code in range(len(table) // size)}
        return cls.of_glyphs(glyphs, width, height, names, lines)

    def character(self, glyph: bytes) -> str | None:
        """The character of a glyph, underlined or not; None if it is not of this font."""
        found = self.characters.get(glyph)
        if found is None:
            for rows in self._line_sets():
                if self._filled(glyph, rows) == glyph and (found := self._lined.get((rows, glyph))) is not None:
                    return found
        return found

    def _filled(self, glyph: bytes, rows: Sequence[int]) -> bytes:
        size = self.width // 8
        for row in rows:
            glyph = glyph[: row * size] + b"\xff" * size + glyph[(row + 1) * size :]
        return glyph


class Order(Enum):
    """How a program stores the bits of a row of a glyph, compared with ours: the left pixel in the highest bit of the
    first byte. Doing it twice undoes it."""

    SAME = "same"
    SWAPPED = "bytes exchanged"
    MIRRORED = "the left pixel lowest in each byte"
    BOTH = "both"


def orders(width: int) -> tuple[Order, ...]:
    """Those that are tried for glyphs of a width: a byte a row is stored as it is."""
    return (Order.SAME,) if width == _BYTE else tuple(Order)


def stored(glyphs: bytes, order: Order) -> bytes:
    """Glyphs with rows of two bytes in another order."""
    if order is Order.SAME:
        return glyphs
    rows = np.frombuffer(glyphs, np.uint8).reshape(-1, 2)
    if order in (Order.SWAPPED, Order.BOTH):
        rows = rows[:, ::-1]
    if order in (Order.MIRRORED, Order.BOTH):
        rows = np.packbits(np.unpackbits(rows.reshape(-1, 1), axis=1), axis=1, bitorder="little").reshape(-1, 2)
    return rows.tobytes()


def find_table(pieces: Sequence[bytes], known: Mapping[int, bytes], count: int) -> bytes | None:
    """A font of `count` glyphs in the data of a program that has most of the known glyphs, by code; None if no piece
    of data has one."""
    size = len(next(iter(known.values())))
    anchors = sorted(known, key=lambda code: -_weight(known[code]))[:_ANCHORS]
    needed = _SHARE * len(known)
    for data in pieces:
        places = Counter(at - code * size for code in anchors for at in _occurrences(data, known[code]))
        for place, _ in places.most_common(3):
            table = _cut(data, place, count * size)
            if sum(table[code * size : (code + 1) * size] == glyph for code, glyph in known.items()) >= needed:
                return table
    return None


def find_other_table(
    pieces: Sequence[bytes], seen: Collection[bytes], known: Mapping[int, bytes], count: int
) -> bytes | None:
    """A font that has the glyphs of a picture, whatever they are; None if nothing has enough of them.

    Which glyph is which follows from `known` ones of another font: fonts have the same order, and an A looks like an A.
    """
    wanted = [glyph for glyph in seen if _weight(glyph)]
    if len(wanted) < _FEWEST_GLYPHS:
        return None
    size = len(wanted[0])
    for data in pieces:
        spans = _spans(data, wanted, count)
        best = max(spans, key=lambda one: (one.glyphs, one.first - one.last), default=None)
        if best is None or best.glyphs < _SHARE * len(wanted):
            continue
        starts = range(best.last - (count - 1) * size, best.first + 1, size)
        start = min(starts, key=lambda place: _distance(_cut(data, place, count * size), known, size))
        return _cut(data, start, count * size)
    return None


class _Span(NamedTuple):
    """Glyphs that could lie in one table: how many different ones, the places of the first and of the last."""

    glyphs: int
    first: int
    last: int


def _spans(data: bytes, glyphs: Collection[bytes], count: int) -> Iterator[_Span]:
    size = len(next(iter(glyphs)))
    places = sorted({(at % size, at) for glyph in glyphs for at in _occurrences(data, glyph)})
    for n, (phase, first) in enumerate(places):
        near = [at for other, at in places[n : n + count] if other == phase and at < first + count * size]
        yield _Span(len({data[at : at + size] for at in near}), first, near[-1])


def _cut(data: bytes, place: int, size: int) -> bytes:
    """Bytes at a place that may begin before the data or end after it, as zeros."""
    return (bytes(max(0, -place)) + data[max(0, place) : max(0, place + size)]).ljust(size, b"\0")[:size]


def _occurrences(data: bytes, glyph: bytes) -> Iterator[int]:
    at = -1
    for _ in range(_MOST_PLACES):
        at = data.find(glyph, at + 1)
        if at < 0:
            return
        yield at


def _rank(code: int, name: str) -> tuple[bool, int, int]:
    common = _COMMONEST.find(name)
    return not (name.isascii() and name.isprintable()), common if common >= 0 else len(_COMMONEST), code


def _weight(glyph: bytes) -> int:
    return int.from_bytes(glyph, "big").bit_count()


def _distance(table: bytes, known: Mapping[int, bytes], size: int) -> int:
    """Pixels by which a table's glyphs differ from known ones."""
    mine = np.frombuffer(table, np.uint8).reshape(-1, size)[list(known)]
    theirs = np.frombuffer(b"".join(known.values()), np.uint8).reshape(-1, size)
    return int(np.unpackbits(mine ^ theirs).sum())
