"""Whole draws with more stages than vertices and pixels: geometry, tessellation, transform feedback."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.small_scene import COLOUR, FEEDBACK, POSITION, SIZE, VERTICES, SmallScene

RED, GREEN, BLUE = ([1.0, 0, 0, 1], [0, 1.0, 0, 1], [0, 0, 1.0, 1])
INPUTS = {
    **{f"IMAP_POSITION_{c}": 1 for c in "XYZW"}, **{f"GENERIC_IMAP_{c}__0": 1 for c in "XYZW"},
}  # fmt: skip
WAYS = pytest.mark.parametrize(("evaluator", "threads"), [("llvm", 1), ("llvm", 2), ("numpy", 1)])
_EMIT = """
    AST.128 a[0x70], R{0}, R20
    AST.128 a[0x80], R8, R20
    OUT.EMIT R20, R20, RZ
"""
# A square of 4 x 4 pixels around a point; the second invocation's is 8 pixels to the right.
SQUARES = f"""
    MOV R20, RZ
    ISBERD R4, [RZ]
    ALD.128 R0, a[0x70], R4
    ALD.128 R8, a[0x80], R4
    S2R R5, SR_INVOCATION_ID
    I2F.F32.S32 R5, R5
    FFMA R0, R5, 0.5, R0
    FADD R16, R0, 0.125
    FADD R0, R0, -0.125
    FADD R25, R1, 0.125
    FADD R1, R1, -0.125
    MOV R17, R1
    MOV R18, R2
    MOV R19, R3
    {_EMIT.format(0)}
    {_EMIT.format(16)}
    MOV R1, R25
    MOV R17, R25
    {_EMIT.format(0)}
    {_EMIT.format(16)}
    EXIT
    """


def at(x: float, y: float) -> list[float]:
    """The position of a pixel coordinate."""
    return [x / 16 - 1, 1 - y / 16, 0, 1]


def filled(*rectangles: tuple[int, int, int, int, list[float]]) -> np.ndarray:
    """A picture of rectangles: left, top, right, bottom, colour."""
    picture = np.zeros((SIZE, SIZE, 4), np.uint8)
    for left, top, right, bottom, colour in rectangles:
        picture[top:bottom, left:right] = [round(255 * c) for c in colour]
    return picture


def words(scene: SmallScene, count: int, at: int = FEEDBACK) -> np.ndarray:
    return np.frombuffer(scene.gpu.memory.read(at, 4 * count), "<f4")


@WAYS
def test_squares_out_of_points(evaluator: str, threads: int) -> None:
    """A geometry program with two invocations, which emits triangle strips."""
    scene = SmallScene(evaluator, threads)
    scene.program(4, SQUARES, **INPUTS, **POSITION, **COLOUR, MAX_OUTPUT_VERTEX_COUNT=4,
                  THREADS_PER_INPUT_PRIMITIVE=2, OUTPUT_TOPOLOGY=7)  # fmt: skip
    centres = [(4, 6), (20, 6), (4, 20), (20, 26)]
    colours = [RED, GREEN, BLUE, [1.0, 1, 1, 1]]
    scene.vertices([[*at(*p), *c] for p, c in zip(centres, colours, strict=True)])
    scene.draw("POINTS", 4)
    rectangles = [(x + dx - 2, y - 2, x + dx + 2, y + 2, c) for (x, y), c in zip(centres, colours, strict=True)
                  for dx in (0, 8)]  # fmt: skip
    assert np.array_equal(scene.run(), filled(*rectangles))
    assert not list(scene.gpu.events)


@WAYS
def test_feedback_of_a_stream_that_is_not_drawn(evaluator: str, threads: int) -> None:
    """Stream 0 is drawn, stream 1 written; then what was written is drawn as if it were vertices."""
    code = """
        MOV R20, RZ
        ISBERD R4, [RZ]
        ALD.128 R0, a[0x70], R4
        ALD.128 R8, a[0x80], R4
        AST.128 a[0x70], R0, R20
        AST.128 a[0x80], R8, R20
        OUT.EMIT R20, R20, RZ
        MOV R10, R8
        MOV R8, RZ
        FADD R1, R1, -0.5
        AST.128 a[0x70], R0, R20
        AST.128 a[0x80], R8, R20
        OUT.EMIT R20, R20, 0x1
        EXIT
        """
    scene = SmallScene(evaluator, threads)
    scene.program(4, code, **INPUTS, **POSITION, **COLOUR, MAX_OUTPUT_VERTEX_COUNT=2, OUTPUT_TOPOLOGY=1,
                  STREAM_OUT_MASK=3)  # fmt: skip
    scene.pb.method("SET_POINT_SIZE", struct.unpack("<I", struct.pack("<f", 1.0))[0])
    layout = [0x70, 0x74, 0x78, 0x7C, 0x80, 0x84, 0x88, 0x8C]
    scene.feedback(1, 32, layout, stream=1)
    points = [(3.5 + 5 * i, 4.5 + i) for i in range(5)]
    scene.vertices([[*at(*p), *RED] for p in points])
    scene.draw("POINTS", 5)
    first = filled(*((int(x), int(y), int(x) + 1, int(y) + 1, RED) for x, y in points))
    assert np.array_equal(scene.run(), first)
    moved = [[*at(x, y + 8), 0, 0, 1, 1] for x, y in points]
    assert np.allclose(words(scene, 40).reshape(5, 8), moved, atol=1e-6)
    pb = scene.pb
    pb.method("SET_PIPELINE_SHADER", 4, 4 << 4).method("SET_STREAM_OUTPUT", 0)
    pb.address("SET_VERTEX_STREAM_A_LOCATION_A", 0, FEEDBACK).address("SET_VERTEX_STREAM_LIMIT_A_A", 0, FEEDBACK + 159)
    pb.method("SET_DRAW_AUTO_STRIDE", 32).method("BEGIN", OP="POINTS").method("DRAW_AUTO", 160).method("END", 0)
    second = filled(*((int(x), int(y) + 8, int(x) + 1, int(y) + 9, BLUE) for x, y in points))
    assert np.array_equal(scene.run(), np.maximum(first, second))
    assert not list(scene.gpu.events)


# Between the patch's vertices 0 and 2, which are opposite corners; the colour is vertex 1's.
EVALUATION = """
    S2R R5, SR_LANEID
    ALD.O R20, a[0x2f0], R5
    ALD.O R21, a[0x2f4], R5
    MOV32I R6, 0x2
    ISBERD R4, [RZ]
    ISBERD R6, [R6]
    ALD.128 R0, a[0x70], R4
    ALD.128 R8, a[0x70], R6
    FADD R12, R8, -R0
    FADD R13, R9, -R1
    FFMA R0, R12, R20, R0
    FFMA R1, R13, R21, R1
    MOV32I R7, 0x1
    ISBERD R7, [R7]
    ALD.128 R16, a[0x80], R7
    AST.128 a[0x70], R0
    AST.128 a[0x80], R16
    EXIT
    """


def patches(scene: SmallScene, levels: float) -> list[tuple[int, int, int, int, list[float]]]:
    """Set two patches of three vertices up; the rectangles that they fill."""
    level = struct.unpack("<I", struct.pack("<f", levels))[0]
    for name in ("SET_TESSELLATION_LOD_U0_OR_DENSITY", "SET_TESSELLATION_LOD_V0_OR_DETAIL",
                 "SET_TESSELLATION_LOD_U1_OR_W0", "SET_TESSELLATION_LOD_V1", "SET_TG_LOD_INTERIOR_U",
                 "SET_TG_LOD_INTERIOR_V"):  # fmt: skip
        scene.pb.method(name, level)
    scene.pb.method("SET_TESSELLATION_PARAMETERS", DOMAIN_TYPE="QUAD", SPACING="INTEGER",
                    OUTPUT_PRIMITIVES="TRIANGLES_CW").method("SET_PATCH", 3)  # fmt: skip
    scene.program(3, EVALUATION, **INPUTS, **POSITION, **COLOUR, OMAP_TESSELLATION_EVALUATION_POINT_U=1,
                  OMAP_TESSELLATION_EVALUATION_POINT_V=1)  # fmt: skip
    rows = [[*at(4, 28), *GREEN], [*at(0, 0), *RED], [*at(20, 6), *GREEN],
            [*at(24, 30), *RED], [*at(0, 0), *BLUE], [*at(30, 2), *GREEN]]  # fmt: skip
    scene.vertices(rows)
    return [(4, 6, 20, 28, RED), (24, 2, 30, 30, BLUE)]


@WAYS
def test_patches_without_a_control_program(evaluator: str, threads: int) -> None:
    """Levels from registers; the patches' quads are filled without holes."""
    scene = SmallScene(evaluator, threads)
    rectangles = patches(scene, 5.0)
    scene.draw("PATCH", 6)
    assert np.array_equal(scene.run(), filled(*rectangles))
    assert not list(scene.gpu.events)


