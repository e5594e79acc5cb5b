"""Which elements of a texture lie in pages that have been written: the slices of a texture, and rectangles of them.

Rectangles are those of whole blocks: of a block-linear slice with change in one row of blocks only the columns with
change, otherwise all columns of the rows of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.blocklinear import GOB_WIDTH
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide

Runs = Sequence[tuple[int, int]]
"""Runs of bytes [start, end) from a texture's address, in order."""
MAX_RUNS = 256
"""With more runs than this, everything between the first and the last is taken."""


@dataclass(frozen=True)
class Piece:
    """A rectangle of elements."""

    x: int
    y: int
    wide: int
    tall: int

    def cut(self, most: int, across: int = 1 << 30) -> Iterator[Piece]:
        """Pieces of at most `most` elements and `across` columns, in order."""
        across = min(self.wide, across, most)
        down = max(1, most // across)
        for y in range(0, self.tall, down):
            for x in range(0, self.wide, across):
                yield Piece(self.x + x, self.y + y, min(across, self.wide - x), min(down, self.tall - y))


@dataclass(frozen=True)
class Slice:
    """A slice of a level of a layer. side: where its elements are. start, end: its bytes from the texture's address
    (block-linear: of all slices that its blocks contain). width, height: in texels; columns, rows: in elements."""

    level: int
    side: SurfaceSide
    start: int
    end: int
    width: int
    height: int
    columns: int
    rows: int


def slices_of(texture: TextureHeader, choices: Mapping[str, str]) -> Sequence[Slice]:
    """The slices of the view of a texture in the order of its copy: levels, layers, depth.

    :raises UsageError: as `TextureHeader.surface`.
    """
    found = []
    size = texture.format.bytes
    for level in range(texture.last_level - texture.first_level + 1):
        for layer in range(texture.layers):
            one, address = texture.surface(level, layer, choices)
            layout = one.layout
            columns, rows = layout.width_bytes // size, layout.height
            shape = (one.width, one.height, columns, rows)
            start = address - texture.address
            if texture.layout != "block-linear":
                end = start + (rows - 1) * texture.pitch + layout.width_bytes
                found.append(Slice(level, SurfaceSide(address, pitch=texture.pitch), start, end, *shape))
                continue
            for z in range(one.depth):
                group = start + z // layout.block_depth * layout.slice_size
                side = SurfaceSide(address, z=z, layout=layout)
                found.append(Slice(level, side, group, group + layout.slice_size, *shape))
    return found


def runs_of(spans: Sequence[tuple[int | None, int]], changed: NDArray[np.bool_]) -> Runs:
    """The runs of bytes in pages that have changed. spans: arena offset and bytes of the pieces of a texture; changed:
    of each page of those that have an offset."""
    runs: list[tuple[int, int]] = []
    at = page = 0
    for offset, length in spans:
        if offset is not None:
            first = offset >> PAGE_SHIFT
            count = ((offset + length - 1) >> PAGE_SHIFT) + 1 - first
            edges = np.flatnonzero(np.diff(changed[page : page + count].astype(np.int8), prepend=0, append=0))
            base = at - (offset - first * PAGE_SIZE)
            for start, end in edges.reshape(-1, 2).tolist():
                low, high = max(base + start * PAGE_SIZE, at), min(base + end * PAGE_SIZE, at + length)
                if runs and runs[-1][1] == low:
                    runs[-1] = (runs[-1][0], high)
                else:
                    runs.append((low, high))
            page += count
        at += length
    return [(runs[0][0], runs[-1][1])] if len(runs) > MAX_RUNS else runs


def changed(one: Slice, runs: Runs | None, size: int) -> Iterator[Piece]:
    """The rectangles of a slice that lie in runs, or the whole slice without any. size: bytes of an element."""
    if runs is None:
        yield Piece(0, 0, one.columns, one.rows)
        return
    done = 0  # rows that are done completely
    for low, high in runs:
        low, high = max(low, one.start), min(high, one.end)
        if low < high:
            x, y, right, bottom = _touched(one, low - one.start, high - one.start, size)
            y = max(y, done)
            right, bottom = min(right, one.columns), min(bottom, one.rows)
            if x < right and y < bottom:
                yield Piece(x, y, right - x, bottom - y)
            if x == 0 and right == one.columns:
                done = max(done, bottom)


def _touched(one: Slice, low: int, high: int, size: int) -> tuple[int, int, int, int]:
    """Columns and rows of elements, [x, right) and [y, bottom), that contain all those in the bytes [low, high)."""
    layout = one.side.layout
    if layout is None:
        row, pitch = one.columns * size, one.side.pitch
        if one.rows == 1:
            return low // size, 0, (high - 1) // size + 1, 1
        if pitch < 1:
            return 0, 0, one.columns, one.rows
        return 0, max(0, (low - row) // pitch + 1), one.columns, (high - 1) // pitch + 1
    first, last = low // layout.row_size, (high - 1) // layout.row_size
    top, bottom = first * layout.block_height, (last + 1) * layout.block_height
    if first != last or GOB_WIDTH % size:
        return 0, top, one.columns, bottom
    left, right = ((at - first * layout.row_size) // layout.block_size for at in (low, high - 1))
    each = GOB_WIDTH // size
    return left * each, top, (right + 1) * each, bottom


__all__ = ["Piece", "Runs", "Slice", "changed", "runs_of", "slices_of"]
