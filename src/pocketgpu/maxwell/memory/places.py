"""Places: the GPU address of each byte that an upload, a copy, a blit or a fill reads or writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.maxwell.engines.copy.remap import Side
    from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
    from pocketgpu.maxwell.memory.surface_copy import SurfaceSide

Offsets = NDArray[np.int64]
"""Arena offsets of bytes; -1 where nothing is mapped."""
CHUNK = 1 << 20
"""Bytes whose offsets are computed at a time."""


@dataclass(frozen=True)
class Places:
    """Bytes at GPU addresses base + rows[y] + columns[x], in rows. Both are int64; one column for each byte."""

    base: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @staticmethod
    def of_surface(side: SurfaceSide, width: int, lines: int) -> Places:
        """A rectangle of `lines` rows of `width` bytes."""
        x, y = (np.arange(start, start + count, dtype=np.int64) for start, count in ((side.x, width), (side.y, lines)))
        if side.layout is None:
            return Places(side.address, y * side.pitch, x)
        return Places(side.address, side.layout.rows(y, side.z), side.layout.columns(x))

    @staticmethod
    def of_side(side: Side, columns: int, lines: int) -> Places:
        """All components of `columns` elements in each of `lines` lines of a copy."""
        x = np.arange(side.x, side.x + columns * side.element, dtype=np.int64)
        y = np.arange(side.y, side.y + lines, dtype=np.int64)
        return Places(side.plane.va, side.plane.rows(y), side.plane.columns(x))

    @property
    def reach(self) -> tuple[int, int]:
        """The range of addresses [low, high) of all bytes."""
        low = self.base + int(self.rows.min()) + int(self.columns.min())
        return low, self.base + int(self.rows.max()) + int(self.columns.max()) + 1

    def offsets(self, memory: GpuMemory) -> Iterator[Offsets]:
        """Arena offsets of the bytes, some rows at a time: (rows, columns)."""
        if not len(self.rows) or not len(self.columns):
            return
        low, high = self.reach
        pieces = memory.spans(low, high - low)
        starts = low + np.cumsum([0, *(size for _, size in pieces)])[:-1]
        shift = np.array([-1 if at is None else at - start for (at, _), start in zip(pieces, starts, strict=True)])
        holes = np.array([at is None for at, _ in pieces])
        step = max(CHUNK // len(self.columns), 1)
        for first in range(0, len(self.rows), step):
            addresses = self.base + self.rows[first : first + step, None] + self.columns
            piece = np.searchsorted(starts, addresses, side="right") - 1
            yield np.where(holes[piece], -1, addresses + shift[piece])

    def __repr__(self) -> str:
        return f"Places({len(self.rows)} rows of {len(self.columns)} bytes at {self.base:#x})"


__all__ = ["CHUNK", "Offsets", "Places"]
