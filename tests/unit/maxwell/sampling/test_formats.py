"""Every texture format and layout comes out of a fetch as `TextureHeader.decode` gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.sampling import bench, call_of

from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.facts.maxwell.headers import TIC
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import Call
from pocketgpu.maxwell.sampling.store import Pools

BASE, SIZE = 0x30_0000_0000, 1 << 17
TEXELS = BASE + 4096
TYPES = {"snorm": 1, "unorm": 2, "sint": 3, "uint": 4, "snorm16": 5, "unorm16": 6, "float": 7}
DESCRIBED = [layout for layout in TEXTURE.values() if layout.bytes]


@pytest.fixture(scope="module", autouse=True)
def memory() -> Iterator[None]:
    one = bench("llvm")
    before, mapping = one.device.textures.pools, one.device.memory.map(BASE, SIZE)
    one.device.textures.pools = Pools(BASE, 0, BASE + 32, 0)
    one.device.memory.write(TEXELS, np.random.default_rng(1).integers(0, 256, SIZE - 4096, dtype=np.uint8).tobytes())
    yield
    one.device.textures.pools = before
    one.device.memory.unmap(mapping)


def put(layout: PixelLayout, types: Any, **more: Any) -> TextureHeader:
    """A header in the pool, of a texture of random bytes."""
    one = bench("llvm")
    values = {
        "HEADER_VERSION": 3, "COMPONENTS": layout.code, "ADDRESS_BITS31TO9": TEXELS >> 9 & 0x7FFFFF,
        "ADDRESS_BITS47TO32": TEXELS >> 32, "TEXTURE_TYPE": 1, "WIDTH_MINUS_ONE": 12, "HEIGHT_MINUS_ONE": 10,
        **{f"{c}_DATA_TYPE": TYPES[t] for c, t in zip("RGBA", types, strict=True)},
        **{f"{c}_SOURCE": n + 2 for n, c in enumerate("XYZW")}, "GOBS_PER_BLOCK_HEIGHT": 1, **more,
    }  # fmt: skip
    words = np.array(TIC["BL"].pack(values), "<u4").tobytes()
    one.device.memory.write(BASE, words + bytes(32))
    return TextureHeader.parse(words)


def fetched(kind: str, vectors: dict[int, Any], **more: Any) -> np.ndarray[Any, Any]:
    return bench("llvm").call(r.FETCH, call_of(kind, lod=(Call.LOD, r.LEVEL), **more), 0, vectors)


def same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    """Words of texels, (4, lanes), against decoded ones, (lanes, 4)."""
    if want.dtype.kind in "iu":
        np.testing.assert_array_equal(got.T, want.view(np.int32))
    else:
        np.testing.assert_array_equal(got.view(np.float32).T, want.astype(np.float32))


@pytest.mark.parametrize("layout", DESCRIBED, ids=lambda layout: str(layout.name))
def test_formats(layout: PixelLayout) -> None:
    one = bench("llvm")
    swizzles = [{}, {"X_SOURCE": 5, "Y_SOURCE": 4, "Z_SOURCE": 7, "W_SOURCE": 2}]
    choices = [("unorm",) * 4] if layout.compressed else [(t,) * 4 for t in TYPES]
    if any(c.width not in (10, 11, 16, 32) for c in layout.components):
        choices = [types for types in choices if types[0] != "float"]
    if any(c.width > 16 for c in layout.components):
        choices = [types for types in choices if types[0] in ("sint", "uint", "float", "unorm")]
    for types in choices:
        for swizzle in swizzles if types[0] == "unorm" else swizzles[:1]:
            for srgb in (0, 1) if types[0] == "unorm" else (0,):
                texture = put(layout, types, S_R_G_B_CONVERSION=srgb, **swizzle)
                want = texture.decode(one.device.memory, one.device.engine)
                x, y = np.arange(32) % 13, np.arange(32) % 11
                same(fetched("2d", {r.V_X: x, r.V_Y: y}), want[y, x])
    assert one.faults == 0


@pytest.mark.parametrize("kind", ["1d", "3d", "1d_array", "2d_array", "cube_array"])
def test_layouts(kind: str) -> None:
    one = bench("llvm")
    code = {"1d": 0, "3d": 2, "1d_array": 4, "2d_array": 5, "cube_array": 8}[kind]
    texture = put(
        TEXTURE.named("R16_G16"), ("unorm",) * 4, TEXTURE_TYPE=code, DEPTH_MINUS_ONE=4 if kind != "cube_array" else 1,
        MAX_MIP_LEVEL=3, RES_VIEW_MIN_MIP_LEVEL=1, RES_VIEW_MAX_MIP_LEVEL=3, GOBS_PER_BLOCK_DEPTH=2,
    )  # fmt: skip
    x, y, z = np.arange(32) % 6, np.arange(32) % 5, np.arange(32) % 2
    for level in range(3):
        found, _ = texture.surface(level)
        inside = (x < found.width) & (y < found.height) & (z < found.depth)
        inside = inside if kind == "3d" else (x < found.width) & (y < found.height)
        layer = np.arange(32) % texture.layers
        vectors = {r.V_X: x, r.V_Y: y, r.V_LOD: level}
        vectors |= {r.V_Z: z} if kind == "3d" else {r.V_LAYER: layer}
        # Fetches have no faces: a cube is an array of layers for them.
        got = fetched(kind.replace("cube", "2d"), vectors)
        if kind in ("1d", "1d_array"):
            inside, y = x < found.width, np.zeros(32, int)
        slices = [
            texture.decode(one.device.memory, one.device.engine, level, layer=n, z=0) for n in range(texture.layers)
        ] if kind != "3d" else [
            texture.decode(one.device.memory, one.device.engine, level, z=n) for n in range(found.depth)
        ]  # fmt: skip
        number = z if kind == "3d" else layer
        for lane in range(32):
            want = slices[number[lane]][y[lane], x[lane]] if inside[lane] else np.zeros(4, np.float32)
            same(got[:, lane : lane + 1], want[None])


@pytest.mark.parametrize(("mode", "across", "down"), [(1, 2, 1), (2, 2, 2), (3, 4, 2), (6, 4, 4)])
def test_samples_of_multisampled_textures(mode: int, across: int, down: int) -> None:
    one = bench("llvm")
    texture = put(TEXTURE.named("A8B8G8R8"), ("unorm",) * 4, MULTI_SAMPLE_COUNT=mode)
    whole = texture.decode(one.device.memory, one.device.engine)
    x, y, sample = np.arange(32) % 13, np.arange(32) % 11, np.arange(32) % (across * down)
    got = fetched("2d", {r.V_X: x, r.V_Y: y, r.V_SAMPLE: sample}, samples=(Call.MULTISAMPLED, 1))
    same(got, whole[y * down + sample // across, x * across + sample % across])
    got = one.call(r.QUERY, 2 << Call.QUESTION[0], 0, {})
    assert got[2, 0] == across * down


def test_plain_rows_and_buffers() -> None:
    one = bench("llvm")
    put(TEXTURE.named("R32"), ("uint",) * 4)
    data = np.frombuffer(one.device.memory.read(TEXELS, 65536), "<u4")
    common = {"COMPONENTS": TEXTURE.named("R32").code, **{f"{c}_DATA_TYPE": 4 for c in "RGBA"}}
    common |= {f"{c}_SOURCE": n + 2 for n, c in enumerate("XYZW")}
    pitch = {
        "HEADER_VERSION": 2, "ADDRESS_BITS31TO5": TEXELS >> 5 & 0x7FFFFFF, "ADDRESS_BITS47TO32": TEXELS >> 32,
        "PITCH_BITS20TO5": 6, "WIDTH_MINUS_ONE": 39, "HEIGHT_MINUS_ONE": 19, "TEXTURE_TYPE": 1,
    }  # fmt: skip
    one.device.memory.write(BASE, np.array(TIC["PITCH"].pack({**common, **pitch}), "<u4").tobytes())
    x, y = np.arange(32), np.arange(32) % 20
    assert fetched("2d", {r.V_X: x, r.V_Y: y})[0].view(np.uint32).tolist() == data[y * 48 + x].tolist()
    buffer = {
        "HEADER_VERSION": 0, "ADDRESS_BITS31TO0": (TEXELS + 4) & 0xFFFFFFFF, "ADDRESS_BITS47TO32": TEXELS >> 32,
        "WIDTH_MINUS_ONE_BITS15TO0": 0x2000,
    }  # fmt: skip
    one.device.memory.write(BASE, np.array(TIC["1D"].pack({**common, **buffer}), "<u4").tobytes())
    x = np.arange(32) * 271
    want = np.where(x <= 0x2000, data[np.minimum(x + 1, 0x2001)], 0)
    assert fetched("1d", {r.V_X: x})[0].view(np.uint32).tolist() == want.tolist()


def test_what_is_too_large_or_not_there_is_told() -> None:
    one = bench("llvm")
    for wrong, reason in (
        ({"TEXTURE_TYPE": 5, "DEPTH_MINUS_ONE": 5000}, "2048 layers"),
        ({"ADDRESS_BITS47TO32": 0x77}, "nothing is mapped"),
        ({"COMPONENTS": 0x2C}, "no description"),
    ):
        put(TEXTURE.named("A8B8G8R8"), ("unorm",) * 4, **wrong)
        assert (fetched("2d", {}) == 0).all()
        assert one.faults == 1 and reason in one.device.textures.reason(0)
