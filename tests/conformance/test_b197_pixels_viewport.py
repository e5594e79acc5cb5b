"""Where shapes come to lie, in depth too, and what cuts them off: viewports, clip planes, rectangles."""

from __future__ import annotations

import numpy as np
import pytest

from .switch_canvas import (
    BLUE,
    CYAN,
    GREEN,
    INDEXED_VIEW,
    MAGENTA,
    RED,
    WHITE,
    YELLOW,
    Canvas,
    empty,
    paint,
    row,
)

ALL = row("8 x RRRRRRRR")
QUARTERS = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
"""Places of the whole viewport before it is applied."""


def chosen(s: Canvas, number: int) -> None:
    """Let vertices choose a viewport that is like viewport 0."""
    s.programs(vertex=INDEXED_VIEW)
    s.pb.viewport(0, 0, 8, 8, number=number)


def view(s: Canvas, number: int) -> None:
    """The whole of viewport `number`, red."""
    s.draw(QUARTERS, RED, topology="TRIANGLE_FAN", uv=(0.0, 0.0, float(number)))


# -- where it goes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 3, 15])
@pytest.mark.parametrize(
    ("method", "value", "picture"),
    [
        pytest.param("SCALE_X", 2.0, row("8 x ..RRRR.."), marks=pytest.mark.row("b197.0x280")),
        pytest.param("SCALE_Y", -1.0, row("3 x ........", "2 x RRRRRRRR", "3 x ........"),
                     marks=pytest.mark.row("b197.0x281")),
        pytest.param("OFFSET_X", 7.0, row("8 x ...RRRRR"), marks=pytest.mark.row("b197.0x283")),
        pytest.param("OFFSET_Y", 1.0, row("5 x RRRRRRRR", "3 x ........"), marks=pytest.mark.row("b197.0x284")),
    ],
)  # fmt: skip
def test_scale_and_offset_make_pixels_of_coordinates(number: int, method: str, value: float, picture: str) -> None:
    """Each of sixteen viewports has its own; vertices choose one."""

    def draw(s: Canvas, on: bool) -> None:
        chosen(s, number)
        if on:
            s.pb.method(f"SET_VIEWPORT_{method}", number, value)
        view(s, number)

    assert paint(draw, False).picture == ALL
    assert paint(draw, True).picture == picture


@pytest.mark.parametrize("number", [0, 15])
@pytest.mark.parametrize(
    ("method", "value", "depth"),
    [
        pytest.param("SCALE_Z", 0.5, 0.25, marks=pytest.mark.row("b197.0x282")),
        pytest.param("OFFSET_Z", 0.25, 0.75, marks=pytest.mark.row("b197.0x285")),
    ],
)
def test_scale_and_offset_make_depth_of_z(number: int, method: str, value: float, depth: float) -> None:
    def draw(s: Canvas, on: bool) -> None:
        chosen(s, number)
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)
        if on:
            s.pb.method(f"SET_VIEWPORT_{method}", number, value)
        view(s, number)  # z is a half

    assert np.allclose(paint(draw, False).depth, 0.5, atol=1e-6)
    assert np.allclose(paint(draw, True).depth, depth, atol=1e-6)


CORNER = row("4 x RRRR....", "4 x ........")


@pytest.mark.row("b197.0x286")
@pytest.mark.parametrize("number", [0, 15])
@pytest.mark.parametrize(
    ("fields", "picture"),
    [
        ({}, CORNER),
        ({"X": "NEG_X"}, row("4 x ....RRRR", "4 x ........")),
        ({"Y": "NEG_Y"}, row("4 x ........", "4 x RRRR....")),
        ({"X": "POS_Y", "Y": "POS_X"}, row("4 x ........", "4 x ....RRRR")),
        ({"X": "POS_Z"}, empty()),  # all x are the same: nothing is left of the square
        ({"W": "NEG_W"}, empty()),  # behind the eye
    ],
)
def test_coordinates_are_exchanged_and_negated(number: int, fields: dict[str, str], picture: str) -> None:
    """A square in the upper left corner."""

    def draw(s: Canvas) -> None:
        chosen(s, number)
        names = {axis: f"POS_{axis}" for axis in "XYZW"}
        s.pb.method("SET_VIEWPORT_COORDINATE_SWIZZLE", number, **names | fields)
        s.rect(RED, (0, 0, 4, 4), uv=(0.0, 0.0, float(number)))

    assert paint(draw).picture == picture


