"""Lines and points: the diamond rule by exact geometry, widths, stipples, smoothing, sprites, polygon modes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.raster_side import HEIGHT, WIDTH, Raster, clip_of, registers

from pocketgpu.maxwell.graphics.programs.headers import PERSPECTIVE

Array = np.ndarray


@pytest.fixture(scope="module")
def raster() -> Raster:
    return Raster()


def plain(points: Array) -> Array:
    """Positions of places on the screen, which no viewport changes."""
    points = np.asarray(points, np.float64)
    return np.column_stack([points, np.full(len(points), 0.5), np.ones(len(points))]).astype(np.float32)


def lines(raster: Raster, points: Array, pairs: object = None, flags: int = 15, **values: object) -> Array:
    state = registers(SET_VIEWPORT_SCALE_OFFSET=0, **values)
    pairs = np.arange(len(points)).reshape(-1, 2) if pairs is None else pairs
    return raster.draw(state, {0x70: plain(points)}, pairs, flags=flags).samples


def leaves_diamond(a: tuple[int, int], b: tuple[int, int], x: int, y: int) -> bool:
    """Whether the way from a to b (1/256 pixel) leaves the diamond of pixel x, y: exact."""
    centre = (256 * x + 128, 256 * y + 128)
    # |p - c| (sum of both axes) - 128 is convex along the way; it is inside where all four sides are negative.
    low, high = Fraction(0), Fraction(1)
    for sx in (-1, 1):
        for sy in (-1, 1):
            at = [sx * (p[0] - centre[0]) + sy * (p[1] - centre[1]) - 128 for p in (a, b)]
            change = at[1] - at[0]
            if change == 0:
                if at[0] >= 0:
                    return False
            elif change > 0:
                high = min(high, Fraction(-at[0], change))
            else:
                low = max(low, Fraction(-at[0], change))
    ended = max(abs(b[0] - centre[0]) + abs(b[1] - centre[1]) - 128, 0) == 0 and (
        abs(b[0] - centre[0]) + abs(b[1] - centre[1]) < 128
    )
    return low < high and not ended


def test_lines_light_the_pixels_whose_diamonds_they_leave(raster: Raster) -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        a, b = ((int(rng.integers(0, 60 * 256)), int(rng.integers(0, 44 * 256))) for _ in range(2))
        found = lines(raster, np.array([a, b]) / 256)
        wanted = np.array([[leaves_diamond(a, b, x, y) for x in range(WIDTH)] for y in range(HEIGHT)])
        # One pixel for each step of the longer axis: where a line leaves two diamonds in a column, it lights one.
        steep = abs(b[1] - a[1]) > abs(b[0] - a[0])
        along = found.any(1) if steep else found.any(0)
        assert (found.sum(1 if steep else 0)[along] == 1).all()
        assert (found <= 1).all()
        columns = wanted.any(1) if steep else wanted.any(0)
        assert (along == columns).sum() >= len(along) - 1
        assert (wanted | (found == 0)).all() or ((found == 1) & ~wanted).sum() <= 1


def test_lines_end_before_the_next_begins(raster: Raster) -> None:
    """A closed way of lines lights no pixel twice at its corners, in either direction."""
    for order in (1, -1):
        corners = [[10.5, 10.5], [40.5, 10.5], [40.5, 30.5], [10.5, 30.5]][::order]
        found = lines(raster, corners, [[0, 1], [1, 2], [2, 3], [3, 0]])
        wanted = np.zeros((HEIGHT, WIDTH), int)
        wanted[10, 10:41] = wanted[30, 10:41] = wanted[10:31, 10] = wanted[10:31, 40] = 1
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("width", [1, 2, 3, 6])
def test_wide_lines_are_wide_along_the_shorter_axis(raster: Raster, width: int) -> None:
    found = lines(raster, [[5, 20.5], [45, 28.5]], SET_LINE_WIDTH_FLOAT=float(width))
    np.testing.assert_array_equal(found[:, 5:45].sum(0), width)
    assert not found[:, 45:].any() and not found[:, :5].any()
    found = lines(raster, [[20.5, 5], [28.5, 45]], SET_LINE_WIDTH_FLOAT=float(width))
    np.testing.assert_array_equal(found[5:45].sum(1), width)


def test_which_width_counts(raster: Raster) -> None:
    for aliased, rows in ((0, 2), (1, 5)):
        found = lines(
            raster, [[5, 20], [45, 20]], SET_LINE_WIDTH_FLOAT=2.0, SET_ALIASED_LINE_WIDTH_FLOAT=5.0,
            SET_ALIASED_LINE_WIDTH_ENABLE=aliased,
        )  # fmt: skip
        assert found.any(1).sum() == rows


def test_stipple_goes_on_until_it_begins_anew(raster: Raster) -> None:
    pattern = 0b1100_1010_1111_0001
    values = {"SET_LINE_STIPPLE": 1, "SET_LINE_STIPPLE_PARAMETERS": pattern << 8 | 2}
    points = [[3, 10.5], [20, 10.5], [50, 10.5]]

    def bit(n):
        return pattern >> (n // 2 % 16) & 1

    found = lines(raster, points, [[0, 1], [1, 2]], flags=0, **values)
    np.testing.assert_array_equal(found[10, 3:50], [bit(n) for n in range(47)])
    found = lines(raster, points, [[0, 1], [1, 2]], flags=15, **values)
    np.testing.assert_array_equal(found[10, 3:50], [bit(n) for n in (*range(17), *range(30))])
    found = lines(raster, points, [[1, 0]], **values)
    np.testing.assert_array_equal(found[10, 3:20][::-1], [bit(n) for n in range(17)])


def test_lines_with_samples_are_rectangles(raster: Raster) -> None:
    values = {"SET_ANTI_ALIAS__SAMPLES": 6, "SET_ANTI_ALIAS_ENABLE": 1}
    for s in range(16):
        index, part = divmod(s, 4)
        values[f"SET_ANTI_ALIAS_SAMPLE_POSITIONS_AT_{index}"] = (
            values.get(f"SET_ANTI_ALIAS_SAMPLE_POSITIONS_AT_{index}", 0)
            | ((4 * (s % 4) + 2) | (4 * (s // 4) + 2) << 4) << 8 * part
        )
    found = lines(raster, [[10, 10], [34, 28]], SET_LINE_WIDTH_FLOAT=5.0, **values)
    rows, columns = np.mgrid[0 : HEIGHT * 4, 0 : WIDTH * 4]
    x, y = (columns + 0.5) / 4 - 10, (rows + 0.5) / 4 - 10
    along, across = (x * 24 + y * 18) / 30, (y * 24 - x * 18) / 30
    inside = (along >= 0) & (along < 30) & (np.abs(across) <= 2.5)
    wanted = inside.reshape(HEIGHT, 4, WIDTH, 4).sum((1, 3))
    assert np.abs(found - wanted).max() <= 2
    assert abs(int(found.sum()) - 16 * 150) < 48


def test_lines_carry_their_values(raster: Raster) -> None:
    at = {
        0x70: clip_of([[4.5, 5.5], [60.5, 33.5]], [-1, 1], [1.0, 3.0]),
        0x80: np.array([[0.0, 7.0], [1.0, 7.0]], np.float32),
    }
    found = raster.draw(registers(), at, [[0, 1]])
    drawn = found.samples > 0
    rows, columns = np.nonzero(drawn)
    t = ((columns + 0.5 - 4.5) * 56 + (rows + 0.5 - 5.5) * 28) / (56**2 + 28**2)
    wanted = (t / 3) / ((1 - t) + t / 3)
    np.testing.assert_allclose(found.inputs[0][drawn], wanted, atol=1e-5)
    np.testing.assert_allclose(found.inputs[1][drawn], 7.0, rtol=1e-6)
    np.testing.assert_allclose(found.depth[drawn], t, atol=1e-5)


def test_clipped_lines(raster: Raster) -> None:
    """A line that comes from behind the eye shows the part in front of the near plane, with its values."""
    clip = np.array([[0.1, -0.3, -2.0, -1.5], [0.4, 0.5, 2.5, 3.0]], np.float32)
    values = np.array([[0.0], [1.0]], np.float32)
    found = raster.draw(registers(), {0x70: clip, 0x80: values}, [[0, 1]])
    drawn = found.samples > 0
    assert drawn.sum() > 5
    t = found.inputs[0][drawn].astype(np.float64)
    at = clip[0].astype(np.float64) + (clip[1] - clip[0]).astype(np.float64) * t[:, None]
    rows, columns = np.nonzero(drawn)
    x, y = (at[:, 0] / at[:, 3] + 1) * WIDTH / 2, (1 - at[:, 1] / at[:, 3]) * HEIGHT / 2
    assert np.abs(x - columns - 0.5).max() < 0.8 and np.abs(y - rows - 0.5).max() < 0.8
    np.testing.assert_allclose(found.depth[drawn], at[:, 2] / at[:, 3] * 0.5 + 0.5, atol=2e-3)
    assert (found.depth[drawn] >= 0).all()


def test_polygon_modes(raster: Raster) -> None:
    at = {0x70: clip_of([[10.5, 10.5], [40.5, 10.5], [10.5, 30.5]])}
    state = registers(SET_FRONT_POLYGON_MODE=0x1B01, SET_BACK_POLYGON_MODE=0x1B00, OGL_SET_FRONT_FACE=0x900)
    edges = raster.draw(state, at, [[0, 1, 2]], flags=0b0101).samples  # without the slanted edge
    wanted = np.zeros((HEIGHT, WIDTH), int)
    wanted[10, 10:40] = wanted[11:31, 10] = 1
    np.testing.assert_array_equal(edges, wanted)
    dots = raster.draw(state, at, [[0, 2, 1]], flags=0b0110).samples
    wanted[:] = 0
    wanted[30, 10] = wanted[10, 40] = 1
    np.testing.assert_array_equal(dots, wanted)


def test_edges_of_clipped_polygons(raster: Raster) -> None:
    """What clipping makes is an edge, or not, as SET_LINE_MODE_POLYGON_CLIP says."""
    clip = clip_of([[8.5, 8.5], [50.5, 8.5], [8.5, 40.5]], [0.0, 2.0, 0.0])
    at = {0x70: clip}
    values = {"SET_FRONT_POLYGON_MODE": 0x1B01, "SET_BACK_POLYGON_MODE": 0x1B01}
    whole = raster.draw(registers(**values), at, [[0, 1, 2]]).samples
    part = raster.draw(registers(SET_LINE_MODE_POLYGON_CLIP=1, **values), at, [[0, 1, 2]]).samples
    cut = 29  # where z is w
    assert (whole >= part).all()
    added = np.nonzero(whole - part)
    assert (added[1] == cut).all() and len(added[1]) > 10
    assert part[8, 9:29].all() and not part[:, 31:].any()


@pytest.mark.parametrize("size", [1.0, 2.0, 5.0, 8.0])
def test_points_are_squares(raster: Raster, size: float) -> None:
    state = registers(SET_VIEWPORT_SCALE_OFFSET=0, SET_POINT_SIZE=size)
    found = raster.draw(state, {0x70: plain([[20.25, 15.75]])}, [[0]]).samples
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    left, top = 20.25 - size / 2, 15.75 - size / 2
    wanted = (columns >= left) & (columns < left + size) & (rows >= top) & (rows < top + size)
    np.testing.assert_array_equal(found, wanted)
    assert found.sum() == size**2


def test_points_have_their_left_and_upper_edges_and_not_the_others(raster: Raster) -> None:
    """Edges through centres of pixels, and the least step beside them."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    step = 1 / 256
    for size, x, y in ((1.0, 20, 15), (2.0, 20.5, 15.5), (3.0, 20, 15 - step), (3.0, 20 + step, 15), (4.0, 20.5, 9.5)):
        found = raster.draw(registers(SET_VIEWPORT_SCALE_OFFSET=0, SET_POINT_SIZE=size), {0x70: plain([[x, y]])}, [[0]])
        wanted = (columns >= x - size / 2) & (columns < x + size / 2)
        wanted &= (rows >= y - size / 2) & (rows < y + size / 2)
        np.testing.assert_array_equal(found.samples, wanted, str((size, x, y)))


