"""Stages between vertices and raster, and what leaves the pipeline elsewhere: tessellation, geometry, feedback,
queries."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from .stage import PIXEL, VERTEX, Scene, corners, scene

SHADES = [RED, GREEN, BLUE, YELLOW, WHITE, (1, 0, 1, 1)]
CONTROL = """
    S2R R0, SR_INVOCATION_ID
    ISBERD R4, [R0]
    ALD.128 R8, a[0x70], R4
    ALD.128 R12, a[0x80], R4
    AST.128 a[0x70], R8
    AST.128 a[0x80], R12
    ISETP.EQ.AND P0, PT, R0, RZ, PT
""" + "".join(f"MOV R1, c[0x0][{4 * n:#x}]\n@P0 AST.P a[{4 * n:#x}], R1\n" for n in range(6)) + "EXIT"  # fmt: skip
"""Vertices go on as they are; levels are constants."""


def corner(number: int, register: int) -> str:
    """A vertex's position and colour, in eight registers."""
    return (
        f"MOV32I R3, {number:#x}\nISBERD R4, [R3]\nALD.128 R{register}, a[0x70], R4\n"
        f"ALD.128 R{register + 4}, a[0x80], R4\n"
    )


PLACE = "S2R R2, SR_LANEID\nALD.O R0, a[0x2f0], R2\nALD.O R1, a[0x2f4], R2\n"
STORE = "AST.128 a[0x70], R40\nAST.128 a[0x80], R44\nEXIT"
BILINEAR = PLACE + "".join(corner(n, 8 + 8 * n) for n in range(4)) + "".join(
    f"FADD R5, R{16 + n}, -R{8 + n}\nFFMA R5, R5, R0, R{8 + n}\nFADD R6, R{24 + n}, -R{32 + n}\n"
    f"FFMA R6, R6, R0, R{32 + n}\nFADD R6, R6, -R5\nFFMA R{40 + n}, R6, R1, R5\n"
    for n in range(8)
) + STORE  # fmt: skip
"""Vertices 0 to 3 are the corners (0, 0), (1, 0), (1, 1), (0, 1)."""
BARYCENTRIC = PLACE + "FADD R2, -R0, 1\nFADD R2, R2, -R1\n" + "".join(corner(n, 8 + 8 * n) for n in range(3)) + "".join(
    f"FMUL R{40 + n}, R{8 + n}, R0\nFFMA R{40 + n}, R{16 + n}, R1, R{40 + n}\n"
    f"FFMA R{40 + n}, R{24 + n}, R2, R{40 + n}\n"
    for n in range(8)
) + STORE  # fmt: skip
DOMAINS = {"ISOLINE": (0, 4, BILINEAR), "TRIANGLE": (1, 3, BARYCENTRIC), "QUAD": (2, 4, BILINEAR)}
SPACINGS = ("INTEGER", "FRACTIONAL_ODD", "FRACTIONAL_EVEN")
OUTPUTS = ("POINTS", "LINES", "TRIANGLES_CW", "TRIANGLES_CCW")
LEVELS = (3.4, 2.6, 4.2, 5.0, 3.7, 2.3)


def tessellated(
    s: Scene, domain: str, levels: object = LEVELS, *, control: bool = True, spacing: int = 0, output: int = 3
) -> None:
    """One patch."""
    number, size, text = DOMAINS[domain]
    pb = s.pb
    pb.method("SET_TESSELLATION_PARAMETERS", number | spacing << 4 | output << 8).method("SET_PATCH", size)
    more = {"control": (CONTROL, {"THREADS_PER_INPUT_PRIMITIVE": size})} if control else {}
    s.programs(PIXEL, VERTEX, evaluation=text, **more)
    if control:
        s.constants(np.array(levels, np.float32), "control")
    pb.method("SET_FRONT_POLYGON_MODE", 0x1B01).method("SET_BACK_POLYGON_MODE", 0x1B01)
    at = corners(3) if size == 3 else np.array([(-0.9, -0.9), (0.8, -0.8), (0.9, 0.9), (-0.7, 0.8)])
    s.draw(at, SHADES[:size], topology="PATCH")


@scene(12, 3, 28)
def tessellation(s: Scene) -> None:
    """Domains (rows), spacings and what comes out (columns): points, lines, triangles of both windings, whose edges are
    drawn; levels 3.4, 2.6, 4.2 and 5 outside, 3.7 and 2.3 inside."""
    for domain in DOMAINS:
        for n, spacing in enumerate(SPACINGS):
            for m, output in enumerate(OUTPUTS):
                s.cell(f"{domain}, {spacing}, {output}")
                tessellated(s, domain, spacing=n, output=m)


