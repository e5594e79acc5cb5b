"""Clipping, the viewport, and what is interpolated how.

Source: 3dbrew GPU/Internal Registers ("Rasterizer registers").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ONE = (1 / 255,) * 4


def at(points: Any, z: float = -0.5, w: float = 1.0) -> np.ndarray:
    """Clip positions of 2D points."""
    points = np.asarray(points, np.float32)
    return np.concatenate([points * w, np.tile([z * w, w], (len(points), 1))], axis=1).astype(np.float32)


# -- clipping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("z", "visible"), [(0.5, False), (0.001, False), (0.0, True), (-0.5, True), (-1.0, True), (-1.001, False)]
)
def test_depth_range_is_minus_w_to_zero(gpu: Any, z: float, visible: bool) -> None:
    for w in (1.0, 3.0):
        gpu.put_color(np.zeros((16, 16), np.uint32))
        gpu.draw(at([(-1, -1), (3, -1), (-1, 3)], z=z, w=w))
        gpu.run()
        assert gpu.covered().all() == visible
        assert gpu.covered().any() == visible


@pytest.mark.parametrize("w", [-1.0, 0.0])
def test_vertices_without_a_positive_w_draw_nothing(gpu: Any, w: float) -> None:
    position = at([(-1, -1), (3, -1), (-1, 3)])
    position[:, 3] = w
    gpu.draw(position)
    gpu.run()
    assert not gpu.covered().any()


def homogeneous(
    position: np.ndarray, values: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a triangle shows with no clipper: for each pixel centre, the point of the triangle's plane seen there.

    Returns (smallest barycentric coordinate, value, clip position). Solves s * (x, y, 1) = b0 p0 + b1 p1 + b2 p2 for
    the clip coordinates x, y, w in 64-bit floats.
    """
    y, x = np.mgrid[:height, :width]
    ndc = np.stack([(x + 0.5) / (width / 2) - 1, (y + 0.5) / (height / 2) - 1, np.ones_like(x)], axis=-1)
    matrix = position[:, [0, 1, 3]].astype(float).T
    b = ndc @ np.linalg.inv(matrix).T
    b /= b.sum(axis=-1, keepdims=True)
    point = b @ position.astype(float)
    b = np.where(point[..., 3:] > 0, b, -1)
    return b.min(axis=-1), b @ values.astype(float), point


def allowed(value: np.ndarray) -> np.ndarray:
    """How far a pixel may be from values 0-255 of a reference: vertices move by up to 1/32 pixel on each axis."""
    slopes = [np.abs(g).max(axis=-1, keepdims=True) for g in np.gradient(np.clip(value, 0, 255), axis=(0, 1))]
    return 0.6 + 0.08 * (slopes[0] + slopes[1])


PLANES = {
    "left": lambda p: p[..., 0] + p[..., 3], "right": lambda p: p[..., 3] - p[..., 0], "bottom": lambda p: p[...,
    1] + p[..., 3],
    "top": lambda p: p[..., 3] - p[..., 1], "far": lambda p: -p[..., 2], "near": lambda p: p[..., 2] + p[..., 3],
    "eye": lambda p: p[..., 3],
}  # fmt: skip


def crossing(plane: str, random: np.random.Generator) -> np.ndarray:
    """A random triangle with vertices on both sides of a plane, in clip space."""
    while True:
        w = random.uniform(0.5, 4, 3)
        p = np.stack(
            [random.uniform(-1.2, 1.2, 3) * w, random.uniform(-1.2, 1.2, 3) * w, random.uniform(-0.9, -0.1, 3) * w, w],
            axis=1,
        )
        axis, value = {
            "left": (0, -2.5 * w), "right": (0, 2.5 * w), "bottom": (1, -2.5 * w), "top": (1, 2.5 * w), "far": (2,
            0.8 * w),
            "near": (2, -1.8 * w), "eye": (3, -0.3 * w),
        }[plane]  # fmt: skip
        out = random.permutation([True, False, random.random() < 0.5])
        p[out, axis] = value[out]
        side = PLANES[plane](p) >= 0
        if side.any() and not side.all():
            return p.astype(np.float32)


