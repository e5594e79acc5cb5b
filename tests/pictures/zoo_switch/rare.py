"""Ways to draw that few programs take: other draw methods, old colours, other kinds of targets, rare raster state."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from pocketgpu import Texture
from pocketgpu.builder.maxwell import Surface as Target
from pocketgpu.facts.maxwell.formats import DEPTH, TEXTURE
from pocketgpu.facts.maxwell.headers import TIC, TSC

from .stage import BLOCK_HEIGHT, PIXEL, TEXTURED, VERTEX, Scene, Surface, corners, sampled, scene

SHADES = [RED, GREEN, BLUE, YELLOW, WHITE, (1, 0, 1, 1)]


@scene(5, 3, 20)
def draw_methods(s: Scene) -> None:
    """A hexagon by each way to draw: an array, indices of three sizes, indices in the pushbuffer one, two and four to
    a word; whole draws in one word, of arrays and of indices; the topology from a register; a strip of vertices that
    begins again in an array; a second draw between BEGIN and END."""
    at = corners(6)
    first, _ = s.mesh(at, SHADES)
    order = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5]
    for label in (
        "array",
        "8 bits",
        "16 bits",
        "32 bits",
        "one in a word",
        "two in a word",
        "four in a word",
        "array in one word",
        "8 bits in one word",
        "16 bits in one word",
        "32 bits in one word",
        "topology of a register",
        "two draws",
        "restart in an array",
        "more instances in one word",
    ):
        pb = s.cell(label)
        pb.stream(0, s._pool + first * 48, 48)
        size = int(label.split(" ")[0]) // 8 if "bits" in label else 0
        if size:
            address = s.put(np.array(order, f"<u{size}"))
            pb.address("SET_INDEX_BUFFER_A", address).address("SET_INDEX_BUFFER_C", address + len(order) * size - 1)
            pb.method("SET_INDEX_BUFFER_E", size // 2)
            if label.endswith("bits"):
                pb.draw_indexed("TRIANGLES", address, len(order), size=size)
            else:
                pb.method(
                    f"DRAW_INDEX_BUFFER{8 * size}_BEGIN_END_INSTANCE_FIRST", FIRST=0, COUNT=len(order), TOPOLOGY=4
                )
        elif label == "array":
            pb.draw("TRIANGLE_FAN", 6)
        elif label == "one in a word":
            pb.draw_inline("TRIANGLES", order)
        elif label == "two in a word":
            pb.method("BEGIN", OP="TRIANGLES").method("SET_INLINE_INDEX2X16_ALIGN", COUNT=len(order), START_ODD=0)
            words = np.array(order, "<u2").view("<u4").tolist()
            pb.method("DRAW_INLINE_INDEX2X16", *words, form="non_inc").method("END", 0)
        elif label == "four in a word":
            pb.method("BEGIN", OP="TRIANGLES").method("SET_INLINE_INDEX4X8_ALIGN", COUNT=len(order), START=0)
            words = np.array(order, np.uint8).view("<u4").tolist()
            pb.method("DRAW_INLINE_INDEX4X8", *words, form="non_inc").method("END", 0)
        elif label == "array in one word":
            pb.method("DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST", START_INDEX=0, COUNT=6, TOPOLOGY=6)
        elif label == "more instances in one word":
            moved = "ALD R12, a[0x2f8]\nI2F.F32.S32 R12, R12\nFFMA R0, R12, -0.25, R0\nAST.128 a[0x70]"
            s.programs(vertex=VERTEX.replace("AST.128 a[0x70]", moved))
            for which in ("FIRST", "SUBSEQUENT", "SUBSEQUENT"):
                pb.method(f"DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_{which}", START_INDEX=0, COUNT=6, TOPOLOGY=2)
        elif label == "topology of a register":
            pb.method("SET_PRIMITIVE_TOPOLOGY_CONTROL", 1).method("SET_PRIMITIVE_TOPOLOGY", V="LINESTRIP")
            pb.draw("TRIANGLE_FAN", 6)
        elif label == "two draws":
            pb.method("SET_VERTEX_ARRAY_START", 0).method("BEGIN", OP="TRIANGLES").method("DRAW_VERTEX_ARRAY", 3)
            pb.method("SET_VERTEX_ARRAY_START", 3).method("DRAW_VERTEX_ARRAY", 3).method("END", 0)
        else:
            pb.method("SET_DA_PRIMITIVE_RESTART", 1, 3).method("SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY", 1)
            pb.draw("LINE_STRIP", 6)


OLD = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    ALD.128 R8, a[0xa0]
    AST.128 a[0x70], R0
    AST.128 a[0x280], R4
    AST.128 a[0x2a0], R8
    EXIT
"""
"""Front and back diffuse colours."""
OLD_COLOURS = "".join(f"IPA.SC R{n}, a[{0x280 + 4 * n:#x}], RZ\n" for n in range(4)) + "EXIT"


