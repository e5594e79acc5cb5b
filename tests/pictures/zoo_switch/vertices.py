"""What comes in: topologies, indices, formats of attributes, instances, ids."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX as VERTEX_FORMATS

from .stage import INTERPOLATE, PIXEL, VERTEX, Scene, corners, scene

FLAT = "".join(f"IPA.CONSTANT R{n}, a[{0x80 + 4 * n:#x}], RZ\n" for n in range(4)) + "EXIT"
"""The colour of the provoking vertex."""
TOPOLOGIES = [name for _, name in sorted((B197["BEGIN"]["OP"].enum or {}).items()) if name != "PATCH"]
SHADES = [RED, GREEN, BLUE, YELLOW, WHITE, (1, 0, 1, 1)]


def zigzag(count: int) -> list[tuple[float, float]]:
    """Places from left to right, up and down."""
    return [(-0.9 + 1.8 * n / (count - 1), 0.8 if n & 1 else -0.8) for n in range(count)]


def shape(topology: str, count: int = 12) -> object:
    """Vertices that suit a topology: around the middle, or up and down."""
    if topology.startswith("TRIANGLE") and topology.endswith("ADJCY"):  # each second vertex is a neighbour
        return [place for at in zigzag(count // 2) for place in (at, (0, 0))]
    return corners(count) if topology in ("TRIANGLE_FAN", "POLYGON", "LINE_LOOP") else zigzag(count)


@scene(14, 3, 20)
def topologies(s: Scene) -> None:
    """All that BEGIN can name but patches, of twelve vertices whose colours repeat after six: smooth, flat by the first
    vertex, flat by the last. Neighbours are left out, as no geometry program asks for them."""
    for row, (how, last) in enumerate((("smooth", 0), ("flat, first", 0), ("flat, last", 1))):
        for topology in TOPOLOGIES:
            pb = s.cell(f"{topology} {how}")
            pb.method("SET_PROVOKING_VERTEX", last)
            if row:
                s.programs(FLAT)
            s.draw(shape(topology), SHADES * 2, topology=topology)


@scene(7, 4, 20)
def restarts(s: Scene) -> None:
    """Strips, loops and fans that restart at an index, from indices of 8, 16 and 32 bits and from the pushbuffer.
    Vertices are numbered from 3 on and the base is 3."""
    names = ["LINE_STRIP", "LINE_LOOP", "TRIANGLE_STRIP", "TRIANGLE_FAN", "QUAD_STRIP", "POLYGON", "LINESTRIP_ADJCY"]
    for size in (1, 2, 4, 0):
        for topology in names:
            pb = s.cell(f"{topology}, {f'{8 * size} bits' if size else 'in the pushbuffer'}")
            first, _ = s.mesh(shape(topology), SHADES * 2)
            end = (1 << 8 * (size or 4)) - 1
            indices = [0, 1, 2, 3, end, 4, 5, 6, 7, 8, end, end, 9, 10, end, 11, 8, 9, 10]
            pb.method("SET_DA_PRIMITIVE_RESTART", 1, end).method("SET_GLOBAL_BASE_VERTEX_INDEX", first)
            if size:
                pb.draw_indexed(topology, s.put(np.array(indices, f"<u{size}")), len(indices), size=size)
            else:
                pb.draw_inline(topology, indices)


TYPES = ("SNORM", "UNORM", "SINT", "UINT", "USCALED", "SSCALED", "FLOAT")
COLOUR_OF_FLOATS = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    AST.128 a[0x70], R0
    {convert}
    FMUL R4, R4, c[0x0][0x0]
    FMUL R5, R5, c[0x0][0x4]
    FMUL R6, R6, c[0x0][0x8]
    FMUL R7, R7, c[0x0][0xc]
    AST.128 a[0x80], R4
    EXIT
"""


