"""Which pixels and samples shapes cover: against exact integer models."""

from __future__ import annotations

import numpy as np
import pytest
from support.raster_side import HEIGHT, WIDTH, Picture, Raster, clip_of, registers

POSITIONS = [(6, 2), (14, 6), (2, 10), (10, 14)]


@pytest.fixture(scope="module")
def raster() -> Raster:
    return Raster()


def model(corners: np.ndarray, at: list[tuple[int, int]] | None = None) -> np.ndarray:
    """Samples of each pixel in a triangle whose corners are in 1/256 pixel: Python integers, top-left rule."""
    x, y = ([int(v) for v in corners[:, axis]] for axis in range(2))
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    if area < 0:
        x[1], x[2], y[1], y[2] = x[2], x[1], y[2], y[1]
    out = np.zeros((HEIGHT, WIDTH), np.int32)
    if area == 0:
        return out
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.int64)
    for sx, sy in at or [(8, 8)]:
        px, py = columns * 256 + 16 * sx, rows * 256 + 16 * sy
        inside = np.ones((HEIGHT, WIDTH), bool)
        for i, j in ((0, 1), (1, 2), (2, 0)):
            value = (x[j] - x[i]) * (py - y[i]) - (y[j] - y[i]) * (px - x[i])
            goes_up, goes_right = y[j] < y[i], y[j] == y[i] and x[j] > x[i]
            inside &= (value > 0) | ((value == 0) & (goes_up or goes_right))
        out += inside
    return out


