"""Surfaces in GPU memory as builders name them: a place, a size, a format, a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...errors import UsageError

GOB_WIDTH: Final = 64
GOB_HEIGHT: Final = 8

BYTES: Final = {"A8B8G8R8": 4, "A8BL8GL8RL8": 4, "X8B8G8R8": 4, "A8R8G8B8": 4, "R5G6B5": 2, "R8": 1, "R32": 4}
"""Bytes of a pixel of the formats that `Surface` knows by name."""


@dataclass(frozen=True, slots=True)
class Surface:
    """A two-dimensional surface at GPU address `address`, of `width` x `height` pixels.

    format: a name of the 3D and 2D classes' formats. pitch: bytes of a row if rows lie one after another; None for
    block-linear, whose blocks are 2 ** `block_height_log2` GOBs high.
    """

    address: int
    width: int
    height: int
    format: str = "A8B8G8R8"
    pitch: int | None = None
    block_height_log2: int = 4

    @property
    def pixel(self) -> int:
        """Bytes of a pixel. Raises UsageError for a format that is not known here."""
        if self.format not in BYTES:
            raise UsageError(f"no surface format {self.format!r}", hint=f"Known are {', '.join(BYTES)}.")
        return BYTES[self.format]

    @property
    def row(self) -> int:
        """Bytes of a row's pixels."""
        return self.width * self.pixel

    @property
    def size(self) -> int:
        """Bytes from the first to behind the last: whole blocks if it is block-linear."""
        if self.pitch is not None:
            return self.pitch * self.height
        rows = GOB_HEIGHT << self.block_height_log2
        return -(-self.row // GOB_WIDTH) * GOB_WIDTH * (-(-self.height // rows) * rows)


def size_of(width: int, height: int, format: str = "A8B8G8R8", *, block_height_log2: int = 4) -> int:
    """Bytes that a block-linear surface takes."""
    return Surface(0, width, height, format, None, block_height_log2).size
