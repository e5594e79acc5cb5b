"""What a program prints on the console of its library, as text.

The font is looked for in the program itself, so that all characters are known; else the table of glyphs that were seen
in other programs serves. Whether the processor or the GPU draws the glyphs does not matter: the picture is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.console_font import CHARACTERS, COUNT, ConsoleFont
from pocketgpu.guests.text.fonts import Font, Order, find_other_table, find_table, orders, stored
from pocketgpu.guests.text.pictures import Cells, text_of
from pocketgpu.pictures import ShownArray

_MOST_GUESSES: Final = 8
"""Pictures of one program by which a font of one size is guessed, as each costs a search of all its data."""
_FLAT: Final = 0.5
"""Of the cells with something in them: from this share of two-coloured ones on, a picture may have text of another
size. A scene has fewer."""


class SizedText:
    """Reads text with glyphs of one size. pieces: the program's data, where its font may be. known: glyphs of the
    usual font. fonts: those that the program may print with, the best first."""

    def __init__(self, pieces: Sequence[bytes], known: ConsoleFont) -> None:
        self._pieces, self._known = pieces, known
        table = self._own_table()
        usual = Font.of_glyphs(known.glyphs, known.width, known.height, CHARACTERS, known.lines)
        self.fonts = [usual if table is None else self._font_of(table)]
        self._guesses = 0

    def __repr__(self) -> str:
        return f"<SizedText: {self.fonts}>"

    def _font_of(self, table: bytes) -> Font:
        return Font.of_table(table, self._known.width, self._known.height, CHARACTERS, self._known.lines)

    def _own_table(self) -> bytes | None:
        """The usual font in the program. How it stores the bits of a row is not known: all orders are tried."""
        for order in orders(self._known.width):
            table = find_table(self._pieces, self._stored(order), COUNT)
            if table is not None:
                return stored(table, order)
        return None

    def _stored(self, order: Order) -> dict[int, bytes]:
        return {code: stored(glyph, order) for code, glyph in self._known.glyphs.items()}

    def cells(self, picture: NDArray[np.uint8]) -> Cells:
        """A picture cut into cells of this size."""
        return Cells.of(picture, self._known.width, self._known.height)

    def of(self, cells: Cells) -> str:
        """The text of these cells."""
        for font in self.fonts:
            if text := text_of(cells, font):
                return text
        seen = cells.seen
        if not seen or len(seen) > COUNT or self._guesses >= _MOST_GUESSES:
            return ""
        self._guesses += 1
        for order in orders(self._known.width):
            wanted = [stored(one, order) for one in seen]
            table = find_other_table(self._pieces, wanted, self._stored(order), COUNT)
            if table is not None:
                self.fonts.append(self._font_of(stored(table, order)))
                return text_of(cells, self.fonts[-1])
        return ""


class ConsoleText:
    """Reads the screens of one program. pieces: its data, where its font may be. known: the console's usual font, with
    those of other sizes that are tried after it."""

    def __init__(self, pieces: Sequence[bytes], known: ConsoleFont) -> None:
        self._pieces, self._known = pieces, known
        self._usual = SizedText(pieces, known)
        self._others: list[SizedText] | None = None
        self._last: dict[str, tuple[NDArray[np.uint8], str]] = {}

    def __repr__(self) -> str:
        return f"<ConsoleText: {self._usual.fonts}>"

    def of(self, screens: Mapping[str, ShownArray]) -> dict[str, str]:
        """The text of each screen, by name; "" for one that shows none."""
        for name, screen in screens.items():
            picture, _ = self._last.get(name, (None, ""))
            if picture is None or not np.array_equal(picture, screen.array):
                self._last[name] = screen.array.copy(), self.of_picture(screen.array)
        return {name: self._last[name][1] for name in screens}

    def of_picture(self, picture: NDArray[np.uint8]) -> str:
        """The text of one picture."""
        cells = self._usual.cells(picture)
        if text := self._usual.of(cells):
            return text
        if cells.flat_share < _FLAT:
            return ""
        if self._others is None:
            self._others = [SizedText(self._pieces, one) for one in self._known.others]
        return next(filter(None, (one.of(one.cells(picture)) for one in self._others)), "")