@pytest.mark.row("b197.0x47c")
@pytest.mark.parametrize(("by_index", "layer"), [(0, 0), (1, 2)])
def test_the_number_of_the_viewport_is_added_to_the_layer(by_index: int, layer: int) -> None:
    def draw(s: Canvas) -> None:
        chosen(s, 2)
        s.set(SET_OFFSET_RENDER_TARGET_INDEX=by_index)
        view(s, 2)

    painted = paint(draw, canvas={"layers": 4})
    pictures = [painted.letters(layer=n) for n in range(4)]
    assert pictures == [ALL if n == layer else empty() for n in range(4)]


# -- planes and depth -------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x35f")
@pytest.mark.parametrize(("zero", "seen"), [(0, "WRRG"), (1, ".RRG")])
def test_the_near_plane_is_at_zero_or_at_minus_w(zero: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_VIEWPORT_Z_CLIP=zero)
        s.pb.method("SET_VIEWPORT_CLIP_MIN_Z", 0, -1.0)
        s.bars(WHITE, RED, RED, GREEN, z=(-0.5, 0.0, 0.5, 1.0))

    letters = "".join(2 * letter for letter in seen)
    assert paint(draw).picture == row(f"8 x {letters}")


@pytest.mark.parametrize(
    ("end", "value", "kept", "clamped"),
    [
        pytest.param("MIN", 0.375, ".GBY", (0.375, 0.5, 0.75, 1), marks=pytest.mark.row("b197.0x302")),
        pytest.param("MAX", 0.625, "RG..", (0.25, 0.5, 0.625, 0.625), marks=pytest.mark.row("b197.0x303")),
    ],
)
@pytest.mark.parametrize("number", [0, 15])
def test_depth_beyond_the_range_is_dropped_or_clamped(
    end: str, value: float, kept: str, clamped: tuple[float, ...], number: int
) -> None:
    """Of columns at depth 0.25, 0.5, 0.75 and 1."""

    def draw(s: Canvas, limited: bool, clamp: int) -> None:
        chosen(s, number)
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1, SET_DEPTH_FUNC={"V": "OGL_ALWAYS"})
        s.pb.clear_depth(0.0)
        s.set(SET_VIEWPORT_CLIP_CONTROL={
            "GEOMETRY_CLIP": "FRUSTUM_XY_CLIP", "PIXEL_MIN_Z": clamp, "PIXEL_MAX_Z": clamp,
        })  # fmt: skip
        if limited:
            s.pb.method(f"SET_VIEWPORT_CLIP_{end}_Z", number, value)
        for n, (color, z) in enumerate(zip((RED, GREEN, BLUE, YELLOW), (0.25, 0.5, 0.75, 1.0), strict=True)):
            s.rect(color, (2 * n, 0, 2 * n + 2, 8), z, uv=(0.0, 0.0, float(number)))

    assert paint(draw, False, 0).picture == row("8 x RRGGBBYY")
    assert paint(draw, True, 0).picture == row(f"8 x {''.join(2 * letter for letter in kept)}")
    held = paint(draw, True, 1)
    assert held.picture == row("8 x RRGGBBYY")
    assert np.allclose(held.depth[4, ::2], clamped, atol=1e-6)


@pytest.mark.row("b197.0x64f")
@pytest.mark.parametrize(
    ("fields", "seen", "depths"),
    [
        ({"GEOMETRY_CLIP": "FRUSTUM_XYZ_CLIP"}, ".GB.", (0, 0.25, 0.75, 0)),
        ({"GEOMETRY_CLIP": "FRUSTUM_Z_CLIP"}, ".GB.", (0, 0.25, 0.75, 0)),
        ({"GEOMETRY_CLIP": "FRUSTUM_XY_CLIP"}, ".GB.", (0, 0.25, 0.75, 0)),  # not the plane, but the pixels
        ({"GEOMETRY_CLIP": "FRUSTUM_XY_CLIP", "PIXEL_MIN_Z": "CLAMP"}, "RGB.", (0, 0.25, 0.75, 0)),
        ({"GEOMETRY_CLIP": "FRUSTUM_XY_CLIP", "PIXEL_MAX_Z": "CLAMP"}, ".GBY", (0, 0.25, 0.75, 1)),
        (
            {"GEOMETRY_CLIP": "FRUSTUM_XY_CLIP", "PIXEL_MIN_Z": "CLAMP", "PIXEL_MAX_Z": "CLAMP"},
            "RGBY",
            (0, 0.25, 0.75, 1),
        ),
    ],
)
def test_depth_beyond_the_planes_is_cut_dropped_or_clamped(
    fields: dict[str, str], seen: str, depths: tuple[float, ...]
) -> None:
    """Of columns at depth -0.5, 0.25, 0.75 and 1.5."""

    def draw(s: Canvas) -> None:
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1, SET_DEPTH_FUNC={"V": "OGL_ALWAYS"})
        s.pb.clear_depth(0.0)
        s.set(SET_VIEWPORT_CLIP_CONTROL=fields).bars(RED, GREEN, BLUE, YELLOW, z=(-0.5, 0.25, 0.75, 1.5))

    painted = paint(draw)
    assert painted.picture == row(f"8 x {''.join(2 * letter for letter in seen)}")
    assert np.allclose(painted.depth[4, ::2], depths, atol=1e-6)


