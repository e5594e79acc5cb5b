"""Levels of detail, cube maps and projected textures.

Sources: 3dbrew GPU/Internal Registers ("Texture unit registers"); face table and projection as the public models have
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.pica_gpu import random_texture

# General code draws any state, specialised code one: both must match the models here.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

TEXTURES = (0x21000000, 0x21400000)


# -- levels -----------------------------------------------------------------------------------------------------------


def levels(gpu: Any, size: int, colors: list[int], **fields: int) -> None:
    """A texture whose levels are of one colour each; they follow each other in memory."""
    data = b"".join(np.full((size >> n) ** 2, c, "<u4").tobytes() for n, c in enumerate(colors))
    gpu.texture_data(0, data, 0, size, size)
    gpu.set(TEXUNIT0_PARAM={"wrap_s": 2, "wrap_t": 2, "mip_filter": fields.pop("mip_filter", 0)})
    lod = {"max_level": len(colors) - 1, **fields}
    gpu.set(TEXUNIT0_LOD={**lod, "bias": 0})
    gpu.write(0x84, int(256 * fields.get("bias", 0)) & 0x1FFF, mask=0x3)
    gpu.show()


SHADES = [0x10101010, 0x50505050, 0x90909090, 0xD0D0D0D0]


@pytest.mark.parametrize("detail", range(-1, 6))
@pytest.mark.parametrize(("bias", "lowest"), [(0, 0), (1, 0), (-1, 0), (0, 2)])
def test_level_is_the_logarithm_of_texels_per_pixel(gpu: Any, detail: int, bias: int, lowest: int) -> None:
    """64 texels over 16 pixels at 0.25 of the texture are one a pixel: level 0."""
    levels(gpu, 64, SHADES, bias=bias, min_level=lowest)
    width = 0.25 * 2.0**detail
    gpu.span(0, width, 0, width)
    gpu.run()
    level = min(max(detail + bias, lowest), 3)
    assert (gpu.color_words() == SHADES[level]).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_level_follows_the_larger_direction(gpu: Any, axis: int) -> None:
    levels(gpu, 64, SHADES)
    size = [0.25, 1.0][axis], [1.0, 0.25][axis]
    gpu.span(0, size[0], 0, size[1])
    gpu.run()
    assert (gpu.color_words() == SHADES[2]).all()


def test_levels_are_mixed_by_the_fraction_when_asked(gpu: Any) -> None:
    for part, expected in ((0.0, 0x50), (0.25, 0x60), (0.5, 0x70), (0.75, 0x80), (1.0, 0x90)):
        levels(gpu, 64, SHADES, bias=part, mip_filter=1)
        gpu.span(0, 0.5, 0, 0.5)
        gpu.run()
        assert np.abs(gpu.pixels() - expected).max() <= 1


@pytest.mark.parametrize("texels", [0.25, 1, 1.25, 2])
@pytest.mark.parametrize("larger", [False, True])
def test_each_filter_has_its_side_of_one_texel_a_pixel(gpu: Any, texels: float, larger: bool) -> None:
    """Up to one texel a pixel the filter for magnification is used, above it the other one. Only a linear filter gives
    colours between those of the texels."""
    gpu.texture(0, np.tile(np.array([0, 0xFFFFFFFF], np.uint32), (16, 8)))
    gpu.set(TEXUNIT0_PARAM={"wrap_s": 2, "wrap_t": 2, "mag_filter": larger, "min_filter": not larger})
    gpu.show()
    gpu.span(0.02, texels + 0.02, 0, texels)
    gpu.run()
    mixed = ((gpu.pixels() > 0) & (gpu.pixels() < 255)).any()
    assert mixed == (larger == (texels <= 1))


def test_levels_may_be_switched_off(make_gpu: Callable[..., Any]) -> None:
    for choices in ({"texture__levels": "base"}, {"texture__filter": "nearest"}):
        gpu = make_gpu(**choices)
        levels(gpu, 64, SHADES)
        gpu.span(0, 1, 0, 1)
        gpu.run()
        assert (gpu.color_words() == SHADES[0]).all()


# -- cube maps and projection -----------------------------------------------------------------------------------------


def per_pixel(gpu: Any, uvw: np.ndarray) -> None:
    """Every pixel of the target with texture coordinates 0 of its own: shape (height, width, 3)."""
    height, width = uvw.shape[:2]
    y, x = np.mgrid[:height, :width]
    corners = np.array([(0, 0), (1, 0), (0, 1), (1, 0), (1, 1), (0, 1)])
    window = np.stack([x, y], axis=-1)[:, :, None] + corners
    position = window / (width / 2, height / 2) - 1
    full = np.concatenate([position, np.broadcast_to([-0.5, 1.0], (height, width, 6, 2))], axis=-1)
    coords = np.concatenate([uvw, np.ones((height, width, 1))], axis=-1)
    gpu.draw(full.reshape(-1, 4), uv0=np.repeat(coords.reshape(-1, 4), 6, axis=0))


def cube_texel(direction: np.ndarray) -> tuple[int, float, float]:
    """Face number and coordinates there, by the table of the documents."""
    u, v, w = direction
    if abs(u) > abs(v) and abs(u) > abs(w):
        face, x, y, m = (0, -w, -v, u) if u > 0 else (1, -w, v, u)
    elif abs(v) > abs(w):
        face, x, y, m = (2, u, w, v) if v > 0 else (3, -u, w, v)
    else:
        face, x, y, m = (4, u, -v, w) if w > 0 else (5, u, v, w)
    return face, 0.5 * x / m + 0.5, 0.5 * y / m + 0.5


def test_cube_maps_choose_face_and_texel_by_the_largest_coordinate(make_gpu: Callable[..., Any], rng: Any) -> None:
    gpu = make_gpu(32, 32)
    faces = [random_texture(20 + i, 8, 8) for i in range(6)]
    for i, (words, _) in enumerate(faces):
        gpu.texture(0, words)
        gpu.memory.write(TEXTURES[1] + 256 * i, gpu.memory.read(TEXTURES[0], 256))
    gpu.write(0x81, 0, 8 << 16 | 8, 1 << 28, 0, TEXTURES[1] >> 3, each=True)
    gpu.write(0x86, *((TEXTURES[1] + 256 * i >> 3) & 0x3FFFFF for i in range(1, 6)), each=True)
    gpu.write(0x8E, 0)
    gpu.show()
    directions = rng.uniform(-1, 1, (32, 32, 3))
    per_pixel(gpu, directions)
    gpu.run()
    got = gpu.pixels()
    used = set()
    for y, x in np.ndindex(32, 32):
        face, s, t = cube_texel(directions[y, x])
        if min(abs(c * 8 - round(c * 8)) for c in (s, t)) < 1e-3:
            continue
        used.add(face)
        assert got[y, x].tolist() == faces[face][1][int(t * 8), int(s * 8)].tolist(), directions[y, x]
    assert used == set(range(6))
    assert not gpu.ids


def level_here(directions: Callable[[float, float], np.ndarray], x: float, y: float, cube: bool) -> float:
    """The logarithm of texels per pixel at a place, out of coordinates close to it; NaN at the edge of a face."""

    def st(dx: float, dy: float) -> np.ndarray:
        direction = directions(x + dx, y + dy)
        if cube:
            face, s, t = cube_texel(direction)
            return np.array((s, t) if face == cube_texel(directions(x, y))[0] else (np.nan, np.nan))
        return direction[:2] / direction[2]

    step = 1e-4
    changes = [(st(step, 0) - st(-step, 0)) / (2 * step), (st(0, step) - st(0, -step)) / (2 * step)]
    return float(np.log2(np.abs(changes).max() * 64))


@pytest.mark.parametrize("face", [0, 1, 2, 3, 4, 5, None], ids=lambda face: "projection" if face is None else str(face))
def test_levels_follow_what_is_divided(gpu: Any, rng: Any, face: int | None) -> None:
    """The divisor changes from pixel to pixel, and the footprint of a pixel with it."""
    cube = face is not None
    for _ in range(3):
        levels(gpu, 64, SHADES)
        gpu.set(TEXUNIT0_PARAM={"type": 1 if cube else 3, "wrap_s": 2, "wrap_t": 2})
        gpu.write(0x86, *[TEXTURES[0] >> 3 & 0x3FFFFF] * 5, each=True)
        origin, across, up = rng.uniform(-0.4, 0.4, 3), *rng.uniform(-1, 1, (2, 3)) * rng.uniform(0.02, 0.09, (2, 1))
        major = 2 if face is None else face // 2
        origin[major] = 1.5 if face is None or face % 2 == 0 else -1.5
        plane = lambda x, y, o=origin, a=across, b=up: o + x * a + y * b  # noqa: E731
        corners = [plane(x, y) for y in (-8, 8) for x in (-8, 8)]
        gpu.quad(uv0=[(*corner, 1) for corner in corners])
        gpu.run()
        words = gpu.color_words()
        for y, x in np.ndindex(16, 16):
            level = level_here(plane, x - 7.5, y - 7.5, cube) + 0.5
            if np.isfinite(level) and abs(level - round(level)) > 0.01:
                assert words[y, x] == SHADES[int(min(max(level, 0), 3))], (x, y, level)


def test_projection_divides_by_the_third_coordinate(make_gpu: Callable[..., Any], rng: Any) -> None:
    words, colors = random_texture(30, 16, 16)
    gpu = make_gpu(32, 32)
    gpu.texture(0, words)
    gpu.write(0x83, 3 << 28 | 0x2200)
    gpu.show()
    coords = np.concatenate([rng.uniform(-1, 1, (32, 32, 2)), rng.uniform(0.3, 2, (32, 32, 1))], axis=-1)
    per_pixel(gpu, coords)
    gpu.run()
    st = coords[..., :2] / coords[..., 2:] * 16
    sure = (np.abs(st - np.rint(st)) > 1e-3).all(axis=-1)
    expected = colors[np.floor(st[..., 1]).astype(int) % 16, np.floor(st[..., 0]).astype(int) % 16]
    assert (gpu.pixels()[sure] == expected[sure]).all()
