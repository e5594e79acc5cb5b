"""What triangles, lines and points cover: widths, sizes, faces, polygon modes, and whether anything is drawn at all."""

from __future__ import annotations

import numpy as np
import pytest

from .switch_canvas import BLUE, GREEN, RED, WHITE, Canvas, empty, paint, row

POINT, LINE, FILL = 0x1B00, 0x1B01, 0x1B02
FRONT, BACK, BOTH = 0x404, 0x405, 0x408
CLOCKWISE, COUNTER_CLOCKWISE = 0x900, 0x901
FLOATS = "RF32_GF32_BF32_AF32"


@pytest.mark.row("b197.0x0df")
def test_without_raster_nothing_is_drawn() -> None:
    def draw(s: Canvas, on: int) -> None:
        s.set(SET_RASTER_ENABLE=on).rect(RED, (2, 2, 6, 4))

    assert paint(draw, 1).picture == row("2 x ........", "2 x ..RRRR..", "4 x ........")
    assert paint(draw, 0).picture == empty()


# -- lines and points -------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x083", "b197.0x4ec", "b197.0x4ed")
@pytest.mark.parametrize(
    ("aliased", "plain", "other", "rows"), [(0, 1.0, 3.0, 1), (1, 1.0, 3.0, 3), (0, 3.0, 1.0, 3), (1, 3.0, 1.0, 1)]
)
def test_lines_have_one_of_two_widths(aliased: int, plain: float, other: float, rows: int) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_ALIASED_LINE_WIDTH_ENABLE=aliased, SET_LINE_WIDTH_FLOAT=plain, SET_ALIASED_LINE_WIDTH_FLOAT=other)
        s.shape([(0, 4.5), (8, 4.5)], topology="LINES")

    wide = row("3 x ........", "3 x RRRRRRRR", "2 x ........")
    thin = row("4 x ........", "RRRRRRRR", "3 x ........")
    assert paint(draw).picture == (wide if rows == 3 else thin)


@pytest.mark.row("b197.0x546")
@pytest.mark.parametrize("size", [1, 3, 5])
def test_points_are_squares_of_the_size_in_the_register(size: int) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_POINT_SIZE=float(size)).shape([(4.5, 4.5)], topology="POINTS")

    before = 4 - size // 2
    after = 8 - before - size
    lit = "." * before + "R" * size + "." * after
    assert paint(draw).picture == row(f"{before} x ........", f"{size} x {lit}", f"{after} x ........")


# -- faces ------------------------------------------------------------------------------------------------------------


def pair(s: Canvas) -> None:
    """On the left a rectangle counter-clockwise, on the right one clockwise."""
    s.rect(RED, (0, 0, 3, 8))
    s.shape([(5, 0), (8, 0), (8, 8), (5, 8)], GREEN, "TRIANGLE_FAN")


@pytest.mark.row("b197.0x646", "b197.0x647", "b197.0x648")
@pytest.mark.parametrize(
    ("enabled", "face", "front", "left", "right"),
    [
        (0, BACK, COUNTER_CLOCKWISE, True, True),
        (0, BOTH, CLOCKWISE, True, True),
        (1, BACK, COUNTER_CLOCKWISE, True, False),
        (1, BACK, CLOCKWISE, False, True),
        (1, FRONT, COUNTER_CLOCKWISE, False, True),
        (1, FRONT, CLOCKWISE, True, False),
        (1, BOTH, COUNTER_CLOCKWISE, False, False),
    ],
)
def test_faces_are_culled_by_their_winding(enabled: int, face: int, front: int, left: bool, right: bool) -> None:
    def draw(s: Canvas) -> None:
        pair(s.set(OGL_SET_CULL=enabled, OGL_SET_CULL_FACE=face, OGL_SET_FRONT_FACE=front))

    one, two = "RRR" if left else "...", "GGG" if right else "..."
    assert paint(draw).picture == row(f"8 x {one}..{two}")


