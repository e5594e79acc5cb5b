"""Clipping, planes, polygon offset and faces of clipped primitives: against models in binary64."""

from __future__ import annotations

import numpy as np
import pytest
from support.raster_side import HEIGHT, WIDTH, Raster, clip_of, registers

from pocketgpu.maxwell.graphics.programs.headers import LINEAR, PERSPECTIVE

Array = np.ndarray


@pytest.fixture(scope="module")
def raster() -> Raster:
    return Raster()


def window_of(clip: Array) -> Array:
    """x w, y w on the screen and w of clip positions, in binary64."""
    x, y, w = (clip[:, n].astype(np.float64) for n in (0, 1, 3))
    return np.stack([(x + w) * WIDTH / 2, (w - y) * HEIGHT / 2, w], 1)


class Model:
    """A triangle seen at pixel centres through its homogeneous barycentric coordinates (no clipping at all)."""

    def __init__(self, clip: Array) -> None:
        rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
        self.inverse = np.linalg.inv(window_of(clip))
        at = np.stack([columns, rows, np.ones_like(rows)], -1)
        self.shares = at @ self.inverse  # of value / w
        self.inverse_w = self.shares.sum(-1)
        self.clip = clip.astype(np.float64)

    def value(self, values: Array) -> Array:
        return self.shares @ values.astype(np.float64) / self.inverse_w

    def inside(self, margin: float) -> Array:
        """Pixels in the triangle (margin > 0: surely, < 0: perhaps; as a share of the coordinates)."""
        least = (self.shares / np.abs(self.shares).max(-1, keepdims=True)).min(-1)
        return (least >= margin) & (self.inverse_w > 0)

    @property
    def depth(self) -> Array:
        """z / w."""
        return self.shares @ self.clip[:, 2]


def check(raster: Raster, clip: Array, state: object, near: float, user: Array | None = None) -> int:
    """Draw one triangle; compare coverage, depth and an input. near: z / w of the near plane. Pixels drawn."""
    model = Model(clip)
    values = np.array([[0.25, -1.0], [3.0, 2.0], [-2.0, 5.0]], np.float32)
    at = {0x70: clip, 0x80: values}
    if user is not None:
        at[0x2C0] = user[:, None]
    found = raster.draw(state, at, [[0, 1, 2]], inputs={0x80: PERSPECTIVE, 0x84: LINEAR})
    z = model.depth
    surely = model.inside(0.02) & (z > near + 0.01) & (z < 0.99)
    perhaps = model.inside(-0.02) & (z > near - 0.01) & (z < 1.01)
    if user is not None:
        distance = model.value(user)
        surely &= distance > 0.02
        perhaps &= distance > -0.02
    drawn = found.samples > 0
    assert found.samples.max() <= 1
    assert (drawn | ~surely).all()
    assert (perhaps | ~drawn).all()
    if drawn.any():
        steep = np.abs(np.gradient(z)).max(0)[drawn]  # corners move by up to 1/512 pixel
        assert (np.abs(found.depth[drawn] - np.clip(z[drawn] * 0.5 + 0.5, 0, 1)) <= 1e-5 + 0.02 * steep).all()
        wanted = model.value(values[:, 0])[drawn]
        slope = np.abs(np.gradient(model.value(values[:, 0]))).max(0)[drawn]
        assert (np.abs(found.inputs[0][drawn] - wanted) <= 1e-3 + 0.05 * slope).all()
    return int(drawn.sum())


def triangles(seed: int, n: int) -> Array:
    """Triangles with corners in front of and behind the eye and the planes."""
    rng = np.random.default_rng(seed)
    w = rng.uniform(-1.0, 3.0, (n, 3, 1))
    return np.concatenate([rng.uniform(-2, 2, (n, 3, 3)), w], -1).astype(np.float32)


@pytest.mark.parametrize(("zero", "near"), [(0, -1.0), (1, 0.0)])
def test_clipped_triangles_show_what_is_in_front(raster: Raster, zero: int, near: float) -> None:
    state = registers(SET_VIEWPORT_Z_CLIP=zero)
    drawn = [check(raster, one, state, near) for one in triangles(1, 120)]
    assert sum(n > 0 for n in drawn) > 30