@scene(7, 18, 12)
def vertex_formats(s: Scene) -> None:
    """Every size of components (rows) as every type (columns): the same random bits at four corners, made 0..1.
    Integers come unconverted and are made floats by the program. What hardware may not have is left out."""
    bits = np.random.default_rng(11).integers(0, 256, (4, 16), np.uint8)
    for layout in VERTEX_FORMATS.values():
        widths = {c.name: c.width for c in layout.components}
        narrow = min(w for name, w in widths.items() if name != "X")
        data = bits[:, : layout.bytes].copy()
        if narrow == 32:
            data = np.ascontiguousarray(data).view("<u4")
            data = (data & 0x3FFFFF | 0x3F000000).view(np.uint8)  # floats from 0.5 to 0.75
        if narrow == 16:
            data = (np.ascontiguousarray(data).view("<u2") & 0x83FF | 0x3800).view(np.uint8)
        for type in TYPES:
            if (type == "FLOAT") != (layout.name == "B10G11R11") and (narrow < 16 or layout.name == "B10G11R11"):
                s.skip()
                continue
            pb = s.cell(f"{layout.name} {type}")
            if type == "FLOAT" or type.endswith("NORM"):
                scale = [1.0] * 4
            else:
                scale = [1.0 / (1 << widths.get(c, 32) - (type[0] == "S")) for c in "RGBA"]
                scale = [v if c in widths else 1.0 for v, c in zip(scale, "RGBA", strict=True)]
            sign = "S32" if type == "SINT" else "U32"
            convert = "".join(f"I2F.F32.{sign} R{4 + n}, R{4 + n}\n" for n in range(4)) if type[1:] == "INT" else ""
            s.programs(vertex=COLOUR_OF_FLOATS.format(convert=convert))
            s.constants(np.array(scale, np.float32), "vertex")
            address = s.put(data)
            pb.stream(1, address, layout.bytes, size=4 * layout.bytes)
            pb.attribute(1, 1, 0, layout.name, type)
            at, _ = s.mesh([(-1, -1), (1, -1), (1, 1), (-1, 1)])
            pb.stream(0, s._pool + at * 48, 48)
            pb.draw("TRIANGLE_FAN", 4)


MOVED = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    ALD.64 R8, a[0xa0]
    ALD R10, a[0x2f8]
    I2F.F32.S32 R10, R10
    FADD R0, R0, R8
    FADD R1, R1, R9
    FMUL R6, R10, 0.125
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""


@scene(6, 3, 24)
def instances(s: Scene) -> None:
    """Eight instances of a small triangle, whose places come from a stream with a divisor (columns; 0 stays at the
    base), the base instance being 0, 1, 5 (rows); blue grows with the instance's number."""
    places = np.round(0.7 * corners(16, 1.0), 6).astype("<f4")
    address = s.put(places)
    for base in (0, 1, 5):
        for divisor in (0, 1, 2, 3, 4, 8):
            pb = s.cell(f"divisor {divisor}, base {base}")
            s.programs(vertex=MOVED)
            pb.method("SET_GLOBAL_BASE_INSTANCE_INDEX", base)
            pb.stream(1, address, 8, size=places.nbytes, divisor=divisor).attribute(2, 1, 0, "R32_G32")
            first, count = s.mesh(0.25 * corners(3, 1.0), [(1, 0.3, 0, 1), (1, 0.9, 0, 1), (0.4, 0.9, 0, 1)])
            pb.draw("TRIANGLES", count, first, instances=8)


BY_ID = """
    ALD.128 R0, a[0x80]
    ALD.64 R4, a[0x2f8]
    I2F.F32.S32 R4, R4
    I2F.F32.S32 R5, R5
    FMUL R4, R4, 0.25
    FMUL R5, R5, 0.0625
    MOV32I R6, 0x3e800000
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""
BY_PRIMITIVE = """
    IPA.CONSTANT R0, a[0x60], RZ
    LOP.AND R1, R0, 0x1
    I2F.F32.U32 R0, R0
    I2F.F32.U32 R1, R1
    FMUL R0, R0, 0.125
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    EXIT
"""


@scene(4, 3, 24)
def numbers(s: Scene) -> None:
    """What programs see as numbers of vertices (green), instances (red) and primitives: arrays with and without the
    start counted, indices with a base, an own base of ids; primitives of lists and a strip,
    from a number on, from one that was added to, in a second draw that goes on counting, in one that begins again."""
    at = corners(6)
    for label, how in (("array", 0), ("array, start counts", 1), ("indices with a base", 2), ("base of ids", 3)):
        pb = s.cell(label)
        s.programs(vertex=BY_ID)
        s.mesh(np.zeros((2, 2)) + len(label))
        first, count = s.mesh(at, [(0.5, 0.5, 0.1 * how, 1)] * 6)
        pb.method("SET_DA_OUTPUT", VERTEX_ID_USES_ARRAY_START=how == 1)
        if how == 3:
            pb.method("SET_VERTEX_ID_BASE", 6)
        if how == 2:
            pb.method("SET_GLOBAL_BASE_VERTEX_INDEX", first - 2)
            pb.draw_indexed("TRIANGLE_FAN", s.put(np.arange(2, 8, dtype="<u2")), 6)
        else:
            pb.stream(0, s._pool + (first - 2) * 48, 48)
            pb.draw("TRIANGLE_FAN", count, 2, instances=2)
    for topology in ("TRIANGLES", "TRIANGLE_STRIP", "QUADS", "LINES"):
        pb = s.cell(f"primitives: {topology}")
        s.programs(BY_PRIMITIVE)
        first, count = s.mesh(zigzag(12))
        pb.draw(topology, count, first)
    for label in ("loaded 4", "loaded 4, 3 more", "goes on", "begins anew"):
        pb = s.cell(f"primitives: {label}")
        s.programs(BY_PRIMITIVE)
        first, _ = s.mesh(zigzag(12))
        if label.startswith("loaded"):
            pb.method("LOAD_PRIMITIVE_ID", 4)
        if label.endswith("more"):
            pb.method("ADD_TO_PRIMITIVE_ID", 3)
        for n, again in enumerate((label.startswith("loaded"), label != "begins anew")):
            pb.method("SET_VERTEX_ARRAY_START", first + 6 * n)
            pb.method("BEGIN", OP="TRIANGLES", PRIMITIVE_ID="UNCHANGED" if again else "FIRST")
            pb.method("DRAW_VERTEX_ARRAY", 6).method("END", 0)


ONE = "ALD.128 R0, a[0x80]\nALD.128 R4, a[0x90]\nFMUL R0, R0, 0.5\nAST.128 a[0x80], R0\nAST.128 a[0xb0], R4\nEXIT"
TWO = "ALD.128 R0, a[0x80]\nALD.128 R4, a[0xb0]\nFMUL R6, R6, 0.5\nAST.128 a[0x70], R0\nAST.128 a[0x80], R4\nEXIT"
INDEXED = """
    ALD.128 R0, a[0x80]
    ALD R8, a[0x2fc]
    LOP.AND R8, R8, 0x1
    SHL R8, R8, 0x4
    AL2P R9, R8, 0x90
    ALD.PHYS R4, a[R9]
    AL2P R9, R8, 0x94
    ALD.PHYS R5, a[R9]
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""


