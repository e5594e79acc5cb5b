"""Memory of a 3DS as bytes and as pictures, in any of its pixel formats."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.memory_pictures import MemoryFormats
from pocketgpu.inspect.model.moment import MAPPED_UNIT
from pocketgpu.inspect.model.pictures import grey
from pocketgpu.pica.memory import surface
from pocketgpu.pica.memory.guest import GuestMemory

TILE = 8
"""Texels of a side of a tile."""
FORMATS = MemoryFormats({name: one.bits for name, one in BY_NAME.items()}, ("tiled", "linear"), ("RGBA8", "tiled"))


def mapped(memory: GuestMemory, address: int, size: int) -> list[Range]:
    """The parts of a range of physical addresses that are memory."""
    found: list[Range] = []
    at, end = address, address + size
    while at < end:
        stop = min((at // MAPPED_UNIT + 1) * MAPPED_UNIT, end)
        if memory.offset_of(at, stop - at) is not None:
            if found and found[-1].end == at:
                found[-1] = Range(found[-1].address, stop - found[-1].address)
            else:
                found.append(Range(at, stop - at))
        at = stop
    return found


def picture(
    memory: GuestMemory, address: int, format: str, layout: str, width: int, height: int
) -> NDArray[np.uint8]:
    """Memory as RGBA, (height, width, 4), row 0 as it comes first in memory.

    :raises UsageError: a compressed format is not tiled, or tiled rows have no whole tile.
    """
    pixel, order = BY_NAME[format], cast("Literal['linear', 'tiled']", layout)
    if order == "tiled" and width < TILE:
        raise UsageError(f"tiled rows have {TILE} texels or more", location="width")
    size = surface.byte_size(pixel, width, height, order)
    data = np.zeros(size, np.uint8)
    for part in mapped(memory, address, size):
        data[part.address - address : part.end - address] = np.frombuffer(
            memory.read(part.address, part.size), np.uint8
        )
    if pixel.kind == "depth":
        return grey(surface.decode_depth(data, pixel, width, height, order)["depth"])
    return surface.decode(data, pixel, width, height, order)


__all__ = ["FORMATS", "mapped", "picture"]
