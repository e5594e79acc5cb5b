"""Addresses in a slice of a surface: the sum of a part for the column and a part for the row.

Pitch and block-linear layouts both have this form, because x and y select different address bits of a GOB. So a blit or
a remapping copy needs one table for columns and one for rows, and its kernel needs no layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.blocklinear import MAX_BLOCK_LOG2, Layout
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Plane:
    """One slice of a surface; `va`: GPU address of the surface. Make it with `linear` or `blocks`.

    pitch: bytes from a line to the next (signed), if `layout` is None; otherwise the plane is slice `z` of that layout.
    """

    va: int
    pitch: int
    layout: Layout | None = None
    z: int = 0

    @classmethod
    def linear(cls, va: int, pitch: int) -> Plane:
        """A plane of lines that are `pitch` bytes apart."""
        return cls(va, pitch)

    @classmethod
    def blocks(cls, va: int, width: int, height: int, block_height: int, block_depth: int = 0, z: int = 0) -> Plane:
        """A block-linear slice: `width` bytes (0 counts as 1), `height` lines, log2 of the block's sides in GOBs.

        Blocks of more than 32 GOBs do not exist; larger values count as 32.

        :raises UsageError: the surface would not fit into the address space.
        """
        high, deep = min(block_height, MAX_BLOCK_LOG2), min(block_depth, MAX_BLOCK_LOG2)
        layout = Layout(max(width, 1), max(height, 1), z + 1, high, deep)
        if layout.size > ADDRESS_SPACE:
            raise UsageError(f"no surface has {width} bytes x {height} lines x {z + 1} slices")
        return cls(va, 0, layout, z)

    def columns(self, x: Array) -> Array:
        """Byte offsets of byte columns `x` (int64)."""
        return x if self.layout is None else np.asarray(self.layout.columns(x))

    def rows(self, y: Array) -> Array:
        """Byte offsets of lines `y` (int64), from `va`; they include the slice's offset."""
        return y * self.pitch if self.layout is None else np.asarray(self.layout.rows(y, self.z))
