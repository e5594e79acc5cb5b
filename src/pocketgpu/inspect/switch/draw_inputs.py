"""What a draw of a Switch reads besides vertices and constants: textures, and its targets."""

from __future__ import annotations

from functools import lru_cache

from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.switch.resources import handles
from pocketgpu.inspect.switch.surfaces import targets_of
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide

Ranges = tuple[Range, ...]


def textures_read(machine: GM20B, draw: Draw) -> Ranges:
    """The memory of the textures whose handles are in the constant bank for handles. Programs may read less of it."""
    found = (_memory_of(one.header) for one in handles(machine, draw))
    return tuple(dict.fromkeys(one for one in found if one is not None))


@lru_cache(maxsize=1 << 12)
def _memory_of(header: bytes) -> Range | None:
    """The memory of a texture, all levels and layers; None if its header names no texture."""
    try:
        texture = TextureHeader.parse(header)
        if texture.layout == "block-linear":
            return Range(texture.address, texture.mips.size)
        level, address = texture.surface()
    except PocketGPUError:
        return None
    rows = SurfaceSide(address, pitch=texture.pitch)
    low, high = rows.reach(level.layout.width_bytes, level.layout.height)
    return Range(max(low, 0), high - max(low, 0))


def targets_read(state: State) -> Ranges:
    """The targets whose contents decide what is drawn: depth and stencil that are tested, colours that are blended."""
    tested = any(state.field(name, "ENABLE") for name in ("SET_DEPTH_TEST", "SET_STENCIL_TEST"))
    logic = state.field("SET_LOGIC_OP", "ENABLE")
    return tuple(
        Range(target.address, target.size)
        for target in targets_of(state)
        if (tested if target.slot is None else logic or state.field("SET_BLEND", "ENABLE", target.slot))
    )


__all__ = ["targets_read", "textures_read"]
