"""Memory of a Switch as bytes and as pictures, in the formats of textures, targets and depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, TEXTURE, PixelLayout
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.memory_pictures import MemoryFormats
from pocketgpu.inspect.model.pictures import grey
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory.blocklinear import MAX_BLOCK_LOG2, Layout
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, to_array

_TABLES = (COLOR_TARGET, DEPTH, TEXTURE)
_BY_NAME: dict[str, PixelLayout] = {}
for _table in _TABLES:
    for _one in _table.values():
        if _one.bytes:
            _BY_NAME.setdefault(_one.name, _one)
_PITCH = "pitch"
_BLOCKS = {f"block-linear, {1 << log2} GOB{'s' if log2 else ''}": log2 for log2 in range(MAX_BLOCK_LOG2 + 1)}
_BITS = 8
"""Of a byte."""


def _bits(layout: PixelLayout) -> float:
    """Bits of a texel."""
    across, down = layout.block
    return layout.bytes * _BITS / (across * down)


FORMATS = MemoryFormats(
    {name: _bits(one) for name, one in _BY_NAME.items()}, (_PITCH, *_BLOCKS),
    ("A8B8G8R8", "block-linear, 16 GOBs"),
)  # fmt: skip


def mapped(machine: GM20B, address: int, size: int) -> list[Range]:
    """The parts of a range of GPU addresses that are mapped."""
    found: list[Range] = []
    for offset, length in machine.memory.spans(address, size):
        if offset is not None:
            if found and found[-1].end == address:
                found[-1] = Range(found[-1].address, found[-1].size + length)
            else:
                found.append(Range(address, length))
        address += length
    return found


def picture(machine: GM20B, address: int, format: str, layout: str, width: int, height: int) -> NDArray[np.uint8]:
    """Memory as RGBA, (height, width, 4). Rows of a pitch layout follow each other without gaps.

    :raises UsageError: there is no decoder for the format.
    """
    pixel = _BY_NAME[format]
    across, down = pixel.block
    row, rows = -(-width // across) * pixel.bytes, -(-height // down)
    if layout == _PITCH:
        side = SurfaceSide(address, pitch=row)
    else:
        side = SurfaceSide(address, layout=Layout(row, rows, 1, _BLOCKS[layout]))
    data, _ = to_array(machine.memory, machine.engine, side, row, rows)
    if any(one.name in "ZS" for one in pixel.components):
        depth, stencil = arrays.decode_depth(data, pixel)
        found = grey(depth) if depth is not None else grey(np.asarray(stencil), whole=True)
    else:
        found = np.ascontiguousarray(arrays.picture(data, pixel), np.uint8)
    return np.ascontiguousarray(found[:height, :width])


__all__ = ["FORMATS", "mapped", "picture"]