@scene(4, 2, 20)
def old_colours(s: Scene) -> None:
    """Colours for front and back of fixed-function days: one side or two, smooth or flat, with the front turned."""
    pair = [(-0.9, -0.8), (-0.1, -0.8), (-0.5, 0.8), (0.1, -0.8), (0.5, 0.8), (0.9, -0.8)]
    for flat in (0, 1):
        for two in (0, 1):
            for front in (0x901, 0x900):
                pb = s.cell(f"{'flat' if flat else 'smooth'}, {1 + two} sided, front {front:#x}")
                s.programs(OLD_COLOURS, OLD)
                pb.method("SET_TWO_SIDED_LIGHT", two).method("OGL_SET_FRONT_FACE", front)
                pb.method("SET_SHADE_MODE", V="OGL_FLAT" if flat else "OGL_SMOOTH")
                s.draw(pair, SHADES, uv=[(0, 0, 1, 1), (0, 1, 1, 1), (1, 1, 1, 1)] * 2)


@scene(6, 2, 20)
def rare_raster(s: Scene) -> None:
    """Centres of pixels at integers, an origin at the lower left, positions that are not clipped, smaller snap grids,
    depth at the centre for all, windows' offsets, user planes on lines and points, lines of width zero."""
    for label in (
        "plain",
        "centres at integers",
        "origin lower left",
        "not clipped",
        "clipped in x and y only",
        "stippled points",
        "lines cut by a plane",
        "points cut by a plane",
        "wide triangle edges",
        "narrow",
        "edge of half pixels",
        "mirrored",
    ):
        pb = s.cell(label)
        x, y, w, h = s.box
        at, topology = corners(5, 0.8), "POLYGON"
        if label == "centres at integers":
            pb.method("SET_VIEWPORT_PIXEL", CENTER=1)
        elif label == "origin lower left":
            pb.method("SET_WINDOW_ORIGIN", MODE=1)
        elif label == "not clipped":
            pb.method("SET_VIEWPORT_CLIP_CONTROL", GEOMETRY_CLIP="PASSTHRU")
        elif label == "clipped in x and y only":
            pb.method("SET_VIEWPORT_CLIP_CONTROL", GEOMETRY_CLIP="FRUSTUM_XY_CLIP")
        elif label == "stippled points":
            pb.method("SET_POLYGON_STIPPLE", 1).method("SET_POLYGON_STIPPLE_PATTERN", 0, *[0xAAAAAAAA, 0x55555555] * 16)
            pb.method("SET_POINT_SIZE", 5.0)
            topology = "POINTS"
        elif "cut by" in label:
            s.programs(PIXEL, VERTEX.replace("EXIT", "AST a[0x2c0], R0\nEXIT"))
            pb.method("SET_USER_CLIP_ENABLE", 1).method("SET_POINT_SIZE", 5.0)
            topology = "LINE_LOOP" if "lines" in label else "POINTS"
        elif label == "wide triangle edges":
            pb.method("SET_FRONT_POLYGON_MODE", 0x1B01).method("SET_LINE_WIDTH_FLOAT", 3.0)
        elif label == "narrow":
            at = np.array([(-0.9, -0.9), (0.9, 0.6), (0.9, 0.85)])
        elif label == "edge of half pixels":
            half = 1.0 / w
            at = np.array([(-0.5 + half, -0.5), (0.5, -0.5 + half), (0.5 + half, 0.5), (-0.5, 0.5 + half)])
        elif label == "mirrored":
            pb.viewport(x + w, y, -w, h).method("OGL_SET_CULL", 1)
        s.draw(at, SHADES[: len(at)], topology=topology)


