"""Glyphs of the consoles that homebrew prints on: 8x8 pixels on a 3DS, 16x16 on a Switch.

    N3DS.glyphs[0x41]     # the rows of "A", the left pixel highest
    SWITCH.width          # 16
    CHARACTERS[1]         # "☺"

The rows are in n3ds/console_font.tsv and switch/console_font.tsv, which tools/learn_console_font.py makes from pictures
of programs whose text is known. A font has 256 glyphs; those that nobody printed are not in the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.tables import Tables
from pocketgpu.facts.n3ds import TABLES as N3DS_TABLES
from pocketgpu.facts.switch import TABLES as SWITCH_TABLES
from pocketgpu.late_dataclass import dataclass

WIDTH: Final = 8
HEIGHT: Final = 8
COUNT: Final = 256
UNDERLINE: Final = 7
CROSSED_OUT: Final = 3
"""Rows that are drawn full. Source: libctru's console.c."""

_CONTROLS: Final = " ☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼"
_HOUSE: Final = 0x7F


def _characters() -> tuple[str, ...]:
    found = list(bytes(range(COUNT)).decode("cp437"))
    found[: len(_CONTROLS)] = _CONTROLS
    found[_HOUSE] = "⌂"
    return tuple(found)


CHARACTERS: Final = _characters()
"""What each glyph is, in the order of the font: code page 437, whose control codes have pictures too."""


def doubled(glyph: bytes) -> bytes:
    """A glyph of 8 columns with each pixel as four."""
    wide = (sum(3 << 2 * bit for bit in range(8) if row >> bit & 1) for row in glyph)
    return b"".join(2 * row.to_bytes(2, "big") for row in wide)


def taller(glyph: bytes) -> bytes:
    """A glyph of 8 columns with each row twice."""
    return b"".join(bytes((row, row)) for row in glyph)


@dataclass(frozen=True)
class ConsoleFont:
    """The font of a console. width, height: of a glyph, in pixels. lines: rows that an underline and the like fill.
    half: the same font in half the size, for glyphs that the table lacks. Without a table of its own, all are made of
    that one. others: of other sizes, which programs may bring for a console that the GPU draws."""

    tables: Tables | None
    width: int
    height: int
    lines: tuple[int, ...] = ()
    half: ConsoleFont | None = None
    others: tuple[ConsoleFont, ...] = ()

    def __repr__(self) -> str:
        return f"<ConsoleFont {self.width}x{self.height}: {len(self.glyphs)} glyphs>"

    @cached_property
    def glyphs(self) -> Mapping[int, bytes]:
        """Glyphs by code."""
        grown = doubled if self.width > WIDTH else taller
        found = {} if self.half is None else {code: grown(one) for code, one in self.half.glyphs.items()}
        rows = self.tables.read("console_font") if self.tables is not None else ()
        found |= {int(row["code"], 0): bytes.fromhex(row["glyph"]) for row in rows}
        return MappingProxyType(dict(sorted(found.items())))


N3DS: Final = ConsoleFont(N3DS_TABLES, WIDTH, HEIGHT, (UNDERLINE, CROSSED_OUT))
TALL: Final = ConsoleFont(None, WIDTH, 2 * HEIGHT, half=N3DS)
"""No program's font, but like many of 8x16: enough to tell which glyph is which."""
SWITCH: Final = ConsoleFont(SWITCH_TABLES, 16, 16, (15, 7), half=N3DS, others=(TALL, N3DS))
"""All glyphs that are known of both are the same, with doubled pixels. An underline fills the last row, and a line
through the text row 7: libnx's console_sw.c. The taller of the other sizes comes first, as a half of such a glyph may
be taken for one of 8x8."""
GLYPHS: Final = N3DS.glyphs
"""Glyphs of the 3DS by code."""