@scene(6, 3, 24)
def tessellation_levels(s: Scene) -> None:
    """Levels 1, large ones, unequal ones, zero and NaN (nothing), levels from registers without a control program;
    faces that are culled by winding; many patches."""
    nan, large = float("nan"), 200.0
    for label, domain, levels in (
        ("quad 1", "QUAD", [1.0] * 6),
        ("triangle 1", "TRIANGLE", [1.0] * 6),
        ("quad 1, inside 3", "QUAD", [1.0] * 4 + [3.0] * 2),
        ("triangle, outside 5", "TRIANGLE", [5.0] * 4 + [1.0] * 2),
        ("quad, zero outside", "QUAD", [0.0] + [3.0] * 5),
        ("quad, NaN", "QUAD", [nan] + [3.0] * 5),
        ("quad, large", "QUAD", [large] * 6),
        ("isolines 6 x 2", "ISOLINE", [6.0, 2.0] + [1.0] * 4),
        ("triangle, unequal", "TRIANGLE", [1.0, 4.0, 8.0, 1.0, 2.0, 1.0]),
        ("quad, zero inside", "QUAD", [2.0, 3.0, 4.0, 5.0, 0.0, 0.0]),
    ):
        s.cell(label)
        tessellated(s, domain, levels)
    for domain in DOMAINS:
        pb = s.cell(f"{domain}, levels of registers")
        for name, level in zip(
            (
                "TESSELLATION_LOD_U0_OR_DENSITY",
                "TESSELLATION_LOD_V0_OR_DETAIL",
                "TESSELLATION_LOD_U1_OR_W0",
                "TESSELLATION_LOD_V1",
                "TG_LOD_INTERIOR_U",
                "TG_LOD_INTERIOR_V",
            ),
            LEVELS,
            strict=True,
        ):
            pb.method(f"SET_{name}", level)
        tessellated(s, domain, control=False)
    for output in (2, 3):
        pb = s.cell(f"{OUTPUTS[output]}, backs culled")
        pb.method("OGL_SET_CULL", 1)
        tessellated(s, "QUAD", output=output)
    pb = s.cell("filled")
    tessellated(s, "TRIANGLE")
    pb.method("SET_FRONT_POLYGON_MODE", 0x1B02).method("SET_BACK_POLYGON_MODE", 0x1B02)
    s.draw(corners(3), SHADES[:3], topology="PATCH")
    pb = s.cell("many patches")
    tessellated(s, "QUAD", [1.0] * 6)
    some = [(x + dx, y + dy) for x in np.linspace(-0.9, 0.7, 6) for y in np.linspace(-0.9, 0.7, 6)
            for dx, dy in ((0, 0), (0.2, 0), (0.2, 0.2), (0, 0.2))]  # fmt: skip
    s.draw(some, [SHADES[n // 4 % 6] for n in range(len(some))], topology="PATCH")


def emit(count: int, text: str) -> str:
    """Vertices one after the other; `text` stores the words of number {n}."""
    return "".join(text.format(n=n) + "OUT.EMIT R3, R3, RZ\n" for n in range(count))


def read(vertex: int, register: int) -> str:
    return (
        f"MOV32I R2, {vertex:#x}\nISBERD R4, [R2]\nALD.128 R{register}, a[0x70], R4\n"
        f"ALD.128 R{register + 4}, a[0x80], R4\n"
    )


def passed(register: int) -> str:
    return f"AST.128 a[0x70], R{register}, R3\nAST.128 a[0x80], R{register + 4}, R3\nOUT.EMIT R3, R3, RZ\n"


QUADS = "MOV R3, RZ\n" + read(0, 8) + "".join(
    f"FADD R16, R8, {x}\nFADD R17, R9, {y}\nMOV R18, R10\nMOV R19, R11\n"
    "AST.128 a[0x70], R16, R3\nAST.128 a[0x80], R12, R3\nOUT.EMIT R3, R3, RZ\n"
    for x, y in ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))
) + "EXIT"  # fmt: skip
TURNS = """
    MOV R3, RZ
    S2R R0, SR_INVOCATION_ID
    I2F.F32.S32 R1, R0
    FMUL R1, R1, 0.3125
    FADD R1, -R1, 1
""" + "".join(
    read(v, 8) + "FMUL R8, R8, R1\nFMUL R9, R9, R1\nFMUL R12, R12, R1\n" + passed(8) for v in (0, 1, 2, 0)
) + "EXIT"  # fmt: skip
NEIGHBOURS = "MOV R3, RZ\n" + "".join(read(v, 8) + passed(8) for v in range(4)) + "EXIT"
SIX = "MOV R3, RZ\n" + "".join(
    "".join(read(v, 8) + passed(8) for v in pair) + "OUT.CUT R3, R3, RZ\n" for pair in ((0, 1), (2, 3), (4, 5))
) + "EXIT"  # fmt: skip
STREAMS = "MOV R3, RZ\n" + read(0, 8) + """
    AST.128 a[0x70], R8, R3
    AST.128 a[0x80], R12, R3
    OUT.EMIT R3, R3, RZ
    FMUL R8, R8, 0.5
    FMUL R9, R9, 0.5
    AST.128 a[0x70], R8, R3
    AST.128 a[0x80], R12, R3
    OUT.EMIT R3, R3, 0x1
    EXIT
"""  # fmt: skip
PASSING = "ALD R0, a[0x60]\nI2F.F32.S32 R0, R0\nFMUL R0, R0, 0.5\nAST a[0x80], R0\nEXIT"
GEOMETRY = {
    "points to quads": (QUADS, "POINTS", {"OUTPUT_TOPOLOGY": 7, "MAX_OUTPUT_VERTEX_COUNT": 4}, 6),
    "three invocations": (
        TURNS,
        "TRIANGLES",
        {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 4, "THREADS_PER_INPUT_PRIMITIVE": 3},
        6,
    ),
    "at most two vertices": (TURNS, "TRIANGLES", {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 2}, 6),
    "points of a strip": (TURNS, "TRIANGLE_STRIP", {"OUTPUT_TOPOLOGY": 1, "MAX_OUTPUT_VERTEX_COUNT": 4}, 6),
    "lines and neighbours": (NEIGHBOURS, "LINELIST_ADJCY", {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 4}, 8),
    "strip and neighbours": (NEIGHBOURS, "LINESTRIP_ADJCY", {"OUTPUT_TOPOLOGY": 7, "MAX_OUTPUT_VERTEX_COUNT": 4}, 8),
    "triangles and neighbours": (SIX, "TRIANGLELIST_ADJCY", {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 6}, 12),
    "triangle strip and neighbours": (
        SIX,
        "TRIANGLESTRIP_ADJCY",
        {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 6},
        12,
    ),
    "stream 0": (STREAMS, "POINTS", {"OUTPUT_TOPOLOGY": 1, "MAX_OUTPUT_VERTEX_COUNT": 2, "STREAM_OUT_MASK": 3}, 6),
    "stream 1": (STREAMS, "POINTS", {"OUTPUT_TOPOLOGY": 1, "MAX_OUTPUT_VERTEX_COUNT": 2, "STREAM_OUT_MASK": 3}, 6),
    "passing through": (
        PASSING,
        "TRIANGLES",
        {"OUTPUT_TOPOLOGY": 7, "MAX_OUTPUT_VERTEX_COUNT": 3, "RESERVED_COMMON_A(3)": 1},
        6,
    ),
    "passing through, red kept": (
        PASSING,
        "TRIANGLES",
        {"OUTPUT_TOPOLOGY": 7, "MAX_OUTPUT_VERTEX_COUNT": 3, "RESERVED_COMMON_A(3)": 1},
        6,
    ),
}


def ring(count: int) -> np.ndarray:
    """Places in a ring, inner and outer ones in turn."""
    at = corners(count, 0.9)
    at[1::2] *= 0.6
    return at


@scene(6, 2, 28)
def geometry(s: Scene) -> None:
    """Geometry programs: points become quads, triangles outlines in three sizes, too many vertices are dropped, points
    made of a strip; neighbours of lines and triangles; two streams; programs that only add words."""
    for label, (text, topology, fields, count) in GEOMETRY.items():
        pb = s.cell(label)
        s.programs(PIXEL, VERTEX, geometry=(text, fields))
        pb.method("SET_POINT_SIZE", 3.0).method("SET_RASTER_INPUT", int(label == "stream 1"))
        if label.endswith("kept"):
            pb.method("SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK", 1, 1 << (0x80 // 4 - 32))
        s.draw(ring(count), [SHADES[n % 6] for n in range(count)], topology=topology)


@scene(2, 1, 28)
def all_stages(s: Scene) -> None:
    """Vertex, control, evaluation, geometry and pixel program in one draw: a patch of triangles, each drawn as outlines
    in three sizes; the same through a second stream of programs without control."""
    text = "MOV R3, RZ\n" + "".join(read(v, 8) + passed(8) for v in (0, 1, 2, 0)) + "EXIT"
    for control in (True, False):
        pb = s.cell(f"control {control}")
        pb.method("SET_TESSELLATION_PARAMETERS", 1 | 3 << 8).method("SET_PATCH", 3)
        for n, name in enumerate(("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")):
            pb.method(f"SET_TESSELLATION_LOD_{name}", 2.0 + n)
        pb.method("SET_TG_LOD_INTERIOR_U", 3.0)
        more = {"control": (CONTROL, {"THREADS_PER_INPUT_PRIMITIVE": 3})} if control else {}
        geometry_options = {"OUTPUT_TOPOLOGY": 6, "MAX_OUTPUT_VERTEX_COUNT": 4}
        s.programs(PIXEL, VERTEX, evaluation=BARYCENTRIC, geometry=(text, geometry_options), **more)
        s.constants(np.array(LEVELS, np.float32), "control")
        s.draw(corners(3), SHADES[:3], topology="PATCH")


def feedback(s: Scene, buffers: dict[int, tuple[int, int, list[int]]], stream: dict[int, int] | None = None) -> None:
    """Buffers of transform feedback: number to (bytes, stride, layout)."""
    pb = s.pb
    for n, (size, stride, layout) in buffers.items():
        pb.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", n, s.result(size + 64))
        pb.method("SET_STREAM_OUT_BUFFER_ENABLE", n, 1).method("SET_STREAM_OUT_BUFFER_SIZE", n, size)
        pb.method("SET_STREAM_OUT_CONTROL_STREAM", n, (stream or {}).get(n, 0))
        pb.method("SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", n, len(layout)).method(
            "SET_STREAM_OUT_CONTROL_STRIDE", n, stride
        )
        pb.method("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", n, 0)
        words = np.array(layout + [0] * (-len(layout) % 4), np.uint8).view("<u4")
        pb.method("SET_STREAM_OUT_LAYOUT_SELECT", 32 * n, *words.tolist())
    pb.method("SET_STREAM_OUTPUT", 1)


POSITION = [0x70 // 4 + n for n in range(4)]
COLOUR = [0x80 // 4 + n for n in range(4)]


@scene(6, 2, 20)
def transform_feedback(s: Scene) -> None:
    """What transform feedback leaves in memory is compared, too: lists of all topologies, words left out, two
    buffers, one that is too small, streams of a geometry program; what was written is drawn again, as many as there
    are."""
    for topology in ("POINTS", "LINE_STRIP", "TRIANGLE_STRIP", "TRIANGLE_FAN", "QUADS"):
        s.cell(topology)
        feedback(s, {0: (0x600, 32, POSITION + COLOUR)})
        s.draw(corners(8), [SHADES[n % 6] for n in range(8)], topology=topology)
    s.cell("words left out")
    feedback(s, {0: (0x600, 24, [*POSITION[:2], 0xFF, *COLOUR[1:3]])})
    s.draw(corners(5), SHADES[:5], topology="TRIANGLE_FAN")
    s.cell("two buffers")
    feedback(s, {0: (0x200, 16, POSITION), 2: (0x200, 16, COLOUR)})
    s.draw(corners(5), SHADES[:5], topology="TRIANGLE_FAN")
    s.cell("no room for the last")
    feedback(s, {0: (0x80, 16, POSITION)})
    s.draw(corners(5), SHADES[:5], topology="TRIANGLE_FAN")
    s.cell("two streams")
    text, topology, fields, count = GEOMETRY["stream 0"]
    s.programs(PIXEL, VERTEX, geometry=(text, fields))
    feedback(s, {0: (0x200, 16, POSITION), 1: (0x200, 8, COLOUR[:2])}, {1: 1})
    s.draw(ring(count), SHADES, topology=topology)
    pb = s.cell("without raster")
    pb.method("SET_RASTER_ENABLE", 0)
    feedback(s, {0: (0x200, 16, POSITION)})
    s.draw(corners(5), SHADES[:5], topology="TRIANGLE_FAN")
    pb = s.cell("drawn again")
    feedback(s, {0: (0x600, 48, POSITION + COLOUR)})
    s.draw(corners(5), SHADES[:5], topology="TRIANGLE_FAN")
    again = s.bytes[-1].address
    pb.method("SET_STREAM_OUTPUT", 0).scissor(s.box).clear((0.3, 0.1, 0.3, 1)).stream(0, again, 48)
    pb.method("SET_DRAW_AUTO_STRIDE", 48).method("SET_DRAW_AUTO_START", 48 * 3)
    pb.method("SET_VERTEX_ARRAY_START", 0).method("BEGIN", OP="TRIANGLES").method("DRAW_AUTO", 48 * 9).method("END", 0)


REPORTS = (
    "DA_VERTICES_GENERATED", "DA_PRIMITIVES_GENERATED", "VS_INVOCATIONS", "CLIPPER_INVOCATIONS",
    "CLIPPER_PRIMITIVES_GENERATED", "ZPASS_PIXEL_CNT64",
)  # fmt: skip


@scene(6, 2, 20)
def queries(s: Scene) -> None:
    """Counters after a draw, whose values are compared; draws that are left out, or not, as samples passed or did
    not."""
    for name in REPORTS:
        pb = s.cell(name)
        pb.method("SET_STATISTICS_COUNTER", 0xFFFF).method("SET_ZPASS_PIXEL_COUNT", 1)
        pb.method("CLEAR_REPORT_VALUE", TYPE=name.removesuffix("64"))
        s.quad(BLUE, box=(-0.5, -0.5, 1.5, 0.5))
        s.draw(ring(8), [SHADES[n % 6] for n in range(8)], topology="TRIANGLE_STRIP")
        pb.report(s.result(16), OPERATION="REPORT_ONLY", REPORT=name)
    for label, hidden, mode in (
        ("passed, CONDITIONAL", False, "CONDITIONAL"),
        ("hidden, CONDITIONAL", True, "CONDITIONAL"),
        ("passed, RENDER_IF_EQUAL", False, "RENDER_IF_EQUAL"),
        ("hidden, RENDER_IF_EQUAL", True, "RENDER_IF_EQUAL"),
        ("hidden, RENDER_IF_NOT_EQUAL", True, "RENDER_IF_NOT_EQUAL"),
        ("FALSE", False, "FALSE"),
    ):
        pb = s.cell(label)
        s.quad(BLUE)
        results = s.result(32)
        pb.method("SET_ZPASS_PIXEL_COUNT", 1).method("SET_DEPTH_TEST", 1)
        for n in range(2):
            pb.method("SET_DEPTH_FUNC", V="OGL_NEVER" if hidden or not n else "OGL_ALWAYS")
            pb.method("CLEAR_REPORT_VALUE", TYPE="ZPASS_PIXEL_CNT")
            s.quad(YELLOW, box=(-0.9, -0.9, 0, 0))
            pb.report(results + 16 * (1 - n), OPERATION="REPORT_ONLY", REPORT="ZPASS_PIXEL_CNT64")
        pb.method("SET_DEPTH_FUNC", V="OGL_ALWAYS").address("SET_RENDER_ENABLE_A", results).method(
            "SET_RENDER_ENABLE_C", MODE=mode
        )
        s.quad(RED, box=(-0.4, -0.4, 0.9, 0.9))
        pb.method("SET_RENDER_ENABLE_C", MODE="TRUE")


EACH_LAYER = """
    MOV R3, RZ
    S2R R0, SR_INVOCATION_ID
    I2F.F32.S32 R1, R0
    FMUL R1, R1, 0.25
    FADD R1, -R1, 1
""" + "".join(
    read(v, 8) + "FMUL R8, R8, R1\nFMUL R9, R9, R1\nAST a[{choice}], R0, R3\n" + passed(8) for v in range(3)
) + "EXIT"  # fmt: skip


@scene(2, 2, 20, layers=3)
def layers_from_geometry(s: Scene) -> None:
    """Three layers below each other. A geometry program draws a triangle to each, smaller from layer to layer, or to
    each of three viewports; the layer as the pixel program sees it (red); feedback after tessellation."""
    three = {"OUTPUT_TOPOLOGY": 7, "MAX_OUTPUT_VERTEX_COUNT": 3, "THREADS_PER_INPUT_PRIMITIVE": 3}
    layer = "IPA.CONSTANT R0, a[0x64], RZ\nI2F.F32.U32 R0, R0\nFMUL R0, R0, 0.5\nMOV R1, RZ\nMOV R2, RZ\n"
    for label in ("layers", "layers seen", "viewports"):
        pb = s.cell(label)
        pb.method("SET_RT_LAYER", CONTROL=int(label != "viewports"))
        text = EACH_LAYER.replace("{choice}", "0x68" if label == "viewports" else "0x64")
        s.programs(layer + "MOV32I R3, 0x3f800000\nEXIT" if label == "layers seen" else PIXEL, geometry=(text, three))
        x, y, w, h = s.box
        for n in range(1, 3):
            if label == "viewports":
                pb.viewport(x + 3 * n, y + 3 * n, w - 8, h - 8, number=n)
        s.draw(corners(3), SHADES[:3])
    s.cell("feedback behind tessellation")
    feedback(s, {0: (0x1000, 16, POSITION)})
    tessellated(s, "TRIANGLE", [2.0, 3.0, 2.0, 1.0, 3.0, 1.0])