@pytest.mark.parametrize("plane", PLANES)
def test_clipping_cuts_area_and_keeps_interpolation(make_gpu: Callable[..., Any], plane: str) -> None:
    """Against a reference without a clipper: same pixels (but at edges) and same perspective-correct colours."""
    random = np.random.default_rng(sum(plane.encode()))
    size = 48
    drawn = 0
    for _ in range(12):
        gpu = make_gpu(size, size)
        position = crossing(plane, random)
        color = random.uniform(0.1, 1, (3, 4)).astype(np.float32)
        gpu.draw(position, color)
        gpu.run()
        b, value, point = homogeneous(position, color, size, size)
        distances = [f(point) for f in PLANES.values()]
        slack = 0.04
        seen = np.minimum(b, np.min(distances, axis=0) / np.maximum(np.abs(point[..., 3]), 1e-6))
        certain, never = seen > slack, seen < -slack
        covered = gpu.covered()
        assert covered[certain].all()
        # Near the vanishing line b is no measure of distance on the screen: leave that out.
        assert not covered[never & (np.abs(b) < 50)].any()
        error = np.abs(gpu.pixels() - 255 * value) - allowed(255 * value)
        assert error[certain].max(initial=0) <= 0
        drawn += int(certain.sum())
    assert drawn > 500


def test_user_plane_clips_where_its_sum_is_negative(make_gpu: Callable[..., Any]) -> None:
    random = np.random.default_rng(0)
    for _ in range(8):
        gpu = make_gpu(32, 32)
        plane = np.round(random.uniform(-1, 1, 4) * 16) / 16
        if abs(plane[:2]).max() < 0.3:
            continue
        gpu.set(FRAGOP_CLIP=1)
        for i in range(4):
            gpu.set(**{f"FRAGOP_CLIP_DATA{i}": gpu.f24(plane[i])})
        color = random.uniform(0.1, 1, (4, 4))
        gpu.quad(color=color)
        gpu.run()
        y, x = (np.mgrid[:32, :32] + 0.5) / 16 - 1
        distance = plane[0] * x + plane[1] * y - 0.5 * plane[2] + plane[3]
        assert gpu.covered()[distance > 0.05].all()
        assert not gpu.covered()[distance < -0.05].any()
    gpu.set(FRAGOP_CLIP=0)
    gpu.quad()
    gpu.run()
    assert gpu.covered().all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("component", range(4))
def test_triangles_with_positions_that_are_no_numbers_vanish(gpu: Any, bad: float, component: int) -> None:
    position = at([(-1, -1), (3, -1), (-1, 3)] * 2)
    position[1, component] = bad
    gpu.set(COLOR_OPERATION=0x00E40100, BLEND_FUNC=0x11110000)
    gpu.draw(position, color=ONE)
    gpu.run()
    if np.isnan(bad):
        assert (gpu.pixels() == 1).all()  # only the second one
    else:
        assert (gpu.pixels() >= 1).all()
        assert (gpu.pixels() <= 2).all()


@pytest.mark.parametrize("factor", [10.0, 1e3, 1e5])
def test_huge_triangles_are_clipped_not_wrapped(gpu: Any, factor: float) -> None:
    gpu.draw(
        np.array(
            [(-factor, -factor, -0.5, 1), (3 * factor, -factor, -0.5, 1), (-factor, 3 * factor, -0.5, 1)], np.float32
        )
    )
    gpu.run()
    assert gpu.covered().all()


# -- viewport and interpolation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "y"), [(0, 0), (3, 5), (-4, 2), (8, -8), (-512, 0), (511, 511)])
def test_viewport_offset_is_signed_and_added(gpu: Any, x: int, y: int) -> None:
    gpu.set(VIEWPORT_WIDTH=gpu.f24(4), VIEWPORT_HEIGHT=gpu.f24(2), VIEWPORT_XY=(x & 0x3FF) | (y & 0x3FF) << 16)
    gpu.quad()
    gpu.run()
    expected = np.zeros((16, 16), bool)
    expected[max(y, 0) : max(y + 4, 0), max(x, 0) : max(x + 8, 0)] = True
    assert (gpu.covered() == expected).all()