@pytest.mark.row("b197.0x64f")
@pytest.mark.parametrize(("whole", "depths"), [(0, (0.375, 0.625)), (1, (0.25, 0.75))])
def test_the_range_of_depth_may_be_zero_to_one_whatever_the_limits(whole: int, depths: tuple[float, float]) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)
        s.pb.method("SET_VIEWPORT_CLIP_MIN_Z", 0, 0.375).method("SET_VIEWPORT_CLIP_MAX_Z", 0, 0.625)
        s.set(SET_VIEWPORT_CLIP_CONTROL={
            "GEOMETRY_CLIP": "FRUSTUM_XY_CLIP", "PIXEL_MIN_Z": 1, "PIXEL_MAX_Z": 1, "MIN_Z_ZERO_MAX_Z_ONE": whole,
        })  # fmt: skip
        s.bars(RED, RED, z=(0.25, 0.75), width=4)

    assert np.allclose(paint(draw).depth[0, ::4], depths, atol=1e-6)


# -- rectangles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 15])
@pytest.mark.parametrize(
    ("methods", "picture"),
    [
        pytest.param({"VIEWPORT_CLIP_HORIZONTAL": {"X0": 2, "WIDTH": 3}}, row("8 x ..RRR..."),
                     marks=pytest.mark.row("b197.0x300")),
        pytest.param({"VIEWPORT_CLIP_VERTICAL": {"Y0": 5, "HEIGHT": 2}},
                     row("5 x ........", "2 x RRRRRRRR", "........"), marks=pytest.mark.row("b197.0x301")),
        pytest.param({"SCISSOR_HORIZONTAL": {"XMIN": 1, "XMAX": 4}}, row("8 x .RRR...."),
                     marks=pytest.mark.row("b197.0x381")),
        pytest.param({"SCISSOR_VERTICAL": {"YMIN": 3, "YMAX": 4}}, row("3 x ........", "RRRRRRRR", "4 x ........"),
                     marks=pytest.mark.row("b197.0x382")),
        pytest.param({"SCISSOR_HORIZONTAL": {"XMIN": 1, "XMAX": 4}, "SCISSOR_ENABLE": {"V": 0}}, ALL,
                     marks=pytest.mark.row("b197.0x380")),
    ],
)  # fmt: skip
def test_each_viewport_has_rectangles_that_cut(number: int, methods: dict[str, dict[str, int]], picture: str) -> None:
    """The ends of a scissor are one past the last column and row."""

    def draw(s: Canvas, on: bool) -> None:
        chosen(s, number)
        s.pb.method("SET_SCISSOR_ENABLE", number, 1)
        s.pb.method("SET_SCISSOR_HORIZONTAL", number, XMIN=0, XMAX=8)
        s.pb.method("SET_SCISSOR_VERTICAL", number, YMIN=0, YMAX=8)
        for name, fields in methods.items() if on else ():
            s.pb.method(f"SET_{name}", number, **fields)
        view(s, number)

    assert paint(draw, False).picture == ALL
    assert paint(draw, True).picture == picture


@pytest.mark.row("b197.0x3fd")
@pytest.mark.parametrize(
    ("axis", "fields", "picture"),
    [
        ("HORIZONTAL", {"X": 3, "WIDTH": 2}, row("8 x ...RR...")),
        ("VERTICAL", {"Y": 1, "HEIGHT": 2}, row("........", "2 x RRRRRRRR", "5 x ........")),
    ],
)
def test_the_surface_clip_cuts_all_draws(axis: str, fields: dict[str, int], picture: str) -> None:
    def draw(s: Canvas, on: bool) -> None:
        if on:
            s.set(**{f"SET_SURFACE_CLIP_{axis}": fields})
        s.rect(RED)

    assert paint(draw, False).picture == ALL
    assert paint(draw, True).picture == picture


