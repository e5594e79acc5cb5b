"""The top screen as bands of its whole height, for scenes that need no 3D core.

A line of a framebuffer is a column of the upright screen, so columns from `left` to `right` are one range of memory:
one fill or one transfer makes a band.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pocketgpu.builder import CaptureBuilder
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.memory import surface
from pocketgpu.probe.model.scene import Made, Watch
from pocketgpu.probe.scenes.n3ds.canvas import BACKGROUND, BLUE, HEIGHT, LEFT, RIGHT, WIDTH, Color

COLUMNS: Final = RIGHT.right - RIGHT.left
"""Columns of the band that a value changes, and of the one beside it."""


class Bands:
    """A framebuffer of the top screen, cleared, with a blue band on the left that never changes.

        bands = Bands()
        bands.capture.transfer(source, bands.right, 240, COLUMNS)
        return bands.made(interrupts=True)

    format: of its pixels. line: bytes of a column. address: where it is (None: in free video memory).
    """

    def __init__(self, format: str = "RGB8", address: int | None = None, reference: Color = BLUE) -> None:
        self.capture = CaptureBuilder()
        self.format = format
        self.line: Final = line_of(format)
        self.start = self.capture.allocate(WIDTH * self.line, region="VRAM") if address is None else address
        self.fill(0, WIDTH, BACKGROUND)
        self.fill(LEFT.left, LEFT.right, reference)

    def at(self, column: int) -> int:
        """The address of a column."""
        return self.start + column * self.line

    @property
    def right(self) -> int:
        """The address of the band that a value changes."""
        return self.at(RIGHT.left)

    def fill(self, left: int, right: int, color: Color) -> None:
        """A band of one colour."""
        word = word_of(color, self.format)
        self.capture.fill(self.at(left), self.at(right), word, width=BY_NAME[self.format].bits)

    def another(self, color: Color) -> int:
        """The address of another framebuffer, of one colour."""
        return plain(self.capture, HEIGHT, WIDTH, color, self.format)

    def made(self, *memory: tuple[int, int], timed: bool = False, **watch: Any) -> Made:
        """The scene: the framebuffer is shown, in one frame. memory: ranges to look at besides it; watch: what else
        `Watch` takes."""
        self.capture.show("top", self.start, format=self.format).end_frame()
        return self.looked_at(*memory, timed=timed, **watch)

    def looked_at(self, *memory: tuple[int, int], timed: bool = False, **watch: Any) -> Made:
        """The same, for a scene that shows the framebuffer and ends its frames itself."""
        whole = (self.start, WIDTH * self.line)
        return Made(self.capture.to_pgc(), Watch(memory=(whole, *memory), **watch), timed)


def line_of(format: str = "RGB8") -> int:
    """Bytes of a line of a framebuffer, which is a column of the screen."""
    return HEIGHT * BY_NAME[format].bits // 8


def word_of(color: Color, format: str = "RGBA8") -> int:
    """A colour as the word of a pixel."""
    pixels = np.full((1, 2, 4), color, np.uint8)
    data = surface.encode(pixels, BY_NAME[format], "linear")
    return int.from_bytes(data[: BY_NAME[format].bits // 8], "little")


def plain(capture: CaptureBuilder, width: int, height: int, color: Color, format: str = "RGBA8") -> int:
    """The address of a picture of one colour, in video memory; it is the same in every layout."""
    size = width * height * BY_NAME[format].bits // 8
    address = capture.allocate(size, region="VRAM")
    capture.fill(address, address + size, word_of(color, format), width=BY_NAME[format].bits)
    return address


__all__ = ["COLUMNS", "Bands", "line_of", "plain", "word_of"]