def test_corners_far_outside_of_the_screen(raster: Raster) -> None:
    """Beyond the guard band, some behind the eye: what is on the screen is right all the same."""
    rng = np.random.default_rng(12)
    drawn = 0
    for one in triangles(11, 60):
        far = one.copy()
        far[:, :2] *= rng.choice([1.0, 1e2, 1e4, 1e6], (3, 1))
        far[:, 2] = far[:, 3] * rng.uniform(-0.5, 0.5)
        drawn += check(raster, far.astype(np.float32), registers(), -1.0) > 0
    assert drawn > 15


def test_user_planes_clip(raster: Raster) -> None:
    rng = np.random.default_rng(2)
    drawn = 0
    for one in triangles(3, 80):
        distance = rng.uniform(-1, 1, 3).astype(np.float32)
        drawn += check(raster, one, registers(SET_USER_CLIP_ENABLE=1), -1.0, distance) > 0
    assert drawn > 15


def test_cull_planes_take_whole_primitives(raster: Raster) -> None:
    at = clip_of([[5, 5], [40, 5], [5, 40]])
    for distances, clips, culls in (((-1, -1, -1), 0, 0), ((-1, 1, -1), 1, 2), ((0, 1, 2), 2, 2)):
        attributes = {0x70: at, 0x2C8: np.array(distances, np.float32)[:, None]}
        whole = raster.draw(registers(), attributes, [[0, 1, 2]]).samples.sum()
        for op, wanted in ((0, clips), (1, culls)):
            state = registers(SET_USER_CLIP_ENABLE__PLANE2=1, SET_USER_CLIP_OP__PLANE2=op)
            n = raster.draw(state, attributes, [[0, 1, 2]]).samples.sum()
            assert (0 if n == 0 else 2 if n == whole else 1) == wanted