def corners_of(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Corners (n, 3, 2) in 1/256 pixel, all of which binary32 holds exactly on the way."""
    if kind == "grid":  # many centres on edges
        return rng.integers(-4, 20, (n, 3, 2)) * 640 + 128 * rng.integers(0, 2, (n, 1, 2))
    if kind == "small":
        return rng.integers(0, 30 * 256, (n, 1, 2)) + rng.integers(-400, 400, (n, 3, 2))
    if kind == "large":
        return rng.integers(-12000 * 256, 12000 * 256, (n, 3, 2)) // 256 * 256 + 128
    return rng.integers(-10 * 256, 70 * 256, (n, 3, 2))


def plain_window() -> dict[str, object]:
    """Positions are places on the screen: no rounding before they are snapped."""
    return {"SET_VIEWPORT_SCALE_OFFSET": 0}


def positions(corners: np.ndarray) -> np.ndarray:
    flat = corners.reshape(-1, 2) / 256
    return np.column_stack([flat, np.full(len(flat), 0.5), np.ones(len(flat))]).astype(np.float32)


@pytest.mark.parametrize("kind", ["any", "grid", "small", "large"])
def test_triangles_cover_what_exact_arithmetic_says(raster: Raster, kind: str) -> None:
    rng = np.random.default_rng(5)
    corners = corners_of(rng, 60, kind)
    for triangle in corners:
        found = raster.draw(registers(**plain_window()), {0x70: positions(triangle)}, [[0, 1, 2]])
        np.testing.assert_array_equal(found.samples, model(triangle))


def test_samples_are_where_the_registers_put_them(raster: Raster) -> None:
    rng = np.random.default_rng(6)
    place = {
        f"SET_ANTI_ALIAS_SAMPLE_POSITIONS__{axis}{s}": at[n]
        for s, at in enumerate(POSITIONS)
        for n, axis in enumerate("XY")
    }
    state = registers(SET_ANTI_ALIAS__SAMPLES=2, SET_ANTI_ALIAS_ENABLE=1, **place, **plain_window())
    for triangle in np.concatenate([corners_of(rng, 30, "any"), corners_of(rng, 30, "small")]):
        found = raster.draw(state, {0x70: positions(triangle)}, [[0, 1, 2]])
        np.testing.assert_array_equal(found.samples, model(triangle, POSITIONS))


def test_without_multisampling_all_samples_are_those_of_the_centre(raster: Raster) -> None:
    triangle = corners_of(np.random.default_rng(7), 1, "any")[0]
    found = raster.draw(
        registers(SET_ANTI_ALIAS__SAMPLES=2, **plain_window()), {0x70: positions(triangle)}, [[0, 1, 2]]
    )
    np.testing.assert_array_equal(found.samples, 4 * model(triangle))


def test_sample_masks_count_for_the_pixels_of_a_quad(raster: Raster) -> None:
    masks = {f"SET_SAMPLE_MASK_X{x}_Y{y}": 1 << (x + 2 * y) for x in range(2) for y in range(2)}
    masks["SET_SAMPLE_MASK_X1_Y1"] = 0
    place = {
        f"SET_ANTI_ALIAS_SAMPLE_POSITIONS__{axis}{s}": at[n]
        for s, at in enumerate(POSITIONS)
        for n, axis in enumerate("XY")
    }
    state = registers(
        SET_ANTI_ALIAS__SAMPLES=2, SET_ANTI_ALIAS_ENABLE=1, SET_SAMPLE_MASK=1, **masks, **place, **plain_window()
    )
    everything = np.array([[0, 0], [40000, 0], [0, 40000]])
    found = raster.draw(state, {0x70: positions(everything)}, [[0, 1, 2]])
    inside = model(everything, POSITIONS) == 4
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    wanted = np.where((rows & 1) & (columns & 1), 0, 1)
    np.testing.assert_array_equal(found.samples[inside], wanted[inside])


@pytest.mark.parametrize("samples", [1, 4])
def test_a_mesh_covers_every_pixel_once(raster: Raster, samples: int) -> None:
    """A grid of bent quads over the whole window, as triangles in both directions."""
    rng = np.random.default_rng(8)
    n = 9
    grid = np.stack(np.meshgrid(np.linspace(-900, 17400, n), np.linspace(-900, 13400, n)), -1)
    grid[1:-1, 1:-1] += rng.integers(-800, 800, (n - 2, n - 2, 2))

    def number(row, column):
        return row * n + column

    triangles = []
    for row in range(n - 1):
        for column in range(n - 1):
            a, b, c, d = (number(row + r, column + q) for r, q in ((0, 0), (0, 1), (1, 1), (1, 0)))
            triangles += [[a, b, c], [a, c, d]] if rng.integers(2) else [[b, a, d], [d, c, b]]
    extra = {"SET_ANTI_ALIAS__SAMPLES": 2, "SET_ANTI_ALIAS_ENABLE": 1} if samples == 4 else {}
    place = {
        f"SET_ANTI_ALIAS_SAMPLE_POSITIONS__{axis}{s}": at[n]
        for s, at in enumerate(POSITIONS)
        for n, axis in enumerate("XY")
    }
    found = raster.draw(registers(**extra, **place), {0x70: clip_of(grid.reshape(-1, 2) / 256)}, triangles)
    np.testing.assert_array_equal(found.samples, samples)


@pytest.mark.parametrize("column_bits", [0, 4, 5])
@pytest.mark.parametrize("count", [1, 30])
def test_threads_share_strips_or_columns(raster: Raster, column_bits: int, count: int) -> None:
    rng = np.random.default_rng(9)
    at = clip_of(rng.uniform(-5, 70, (3 * count, 2)), rng.uniform(-1, 1, 3 * count))
    at = {0x70: at, 0x80: rng.uniform(-1, 1, (3 * count, 3)).astype(np.float32)}
    list_of = np.arange(3 * count).reshape(-1, 3)
    one = raster.draw(registers(), at, list_of)
    for parts in (2, 3, 5):
        several = raster.draw(registers(), at, list_of, parts=parts, words={"COLUMN_BITS": column_bits})
        for name in ("samples", "depth", "inputs"):
            np.testing.assert_array_equal(getattr(one, name), getattr(several, name))


def test_a_region_that_is_small_only_takes_longer(raster: Raster) -> None:
    rng = np.random.default_rng(10)
    at = {0x70: clip_of(rng.uniform(-5, 70, (150, 2)), rng.uniform(-1, 1, 150))}
    list_of = np.arange(150).reshape(-1, 3)
    one = raster.draw(registers(), at, list_of)
    several = raster.draw(registers(), at, list_of, region_size=8192)
    assert raster.region[2] > 0
    assert one.shapes == several.shapes and one.come == several.come == 50 and one.gone == several.gone
    np.testing.assert_array_equal(one.samples, several.samples)
    np.testing.assert_array_equal(one.depth, several.depth)


def test_very_large_shapes_come_in_pieces(raster: Raster) -> None:
    """So that nobody waits forever before a program can be interrupted."""
    size = 16384 << 16
    state = registers(
        SET_SURFACE_CLIP_HORIZONTAL=size, SET_SURFACE_CLIP_VERTICAL=size, SET_VIEWPORT_CLIP_HORIZONTAL=size,
        SET_VIEWPORT_CLIP_VERTICAL=size, **plain_window(),
    )  # fmt: skip
    at = {0x70: positions(np.array([[[0, 0], [16000, 0], [0, 16000]]]) * 256)}
    raster.draw(state, at, [[0, 1, 2]] * 5, only_set_up=True)
    assert raster.pieces == [1, 2, 3, 4, 5]
    raster.draw(registers(), at, [[0, 1, 2]] * 5, only_set_up=True)
    assert raster.pieces == [5]


def boxes(**values: object) -> Picture:
    """A triangle over everything."""
    return Raster().draw(registers(**values), {0x70: clip_of([[-10, -10], [300, -10], [-10, 300]])}, [[0, 1, 2]])


def test_rectangles_limit_what_is_drawn() -> None:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]

    def inside(x0, y0, x1, y1):
        return ((columns >= x0) & (columns < x1) & (rows >= y0) & (rows < y1)).astype(np.int32)

    def pair(low, high):
        return high << 16 | low

    np.testing.assert_array_equal(boxes().samples, 1)
    scissor = boxes(SET_SCISSOR_ENABLE=1, SET_SCISSOR_HORIZONTAL=pair(3, 17), SET_SCISSOR_VERTICAL=pair(5, 30))
    np.testing.assert_array_equal(scissor.samples, inside(3, 5, 17, 30))
    surface = boxes(SET_SURFACE_CLIP_HORIZONTAL=pair(9, 20), SET_SURFACE_CLIP_VERTICAL=pair(1, 33))
    np.testing.assert_array_equal(surface.samples, inside(9, 1, 29, 34))
    viewport = boxes(SET_VIEWPORT_CLIP_HORIZONTAL=pair(2, 50), SET_VIEWPORT_CLIP_VERTICAL=pair(7, 8))
    np.testing.assert_array_equal(viewport.samples, inside(2, 7, 52, 15))
    windows = {
        "SET_WINDOW_CLIP_ENABLE": 1, "SET_WINDOW_CLIP_HORIZONTAL": pair(3, 17), "SET_WINDOW_CLIP_VERTICAL": pair(5, 30),
        "SET_WINDOW_CLIP_HORIZONTAL_AT_3": pair(40, 60), "SET_WINDOW_CLIP_VERTICAL_AT_3": pair(0, 10),
    }  # fmt: skip
    both = inside(3, 5, 17, 30) | inside(40, 0, 60, 10)
    np.testing.assert_array_equal(boxes(**windows).samples, both)
    np.testing.assert_array_equal(boxes(**windows, SET_WINDOW_CLIP_TYPE=1).samples, 1 - both)
    np.testing.assert_array_equal(boxes(**windows, SET_WINDOW_CLIP_TYPE=2).samples, 0)


def test_polygon_stipple() -> None:
    rng = np.random.default_rng(11)
    pattern = rng.integers(0, 1 << 32, 32)
    words = {f"SET_POLYGON_STIPPLE_PATTERN_AT_{n}": int(v) for n, v in enumerate(pattern)}
    found = boxes(SET_POLYGON_STIPPLE=1, **words).samples
    wanted = [[int(pattern[y & 31]) >> (31 - (x & 31)) & 1 for x in range(WIDTH)] for y in range(HEIGHT)]
    np.testing.assert_array_equal(found, wanted)


def test_rectangles_out_of_triangles(raster: Raster) -> None:
    at = {0x70: clip_of([[5, 30], [40, 10], [20, 3]])}
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    box = (columns >= 5) & (columns < 40) & (rows >= 3) & (rows < 30)
    found = raster.draw(registers(SET_FILL_VIA_TRIANGLE=2), at, [[0, 1, 2]])
    np.testing.assert_array_equal(found.samples, box)
    found = raster.draw(registers(SET_FILL_VIA_TRIANGLE=1), at, [[0, 1, 2]])
    np.testing.assert_array_equal(found.samples, 1)


def test_rectangles_have_their_left_and_upper_edges_and_not_the_others(raster: Raster) -> None:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    step = 1 / 256
    for left, right, top, bottom in ((5.5, 40.5, 3.5, 30.5), (5.5 + step, 40.5 + step, 3.5 - step, 30.5 - step)):
        at = {0x70: clip_of([[left, bottom], [right, 10], [20, top]])}
        found = raster.draw(registers(SET_FILL_VIA_TRIANGLE=2), at, [[0, 1, 2]])
        box = (columns >= left) & (columns < right) & (rows >= top) & (rows < bottom)
        np.testing.assert_array_equal(found.samples, box)


def test_conservative_raster_takes_every_pixel_that_is_touched(raster: Raster) -> None:
    rng = np.random.default_rng(12)
    fine = [(x, y) for x in range(16) for y in range(16)]
    for triangle in corners_of(rng, 8, "small"):
        state = registers(SET_CONSERVATIVE_RASTER=1, **plain_window())
        found = raster.draw(state, {0x70: positions(triangle)}, [[0, 1, 2]]).samples
        touched = model(triangle, fine) > 0
        assert (found[touched] == 1).all()
        assert found.sum() >= touched.sum()
        low, high = triangle.min(0) // 256, triangle.max(0) // 256
        rows, columns = np.nonzero(found)
        assert ((columns >= low[0]) & (columns <= high[0]) & (rows >= low[1]) & (rows <= high[1])).all()


@pytest.mark.parametrize(
    ("face", "front", "flip", "shows"),
    [
        (0x405, 0x901, 0, (False, True)),  # back faces go; counter-clockwise is front
        (0x404, 0x901, 0, (True, False)),
        (0x405, 0x900, 0, (True, False)),
        (0x405, 0x901, 1, (True, False)),
        (0x408, 0x901, 0, (False, False)),
    ],
)
def test_culling(raster: Raster, face: int, front: int, flip: int, shows: tuple[bool, bool]) -> None:
    state = registers(OGL_SET_CULL=1, OGL_SET_CULL_FACE=face, OGL_SET_FRONT_FACE=front, SET_WINDOW_ORIGIN__FLIP_Y=flip)
    at = {0x70: clip_of([[5, 5], [40, 5], [5, 40]])}  # as seen: clockwise
    for order, wanted in zip(([[0, 1, 2]], [[0, 2, 1]]), shows, strict=True):
        found = raster.draw(state, at, order)
        assert (found.samples.sum() > 0) == wanted
        assert found.gone == int(wanted)


def test_both_evaluators_agree() -> None:
    rng = np.random.default_rng(13)
    at = {
        0x70: np.column_stack([rng.uniform(-2, 2, (60, 3)), rng.uniform(-0.5, 2, 60)]).astype(np.float32),
        0x80: rng.uniform(-1, 1, (60, 3)).astype(np.float32),
    }
    cases = [(3, {}), (3, {"SET_ANTI_ALIAS__SAMPLES": 2, "SET_ANTI_ALIAS_ENABLE": 1, "SET_POLY_OFFSET_FILL": 1,
                           "SET_SLOPE_SCALE_DEPTH_BIAS": 1.5, "SET_DEPTH_BIAS": 4.0}),
             (2, {"SET_ANTI_ALIASED_LINE": 1, "SET_LINE_WIDTH_FLOAT": 3.5}), (2, {}), (1, {"SET_POINT_SIZE": 7.5}),
             (3, {"SET_FRONT_POLYGON_MODE": 0x1B01})]  # fmt: skip
    fast, slow = Raster(), Raster("numpy")
    for kind, values in cases:
        primitives = np.arange(60 // kind * kind)[: 8 * kind].reshape(-1, kind)
        a, b = (r.draw(registers(**values), at, primitives) for r in (fast, slow))
        assert a.shapes == b.shapes > 0
        for name in ("samples", "depth", "inputs"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=str(values))