OUTLINES = {
    # What is filled has the left and upper edge that goes through centres, not the right and lower one.
    FILL: row("........", "4 x .RRRR...", "3 x ........"),
    LINE: row("........", ".RRRRR..", "3 x .R...R..", ".RRRRR..", "2 x ........"),
    POINT: row("........", ".R...R..", "3 x ........", ".R...R..", "2 x ........"),
}


@pytest.mark.parametrize(
    ("side", "clockwise"),
    [
        pytest.param("FRONT", False, marks=pytest.mark.row("b197.0x36b")),
        pytest.param("BACK", True, marks=pytest.mark.row("b197.0x36c")),
    ],
)
@pytest.mark.parametrize("mode", [POINT, LINE, FILL])
def test_polygons_are_drawn_as_points_lines_or_filled_by_their_side(side: str, clockwise: bool, mode: int) -> None:
    """Corners are centres of pixels 1 and 5. The other side keeps its own mode."""

    def draw(s: Canvas, turned: bool) -> None:
        s.set(OGL_SET_FRONT_FACE=COUNTER_CLOCKWISE, **{f"SET_{side}_POLYGON_MODE": mode})
        corners = [(1.5, 1.5), (1.5, 5.5), (5.5, 5.5), (5.5, 1.5)]
        s.shape(corners[::-1] if turned else corners, topology="QUADS")

    assert paint(draw, clockwise).picture == OUTLINES[mode]
    assert paint(draw, not clockwise).picture == OUTLINES[FILL]


@pytest.mark.row("b197.0x452")
def test_conservative_raster_takes_every_pixel_that_is_touched() -> None:
    def draw(s: Canvas, on: int) -> None:
        s.set(SET_CONSERVATIVE_RASTER=on)
        s.shape([(3.1, 4.1), (4.4, 4.1), (3.1, 4.4)])  # no centre is inside

    assert paint(draw, 0).picture == empty()
    assert paint(draw, 1).picture == row("4 x ........", "...RR...", "3 x ........")


# -- the window -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "value", "picture"),
    [
        pytest.param("X", 2, row("........", "2 x ...BBB..", "5 x ........"), marks=pytest.mark.row("b197.0x37e")),
        pytest.param("X", -2, row("........", "2 x BB......", "5 x ........"), marks=pytest.mark.row("b197.0x37e")),
        pytest.param("Y", 4, row("5 x ........", "2 x .BBB....", "........"), marks=pytest.mark.row("b197.0x37f")),
        pytest.param("Y", -2, row(".BBB....", "7 x ........"),
                     marks=pytest.mark.row("b197.0x37f")),
    ],
)  # fmt: skip
def test_the_window_moves_what_is_drawn(axis: str, value: int, picture: str) -> None:
    """By whole pixels, to the right and down; nobody is known to use it, so it can be switched off."""

    def draw(s: Canvas, on: bool) -> None:
        if on:
            s.set(**{f"SET_WINDOW_OFFSET_{axis}": {"V": value}})
        s.rect(BLUE, (1, 1, 4, 3))

    plain = row("........", "2 x .BBB....", "5 x ........")
    assert paint(draw, False).picture == plain
    assert paint(draw, True).picture == picture
    assert paint(draw, True, choices={"raster.window_offset": "ignore"}).picture == plain


# -- smooth edges -----------------------------------------------------------------------------------------------------


def smooth(s: Canvas, on: int, *shapes: list[tuple[float, float]], **state: object) -> None:
    """White shapes, blended by alpha."""
    s.set(SET_POLY_SMOOTH=on, SET_BLEND=(0, 1), **state)
    s.set(SET_BLEND_COLOR_SOURCE_COEFF={"V": "OGL_SRC_ALPHA"}, SET_BLEND_COLOR_DEST_COEFF={"V": "OGL_ONE"})
    for shape in shapes:
        s.shape(shape, WHITE, "TRIANGLE_FAN")


