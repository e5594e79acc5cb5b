"""Block-linear layouts: offsets in surfaces, mip levels and layers; conversion of surfaces to and from rows.

A *GOB* is 64 bytes wide and 8 rows high. A *block* is one GOB wide, 2^a GOBs high and 2^b slices deep; GOBs in it go
down first, then to the next slice. Blocks follow each other along the row, then down, then to the next 2^b slices. All
counts are in bytes and rows of *elements*: a compressed format has one element for each block of texels.

Sources: open drivers and simulators agree on the order of bits in a GOB and of blocks; they also agree on the rules for
mip levels and layers, except for one (the choice memory.block_depth_base).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Bytes
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

GOB_WIDTH = 64
GOB_HEIGHT = 8
GOB_SIZE = GOB_WIDTH * GOB_HEIGHT
#: A block has at most 2^5 GOBs in each direction.
MAX_BLOCK_LOG2 = 5
MAX_LEVELS = 16

Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layout:
    """A block-linear surface of `depth` slices with `height` rows of `width_bytes` bytes, all at least 1.

    tile_width_log2: rows of a sparse texture consist of whole tiles of 2^this GOBs, if it is at least one tile large.

    :raises UsageError: a size is not positive, or a block is larger than 32 GOBs high or deep.
    """

    width_bytes: int
    height: int
    depth: int = 1
    block_height_log2: int = 0
    block_depth_log2: int = 0
    tile_width_log2: int = 0

    def __post_init__(self) -> None:
        if min(self.width_bytes, self.height, self.depth) < 1:
            raise UsageError(f"no surface has {self.width_bytes} bytes x {self.height} rows x {self.depth} slices")
        for log2 in (self.block_height_log2, self.block_depth_log2, self.tile_width_log2):
            if not 0 <= log2 <= MAX_BLOCK_LOG2:
                raise UsageError(f"a block has 2^0 to 2^{MAX_BLOCK_LOG2} GOBs, not 2^{log2}")

    @property
    def block_height(self) -> int:
        """Rows in a block."""
        return GOB_HEIGHT << self.block_height_log2

    @property
    def block_depth(self) -> int:
        """Slices in a block."""
        return 1 << self.block_depth_log2

    @property
    def block_size(self) -> int:
        """Bytes of a block; also the distance from one column of GOBs to the next."""
        return GOB_SIZE << (self.block_height_log2 + self.block_depth_log2)

    @property
    def gobs_per_row(self) -> int:
        """Columns of GOBs, including the padding of sparse tiles."""
        gobs = -(-self.width_bytes // GOB_WIDTH)
        tile = 1 << self.tile_width_log2
        if gobs >= tile and self.height >= self.block_height and self.depth >= self.block_depth:
            gobs += -gobs % tile
        return gobs

    @property
    def row_size(self) -> int:
        """Bytes of a row of blocks."""
        return self.gobs_per_row * self.block_size

    @property
    def rows_of_blocks(self) -> int:
        return -(-self.height // self.block_height)

    @property
    def slice_size(self) -> int:
        """Bytes of all rows of blocks; they contain `block_depth` slices."""
        return self.rows_of_blocks * self.row_size

    @property
    def size(self) -> int:
        """Bytes of the surface: whole blocks."""
        return -(-self.depth // self.block_depth) * self.slice_size

    def start_of(self, z: int) -> int:
        """Offset of the first byte of a slice."""
        return z // self.block_depth * self.slice_size + z % self.block_depth * (GOB_SIZE << self.block_height_log2)

    def offset_of(self, x: int, y: int, z: int = 0) -> int:
        """Offset of byte `x` of row `y` of slice `z`. Beyond the surface the formula continues, as in the chip."""
        return int(self.columns(np.int64(x))) + int(self.rows(np.int64(y), z))

    def columns(self, x: Any) -> Any:
        """Byte columns' (int64) part of an offset."""
        return (x >> 6) * self.block_size + ((x >> 5 & 1) << 8 | (x >> 4 & 1) << 5 | x & 15)

    def rows(self, y: Any, z: int = 0) -> Any:
        """Rows' (int64) part of an offset, including that of slice `z`."""
        gob = y >> 3
        within = (gob & ((1 << self.block_height_log2) - 1)) * GOB_SIZE + ((y >> 1 & 3) << 6 | (y & 1) << 4)
        return self.start_of(z) + (gob >> self.block_height_log2) * self.row_size + within

    def reach(self, x: int, y: int, z: int, width_bytes: int, lines: int) -> tuple[int, int]:
        """The range of offsets [low, high) with all blocks that a rectangle of at least one byte touches."""
        row, last_row = y // self.block_height, (y + lines - 1) // self.block_height
        depth = z // self.block_depth * self.slice_size
        low = depth + row * self.row_size + (x >> 6) * self.block_size
        high = depth + last_row * self.row_size + (((x + width_bytes - 1) >> 6) + 1) * self.block_size
        return low, high


# Mip levels and layers


@dataclass(frozen=True, slots=True)
class Level:
    """A mip level: its size in texels, its elements, and its offset in its layer."""

    width: int
    height: int
    depth: int
    layout: Layout
    offset: int