def test_neighbours_of_clipped_triangles_leave_no_gaps(raster: Raster) -> None:
    """A floor that reaches behind the eye: every pixel below the horizon once, none twice."""
    rng = np.random.default_rng(4)
    n = 7
    x, z = np.meshgrid(np.linspace(-40, 40, n), np.linspace(-9, 30, n))
    x, z = x + rng.uniform(-2, 2, x.shape), z + rng.uniform(-1, 1, z.shape)
    x[:, 0], x[:, -1], z[0] = -400, 400, -30
    clip = np.stack([x, np.full_like(x, -1.3), z * 1.02 - 0.2, z], -1).astype(np.float32).reshape(-1, 4)
    list_of = []
    for row in range(n - 1):
        for column in range(n - 1):
            a, b, c, d = (row * n + column + o for o in (0, 1, n + 1, n))
            list_of += [[a, b, c], [a, c, d]] if rng.integers(2) else [[b, d, a], [b, c, d]]
    found = raster.draw(registers(), {0x70: clip}, list_of).samples
    rows = HEIGHT / 2 * (1 + 1.3 / np.array([27.0, 1.0]))  # far edge of the floor; where it comes before the near plane
    inside = slice(int(rows[0]) + 2, HEIGHT)
    np.testing.assert_array_equal(found[inside], 1)
    assert (found <= 1).all()
    assert not found[: HEIGHT // 2].any()


def test_depth_clamp_keeps_what_is_in_front_of_the_near_plane(raster: Raster) -> None:
    at = {0x70: clip_of([[-10, -10], [300, -10], [-10, 300]], [-3.0, -3.0, -3.0])}
    assert not raster.draw(registers(), at, [[0, 1, 2]]).samples.any()
    clamps = registers(SET_VIEWPORT_CLIP_CONTROL=2 << 11 | 3 << 3, SET_VIEWPORT_CLIP_MIN_Z=0.25)
    found = raster.draw(clamps, at, [[0, 1, 2]])
    assert found.samples.all() and (found.depth == 0.25).all()
    kills = registers(SET_VIEWPORT_CLIP_CONTROL=2 << 11)
    assert not raster.draw(kills, at, [[0, 1, 2]]).samples.any()
    slope = {0x70: clip_of([[0, -100], [0, 200], [128, 50]], [-1.5, -1.5, 2.5])}
    found = raster.draw(kills, slope, [[0, 1, 2]]).samples
    z = (np.arange(WIDTH) + 0.5) / 128 * 4 - 1.5
    np.testing.assert_array_equal(found[HEIGHT // 2 + 1], (z >= -1) & (z <= 1))


def test_values_that_are_the_same_everywhere_stay_so(raster: Raster) -> None:
    rng = np.random.default_rng(5)
    for v in rng.uniform(-1, 1, 20).astype(np.float32):
        at = {0x70: clip_of(rng.uniform(-20, 80, (3, 2))), 0x80: np.full((3, 1), v)}
        found = raster.draw(registers(), at, [[0, 1, 2]])
        drawn = found.samples > 0
        assert (found.inputs[0][drawn] == v).all()


def test_scissors_do_not_change_depth(raster: Raster) -> None:
    """Passes that must meet at equal depth may have other scissors."""
    at = {0x70: clip_of([[-7.3, 3.1], [60.2, 9.9], [20.7, 55.5]], [0.1, 0.7, -0.6], [1.0, 2.5, 1.7])}
    whole = raster.draw(registers(), at, [[0, 1, 2]])
    part = raster.draw(
        registers(SET_SCISSOR_ENABLE=1, SET_SCISSOR_HORIZONTAL=50 << 16 | 13, SET_SCISSOR_VERTICAL=40 << 16 | 11),
        at, [[0, 1, 2]],
    )  # fmt: skip
    drawn = part.samples > 0
    assert drawn.sum() > 100
    np.testing.assert_array_equal(whole.depth[drawn], part.depth[drawn])


@pytest.mark.parametrize("format", [0x13, 0x14, 0x0A])
def test_polygon_offset(raster: Raster, format: int) -> None:
    window, z = np.array([[0, 0], [64, 0], [0, 48]]), np.array([-0.5, 0.7, -0.1])
    at = {0x70: clip_of(window, z)}
    plain = raster.draw(registers(), at, [[0, 1, 2]])
    values = {"SET_POLY_OFFSET_FILL": 1, "SET_SLOPE_SCALE_DEPTH_BIAS": 2.0, "SET_DEPTH_BIAS": 1024.0}
    moved = raster.draw(registers(SET_ZT_FORMAT=format, **values), at, [[0, 1, 2]])
    drawn = plain.samples > 0
    step = {0x13: 2.0**-16, 0x14: 2.0**-24, 0x0A: 2.0 ** (-1 - 23)}[format]  # of floats: depth is 0.85 at most
    slope = max(0.5 * 1.2 / 64, 0.5 * 0.4 / 48)
    np.testing.assert_allclose((moved.depth - plain.depth)[drawn], 2 * slope + 512 * step, rtol=1e-3, atol=2e-7)
    clamped = raster.draw(registers(SET_ZT_FORMAT=format, SET_DEPTH_BIAS_CLAMP=0.001, **values), at, [[0, 1, 2]])
    np.testing.assert_allclose((clamped.depth - plain.depth)[drawn], 0.001, atol=2e-7)
    off = raster.draw(registers(**values | {"SET_POLY_OFFSET_FILL": 0, "SET_POLY_OFFSET_LINE": 1}), at, [[0, 1, 2]])
    np.testing.assert_array_equal(off.depth, plain.depth)


def test_viewports_are_chosen_by_the_provoking_vertex(raster: Raster) -> None:
    values = {
        "SET_VIEWPORT_SCALE_X_AT_5": 8.0, "SET_VIEWPORT_SCALE_Y_AT_5": 8.0, "SET_VIEWPORT_SCALE_Z_AT_5": 0.25,
        "SET_VIEWPORT_OFFSET_X_AT_5": 40.0, "SET_VIEWPORT_OFFSET_Y_AT_5": 20.0, "SET_VIEWPORT_OFFSET_Z_AT_5": 0.5,
        "SET_VIEWPORT_COORDINATE_SWIZZLE_AT_5": 0x6420, "SET_VIEWPORT_CLIP_HORIZONTAL_AT_5": 16 << 16 | 32,
        "SET_VIEWPORT_CLIP_VERTICAL_AT_5": 16 << 16 | 12, "SET_VIEWPORT_CLIP_MAX_Z_AT_5": 1.0,
    }  # fmt: skip
    state = registers(**values)
    clip = clip_of([[-10, -10], [300, -10], [-10, 300]], 0.5)
    number = np.array([[0], [5], [0]], np.int32).view(np.float32)
    for provoking, inside in ((0, np.s_[:, :]), (1, np.s_[12:28, 32:48])):
        found = raster.draw(state, {0x70: clip, 0x68: number}, [[0, 1, 2]], provoking=provoking)
        wanted = np.zeros((HEIGHT, WIDTH), np.int32)
        wanted[inside] = 1
        np.testing.assert_array_equal(found.samples, wanted)
        np.testing.assert_allclose(found.depth[inside], 0.625 if provoking else 0.75)


def test_back_faces_have_colours_of_their_own(raster: Raster) -> None:
    at = {
        0x70: clip_of([[5, 5], [40, 5], [5, 40]]), 0x280: np.full((3, 1), 0.25, np.float32),
        0x2A0: np.full((3, 1), 0.75, np.float32),
    }  # fmt: skip
    for two_sided, front, back in ((1, 0.25, 0.75), (0, 0.25, 0.25)):
        state = registers(SET_TWO_SIDED_LIGHT=two_sided, OGL_SET_FRONT_FACE=0x900)
        for order, wanted in (([0, 1, 2], front), ([0, 2, 1], back)):
            found = raster.draw(state, at, [order], inputs={0x280: PERSPECTIVE})
            assert set(found.inputs[0][found.samples > 0].tolist()) == {wanted}


def test_swizzles_turn_clip_positions(raster: Raster) -> None:
    window = np.array([[5.0, 5.0], [40.0, 8.0], [12.0, 33.0]])
    clip = clip_of(window, [0.1, -0.3, 0.4], [1.0, 2.0, 1.5])
    plain = raster.draw(registers(), {0x70: clip}, [[0, 1, 2]])
    # x comes from -y, y from x, z from w, w from -z.
    turned = np.stack([clip[:, 1], -clip[:, 0], -clip[:, 3], clip[:, 2]], 1)
    found = raster.draw(registers(SET_VIEWPORT_COORDINATE_SWIZZLE=0x5603), {0x70: turned}, [[0, 1, 2]])
    assert plain.samples.any()
    np.testing.assert_array_equal(found.samples, plain.samples)
    np.testing.assert_array_equal(found.depth, plain.depth)


def test_numbers_that_are_none_draw_nothing(raster: Raster) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        for place in range(4):
            clip = clip_of([[5, 5], [40, 5], [5, 40]])
            clip[1, place] = bad
            found = raster.draw(registers(), {0x70: clip, 0x80: np.ones((3, 1))}, [[0, 1, 2]])
            assert found.samples.max() <= 1
            if np.isnan(bad):
                assert not found.samples.any()


def test_wild_triangles_end(raster: Raster) -> None:
    rng = np.random.default_rng(6)
    clip = rng.integers(0, 1 << 32, (3000, 4), np.uint64).astype(np.uint32).view(np.float32)
    for values in ({}, {"SET_VIEWPORT_CLIP_CONTROL": 0}, {"SET_ANTI_ALIAS__SAMPLES": 2, "SET_ANTI_ALIAS_ENABLE": 1}):
        found = raster.draw(registers(**values), {0x70: clip}, np.arange(3000).reshape(-1, 3))
        assert found.come == 1000 and found.samples.min() >= 0