@scene(4, 1, 24)
def other_targets(s: Scene) -> None:
    """A target in rows; a slice of a volume; a multisampled target mixed by the 2D engine; what was drawn read as a
    texture in the next draw."""
    w, h = (side - 1 for side in s.cell_size)
    shape = [(-0.9, -0.8), (0.95, -0.3), (-0.2, 0.9)]

    pb = s.cell("rows")
    rows = Target(s.capture.allocate(256 * h), w, h, pitch=256)
    pb.render_target(0, rows).clear((0.2, 0, 0, 1), within_scissor=False).viewport(0, 0, w, h).scissor((0, 0, w, h))
    pb.method("SET_ZT_SELECT", 0)
    s.draw(shape, SHADES[:3])
    _copy(s, rows)

    pb = s.cell("a slice of a volume")
    volume = Target(s.capture.allocate(1 << 16, kind="generic_16bx2"), w, h, block_height_log2=BLOCK_HEIGHT)
    pb.render_target(0, volume).method("SET_ZT_SELECT", 0)
    deep = "THIRD_DIMENSION_DEFINES_DEPTH_SIZE"
    pb.method("SET_COLOR_TARGET_MEMORY", 0, BLOCK_HEIGHT=BLOCK_HEIGHT, THIRD_DIMENSION_CONTROL=deep)
    pb.method("SET_COLOR_TARGET_THIRD_DIMENSION", 0, 4)
    pb.viewport(0, 0, w, h).scissor((0, 0, w, h))
    for n in range(4):
        pb.method("SET_RT_LAYER", V=n)
        s.draw(corners(3 + n, 0.9 - 0.1 * n), SHADES[: 3 + n], topology="TRIANGLE_FAN")
    size = 64 * 2 * 8 * 2 * 2  # two rows of two blocks of 64 x 16
    slice_two = Target(volume.address + 2 * size, w, h, block_height_log2=BLOCK_HEIGHT)
    _copy(s, slice_two)

    pb = s.cell("four samples, mixed")
    many = Target(s.capture.allocate(1 << 15, kind="generic_16bx2"), 2 * w, 2 * h, block_height_log2=BLOCK_HEIGHT)
    pb.method("SET_ANTI_ALIAS", SAMPLES="MODE_2X2").method("SET_ANTI_ALIAS_ENABLE", 1)
    pb.method("SET_ANTI_ALIAS_SAMPLE_POSITIONS", 0, X0=6, Y0=2, X1=14, Y1=6, X2=2, Y2=10, X3=10, Y3=14)
    pb.render_target(0, many).method("SET_ZT_SELECT", 0)
    pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=w).method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=h)
    pb.clear((0, 0.1, 0.2, 1), within_scissor=False).viewport(0, 0, w, h).scissor((0, 0, w, h))
    s.draw(shape, SHADES[:3])
    _copy(s, many, scale=2)

    pb = s.cell("a target read as a texture")
    picture = Texture(np.zeros((h, w, 4), np.uint8), numbers="unorm", normalized=True, address="wrap")
    handle = s.texture(picture)
    own = Target(s.addresses[handle], w, h, block_height_log2=2)
    pb.render_target(0, own).method("SET_ZT_SELECT", 0).clear((0.1, 0.3, 0.1, 1), within_scissor=False)
    pb.viewport(0, 0, w, h).scissor((0, 0, w, h))
    s.draw(shape, SHADES[:3])
    s.bind_color(0, s.color)
    box = s.box
    pb.viewport(*box).scissor(box)
    s.programs(TEXTURED)
    s.use(handle)
    s.quad(uv=((0, 2), (2, 2), (2, 0), (0, 0)))


def _copy(s: Scene, source: Target, scale: int = 1) -> None:
    """Show a target in the present cell, by the 2D engine; scale: its pixels to one, mixed."""
    x, y, w, h = s.box
    layout = s.color.block_linear
    target = Target(s.color.address, s.width, s.height, block_height_log2=layout.block_height_log2)
    pb = s.pb.bind("2D")
    filter = "BILINEAR" if scale > 1 else "POINT"
    pb.blit(source, target, (0, 0, w * scale, h * scale), (x, y, w, h), filter=filter)
    pb.on("3D")


def view(
    s: Scene, surface: Surface, format: str, samples: str = "MODE_1X1", *, depth: bool = False, **sampler: int
) -> int:
    """A handle by which programs read a target. depth: its second component, as drivers have it. sampler: fields of
    it."""
    types = dict.fromkeys((f"{c}_DATA_TYPE" for c in "RGBA"), 2)
    names = ("IN_G", "IN_G", "IN_G", "IN_ONE_FLOAT") if depth else ("IN_R", "IN_G", "IN_B", "IN_A")
    codes = {name: code for code, name in (TIC["BL"]["X_SOURCE"].enum or {}).items()}
    sources = {f"{place}_SOURCE": codes[name] for place, name in zip("XYZW", names, strict=True)}
    types |= {"R_DATA_TYPE": 4} if depth else {}
    modes = {name: code for code, name in (TIC["BL"]["MULTI_SAMPLE_COUNT"].enum or {}).items()}
    header = TIC["BL"].pack({
        "HEADER_VERSION": 3, "COMPONENTS": TEXTURE.named(format).code, "TEXTURE_TYPE": 1, "NORMALIZED_COORDS": 1,
        "ADDRESS_BITS31TO9": surface.address >> 9 & 0x7FFFFF, "ADDRESS_BITS47TO32": surface.address >> 32,
        "WIDTH_MINUS_ONE": surface.width - 1, "HEIGHT_MINUS_ONE": surface.height - 1,
        "GOBS_PER_BLOCK_HEIGHT": BLOCK_HEIGHT, "MULTI_SAMPLE_COUNT": modes[samples], **types, **sources,
    })  # fmt: skip
    return s.describe(header, TSC.pack({"MAG_FILTER": 1, "MIN_FILTER": 1, "MIP_FILTER": 1, **sampler}))


