"""Which vertices a draw takes, and what their attributes are: indices, restarts, streams, formats, instances."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from .switch_canvas import PIXEL, RED, VERTEX, Canvas, empty, paint, row

COLUMNS = [(x + 0.5, y) for x in range(8) for y in (0, 8)]
"""Ends of an upright line in each column."""


def lit(*columns: int) -> str:
    """A picture of upright lines."""
    return row(f"8 x {''.join('R' if x in columns else '.' for x in range(8))}")


def lines(s: Canvas) -> int:
    """Vertices of COLUMNS from number 0 of stream 0 on; their address."""
    first, _ = s.mesh(s.places(COLUMNS), RED)
    address = s._pool + 48 * first
    s.pb.stream(0, address, 48, size=48 * len(COLUMNS))
    return address


def points(s: Canvas, **more: object) -> int:
    """The same for a point in the middle of each column of row 0."""
    first, _ = s.mesh(s.places([(x + 0.5, 0.5) for x in range(8)]), RED, **more)
    address = s._pool + 48 * first
    s.pb.stream(0, address, 48, size=48 * 8)
    return address


def top(letters: str) -> str:
    """A picture whose first row alone has anything."""
    return row(letters.ljust(8, "."), "7 x ........")


# -- which vertices ---------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x35d", "b197.0x35e")
@pytest.mark.parametrize(("first", "count", "columns"), [(0, 4, (0, 1)), (6, 4, (3, 4)), (6, 5, (3, 4)), (8, 1, ())])
def test_a_draw_takes_so_many_vertices_from_the_first(first: int, count: int, columns: tuple[int, ...]) -> None:
    def draw(s: Canvas) -> None:
        lines(s)
        s.pb.draw("LINES", count, first)

    assert paint(draw).picture == lit(*columns)


@pytest.mark.row("b197.0x5f2", "b197.0x5f6")
@pytest.mark.parametrize("size", [1, 2, 4])
def test_indices_are_read_where_the_registers_say(size: int) -> None:
    def draw(s: Canvas) -> None:
        lines(s)
        address = s.capture.put(np.array([9, 9, 4, 5, 14, 15, 0, 1], f"<u{size}"))
        s.pb.draw_indexed("LINES", address, 4, 2, size=size)

    assert paint(draw).picture == lit(2, 7)


@pytest.mark.row("b197.0x50d")
@pytest.mark.parametrize(("base", "columns"), [(0, (2, 4)), (6, (5, 7)), (-4, (0, 2))])
def test_the_base_is_added_to_indices(base: int, columns: tuple[int, ...]) -> None:
    def draw(s: Canvas) -> None:
        lines(s)
        s.set(SET_GLOBAL_BASE_VERTEX_INDEX=base & 0xFFFFFFFF)
        s.pb.draw_inline("LINES", [4, 5, 8, 9])

    assert paint(draw).picture == lit(*columns)


NUMBERED = VERTEX.replace(
    "EXIT",
    """
    ALD R12, a[0x2fc]
    I2F.F32.S32 R12, R12
    MOV32I R13, 0x3e800000
    FFMA R0, R12, R13, R0
    AST a[0x70], R0
    EXIT""",
)
"""Each vertex is moved to the right by its number, a pixel each (of eight)."""


@pytest.mark.row("b197.0x446")
@pytest.mark.parametrize(("base", "seen"), [(0, "R.R"), (3, "...R.R")])
def test_the_base_of_vertex_numbers_is_seen_by_programs(base: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        points(s)
        s.programs(PIXEL, NUMBERED)
        s.set(SET_VERTEX_ID_BASE=base)
        s.pb.draw("POINTS", 2, 0)

    assert paint(draw).picture == top(seen)


@pytest.mark.row("b197.0x591", "b197.0x592")
@pytest.mark.parametrize(
    ("on", "index", "seen"), [(0, 6, "RRRRRR"), (1, 6, "RR..RR"), (1, 2, "..RRRR"), (1, 99, "RRRRRR")]
)
def test_the_restart_index_cuts_strips(on: int, index: int, seen: str) -> None:
    """A strip in row 0, a pixel from one vertex to the next; lines leave out their last pixel."""

    def draw(s: Canvas) -> None:
        first, _ = s.mesh(s.places([(x / 2 + 0.5, 0.5) for x in range(16)]), RED)
        s.pb.stream(0, s._pool + 48 * first, 48)
        s.pb.method("SET_DA_PRIMITIVE_RESTART", on, index)
        s.pb.draw_inline("LINE_STRIP", [0, 2, 4, 6, 8, 10, 12])

    assert paint(draw).picture == top(seen)


@pytest.mark.row("b197.0x37a")
@pytest.mark.parametrize(("on", "seen"), [(0, "RRRRR"), (1, "RR.RR")])
def test_restarts_count_for_arrays_if_they_are_told_to(on: int, seen: str) -> None:
    """Points have no strips: the vertex of the restart number itself is left out."""

    def draw(s: Canvas) -> None:
        points(s)
        s.pb.method("SET_DA_PRIMITIVE_RESTART", 1, 2)
        s.set(SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY=on)
        s.pb.draw("POINTS", 5, 0)

    assert paint(draw).picture == top(seen)


MIDDLE = """
    MOV32I R2, {last:#x}
    ISBERD R4, [R2]
    ALD.128 R8, a[0x70], R4
    AST.128 a[0x70], R8
    ALD.128 R8, a[0x80], R4
    AST.128 a[0x80], R8
    EXIT
"""
"""An evaluation program that shows one vertex of its patch."""


@pytest.mark.row("b197.0x373")
@pytest.mark.parametrize(("size", "seen"), [(1, "RRRRRRRR"), (2, ".R.R.R.R"), (3, "..R..R")])
def test_patches_have_so_many_vertices(size: int, seen: str) -> None:
    """Each patch shows its last one."""

    def draw(s: Canvas) -> None:
        points(s)
        s.set(SET_PATCH={"SIZE": size})
        s.set(SET_TESSELLATION_PARAMETERS={"DOMAIN_TYPE": "ISOLINE", "OUTPUT_PRIMITIVES": "POINTS"})
        s.pb.method("SET_TESSELLATION_LOD_U0_OR_DENSITY", 1.0, 1.0)
        s.programs(PIXEL, VERTEX, evaluation=MIDDLE.format(last=size - 1))
        s.pb.draw("PATCH", 8, 0)

    assert paint(draw).picture == top(seen)


# -- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x700", "b197.0x701")
@pytest.mark.parametrize(
    ("stride", "offset", "seen"), [(48, 0, "RRR"), (96, 0, "R.R.R"), (48, 96, "..RRR"), (0, 48, ".R")]
)
def test_vertices_lie_a_stride_apart_from_the_stream_on(stride: int, offset: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        address = points(s)
        s.pb.stream(0, address + offset, stride)
        s.pb.draw("POINTS", 3, 0)

    assert paint(draw).picture == top(seen)


@pytest.mark.row("b197.0x700")
@pytest.mark.parametrize("number", [0, 15])
@pytest.mark.parametrize(("enabled", "seen"), [(1, "RRR"), (0, None)])
def test_a_stream_that_is_off_gives_zeros(number: int, enabled: int, seen: str | None) -> None:
    """Positions are then in the middle, where the pixel to the upper left begins."""

    def draw(s: Canvas) -> None:
        address = points(s)
        s.pb.stream(1, address, 48).attribute(1, 1, 16, "R32_G32_B32_A32").stream(number, address, 48)
        s.set(SET_VERTEX_STREAM_A_FORMAT=(number, {"STRIDE": 48, "ENABLE": enabled}))
        s.pb.attribute(0, number, 0, "R32_G32_B32_A32").draw("POINTS", 3, 0)

    found = paint(draw).picture
    assert found == (top(seen) if seen else row("3 x ........", "...R....", "4 x ........"))


@pytest.mark.row("b197.0x7c0")
@pytest.mark.parametrize(("last", "seen"), [(4 * 48 - 1, "RRRR"), (3 * 48 + 14, "RRR")])
def test_what_is_beyond_the_limit_reads_as_zero(last: int, seen: str) -> None:
    """Alpha and w with it: the point is nowhere."""

    def draw(s: Canvas) -> None:
        address = points(s)
        s.pb.address("SET_VERTEX_STREAM_LIMIT_A_A", 0, address + last)
        s.pb.draw("POINTS", 4, 0)

    assert paint(draw).picture == top(seen)


COLOR_ONLY = VERTEX.replace("ALD.128 R4, a[0x90]", "ALD.128 R4, a[0x170]")
"""The colour is attribute 15."""


@pytest.mark.row("b197.0x458")
@pytest.mark.parametrize(
    ("size", "type", "more", "data", "color"),
    [
        ("A8B8G8R8", "UNORM", {}, bytes((255, 0, 51, 102)), (1, 0, 0.2, 0.4)),
        ("A8B8G8R8", "UNORM", {"SWAP_R_AND_B": 1}, bytes((255, 0, 51, 102)), (0.2, 0, 1, 0.4)),
        ("A8B8G8R8", "SNORM", {}, bytes((127, 0x80, 0x81, 0)), (1, -1, -1, 0)),
        ("A8B8G8R8", "USCALED", {}, bytes((3, 0, 200, 1)), (3, 0, 200, 1)),
        ("A8B8G8R8", "SSCALED", {}, bytes((3, 0xFE, 0x80, 1)), (3, -2, -128, 1)),
        ("R16_G16", "FLOAT", {}, np.array([0.5, -4], "<f2").tobytes(), (0.5, -4, 0, 1)),
        ("R32", "FLOAT", {"OFFSET": 4}, struct.pack("<2f", 9, 0.25), (0.25, 0, 0, 1)),
        ("A2B10G10R10", "UNORM", {}, struct.pack("<I", 1023 | 1023 << 20 | 1 << 30), (1, 0, 1, 1 / 3)),
        ("B10G11R11", "FLOAT", {}, struct.pack("<I", 0x3C0 | 0x400 << 11 | 0x1E0 << 22), (1, 2, 1, 1)),
        ("R32", "FLOAT", {"SOURCE": "INACTIVE"}, struct.pack("<f", 9), (0, 0, 0, 1)),
    ],
)
def test_attributes_have_a_place_a_size_and_a_type(
    size: str, type: str, more: dict[str, object], data: bytes, color: tuple[float, ...]
) -> None:
    """One of sixteen, as the colour of the whole picture."""

    def draw(s: Canvas) -> None:
        s.programs(PIXEL, COLOR_ONLY)
        s.pb.stream(3, s.capture.put(data + bytes(16)), 0)
        fields = {"OFFSET": 0, "SOURCE": "ACTIVE", **more}
        s.set(SET_VERTEX_ATTRIBUTE_A=(15, {
            "STREAM": 3, "COMPONENT_BIT_WIDTHS": size, "NUMERICAL_TYPE": f"NUM_{type}", **fields,
        })).rect()  # fmt: skip

    found = paint(draw, canvas={"format": "RF32_GF32_BF32_AF32", "depth_format": None}).rgba()[3, 3]
    assert found.tolist() == pytest.approx(color, abs=1e-6)


# -- instances --------------------------------------------------------------------------------------------------------

MOVED = VERTEX.replace("EXIT", "ALD R12, a[0xb0]\nFADD R0, R0, R12\nAST a[0x70], R0\nEXIT")
"""Attribute 3 moves to the right."""


@pytest.mark.row("b197.0x620", "b197.0x703")
@pytest.mark.parametrize("number", [1, 15])
@pytest.mark.parametrize(("instanced", "divisor", "seen"), [(1, 1, "RRRR"), (1, 2, "RR"), (1, 4, "R"), (0, 1, "R")])
def test_instanced_streams_go_on_with_the_instance(number: int, instanced: int, divisor: int, seen: str) -> None:
    """Four instances of one point."""

    def draw(s: Canvas) -> None:
        points(s)
        s.programs(PIXEL, MOVED)
        steps = s.capture.put(np.arange(4, dtype="<f4") / 4)
        s.pb.stream(number, steps, 4, divisor=divisor).attribute(3, number, 0, "R32")
        s.set(SET_VERTEX_STREAM_INSTANCE_A=(number, instanced))
        s.pb.draw("POINTS", 1, 0, instances=4)

    assert paint(draw).picture == top(seen)


@pytest.mark.row("b197.0x5f2")
def test_indices_beyond_the_last_byte_are_zero() -> None:
    def draw(s: Canvas) -> None:
        points(s)
        address = s.capture.put(np.array([3, 5, 7], "<u2"))
        s.pb.address("SET_INDEX_BUFFER_A", address).address("SET_INDEX_BUFFER_C", address + 3)
        s.pb.method("SET_INDEX_BUFFER_E", 1).method("SET_INDEX_BUFFER_F", 0)
        s.pb.method("BEGIN", OP="POINTS").method("DRAW_INDEX_BUFFER", 3).method("END", 0)

    assert paint(draw).picture == top("R..R.R") != empty()


@pytest.mark.row("b197.0x35e")
@pytest.mark.parametrize("topology", ["QUADS", "QUAD_STRIP"])
@pytest.mark.parametrize(("cut", "middle"), [("first", 0.25), ("second", 0.6875)])
def test_quads_are_cut_between_two_of_their_corners(topology: str, cut: str, middle: float) -> None:
    """Two opposite corners are near, two are far; which are joined is a choice, as no document says it."""
    corners = [(0, 0, 0.25), (0, 8, 0.75), (8, 8, 0.25), (8, 0, 0.75)]

    def draw(s: Canvas) -> None:
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)
        order = (0, 1, 2, 3) if topology == "QUADS" else (0, 1, 3, 2)
        s.shape([corners[n] for n in order], topology=topology)

    painted = paint(draw, choices={"draw.quad_diagonal": cut})
    assert painted.depth[4, 4] == pytest.approx(middle, abs=1e-6)
    assert painted.picture == row("8 x RRRRRRRR")
    outline = paint(lambda s: (s.set(SET_FRONT_POLYGON_MODE=0x1B01, SET_BACK_POLYGON_MODE=0x1B01), draw(s)),
                    choices={"draw.quad_diagonal": cut})  # fmt: skip
    assert outline.picture.split()[3:5] == [".......R"] * 2  # none inside; the left one is beyond the target
