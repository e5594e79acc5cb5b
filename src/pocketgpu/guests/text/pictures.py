"""From the picture of a screen to the text on it.

    cells = Cells.of(screen.array, font.width, font.height)
    print(text_of(cells, font))

A console draws each character into a cell of two colours. A picture in which most cells are none of the font's glyphs,
such as a scene, has no text; nor has one without a letter or digit, as edges of rectangles look like lines and blocks.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.text.fonts import Font
from pocketgpu.late_dataclass import dataclass

UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
"""A cell that is no glyph."""
_SHARE: Final = 0.5
"""Of the cells with something in them that must be glyphs."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A picture cut into cells. shape: rows and columns. glyphs: the different patterns of two colours, the foreground
    as 1, the first without anything; numbers: which one each cell has, -1 for more than two colours."""

    shape: tuple[int, int]
    glyphs: list[bytes]
    numbers: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<Cells: {self.shape[1]}x{self.shape[0]}, {len(self.glyphs)} glyphs>"

    @classmethod
    def of(cls, picture: NDArray[np.uint8], width: int, height: int) -> Cells:
        """Cut a picture of shape (rows, columns, 3). The colour of most cells is the background of those that have
        it; in others it is the darker one."""
        rows, columns = picture.shape[0] // height, picture.shape[1] // width
        if not rows or not columns:
            return cls((rows, columns), [], np.zeros(0, np.int64))
        cut = picture[: rows * height, : columns * width].astype(np.uint32)
        colours = cut[..., 0] << 16 | cut[..., 1] << 8 | cut[..., 2]
        cells = colours.reshape(rows, height, columns, width).swapaxes(1, 2).reshape(rows * columns, height * width)
        low, high = cells.min(axis=1, keepdims=True), cells.max(axis=1, keepdims=True)
        found, counts = np.unique(np.concatenate([low, high]), return_counts=True)
        page = found[np.argmax(counts)]
        upper = cells == high
        simple = (upper | (cells == low)).all(axis=1)
        ink = np.where(high == page, ~upper, upper) & (low != high)
        packed = np.packbits(ink, axis=1)
        patterns, numbers = np.unique(packed, axis=0, return_inverse=True)
        numbers = numbers.reshape(-1).astype(np.int64)
        numbers[~simple] = -1
        return cls((rows, columns), [row.tobytes() for row in patterns], numbers)

    @property
    def flat_share(self) -> float:
        """The share of cells with something in them that have two colours; 0 if all are blank."""
        blank = np.array([not any(glyph) for glyph in self.glyphs] + [False])
        filled = self.numbers[~blank[self.numbers]]
        return float((filled >= 0).mean()) if filled.size else 0.0

    @property
    def seen(self) -> list[bytes]:
        """The patterns that a cell has, without the blank one, in the colour that has fewer pixels: a glyph leaves
        more than half of its cell free."""
        used = [self.glyphs[number] for number in np.unique(self.numbers) if number >= 0]
        fewer = (min(one, inverse(one), key=lambda it: int.from_bytes(it, "big").bit_count()) for one in used)
        return [one for one in dict.fromkeys(fewer) if any(one)]


def inverse(glyph: bytes) -> bytes:
    """A glyph with its colours exchanged."""
    return bytes(~byte & 0xFF for byte in glyph)


def text_of(cells: Cells, font: Font) -> str:
    """The text of a picture, as lines without blanks at their ends; nothing if it shows none. Cells that are no glyph
    are U+FFFD."""
    names = np.array([_name(glyph, font) for glyph in cells.glyphs] + [UNKNOWN])
    if not known_share(cells, names) > _SHARE or not any(name.isascii() and name.isalnum() for name in names):
        return ""
    lines = ["".join(line).rstrip() for line in names[cells.numbers].reshape(cells.shape)]
    return "\n".join(lines).rstrip("\n")


def known_share(cells: Cells, names: NDArray[np.str_]) -> float:
    """The share of cells with something in them that are characters; 0 if all are blank."""
    blank = np.array([not any(glyph) for glyph in cells.glyphs] + [False])
    filled = cells.numbers[~blank[cells.numbers]]
    return float((names[filled] != UNKNOWN).mean()) if filled.size else 0.0


def _name(glyph: bytes, font: Font) -> str:
    found = font.character(glyph)
    if found is None:  # text in the other colour: inverse, or on a coloured ground
        found = font.character(inverse(glyph))
    return UNKNOWN if found is None else found