TEXEL = """
    IPA.PASS R12, a[0x7c], RZ
    MUFU.RCP R12, R12
    IPA R4, a[0x90], R12
    IPA R5, a[0x94], R12
    FMUL R4, R4, 23
    FMUL R5, R5, 23
    F2I.U32.F32.TRUNC R4, R4
    F2I.U32.F32.TRUNC R5, R5
    MOV32I R8, {sample:#x}
    TLD.LZ.MS R0, R4, R8, 0x0, 2D, 0xf
    EXIT
"""
"""A texel of one sample."""
UPRIGHT = ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))


@scene(4, 2, 24)
def read_back(s: Scene) -> None:
    """Targets that the next draw reads: each of four samples of a multisampled one; depth as a colour, its stencil,
    depth compared with a reference that grows upward, colours as bits of another format."""
    w, h = (side - 1 for side in s.cell_size)
    shape = [(-0.9, -0.8, 0.1), (0.95, -0.3, 0.9), (-0.2, 0.9, 0.5)]

    def back(handle: int, text: str) -> None:
        s.bind_color(0, s.color)
        box = s.box
        s.pb.method("SET_ANTI_ALIAS", SAMPLES="MODE_1X1").method("SET_ANTI_ALIAS_ENABLE", 0)
        s.pb.method("SET_ZT_SELECT", 0).method("SET_DEPTH_TEST", 0).method("SET_STENCIL_TEST", 0)
        s.pb.viewport(*box).scissor(box)
        s.programs(text)
        s.use(handle)
        s.quad(uv=UPRIGHT)

    for sample in range(4):
        pb = s.cell(f"sample {sample}")
        pb.method("SET_ANTI_ALIAS", SAMPLES="MODE_2X2").method("SET_ANTI_ALIAS_ENABLE", 1)
        pb.method("SET_ANTI_ALIAS_SAMPLE_POSITIONS", 0, X0=2, Y0=2, X1=14, Y1=2, X2=2, Y2=14, X3=14, Y3=14)
        many = s.surface("many", s.color.layout, grid=(2, 2), width=w, height=h)
        s.bind_color(0, many)
        pb.method("SET_ZT_SELECT", 0).clear((0, 0.1, 0.2, 1), within_scissor=False)
        pb.viewport(0, 0, w, h).scissor((0, 0, w, h))
        s.draw(shape, SHADES[:3])
        back(view(s, many, "A8B8G8R8", "MODE_2X2"), TEXEL.format(sample=sample))
    for label, format, text in (
        ("depth", "Z24S8", TEXTURED), ("stencil", "G24R8", TEXTURED),
        ("depth compared", "Z24S8", sampled("MOV R8, R5\nTEX.DC R0, R4, R8, 0x0, 2D, 0xf")),
    ):  # fmt: skip
        pb = s.cell(label)
        own = s.surface("own", DEPTH.named("Z24S8"), depth=True, width=w, height=h)
        colours = s.surface("colours", s.color.layout, width=w, height=h)
        s.bind_color(0, colours)
        s.bind_depth(own)
        pb.clear_depth(1.0, 40).viewport(0, 0, w, h).scissor((0, 0, w, h))
        pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_STENCIL_TEST", 1)
        pb.method("SET_STENCIL_OP_ZPASS", V="OGL_REPLACE").method("SET_STENCIL_FUNC_REF", 200)
        s.draw(shape, SHADES[:3])
        compare = {"DEPTH_COMPARE": 1, "DEPTH_COMPARE_FUNC": 1} if label == "depth compared" else {}
        back(view(s, own, format, depth=format == "Z24S8", **compare), text)
    pb = s.cell("other format")
    colours = s.surface("colours", s.color.layout, width=w, height=h)
    s.bind_color(0, colours)
    pb.method("SET_ZT_SELECT", 0).viewport(0, 0, w, h).scissor((0, 0, w, h)).clear((0.1, 0.1, 0.2, 1))
    s.draw(shape, SHADES[:3])
    back(view(s, colours, "A2B10G10R10"), TEXTURED)