@pytest.mark.row("b197.0x340", "b197.0x341")
@pytest.mark.parametrize("number", [0, 7])
@pytest.mark.parametrize(
    ("type", "picture"),
    [
        ("INCLUSIVE", row("2 x ........", "3 x .RRR....", "3 x ........")),
        ("EXCLUSIVE", row("2 x RRRRRRRR", "3 x R...RRRR", "3 x RRRRRRRR")),
        ("CLIPALL", empty()),
    ],
)
def test_windows_let_pass_what_is_inside_or_outside(number: int, type: str, picture: str) -> None:
    """One of eight rectangles; the others are empty."""

    def draw(s: Canvas, on: int) -> None:
        for n in range(8):
            across, down = ({"XMIN": 1, "XMAX": 4}, {"YMIN": 2, "YMAX": 5}) if n == number else ({}, {})
            s.pb.method("SET_WINDOW_CLIP_HORIZONTAL", n, **{"XMIN": 0, "XMAX": 0, **across})
            s.pb.method("SET_WINDOW_CLIP_VERTICAL", n, **{"YMIN": 0, "YMAX": 0, **down})
        s.set(SET_WINDOW_CLIP_ENABLE=on, SET_WINDOW_CLIP_TYPE={"V": type}).rect(RED)

    assert paint(draw, 0).picture == ALL
    assert paint(draw, 1).picture == picture


# -- which of them shows, where several do ----------------------------------------------------------------------------


@pytest.mark.row("b197.0x280", "b197.0x283", "b197.0x284")
def test_triangles_of_one_draw_go_to_viewports_of_their_own() -> None:
    def draw(s: Canvas) -> None:
        s.programs(vertex=INDEXED_VIEW)
        for n in range(4):
            s.pb.viewport(4 * (n & 1), 4 * (n >> 1), 4, 4, number=n)
        corners = [QUARTERS[n] for n in (0, 1, 2, 0, 2, 3)] * 4
        colors = [c for c in (RED, GREEN, CYAN, MAGENTA) for _ in range(6)]
        s.draw(corners, colors, uv=[(0.0, 0.0, float(n // 6)) for n in range(24)])

    assert paint(draw).picture == row("4 x RRRRGGGG", "4 x CCCCMMMM")


MASKED_VIEWS = INDEXED_VIEW.replace("a[0x68]", "a[0x3a0]")


@pytest.mark.row("b197.0x280", "b197.0x283", "b197.0x47c")
@pytest.mark.parametrize("mask", [0b0001, 0b1010, 0b1111, 0, 0xFFF0])
@pytest.mark.parametrize("layered", [0, 1])
def test_a_mask_of_viewports_sends_triangles_to_all_of_them(mask: int, layered: int) -> None:
    """To their layers, too, where the viewport's number is added."""

    def draw(s: Canvas) -> None:
        s.programs(vertex=MASKED_VIEWS)
        for n in range(4):
            s.pb.viewport(4 * (n & 1), 4 * (n >> 1), 4, 4, number=n)
        s.set(SET_OFFSET_RENDER_TARGET_INDEX=layered)
        s.draw(QUARTERS, RED, topology="TRIANGLE_FAN", uv=(0.0, 0.0, float(mask)))

    one, two, three, four = ("RRRR" if mask >> n & 1 else "...." for n in range(4))
    painted = paint(draw, canvas={"layers": 4, "depth_format": None})
    if not layered:
        assert painted.letters() == row(f"4 x {one}{two}", f"4 x {three}{four}")
        return
    dark = "...."
    parts = ((one + dark, 2 * dark), (dark + two, 2 * dark), (2 * dark, three + dark), (2 * dark, dark + four))
    assert [painted.letters(layer=n) for n in range(4)] == [row(f"4 x {a}", f"4 x {b}") for a, b in parts]
    assert painted.events == ()


@pytest.mark.row("b197.0x280")
def test_a_primitive_goes_to_its_viewports_before_the_next_one() -> None:
    """Two triangles that cover both of two viewports, which lie upon each other but for a column: the second wins."""

    def draw(s: Canvas) -> None:
        s.programs(vertex=MASKED_VIEWS)
        s.pb.viewport(0, 0, 7, 8).viewport(1, 0, 7, 8, number=1)
        corners = [(-1.0, 1.0), (-1.0, -7.0), (7.0, 1.0)] * 2
        s.draw(corners, [RED] * 3 + [GREEN] * 3, uv=[(0.0, 0.0, 3.0)] * 3 + [(0.0, 0.0, 1.0)] * 3)

    assert paint(draw).picture == row("8 x GGGGGGGR")


@pytest.mark.row("b197.0x280")
def test_many_triangles_with_masks_come_in_order() -> None:
    """More than one batch of set-up; each of 80 triangles is over the one before it, in both halves."""

    def draw(s: Canvas) -> None:
        s.programs(vertex=MASKED_VIEWS)
        s.pb.viewport(0, 0, 4, 8).viewport(4, 0, 4, 8, number=1)
        corners = [(-1.0, 1.0), (-1.0, -7.0), (7.0, 1.0)] * 80
        colors = np.repeat([(n / 255, 1, 0, 1) for n in range(80)], 3, axis=0)
        s.draw(corners, colors, uv=(0.0, 0.0, 3.0))

    assert (np.round(paint(draw).rgba()[..., 0] * 255) == 79).all()
