"""What a program prints on libctru's console, as text.

The font is looked for in the program itself, so that all characters are known; else the table of glyphs that were seen
in other programs serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts import console_font as facts
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.text.fonts import Font, find_other_table, find_table
from pocketgpu.guests.text.pictures import Cells, text_of
from pocketgpu.pictures import ShownArray

_LINES: Final = (facts.UNDERLINE, facts.CROSSED_OUT)
_MOST_GUESSES: Final = 8
"""Pictures of one program by which a font is guessed, as each costs a search of all its data."""


def _font_of(table: bytes) -> Font:
    return Font.of_table(table, facts.WIDTH, facts.HEIGHT, facts.CHARACTERS, _LINES)


class ConsoleText:
    """Reads the screens of one program. fonts: those that it may print with, the best first."""

    def __init__(self, program: Program) -> None:
        self._pieces = [one.data for one in program.segments]
        table = find_table(self._pieces, facts.GLYPHS, facts.COUNT)
        known = Font.of_glyphs(facts.GLYPHS, facts.WIDTH, facts.HEIGHT, facts.CHARACTERS, _LINES)
        self.fonts = [known if table is None else _font_of(table)]
        self._guesses = 0
        self._last: dict[str, tuple[NDArray[np.uint8], str]] = {}

    def __repr__(self) -> str:
        return f"<ConsoleText: {self.fonts}>"

    def of(self, screens: Mapping[str, ShownArray]) -> dict[str, str]:
        """The text of each screen, by name; "" for one that shows none."""
        for name, screen in screens.items():
            picture, _ = self._last.get(name, (None, ""))
            if picture is None or not np.array_equal(picture, screen.array):
                self._last[name] = screen.array.copy(), self.of_picture(screen.array)
        return {name: self._last[name][1] for name in screens}

    def of_picture(self, picture: NDArray[np.uint8]) -> str:
        """The text of one picture."""
        cells = Cells.of(picture, facts.WIDTH, facts.HEIGHT)
        for font in self.fonts:
            if text := text_of(cells, font):
                return text
        seen = cells.seen
        if not seen or len(seen) > facts.COUNT or self._guesses >= _MOST_GUESSES:
            return ""
        self._guesses += 1
        table = find_other_table(self._pieces, seen, facts.GLYPHS, facts.COUNT)
        if table is None:
            return ""
        self.fonts.append(_font_of(table))
        return text_of(cells, self.fonts[-1])