def test_colours_are_interpolated_in_perspective(make_gpu: Callable[..., Any]) -> None:
    random = np.random.default_rng(5)
    for _ in range(6):
        gpu = make_gpu(48, 48)
        w = random.uniform(0.3, 6, 3)
        position = (
            np.concatenate([random.uniform(-1, 1, (3, 2)), np.full((3, 1), -0.5), np.ones((3, 1))], axis=1) * w[:, None]
        )
        color = random.uniform(0, 1, (3, 4))
        gpu.draw(position, color)
        gpu.run()
        b, value, _ = homogeneous(position.astype(np.float32), color, 48, 48)
        error = np.abs(gpu.pixels() - 255 * value) - allowed(255 * value)
        assert error[b > 0.03].max(initial=0) <= 0


def test_depth_is_interpolated_linearly_on_the_screen(make_gpu: Callable[..., Any]) -> None:
    """Not in perspective: z/w at the pixel is the plane through the vertices' z/w."""
    random = np.random.default_rng(6)
    for kind, bits in ((3, 24), (2, 24), (0, 16)):
        gpu = make_gpu(32, 32)
        gpu.target(32, 32, depth=kind)
        gpu.set(DEPTH_COLOR_MASK=0x1F00)
        w = random.uniform(0.5, 4, 3)
        flat, z = np.array([(-1, -1), (1, -1), (-1, 1)]), random.uniform(-0.95, -0.05, 3)
        gpu.draw(np.concatenate([flat, z[:, None], np.ones((3, 1))], axis=1) * w[:, None])
        gpu.run()
        y, x = (np.mgrid[:32, :32] + 0.5) / 16 - 1
        plane = z[0] + (z[1] - z[0]) * (x + 1) / 2 + (z[2] - z[0]) * (y + 1) / 2
        expected = -plane * (2**bits - 1)
        got = (gpu.depth_words() & (1 << bits) - 1).astype(float)
        assert np.abs(got - expected)[gpu.covered()].max() <= 2**bits * 2e-6 + 1


@pytest.mark.parametrize(
    ("z", "scale", "offset", "expected"),
    [(-1.0, -1.0, 0.0, 1.0), (0.0, -1.0, 0.0, 0.0), (-0.25, -1.0, 0.0, 0.25), (-0.5, 1.0, 1.0, 0.5), (-0.5, -4.0, 0.0,
     1.0),
     (-0.5, 1.0, 0.0, 0.0), (-0.5, -0.5, 0.5, 0.75)],
)  # fmt: skip
@pytest.mark.parametrize("kind", [0, 2, 3])
def test_depth_is_scaled_offset_clamped_and_cut(
    gpu: Any, z: float, scale: float, offset: float, expected: float, kind: int
) -> None:
    gpu.target(16, 16, depth=kind)
    gpu.set(DEPTHMAP_SCALE=gpu.f24(scale), DEPTHMAP_OFFSET=gpu.f24(offset), DEPTH_COLOR_MASK=0x1F00)
    gpu.quad(z=z)
    gpu.run()
    top = (1 << (16 if kind == 0 else 24)) - 1
    assert (gpu.depth_words() & top == int(expected * top)).all()


def test_w_buffer_multiplies_depth_by_w(gpu: Any) -> None:
    gpu.set(DEPTHMAP_ENABLE=0, DEPTHMAP_SCALE=gpu.f24(-0.25), DEPTH_COLOR_MASK=0x1F00)
    gpu.draw(at([(-1, -1), (3, -1), (-1, 3)], z=-0.5, w=2.0))
    gpu.run()
    expected = 0.5 * 0.25 * 2 * 0xFFFFFF
    assert np.abs((gpu.depth_words() & 0xFFFFFF).astype(float) - expected).max() <= 4


def test_vertex_colours_are_rounded(gpu: Any) -> None:
    for value, expected in (
        (0.0, 0),
        (1.0, 255),
        (0.49 / 255, 0),
        (0.51 / 255, 1),
        (127.49 / 255, 127),
        (127.51 / 255, 128),
    ):
        gpu.quad(color=(value,) * 4)
        gpu.run()
        assert (gpu.pixels() == expected).all()