@dataclass(frozen=True, slots=True)
class MipLayout:
    """All levels of a texture, and the distance between its layers (array elements or cube faces)."""

    levels: tuple[Level, ...]
    layers: int
    layer_stride: int

    @property
    def size(self) -> int:
        """Bytes from the start of the texture to the end of its last level."""
        last = self.levels[-1]
        return (self.layers - 1) * self.layer_stride + last.offset + last.layout.size

    def offset_of(self, level: int, layer: int = 0) -> int:
        """Offset of a level of a layer."""
        return layer * self.layer_stride + self.levels[level].offset


def reduced(log2: int, count: int, unit: int = 1) -> int:
    """Log2 of a block side, halved while half of it still holds `count` rows or slices (`unit` of them in a GOB)."""
    while log2 and count <= unit << (log2 - 1):
        log2 -= 1
    return log2


def mip_layout(
    width: int,
    height: int,
    depth: int = 1,
    *,
    element_bytes: int,
    element: tuple[int, int] = (1, 1),
    levels: int = 1,
    layers: int = 1,
    block_height_log2: int = 0,
    block_depth_log2: int = 0,
    tile_width_log2: int = 0,
    reduce_base_depth: bool = True,
) -> MipLayout:
    """The layout of a texture as texture headers define it. Sizes are in texels, `element` is a block of texels.

    Blocks shrink with the levels; those of level 0 shrink, too, if the texture is smaller. (Render targets and the
    copying engines use blocks as given: that is a plain `Layout`.)

    :param reduce_base_depth: whether the depth of blocks shrinks for level 0, too (choice memory.block_depth_base).
    :raises UsageError: sizes or counts are not positive, there are more than 16 levels, or blocks are too large.
    """
    if not 0 < levels <= MAX_LEVELS or layers < 1 or element_bytes < 1:
        raise UsageError(f"no texture has {levels} levels, {layers} layers, {element_bytes} bytes an element")
    if min(width, height, depth) < 1:
        raise UsageError(f"no texture has {width}x{height}x{depth} texels")
    at, found = 0, []
    high, deep = block_height_log2, block_depth_log2
    for number in range(levels):
        wide, tall, slices = (max(1, side >> number) for side in (width, height, depth))
        row = -(-wide // element[0]) * element_bytes
        rows = -(-tall // element[1])
        high = reduced(high, rows, GOB_HEIGHT)
        if number or reduce_base_depth:
            deep = reduced(deep, slices)
        layout = Layout(row, rows, slices, high, deep, tile_width_log2)
        found.append(Level(wide, tall, slices, layout, at))
        at += layout.size
    stride = at + -at % found[0].layout.block_size
    return MipLayout(tuple(found), layers, stride)


# Whole surfaces in host memory


def detile(data: bytes | bytearray | memoryview | NDArray[Any], layout: Layout) -> Bytes:
    """The rows of a block-linear surface: uint8 of shape (depth, height, width_bytes).

    :raises UsageError: `data` has fewer bytes than the surface.
    """
    raw = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data.reshape(-1).view(np.uint8)
    if len(raw) < layout.size:
        raise UsageError(f"the surface has {layout.size} bytes, there are {len(raw)}")
    rows = np.ascontiguousarray(_in_rows(raw[: layout.size], layout)).view(np.uint8).reshape(_padded_shape(layout))
    return rows[: layout.depth, : layout.height, : layout.width_bytes]


def tile(rows: NDArray[Any], layout: Layout) -> Bytes:
    """The bytes of a block-linear surface from its rows (the reverse of `detile`); padding is 0.

    :raises UsageError: the array has another shape than (depth, height, width_bytes), or is not of bytes.
    """
    if rows.shape != (layout.depth, layout.height, layout.width_bytes) or rows.dtype != np.uint8:
        raise UsageError(f"rows are uint8 ({layout.depth}, {layout.height}, {layout.width_bytes}), not {rows.shape}")
    surface = np.zeros(layout.size, np.uint8)
    padded = np.zeros(_padded_shape(layout), np.uint8)
    padded[: layout.depth, : layout.height, : layout.width_bytes] = rows
    view = _in_rows(surface, layout)
    view[...] = padded.view(np.complex128).reshape(view.shape)
    return surface


def _padded_shape(layout: Layout) -> tuple[int, int, int]:
    """Slices, rows and bytes of a row, padded to whole blocks."""
    slices = -(-layout.depth // layout.block_depth) * layout.block_depth
    return slices, layout.rows_of_blocks * layout.block_height, layout.gobs_per_row * GOB_WIDTH


def _in_rows(raw: Bytes, layout: Layout) -> NDArray[np.complex128]:
    """A view of a surface as pieces of 16 bytes in row order. The complex type is only a way to move 16 bytes in NumPy.

    Axes: blocks in depth, slices in a block, rows of blocks, GOBs in a block, y2 and y1, y0; GOBs in a row, x5, x4.
    """
    pieces = raw.view(np.complex128).reshape(
        -1, layout.rows_of_blocks, layout.gobs_per_row, layout.block_depth, 1 << layout.block_height_log2,
        2, 4, 2, 2,  # bits of an offset in a GOB, highest first: x5, y2 and y1, x4, y0
    )  # fmt: skip
    return pieces.transpose(0, 3, 1, 4, 6, 8, 2, 5, 7)
