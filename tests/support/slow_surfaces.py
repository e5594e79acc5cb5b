"""Surfaces written down the slow way, byte by byte from the layout's definition, to hold fast code to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Slow:
    """A surface of `width` bytes x `height` lines at `va`: block-linear (log2 of the block), or with a pitch."""

    va: int
    width: int
    height: int
    pitch: int | None = None
    block_height: int = 0
    block_depth: int = 0
    depth: int = 1

    @property
    def size(self) -> int:
        if self.pitch is not None:
            return abs(self.pitch) * self.height
        high, deep = 1 << self.block_height, 1 << self.block_depth
        blocks = -(-self.width // 64) * -(-self.height // (8 * high)) * -(-self.depth // deep)
        return blocks * 512 * high * deep

    def address(self, x: int, y: int, z: int = 0) -> int:
        """Where byte x of line y of slice z lies."""
        if self.pitch is not None:
            return self.va + y * self.pitch + x
        high, deep = 1 << self.block_height, 1 << self.block_depth
        columns = -(-self.width // 64)
        block_bytes = 512 * high * deep
        rows = -(-self.height // (8 * high))
        block = (z // deep * rows + y // (8 * high)) * columns + x // 64
        gob = z % deep * high + y // 8 % high
        bits = [x & 1, x >> 1 & 1, x >> 2 & 1, x >> 3 & 1, y & 1, x >> 4 & 1, y >> 1 & 1, y >> 2 & 1, x >> 5 & 1]
        return self.va + block * block_bytes + gob * 512 + sum(bit << i for i, bit in enumerate(bits))

    def places(self, x0: int, y0: int, width: int, height: int, z: int = 0) -> NDArray[np.int64]:
        """Addresses of a rectangle of bytes, (height, width)."""
        return np.array([[self.address(x, y, z) for x in range(x0, x0 + width)] for y in range(y0, y0 + height)])


class SlowMemory:
    """A copy of guest memory from `start` on, addressed as the guest does."""

    def __init__(self, start: int, data: bytes) -> None:
        self.start = start
        self.bytes = np.frombuffer(data, np.uint8).copy()

    def __getitem__(self, addresses: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.bytes[addresses - self.start]

    def __setitem__(self, addresses: NDArray[np.int64], values: NDArray[np.uint8]) -> None:
        self.bytes[addresses - self.start] = values
