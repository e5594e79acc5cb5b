"""Stages between vertices and raster: which programs run, what the tessellator makes, what goes to memory instead."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from .switch_canvas import GREEN, PIXEL, RED, VERTEX, Canvas, empty, paint, row

NINE = {"side": 9, "depth_format": None}
PLACE = f"""
    S2R R2, SR_LANEID
    ALD.O R0, a[0x2f0], R2
    ALD.O R1, a[0x2f4], R2
    MOV32I R4, {struct.unpack("<I", struct.pack("<f", 16 / 9))[0]:#x}
    MOV32I R5, {struct.unpack("<I", struct.pack("<f", -8 / 9))[0]:#x}
    FFMA R0, R0, R4, R5
    FFMA R1, R1, R4, R5
    MOV32I R2, 0x3f000000
    MOV32I R3, 0x3f800000
    AST.128 a[0x70], R0
    MOV R0, R3
    MOV R1, RZ
    MOV R2, RZ
    AST.128 a[0x80], R0
    EXIT
"""
"""Evaluation for a target of 9 x 9: u = n / 8 is column n, v = n / 8 is row n from below; all red."""
CONTROL = "S2R R0, SR_INVOCATION_ID\nISETP.EQ.AND P0, PT, R0, RZ, PT\n" + "".join(
    f"MOV R1, c[0x0][{4 * n:#x}]\n@P0 AST.P a[{4 * n:#x}], R1\n" for n in range(6)
) + "EXIT"  # fmt: skip
LEVELS = (
    "SET_TESSELLATION_LOD_U0_OR_DENSITY", "SET_TESSELLATION_LOD_V0_OR_DETAIL", "SET_TESSELLATION_LOD_U1_OR_W0",
    "SET_TESSELLATION_LOD_V1", "SET_TG_LOD_INTERIOR_U", "SET_TG_LOD_INTERIOR_V",
)  # fmt: skip


def tessellated(
    s: Canvas, domain: str, *levels: float, spacing: str = "INTEGER", output: str = "POINTS", **changed: float
) -> None:
    """A patch of one vertex. levels: the first of six, the others are 1."""
    s.set(SET_TESSELLATION_PARAMETERS={"DOMAIN_TYPE": domain, "SPACING": spacing, "OUTPUT_PRIMITIVES": output})
    six = (levels + (1.0,) * 6)[:6]
    s.set(**(dict(zip(LEVELS, six, strict=True)) | changed)).set(SET_PATCH={"SIZE": 1})
    s.programs(PIXEL, VERTEX, evaluation=PLACE)
    s.draw([(0.0, 0.0)], topology="PATCH")


def spots(*at: tuple[int, int]) -> str:
    """A picture of single pixels: column, row from below."""
    return row(*("".join("R" if (x, 8 - y) in at else "." for x in range(9)) for y in range(9)))


CORNERS = ((0, 0), (8, 0), (0, 8), (8, 8))


@pytest.mark.row("b197.0x0c8")
@pytest.mark.parametrize(("domain", "at"), [("ISOLINE", CORNERS[:2]), ("TRIANGLE", CORNERS[:3]), ("QUAD", CORNERS)])
def test_a_patch_is_a_line_a_triangle_or_a_quad(domain: str, at: tuple[tuple[int, int], ...]) -> None:
    assert paint(tessellated, domain, canvas=NINE).picture == spots(*at)


@pytest.mark.row("b197.0x0c8")
@pytest.mark.parametrize(
    ("spacing", "columns"),
    [("INTEGER", (0, 4, 8)), ("FRACTIONAL_ODD", (0, 1, 7, 8)), ("FRACTIONAL_EVEN", (0, 4, 8))],
)
def test_spacing_of_an_edge_of_level_two(spacing: str, columns: tuple[int, ...]) -> None:
    """Level 1 has one piece, level 3 has three: half way the outer ones have half of a third."""
    found = paint(tessellated, "ISOLINE", 1.0, 2.0, spacing=spacing, canvas=NINE)
    assert found.picture == spots(*((x, 0) for x in columns))


@pytest.mark.row("b197.0x0c8")
@pytest.mark.parametrize(("front", "seen", "unseen"), [(0x901, "CW", "CCW"), (0x900, "CCW", "CW")])
def test_triangles_have_the_winding_that_is_asked_for(front: int, seen: str, unseen: str) -> None:
    """As seen with v down, so that with v up what is called clockwise goes against the clock. Backs are culled."""

    def draw(s: Canvas, winding: str) -> None:
        s.set(OGL_SET_FRONT_FACE=front, OGL_SET_CULL=1, OGL_SET_CULL_FACE=0x405)
        tessellated(s, "QUAD", output=f"TRIANGLES_{winding}")

    filled = row(*["RRRRRRRR."] * 8, ".........")
    assert paint(draw, seen, canvas=NINE).picture == filled
    assert paint(draw, unseen, canvas=NINE).picture == empty(9)
    other = {"tessellation.winding": "v-up"}
    assert paint(draw, unseen, canvas=NINE, choices=other).picture == filled


@pytest.mark.row("b197.0x0c8")
def test_lines_are_drawn_between_the_points_of_isolines() -> None:
    found = paint(tessellated, "ISOLINE", 2.0, 1.0, output="LINES", canvas=NINE)
    assert found.picture == row("4 x .........", "RRRRRRRR.", "3 x .........", "RRRRRRRR.")


MIDDLE = ((4, 4),)
"""With any level above 1 the inner levels are 2 at least."""


@pytest.mark.row("b197.0x0c9")
@pytest.mark.parametrize(
    ("number", "points"),
    [
        (0, ((0, 2), (0, 4), (0, 6))),
        (1, ((2, 0), (4, 0), (6, 0))),
        (2, ((8, 2), (8, 4), (8, 6))),
        (3, ((2, 8), (4, 8), (6, 8))),
    ],
)
def test_outer_levels_are_those_of_the_four_sides(number: int, points: tuple[tuple[int, int], ...]) -> None:
    """Left, lower, right and upper side of a quad, in u and v."""

    def draw(s: Canvas, level: float) -> None:
        tessellated(s, "QUAD", **{LEVELS[number]: level})

    assert paint(draw, 1.0, canvas=NINE).picture == spots(*CORNERS)
    assert paint(draw, 4.0, canvas=NINE).picture == spots(*CORNERS, *MIDDLE, *points)


@pytest.mark.row("b197.0x0c9")
def test_the_first_two_outer_levels_of_isolines_are_lines_and_pieces() -> None:
    found = paint(tessellated, "ISOLINE", 2.0, 4.0, canvas=NINE)
    assert found.picture == spots(*((x, y) for x in (0, 2, 4, 6, 8) for y in (0, 4)))


@pytest.mark.row("b197.0x0cd")
@pytest.mark.parametrize(("number", "points"), [(4, ((2, 4), (4, 4), (6, 4))), (5, ((4, 2), (4, 4), (4, 6)))])
def test_inner_levels_are_those_along_u_and_v(number: int, points: tuple[tuple[int, int], ...]) -> None:
    def draw(s: Canvas, level: float) -> None:
        tessellated(s, "QUAD", **{LEVELS[number]: level})

    assert paint(draw, 1.0, canvas=NINE).picture == spots(*CORNERS)
    assert paint(draw, 4.0, canvas=NINE).picture == spots(*CORNERS, *points)


# -- which programs run -----------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x820", "b197.0x821")
@pytest.mark.parametrize(("enabled", "columns"), [(0, (0, 4, 8)), (1, (0, 2, 4, 6, 8))])
def test_levels_are_those_of_the_control_program_if_it_is_on(enabled: int, columns: tuple[int, ...]) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_TESSELLATION_PARAMETERS={"DOMAIN_TYPE": "ISOLINE", "OUTPUT_PRIMITIVES": "POINTS"})
        s.pb.method(LEVELS[0], 1.0, 2.0).method("SET_PATCH", 1)
        s.programs(PIXEL, VERTEX, evaluation=PLACE, control=(CONTROL, {"THREADS_PER_INPUT_PRIMITIVE": 1}))
        s.constants(np.array([1, 4, 1, 1, 1, 1], np.float32), "control")
        s.set(SET_PIPELINE_SHADER=(2, {"ENABLE": enabled, "TYPE": "TESSELLATION_INIT"}))
        s.draw([(0.0, 0.0)], topology="PATCH")

    assert paint(draw, canvas=NINE).picture == spots(*((x, 0) for x in columns))


@pytest.mark.row("b197.0x830")
@pytest.mark.parametrize("enabled", [0, 1])
def test_patches_are_drawn_only_by_an_evaluation_program(enabled: int) -> None:
    def draw(s: Canvas) -> None:
        tessellated(s, "QUAD", 0.0)  # nothing yet
        s.set(SET_TESSELLATION_LOD_U0_OR_DENSITY=1.0)
        s.set(SET_PIPELINE_SHADER=(3, {"ENABLE": enabled, "TYPE": "TESSELLATION"}))
        s.draw([(0.0, 0.0)], topology="PATCH")

    assert paint(draw, canvas=NINE).picture == (spots(*CORNERS) if enabled else empty(9))


READ = """
    MOV R3, RZ
    ISBERD R4, [RZ]
    ALD.128 R8, a[0x70], R4
    ALD.128 R12, a[0x80], R4
"""
EMIT = "AST.128 a[0x70], R8, R3\nAST.128 a[0x80], R12, R3\nOUT.EMIT R3, R3, {stream}\n"
TWICE = READ + EMIT.replace("{stream}", "RZ") + "FADD R8, R8, 0.5\n" + EMIT.replace("{stream}", "{other}") + "EXIT"
"""Each point, and the same two pixels (of eight) to the right, into a stream of choice."""
POINTS = {"OUTPUT_TOPOLOGY": 1, "MAX_OUTPUT_VERTEX_COUNT": 2, "STREAM_OUT_MASK": 3}


@pytest.mark.row("b197.0x840")
@pytest.mark.parametrize(("enabled", "line"), [(0, ".R......"), (1, ".R.R....")])
def test_the_geometry_program_runs_if_it_is_on(enabled: int, line: str) -> None:
    def draw(s: Canvas) -> None:
        s.programs(PIXEL, VERTEX, geometry=(TWICE.replace("{other}", "RZ"), POINTS))
        s.set(SET_PIPELINE_SHADER=(4, {"ENABLE": enabled, "TYPE": "GEOMETRY"}))
        s.shape([(1.5, 2.5)], topology="POINTS")

    assert paint(draw).picture == row("2 x ........", line, "5 x ........")


PASSING = "MOV32I R0, 0x3f800000\nAST a[0x84], R0\nAST a[0x88], R0\nEXIT"
"""A geometry program that hands vertices on, with green and blue of its own."""


@pytest.mark.row("b197.0x840")
@pytest.mark.parametrize(
    ("masked", "by", "letter"),
    [(0, "program", "W"), (1, "program", "M"), (0, "vertex", "R"), (1, "vertex", "Y")],
)
def test_words_can_skip_a_program_that_passes_vertices_on(masked: int, by: str, letter: str) -> None:
    """Of red vertices. The bit is that of green; the choice turns what it means."""

    def draw(s: Canvas) -> None:
        s.programs(PIXEL, VERTEX, geometry=(PASSING, {**POINTS, "OUTPUT_TOPOLOGY": 7, "RESERVED_COMMON_A(3)": 1}))
        s.set(SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK=(1, masked << (0x84 // 4 - 32)))
        s.rect(RED)

    painted = paint(draw, choices={"geometry.skip_mask": by})
    assert painted.picture == row(f"8 x {8 * letter}")


@pytest.mark.row("b197.0x850")
@pytest.mark.parametrize("enabled", [0, 1])
def test_without_a_pixel_program_depth_is_all_that_is_stored(enabled: int) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)
        s.set(SET_PIPELINE_SHADER=(5, {"ENABLE": enabled, "TYPE": "PIXEL"})).rect(GREEN, z=0.25)

    painted = paint(draw)
    assert painted.picture == (row("8 x GGGGGGGG") if enabled else empty())
    assert np.allclose(painted.depth, 0.25, atol=1e-6)


# -- transform feedback -----------------------------------------------------------------------------------------------

PLACES = [(-0.75, 0.5, 0.25, 1.0), (0.0, 0.25, 0.5, 1.0), (0.5, -1.0, 0.75, 1.0)]
EIGHT = [*range(0x70 // 4, 0x90 // 4)]
"""Position and colour."""


def feedback(s: Canvas, number: int, topology: str = "POINTS", **changed: int) -> None:
    """Three vertices whose positions and colours go to buffer `number`, which is `result` 0. changed: other values of
    BUFFER_ENABLE, BUFFER_SIZE, CONTROL_STREAM, CONTROL_COMPONENT_COUNT, CONTROL_STRIDE, and ON."""
    values = {
        "BUFFER_ENABLE": 1, "BUFFER_SIZE": 0x100, "CONTROL_STREAM": 0, "CONTROL_COMPONENT_COUNT": 8,
        "CONTROL_STRIDE": 32,
    } | changed  # fmt: skip
    on = values.pop("ON", 1)
    s.pb.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", number, s.result(0x100))
    s.set(**{f"SET_STREAM_OUT_{name}": (number, value) for name, value in values.items()})
    s.set(SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER=(number, 0))
    s.pb.method("SET_STREAM_OUT_LAYOUT_SELECT", 32 * number, *np.array(EIGHT, np.uint8).view("<u4").tolist())
    s.set(SET_STREAM_OUTPUT=on)
    s.draw(PLACES, RED, topology=topology)


def written(*vertices: tuple[float, ...], stride: int = 32) -> bytes:
    """A buffer with these floats, vertex by vertex."""
    data = b"".join(np.array(one, "<f4").tobytes().ljust(stride, b"\0") for one in vertices)
    return data.ljust(0x100, b"\0")


ALL = [(*place, *RED) for place in PLACES]


@pytest.mark.parametrize("number", [0, 3])
@pytest.mark.parametrize(
    ("changed", "memory"),
    [
        pytest.param({}, written(*ALL), marks=pytest.mark.row("b197.0x0e1")),
        pytest.param({"BUFFER_ENABLE": 0}, bytes(0x100), marks=pytest.mark.row("b197.0x0e0")),
        pytest.param({"BUFFER_SIZE": 95}, written(*ALL[:2]), marks=pytest.mark.row("b197.0x0e3")),
        pytest.param({"BUFFER_SIZE": 96}, written(*ALL), marks=pytest.mark.row("b197.0x0e3")),
        pytest.param({"CONTROL_STREAM": 2}, bytes(0x100), marks=pytest.mark.row("b197.0x1c0")),
        pytest.param({"CONTROL_COMPONENT_COUNT": 3}, written(*(one[:3] for one in ALL)),
                     marks=pytest.mark.row("b197.0x1c1")),
        pytest.param({"CONTROL_STRIDE": 48}, written(*ALL, stride=48), marks=pytest.mark.row("b197.0x1c2")),
        pytest.param({"ON": 0}, bytes(0x100), marks=pytest.mark.row("b197.0x1d1")),
    ],
)  # fmt: skip
def test_vertices_go_to_buffers_of_transform_feedback(number: int, changed: dict[str, int], memory: bytes) -> None:
    assert paint(feedback, number, **changed).result() == memory


@pytest.mark.row("b197.0x0e3")
def test_only_whole_primitives_are_written() -> None:
    """Two of three corners would fit."""
    assert paint(feedback, 0, "TRIANGLES", BUFFER_SIZE=64).result() == bytes(0x100)
    assert paint(feedback, 0, "TRIANGLES", BUFFER_SIZE=96).result() == written(*ALL)


@pytest.mark.row("b197.0x1c0")
@pytest.mark.parametrize("stream", [0, 1])
def test_a_buffer_takes_one_stream_of_the_geometry_program(stream: int) -> None:
    def draw(s: Canvas) -> None:
        s.programs(PIXEL, VERTEX, geometry=(TWICE.replace("{other}", "0x1"), POINTS))
        feedback(s, 1, CONTROL_STREAM=stream)

    moved = [(one[0] + 0.5 * stream, *one[1:]) for one in ALL]
    assert paint(draw).result() == written(*moved)