def test_sizes_and_coordinates_of_sprites(raster: Raster) -> None:
    attributes = {
        0x70: plain([[20.0, 15.0], [40.0, 30.0]]), 0x6C: np.array([[8.0], [4.0]], np.float32),
        0x300: np.full((2, 4), 9.0, np.float32),
    }  # fmt: skip
    values = {
        "SET_VIEWPORT_SCALE_OFFSET": 0, "SET_ATTRIBUTE_POINT_SIZE": 0x1B << 4 | 1, "SET_POINT_SPRITE": 1,
        "SET_POINT_SPRITE_SELECT__TEXTURE0": 1,
    }  # fmt: skip
    inputs = dict.fromkeys((0x300, 0x304, 0x308, 0x30C), PERSPECTIVE)
    for origin in (0, 1):
        state = registers(SET_POINT_SPRITE_SELECT__ORIGIN=origin, **values)
        found = raster.draw(state, attributes, [[0], [1]], inputs=inputs)
        assert found.samples.sum() == 64 + 16
        s, t, r, q = found.inputs
        np.testing.assert_allclose(s[15, 16:24], (np.arange(8) + 0.5) / 8, atol=1e-6)
        down = (np.arange(8) + 0.5) / 8
        np.testing.assert_allclose(t[11:19, 20], down if origin else 1 - down, atol=1e-6)
        np.testing.assert_allclose(s[30, 38:42], (np.arange(4) + 0.5) / 4, atol=1e-6)
        drawn = found.samples > 0
        assert (r[drawn] == 0).all() and (q[drawn] == 1).all()


def test_points_whose_centres_are_clipped_are_gone(raster: Raster) -> None:
    clip = clip_of([[20, 20], [30, 20]], [0.5, 1.5])
    found = raster.draw(registers(SET_POINT_SIZE=4.0), {0x70: clip}, [[0], [1]])
    assert found.samples.sum() == 16 and found.gone == 1
