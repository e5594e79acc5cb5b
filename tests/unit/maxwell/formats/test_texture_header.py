"""Compressed textures of every format through texture headers, block-linear and pitch, in sizes that cut blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.facts.maxwell.headers import TIC
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.formats.arrays import decode, picture
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.blocklinear import Layout, tile
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory

BASE = 0x5_4321_0000
COMPRESSED = [layout for layout in TEXTURE.values() if layout.compressed]
SNORM, UNORM = 1, 2


def header(code: int, width: int, height: int, form: str, srgb: bool, kind: int, **more: int) -> TextureHeader:
    names = {"BL": ("ADDRESS_BITS31TO9", 9, 3), "PITCH": ("ADDRESS_BITS31TO5", 5, 2)}
    name, shift, version = names[form]
    values: dict[str, Any] = {f"{c}_DATA_TYPE": kind for c in "RGBA"}
    values |= {f"{c}_SOURCE": 2 + i for i, c in enumerate("XYZW")}
    values |= {
        "COMPONENTS": code, "ADDRESS_BITS47TO32": BASE >> 32, name: (BASE & 0xFFFFFFFF) >> shift,
        "HEADER_VERSION": version, "TEXTURE_TYPE": 1, "WIDTH_MINUS_ONE": width - 1, "HEIGHT_MINUS_ONE": height - 1,
        "S_R_G_B_CONVERSION": int(srgb),
    }  # fmt: skip
    return TextureHeader.parse(TIC[form].pack(values | more))


@pytest.mark.parametrize("layout", COMPRESSED, ids=lambda layout: layout.name)
@pytest.mark.parametrize("srgb", [False, True])
def test_a_header_gives_texels_of_every_format(layout: Any, srgb: bool) -> None:
    memory = GpuMemory(MIB, 4 * MIB)
    engine = Engine(memory.arena)
    memory.map(BASE, MIB)
    width, height = 7 * layout.block[0] - 2, 9 * layout.block[1] - 3
    rows = np.random.default_rng(layout.code).integers(0, 256, (9, 7 * layout.bytes), dtype=np.uint8)
    for kind in (UNORM, SNORM):
        types = ["snorm" if kind == SNORM else "unorm"] * 4
        found = header(layout.code, width, height, "BL", srgb, kind, GOBS_PER_BLOCK_HEIGHT=1)
        memory.write(BASE, tile(rows[None], Layout(7 * layout.bytes, 9, 1, 1)))
        expected = decode(rows, layout, types, srgb)[:height, :width]
        assert expected.shape == (height, width, 4) and len(np.unique(expected)) > 3
        assert np.array_equal(found.decode(memory, engine), expected)
        pixels = picture(rows, layout, types, srgb)[:height, :width]
        assert np.array_equal(found.picture(memory, engine), pixels)
        found = header(layout.code, width, height, "PITCH", srgb, kind, PITCH_BITS20TO5=128 // 32)
        spread = np.zeros((9, 128), np.uint8)
        spread[:, : rows.shape[1]] = rows
        memory.write(BASE, spread)
        assert np.array_equal(found.picture(memory, engine), pixels)


def test_levels_of_a_compressed_texture() -> None:
    layout = TEXTURE.named("ASTC_2D_6X6")
    memory = GpuMemory(MIB, 4 * MIB)
    engine = Engine(memory.arena)
    memory.map(BASE, MIB)
    found = header(layout.code, 100, 70, "BL", False, UNORM, MAX_MIP_LEVEL=6, RES_VIEW_MAX_MIP_LEVEL=6)
    constant = [0xFC, 0xFD, *[0xFF] * 6]
    for level in range(7):
        place, address = found.surface(level)
        rows, row = place.layout.height, place.layout.width_bytes
        assert (row, rows) == (16 * -(-max(1, 100 >> level) // 6), -(-max(1, 70 >> level) // 6))
        block = np.array([*constant, 0, 16 * level, 0, 255, 255, 255, 255, 255], np.uint8)
        data = np.broadcast_to(block, (rows, row // 16, 16)).reshape(rows, row)
        memory.write(address, tile(np.ascontiguousarray(data)[None], place.layout))
    for level in range(7):
        texels = found.decode(memory, engine, level)
        assert texels.shape == (max(1, 70 >> level), max(1, 100 >> level), 4)
        assert (texels == np.float32([level * 4096 / 65536, 0xFF00 / 65536, 1, 1])).all()
