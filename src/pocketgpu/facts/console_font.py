"""Glyphs of the console that homebrew of the 3DS prints on: 8x8 pixels, a byte a row, the left pixel highest.

    GLYPHS[0x41]   # the rows of "A"
    CHARACTERS[1]  # "☺"

The rows are in n3ds/console_font.tsv, which tools/learn_console_font.py makes from pictures of programs whose text is
known. A font has 256 glyphs; those that nobody printed are not in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.n3ds import TABLES

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

GLYPHS: Final[Mapping[int, bytes]] = MappingProxyType(
    {int(row["code"], 0): bytes.fromhex(row["glyph"]) for row in TABLES.read("console_font")}
)
"""Glyphs by code."""