@scene(4, 2, 24)
def inputs(s: Scene) -> None:
    """Attributes that do not come from a stream, red and blue exchanged, what is past a stream's end (zero), a
    stream that is off; two vertex programs in a row, and inputs that a program picks by a number."""
    at, colours = corners(6), [(1, 0.5, 0, 1), (0.2, 1, 0, 1), (1, 0, 0.2, 1)] * 2
    pb = s.cell("no stream: 0, 0, 0, 1")
    pb.method(
        "SET_VERTEX_ATTRIBUTE_A",
        1,
        SOURCE="INACTIVE",
        COMPONENT_BIT_WIDTHS="R32_G32_B32_A32",
        NUMERICAL_TYPE="NUM_FLOAT",
    )
    s.draw(at, colours, topology="TRIANGLE_FAN")
    pb = s.cell("no stream: 0, 0, 0, 0")
    pb.method(
        "SET_VERTEX_ATTRIBUTE_A",
        1,
        SOURCE="INACTIVE",
        COMPONENT_BIT_WIDTHS="R32_G32_B32_A32",
        NUMERICAL_TYPE="NUM_FLOAT",
    )
    pb.method("SET_ATTRIBUTE_DEFAULT", GENERIC_VECTOR=0)
    s.draw(at, colours, topology="TRIANGLE_FAN")
    packed = s.put(np.round(np.array(colours) * 255).astype(np.uint8))
    pb = s.cell("red and blue exchanged")
    first, _ = s.mesh(at)
    pb.stream(0, s._pool + first * 48, 48).stream(1, packed, 4).attribute(
        1, 1, 0, "R8_G8_B8_A8", "UNORM", SWAP_R_AND_B=True
    )
    pb.draw("TRIANGLE_FAN", 6)
    pb = s.cell("four vertices of six are there")
    pb.stream(0, s._pool + first * 48, 48).stream(1, packed, 4, size=16).attribute(1, 1, 0, "R8_G8_B8_A8", "UNORM")
    pb.draw("TRIANGLE_FAN", 6)
    pb = s.cell("stream off")
    pb.stream(0, s._pool + first * 48, 48).stream(1, packed, 4).attribute(1, 1, 0, "R8_G8_B8_A8", "UNORM")
    pb.method("SET_VERTEX_STREAM_A_FORMAT", 1, STRIDE=4)
    pb.draw("TRIANGLE_FAN", 6)
    s.cell("two vertex programs")
    s.programs(PIXEL, TWO, vertex_a=ONE)
    s.draw(at, colours, topology="TRIANGLE_FAN")
    s.cell("inputs by number")
    s.programs(PIXEL, (INDEXED, {"inputs": {a: 1 for a in (0x90, 0x94, 0xA0, 0xA4)}}))
    s.draw(at, colours, topology="TRIANGLE_FAN", uv=(0.0, 0.3))
    s.cell("plain")
    s.programs(INTERPOLATE + PIXEL[len(INTERPOLATE) :], VERTEX)
    s.draw(at, colours, topology="TRIANGLE_FAN")
