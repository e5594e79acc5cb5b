"""Texture headers: what they say, and texels out of guest memory, placed there by the formula of the layout."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from support import recordings

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import parse
from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B0B5, B197
from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.facts.maxwell.headers import TIC
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.formats.arrays import picture
from pocketgpu.maxwell.formats.srgb import srgb_to_linear
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.blocklinear import Layout, tile
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory

BASE = 0x5_4321_0000
KINDS = {"ONE_D": 0, "TWO_D": 1, "THREE_D": 2, "CUBEMAP": 3, "ONE_D_ARRAY": 4, "TWO_D_ARRAY": 5, "TWO_D_NO_MIPMAP": 7,
         "CUBEMAP_ARRAY": 8}  # fmt: skip
UNORM = {f"{c}_DATA_TYPE": 2 for c in "RGBA"}
STRAIGHT = {"X_SOURCE": 2, "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5}


def header(format: str, width: int, height: int = 1, kind: str = "TWO_D", form: str = "BL", **more: Any) -> list[int]:
    """Words of a header at BASE."""
    values = {"COMPONENTS": TEXTURE.named(format).code, **UNORM, **STRAIGHT, "ADDRESS_BITS47TO32": BASE >> 32}
    low = {"BL": ("ADDRESS_BITS31TO9", 9), "PITCH": ("ADDRESS_BITS31TO5", 5), "1D": ("ADDRESS_BITS31TO0", 0)}
    name, shift = low[form]
    values[name] = (BASE & 0xFFFFFFFF) >> shift
    values["HEADER_VERSION"] = {"1D": 0, "PITCH": 2, "BL": 3}[form]
    if form != "1D":
        values |= {"TEXTURE_TYPE": KINDS[kind], "WIDTH_MINUS_ONE": width - 1, "HEIGHT_MINUS_ONE": height - 1}
    if form == "BL" and "MAX_MIP_LEVEL" in more:
        values["RES_VIEW_MAX_MIP_LEVEL"] = more["MAX_MIP_LEVEL"]
    return TIC[form].pack(values | more)


@pytest.fixture
def memory() -> GpuMemory:
    return GpuMemory(MIB, 16 * MIB)


@pytest.fixture
def engine(memory: GpuMemory) -> Engine:
    return Engine(memory.arena)


def colours(seed: int, height: int, width: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def put(memory: GpuMemory, offset: int, pixels: np.ndarray, high: int = 0, deep: int = 0) -> int:
    """Store slices of RGBA8 (depth, height, width, 4) as a block-linear surface; returns its size."""
    depth, height, width, _ = pixels.shape
    layout = Layout(4 * width, height, depth, high, deep)
    memory.write(BASE + offset, tile(np.ascontiguousarray(pixels).reshape(depth, height, 4 * width), layout))
    return layout.size


def test_what_a_header_says() -> None:
    words = header(
        "DXT1", 300, 200, "CUBEMAP_ARRAY", DEPTH_MINUS_ONE=1, MAX_MIP_LEVEL=8, RES_VIEW_MIN_MIP_LEVEL=2,
        S_R_G_B_CONVERSION=1, GOBS_PER_BLOCK_HEIGHT=4, GOBS_PER_BLOCK_DEPTH=1, TILE_WIDTH_IN_GOBS=2,
        R_DATA_TYPE=1, G_DATA_TYPE=7, B_DATA_TYPE=5, NORMALIZED_COORDS=1, X_SOURCE=5, Y_SOURCE=0, W_SOURCE=7,
    )  # fmt: skip
    for data in (words, np.array(words, "<u4"), np.array(words, "<u4").tobytes()):
        found = TextureHeader.parse(data)
        assert found == TextureHeader(
            BASE, TEXTURE.named("DXT1"), ("snorm", "float", "snorm16", "unorm"), (5, 0, 4, 7), True, "CUBEMAP_ARRAY",
            "block-linear", 300, 200, 1, 12, 9, 2, 8, 0, 4, 1, 2, (1, 1), True,
        )  # fmt: skip


def test_addresses_have_40_bits() -> None:
    assert TextureHeader.parse(header("R8", 1, ADDRESS_BITS47TO32=0xFF05)).address == BASE


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"HEADER_VERSION": 5}, "version 5"),
        ({"COMPONENTS": 0x3F}, "code 0x3f"),
        ({"G_DATA_TYPE": 0}, "types"),
        ({"TEXTURE_TYPE": 9}, "type 9"),
        ({"TEXTURE_TYPE": 15}, "type 15"),
        ({"MULTI_SAMPLE_COUNT": 7}, "multisample mode 7"),
    ],
)
def test_headers_that_mean_nothing(bad: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TextureHeader.parse(header("R8", 4, 4, **bad))


def test_any_words_are_a_header_or_a_typed_error() -> None:
    rng = random.Random(5)
    good = 0
    for _ in range(2000):
        data = bytearray(rng.randbytes(32))
        if rng.random() < 0.7:
            data[10] = data[10] & 0x1F | 0x60  # block-linear
        try:
            found = TextureHeader.parse(bytes(data))
        except UsageError:
            continue
        good += 1
        for level in (0, 3):
            with suppress(UsageError):
                assert found.surface(level)[0].layout.size > 0
    assert good > 100


def test_levels_of_a_texture(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    found = TextureHeader.parse(header("A8B8G8R8", 100, 60, MAX_MIP_LEVEL=6, GOBS_PER_BLOCK_HEIGHT=4))
    offsets = [0x0, 0x7000, 0x9000, 0x9800, 0x9A00, 0x9C00, 0x9E00]
    blocks = [3, 2, 1, 0, 0, 0, 0]
    pictures = [colours(level, max(1, 60 >> level), max(1, 100 >> level)) for level in range(7)]
    for offset, block, pixels in zip(offsets, blocks, pictures, strict=True):
        put(memory, offset, pixels[None], block)
    for level, pixels in enumerate(pictures):
        assert np.array_equal(found.picture(memory, engine, level), pixels)
        assert np.array_equal(found.decode(memory, engine, level), (pixels / 255).astype(np.float32))
    view = TextureHeader.parse(
        header("A8B8G8R8", 100, 60, MAX_MIP_LEVEL=6, GOBS_PER_BLOCK_HEIGHT=4, RES_VIEW_MIN_MIP_LEVEL=2,
               RES_VIEW_MAX_MIP_LEVEL=3)
    )  # fmt: skip
    assert np.array_equal(view.picture(memory, engine), pictures[2])
    assert np.array_equal(view.picture(memory, engine, 1), pictures[3])
    for level, layer in ((2, 0), (-1, 0), (0, 1), (0, -1)):
        with pytest.raises(UsageError, match="no level"):
            view.picture(memory, engine, level, layer)


@pytest.mark.parametrize(
    ("kind", "count", "layers"), [("TWO_D_ARRAY", 5, 5), ("CUBEMAP", 1, 6), ("CUBEMAP_ARRAY", 2, 12)]
)
def test_layers_and_faces(memory: GpuMemory, engine: Engine, kind: str, count: int, layers: int) -> None:
    memory.map(BASE, MIB)
    words = header("A8B8G8R8", 24, 24, kind, DEPTH_MINUS_ONE=count - 1, MAX_MIP_LEVEL=1, GOBS_PER_BLOCK_HEIGHT=3)
    found = TextureHeader.parse(words)
    assert found.layers == layers
    # 24 rows need blocks of 4 GOBs, 12 rows of 2: 2*4 GOBs, then 2, rounded up to 4: the next layer.
    stride = 512 * 12
    pictures = {}
    for layer in range(layers):
        for level, (offset, block) in enumerate(((0, 2), (512 * 8, 1))):
            pictures[level, layer] = colours(10 * layer + level, 24 >> level, 24 >> level)
            put(memory, layer * stride + offset, pictures[level, layer][None], block)
    for (level, layer), pixels in pictures.items():
        assert np.array_equal(found.picture(memory, engine, level, layer), pixels)
    with pytest.raises(UsageError):
        found.picture(memory, engine, 0, layers)


def test_volumes(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, 4 * MIB)
    pixels = np.stack([colours(z, 20, 30) for z in range(6)])
    shape = {"DEPTH_MINUS_ONE": 5, "GOBS_PER_BLOCK_HEIGHT": 1, "GOBS_PER_BLOCK_DEPTH": 5}
    found = TextureHeader.parse(header("A8B8G8R8", 30, 20, "THREE_D", MAX_MIP_LEVEL=1, **shape))
    size = put(memory, 0, pixels, 1, 3)  # 6 slices need blocks of 8
    small = np.stack([colours(90 + z, 10, 15) for z in range(3)])
    put(memory, size, small, 1, 2)
    for z in range(6):
        assert np.array_equal(found.picture(memory, engine, z=z), pixels[z])
    for z in range(3):
        assert np.array_equal(found.picture(memory, engine, 1, z=z), small[z])
    with pytest.raises(UsageError, match="no slice 3"):
        found.picture(memory, engine, 1, z=3)
    # By the other reading blocks of the first level keep their 32 slices.
    keep = choose({"memory.block_depth_base": "keep"})
    put(memory, 0, pixels, 1, 5)
    for z in range(6):
        assert np.array_equal(found.picture(memory, engine, z=z, choices=keep), pixels[z])
    level, address = found.surface(1, choices=keep)
    assert address == BASE + 512 * 2 * 32 * 2 * 2 and level.layout.block_depth == 4


def test_pitch_textures(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    pixels = colours(1, 9, 13)
    rows = np.zeros((9, 96), np.uint8)
    rows[:, :52] = pixels.reshape(9, 52)
    memory.write(BASE, rows)
    found = TextureHeader.parse(header("A8B8G8R8", 13, 9, form="PITCH", PITCH_BITS20TO5=3))
    assert (found.layout, found.pitch, found.levels) == ("pitch", 96, 1)
    assert np.array_equal(found.picture(memory, engine), pixels)
    with pytest.raises(UsageError, match="no blocks"):
        _ = found.mips


def test_buffers(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    values = np.random.default_rng(2).normal(size=70_000).astype(np.float32)
    memory.write(BASE, values)
    words = header("R32", 0, form="1D", **{f"{c}_DATA_TYPE": 7 for c in "RGBA"},
                   WIDTH_MINUS_ONE_BITS31TO16=69_999 >> 16, WIDTH_MINUS_ONE_BITS15TO0=69_999 & 0xFFFF)  # fmt: skip
    found = TextureHeader.parse(words)
    assert (found.kind, found.layout, found.width, found.height) == ("ONE_D_BUFFER", "buffer", 70_000, 1)
    assert np.array_equal(found.decode(memory, engine)[0, :, 0], values)


def test_one_dimensional_textures_have_one_row(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    pixels = colours(3, 1, 50)
    put(memory, 0, pixels[None])
    found = TextureHeader.parse(header("A8B8G8R8", 50, 7, "ONE_D"))
    assert found.height == 1 and np.array_equal(found.picture(memory, engine), pixels)


def test_multisampled_textures_are_larger(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    pixels = colours(4, 20, 60)
    put(memory, 0, pixels[None], 1)
    found = TextureHeader.parse(header("A8B8G8R8", 15, 10, MULTI_SAMPLE_COUNT=3, GOBS_PER_BLOCK_HEIGHT=1))
    assert found.samples == (4, 2) and np.array_equal(found.picture(memory, engine), pixels)


def test_the_swizzle_comes_after_conversion(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    memory.write(BASE, tile(np.array([[[200, 10]]], np.uint8), Layout(2, 1)))
    sources = {"X_SOURCE": 3, "Y_SOURCE": 7, "Z_SOURCE": 5, "W_SOURCE": 0}
    found = TextureHeader.parse(header("G8R8", 1, 1, S_R_G_B_CONVERSION=1, **sources))
    expected = np.array([srgb_to_linear(10 / 255), 1, 1, 0], np.float32)
    assert np.array_equal(found.decode(memory, engine)[0, 0], expected)
    assert found.picture(memory, engine)[0, 0].tolist() == [10, 255, 255, 0]
    integer = header("G8R8", 1, 1, **{f"{c}_DATA_TYPE": 4 for c in "RGBA"}, X_SOURCE=6, Y_SOURCE=2, Z_SOURCE=4)
    values = TextureHeader.parse(integer).decode(memory, engine)
    assert values.dtype == np.uint32 and values[0, 0].tolist() == [1, 200, 0, 1]


def test_compressed_levels_are_cut_to_their_size(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, MIB)
    rng = np.random.default_rng(8)
    blocks = rng.integers(0, 256, (1, 3, 4 * 8), dtype=np.uint8)
    memory.write(BASE, tile(blocks, Layout(32, 3)))
    found = TextureHeader.parse(header("DXT1", 14, 9))
    pixels = found.picture(memory, engine)
    assert pixels.shape == (9, 14, 4)
    assert np.array_equal(pixels, picture(blocks[0], TEXTURE.named("DXT1"))[:9, :14])


def test_holes_read_as_zero_and_are_counted(memory: GpuMemory, engine: Engine) -> None:
    memory.map(BASE, 4096)
    memory.write(BASE, b"\xff" * 4096)
    found = TextureHeader.parse(header("A8B8G8R8", 16, 128))
    rows, missed = found.read(memory, engine)
    assert missed == 4096 and rows[:64].all() and not rows[64:].any()


def test_textures_beyond_reason_are_refused(memory: GpuMemory, engine: Engine) -> None:
    found = TextureHeader.parse(header("R32_G32_B32_A32", 65536, 65536))
    with pytest.raises(UsageError, match="too large"):
        found.read(memory, engine)
    for name in ("R1", "V8Z24__COV8R24V"):
        with pytest.raises(UsageError, match="no description"):
            TextureHeader.parse(header(name, 8, 8)).surface()
    with pytest.raises(UsageError, match="GOBs"):
        _ = TextureHeader.parse(header("R8", 8, 4096, GOBS_PER_BLOCK_HEIGHT=7)).mips


# Recordings

RECORDINGS = recordings.switch()
recorded = pytest.mark.skipif(not RECORDINGS.is_dir(), reason=recordings.REASON)


def shown(name: str) -> tuple[Any, list[TextureHeader]]:
    """The machine at the first present of a recording, and the headers of its pool that are not empty."""
    log = parse((RECORDINGS / f"{name}.mxcap.zip").read_bytes())
    driver = drive(log)
    machine = driver.machine
    driver.play_frame()
    registers = machine.registers(0xB197)
    high, low, last = (int(registers[B197[f"SET_TEX_HEADER_POOL_{part}"].word]) for part in "ABC")
    pool = [machine.memory.read((high << 32 | low) + 32 * i, 32) for i in range(min(last, 15) + 1)]
    return machine, [TextureHeader.parse(data) for data in pool if any(data)]


@recorded
def test_a_texture_that_the_copy_engine_put_in_blocks() -> None:
    """Its source holds 64 rows of 64 BC1 blocks in rows, among other things that the processor wrote."""
    machine, headers = shown("ex04_textured_cube_320x180")
    (found,) = headers
    assert (found.format.name, found.width, found.height, found.layout) == ("DXT1", 256, 256, "block-linear")
    copy = machine.registers(0xB0B5)
    high, low = (int(copy[B0B5[f"OFFSET_IN_{part}"].word]) for part in ("UPPER", "LOWER"))
    rows = np.frombuffer(machine.memory.read(high << 32 | low, 64 * 512), np.uint8).reshape(64, 512)
    pixels = found.picture(machine.memory, machine.engine)
    expected = picture(rows, TEXTURE.named("DXT1"))
    assert np.array_equal(pixels, expected)
    # A photograph: neighbours are alike, also across the borders of blocks, and it is no plain field.
    colours = pixels[..., :3].astype(int)
    for axis in (0, 1):
        steps = np.abs(np.diff(colours, axis=axis)).mean(axis=(1 - axis, 2))
        assert steps[3::4].mean() < 1.5 * steps.mean() < 20
    assert colours.std() > 30


@recorded
def test_textures_of_all_kinds_that_a_gl_driver_uploaded() -> None:
    """The program fills them from one table of random bytes, and a depth texture from a formula."""
    machine, headers = shown("mesa_texkinds_320x180")
    state, table = 3, bytearray()
    while len(table) < 16 * 16 * 4 * 8:
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        table.append(state >> 8 & 0xFF)
    texels = np.frombuffer(table, np.uint8).reshape(-1, 4)
    assert [h.kind for h in headers] == ["CUBEMAP", "THREE_D", "TWO_D_ARRAY", "TWO_D", "TWO_D"]
    cube, volume, array, integer, depth = headers

    def see(header: TextureHeader, **where: int) -> np.ndarray:
        return header.picture(machine.memory, machine.engine, **where)

    for face in range(6):
        assert np.array_equal(see(cube, layer=face), texels[64 * face :][:64].reshape(8, 8, 4))
    assert (volume.depth, array.layers) == (8, 4)
    for z in range(8):
        assert np.array_equal(see(volume, z=z), texels[256 * z :][:256].reshape(16, 16, 4))
    for layer in range(4):
        assert np.array_equal(see(array, layer=layer), texels[256 * layer :][:256].reshape(16, 16, 4))
    values = integer.decode(machine.memory, machine.engine)
    assert values.dtype == np.uint32 and np.array_equal(values, texels[:64].reshape(8, 8, 4))
    values = depth.decode(machine.memory, machine.engine)
    assert values[..., 0].ravel().tolist() == [(i * 37 % 64) / 64 for i in range(64)]
    assert (values[..., 3] == 1).all() and not values[..., 1:3].any()