def test_geometry_behind_tessellation() -> None:
    """All stages at once: each triangle of the tessellator is emitted, drawn and written."""
    code = """
        MOV R20, RZ
        MOV R21, RZ
        PBK done
        again:
        ISETP.GE.AND P0, PT, R21, 0x3, PT
        @P0 BRK
        ISBERD R4, [R21]
        ALD.128 R0, a[0x70], R4
        ALD.128 R8, a[0x80], R4
        AST.128 a[0x70], R0, R20
        AST.128 a[0x80], R8, R20
        OUT.EMIT R20, R20, RZ
        IADD R21, R21, 0x1
        BRA again
        done:
        EXIT
        """
    scene = SmallScene()
    rectangles = patches(scene, 7.0)
    scene.program(4, code, **INPUTS, **POSITION, **COLOUR, MAX_OUTPUT_VERTEX_COUNT=3, OUTPUT_TOPOLOGY=7)
    scene.feedback(0, 8, [0x70, 0x74])
    scene.draw("PATCH", 6)
    assert np.array_equal(scene.run(), filled(*rectangles))
    assert not list(scene.gpu.events)
    triangles = 2 * 2 * 7 * 7
    corners = words(scene, 6 * triangles + 2).astype(np.float64)
    assert corners[-1] == corners[-2] == 0
    a, b, c = corners[:-2].reshape(triangles, 3, 2).transpose(1, 0, 2) * 16
    (px, py), (qx, qy) = (b - a).T, (c - a).T
    areas = px * qy - py * qx
    assert (areas > 0).all()  # clockwise with v downwards, and here v is y
    assert abs(areas.sum() / 2 - (16 * 22 + 6 * 28)) < 0.01


def test_what_cannot_be_drawn_is_told() -> None:
    """Patches need a tessellation program, and nothing else goes through one."""
    scene = SmallScene()
    scene.vertices([[*at(0, 0), *RED]] * 3)
    scene.draw("PATCH", 3)
    assert not scene.run().any()
    assert [event.kind for event in scene.gpu.events] == ["fault"]
    patches(scene, 2.0)
    scene.draw("TRIANGLES", 6)
    assert not scene.run().any()
    assert sum(event.count for event in scene.gpu.events) == 2


def test_feedback_without_raster() -> None:
    """A vertex program's outputs are written though nothing is drawn; strips come as lists."""
    scene = SmallScene()
    scene.pb.method("SET_RASTER_ENABLE", 0)
    scene.feedback(2, 4, [0x80])
    scene.vertices([[*at(8 * (i % 2), 4 * i), float(i), 0, 0, 1] for i in range(5)])
    scene.draw("TRIANGLE_STRIP", 5)
    assert not scene.run().any()
    assert words(scene, 10).tolist() == [0, 1, 2, 2, 1, 3, 2, 3, 4, 0]
    assert VERTICES and not list(scene.gpu.events)