@pytest.mark.row("b197.0x36d")
def test_smooth_polygons_fade_by_the_part_of_a_pixel_that_they_cover() -> None:
    """A rectangle from (1.25, 2.5) to (4.5, 5.25)."""
    box = [(1.25, 5.25), (4.5, 5.25), (4.5, 2.5), (1.25, 2.5)]
    across, down = [0, 0.75, 1, 1, 0.5, 0, 0, 0], [0, 0, 0.5, 1, 1, 0.25, 0, 0]
    found = paint(smooth, 1, box, canvas={"format": FLOATS})
    assert np.allclose(found.rgba()[..., 0], np.outer(down, across), atol=0.02)
    assert found.events == ()
    hard = paint(smooth, 0, box, canvas={"format": FLOATS}).rgba()[..., 0]
    assert (hard == np.outer([0, 0, 1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0])).all()


@pytest.mark.row("b197.0x36d")
def test_parts_of_a_slope_are_its_area_and_those_of_neighbours_add_up() -> None:
    below = [(0.0, 8.0), (8.0, 8.0), (8.0, 4.0)]
    above = [(0.0, 8.0), (8.0, 4.0), (8.0, 0.0), (0.0, 0.0)]
    one = paint(smooth, 1, below, canvas={"format": FLOATS}).rgba()[..., 0]
    assert one[7].tolist() == pytest.approx([0.25, 0.75, 1, 1, 1, 1, 1, 1], abs=0.02)
    assert one[6].tolist() == pytest.approx([0, 0, 0.25, 0.75, 1, 1, 1, 1], abs=0.02)
    both = paint(smooth, 1, below, above, canvas={"format": FLOATS}).rgba()[..., 0]
    assert np.allclose(both, 1, atol=1e-6)


@pytest.mark.row("b197.0x36d")
def test_pixels_that_a_smooth_polygon_has_nothing_of_are_not_drawn() -> None:
    """Depth tells: a small triangle touches one pixel, though not its centre."""

    def draw(s: Canvas, on: int) -> None:
        smooth(s, on, [(3.1, 4.1), (3.4, 4.1), (3.1, 4.4)], SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)

    assert (paint(draw, 0).depth == 1).all()
    touched = paint(draw, 1).depth != 1
    assert np.argwhere(touched).tolist() == [[4, 3]]


@pytest.mark.row("b197.0x36d")
def test_with_samples_edges_are_hard() -> None:
    box = [(1.25, 5.25), (4.5, 5.25), (4.5, 2.5), (1.25, 2.5)]
    options = {"format": FLOATS, "samples": "MODE_2X2"}
    found, plain = (paint(smooth, on, box, canvas=options).rgba()[..., 0] for on in (1, 0))
    assert (found == plain).all() and set(found.ravel().tolist()) == {0, 1}


@pytest.mark.row("b197.0x36d")
def test_edges_inside_of_a_polygon_do_not_fade() -> None:
    """A quad drawn as one has no seam; as two triangles that are blended it would have."""

    def draw(s: Canvas, topology: str, order: tuple[int, ...]) -> None:
        smooth(s, 1)
        s.set(SET_BLEND_COLOR_DEST_COEFF={"V": "OGL_ONE_MINUS_SRC_ALPHA"})
        corners = [(1.0, 7.0), (7.0, 7.0), (7.0, 1.0), (1.0, 1.0)]
        s.shape([corners[n] for n in order], WHITE, topology)

    whole = paint(draw, "QUADS", (0, 1, 2, 3), canvas={"format": FLOATS}).rgba()[..., 0]
    halves = paint(draw, "TRIANGLES", (0, 1, 2, 0, 2, 3), canvas={"format": FLOATS}).rgba()[..., 0]
    assert (whole[1:7, 1:7] == 1).all() and whole.sum() == 36
    assert all(0.5 < halves[n, 7 - n] < 1 for n in range(1, 7))
