"""Render targets as pictures: what a list drew, before a display transfer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Readable
from pocketgpu.facts.formats import PixelFormat
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.memory import surface

_TILE, _BLOCK = 8, 32
"""Pixels of a side of a tile, and of a block of tiles."""
_SCREEN_ROW = 240
_SCREEN_COLUMNS = (320, 400, 800)


@dataclass(frozen=True, slots=True)
class RenderTarget:
    """A colour buffer in guest memory, of 8x8 tiles from physical `address`; width and height in pixels.

    blocks: "" if the tiles are stored row by row. Otherwise they are in blocks of 4x4 tiles (32x32 pixels), and this is
    their order in a block: "morton", or "tiles" for row by row (the choice transfer.block32; nobody knows).
    """

    address: int
    width: int
    height: int
    format: PixelFormat
    blocks: str = ""

    @property
    def turned(self) -> bool:
        """Whether it has the size of a screen, which is rotated in memory: 240 pixels wide, 320, 400 or 800 high."""
        return self.width == _SCREEN_ROW and self.height in _SCREEN_COLUMNS

    @property
    def whole_width(self) -> int:
        """Its columns in whole tiles, or in whole blocks of them. Further columns overlap others in memory."""
        return self.width & -(_BLOCK if self.blocks else _TILE)

    def read(self, memory: Readable) -> NDArray[np.uint8]:
        """RGBA (height, width, 4) in the order of memory rows. Raises GuestMemoryError for unmapped addresses."""
        if self.blocks:
            return self._read_blocks(memory)
        width = self.whole_width
        size = surface.byte_size(self.format, width, self.height, "tiled")
        return surface.decode(memory.read(self.address, size), self.format, width, self.height, "tiled")

    def _read_blocks(self, memory: Readable) -> NDArray[np.uint8]:
        width, height = self.whole_width, (self.height + _BLOCK - 1) & -_BLOCK
        size = surface.byte_size(self.format, width, height, "tiled")
        tiles = np.frombuffer(memory.read(self.address, size), np.uint8).reshape(-1, 8 * self.format.bits)
        y, x = np.mgrid[: height >> 3, : width >> 3]
        inside = (y & 3) * 4 + (x & 3)
        if self.blocks == "morton":
            inside = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2
        order = ((y >> 2) * (width >> 5) + (x >> 2)) * 16 + inside
        return surface.decode(tiles[order.ravel()].ravel(), self.format, width, height, "tiled")[: self.height]

    def picture(self, memory: Readable) -> NDArray[np.uint8]:
        """RGBA to look at: targets of a screen's size rotated upright as the screen shows them, others as `read`."""
        array = self.read(memory)
        return np.ascontiguousarray(array.transpose(1, 0, 2)[::-1]) if self.turned else array
