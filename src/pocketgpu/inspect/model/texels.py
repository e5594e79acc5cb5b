"""Texels of textures: the parts of a texture (levels, layers, slices), and where each texel is in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

MOST_TEXELS = 1 << 24
"""Most texels of a part whose places are told: 4096 x 4096."""
Addresses = NDArray[np.int64]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True, repr=False)
class TexturePart(Displayed):
    """A picture of a texture. name: as `Texture.pictures` calls it. layer: a face of a cube or an element of an array;
    z: a slice of a 3D texture."""

    name: str
    width: int
    height: int
    level: int = 0
    layer: int = 0
    z: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(vars(self))

    def check(self, x: int, y: int) -> None:
        """Refuse a texel that does not exist.

        :raises UsageError: there is no such texel.
        """
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise UsageError(
                f"{self.name} has no texel at {x},{y}", location=self.name,
                hint=f"It has {self.width} x {self.height} texels.",
            )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name}: {self.width}x{self.height}"


def order_of(addresses: Addresses) -> NDArray[np.int64]:
    """The numbers of texels (row by row) in the order of their addresses; those of a block stay in order of rows."""
    return np.argsort(addresses, axis=None, kind="stable")


def in_order(pixels: Pixels, addresses: Addresses) -> Pixels:
    """A picture with its texels in the order of memory, row by row, in as many columns as before."""
    return np.ascontiguousarray(pixels.reshape(-1, 4)[order_of(addresses)].reshape(pixels.shape))


__all__ = ["MOST_TEXELS", "Addresses", "TexturePart", "in_order", "order_of"]
