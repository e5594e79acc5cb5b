"""From primitives to pixels: faces, clipping, viewports, what cuts pixels off, lines and points."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from .stage import INTERPOLATE, PIXEL, VERTEX, Scene, corners, scene

FACING = """
    IPA.PASS R4, a[0x3fc], RZ
    MOV32I R0, 0x3f800000
    MOV32I R1, 0x3f333333
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @!P0 MOV R0, RZ
    @!P0 MOV32I R2, 0x3f800000
    EXIT
"""
"""Front faces are yellow, back faces blue."""
PAIR = [(-0.9, -0.8), (-0.1, -0.8), (-0.5, 0.8), (0.1, -0.8), (0.5, 0.8), (0.9, -0.8)]
"""A triangle counter-clockwise, one clockwise."""
FACES = {"none": None, "FRONT": 0x404, "BACK": 0x405, "FRONT_AND_BACK": 0x408}
MODES = {"POINT": 0x1B00, "LINE": 0x1B01, "FILL": 0x1B02}


@scene(4, 4, 20)
def culling(s: Scene) -> None:
    """Culling of faces (columns) with either winding as the front and with y flipped (rows). On the left a triangle
    counter-clockwise, on the right one clockwise; fronts are yellow."""
    for front, flip in ((0x901, 0), (0x900, 0), (0x901, 1), (0x900, 1)):
        for face, code in FACES.items():
            pb = s.cell(f"cull {face}, front {front:#x}, flip {flip}")
            s.programs(FACING)
            pb.method("OGL_SET_FRONT_FACE", front).method("SET_WINDOW_ORIGIN", FLIP_Y=flip)
            pb.method("OGL_SET_CULL", int(code is not None)).method("OGL_SET_CULL_FACE", code or 0x405)
            s.draw(PAIR)


@scene(6, 3, 24)
def polygon_modes(s: Scene) -> None:
    """Points, lines or fill for fronts (rows) and backs (columns) of triangles; then polygons and quads, whose inner
    edges are not drawn, in each mode; points have size 3, lines width 1."""
    for front, code in MODES.items():
        for back, other in MODES.items():
            pb = s.cell(f"front {front}, back {back}")
            pb.method("SET_FRONT_POLYGON_MODE", code).method("SET_BACK_POLYGON_MODE", other).method(
                "SET_POINT_SIZE", 3.0
            )
            s.programs(FACING)
            s.draw(PAIR)
        for topology in ("POLYGON", "QUADS", "TRIANGLE_STRIP"):
            pb = s.cell(f"{topology} {front}")
            pb.method("SET_FRONT_POLYGON_MODE", code).method("SET_BACK_POLYGON_MODE", code).method(
                "SET_POINT_SIZE", 3.0
            )
            at = corners(6) if topology == "POLYGON" else corners(4)
            at = at[[0, 1, 3, 2]] if topology == "TRIANGLE_STRIP" else at
            s.draw(at, [RED, GREEN, BLUE, YELLOW, WHITE, RED][: len(at)], topology=topology)


@scene(6, 3, 20)
def polygon_offset(s: Scene) -> None:
    """A yellow slope over the same slope in blue: units and factor of the offset pull it to the front or push it back,
    a clamp holds it; in the last row lines and points on a fill."""
    for factor in (0.0, 1.0):
        for units in (-4096.0, 0.0, 4096.0):
            for limit in (0.0, 1e-6):
                pb = s.cell(f"factor {factor}, units {units}, clamp {limit}")
                pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LESS")
                s.quad(BLUE, z=(0.2, 0.8, 0.8, 0.2))
                pb.method("SET_POLY_OFFSET_FILL", 1).method("SET_SLOPE_SCALE_DEPTH_BIAS", -factor)
                pb.method("SET_DEPTH_BIAS", units).method(
                    "SET_DEPTH_BIAS_CLAMP", -limit if factor or units < 0 else limit
                )
                s.quad(YELLOW, box=(-0.7, -0.7, 0.7, 0.7), z=(0.29, 0.71, 0.71, 0.29))
    for mode in ("LINE", "POINT"):
        for on in (0, 1):
            pb = s.cell(f"{mode}, offset {on}")
            pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LESS")
            s.quad(BLUE)
            pb.method("SET_FRONT_POLYGON_MODE", MODES[mode]).method("SET_POINT_SIZE", 4.0)
            pb.method(f"SET_POLY_OFFSET_{mode}", on).method("SET_DEPTH_BIAS", -8.0)
            s.draw(corners(5, 0.7), YELLOW, topology="POLYGON")


INDEXED_VIEW = VERTEX.replace("EXIT", "ALD R12, a[0xa8]\nF2I.S32.F32 R12, R12\nAST a[0x68], R12\nEXIT")


@scene(6, 3, 20)
def viewports(s: Scene) -> None:
    """A hexagon whose red corner is up: in parts of the cell, at fractions of pixels, upside down, mirrored; with
    coordinates exchanged and negated; positions in pixels; depth the other way round, squeezed; one of four viewports
    chosen by the vertices."""
    colours = [RED, GREEN, BLUE, YELLOW, WHITE, (1, 0, 1, 1)]

    def hexagon(**more: object) -> None:
        s.draw(corners(6, 0.95), colours, topology="TRIANGLE_FAN", **more)

    for label, part in (
        ("whole", (0, 0, 1, 1)),
        ("right half", (0.5, 0, 0.5, 1)),
        ("fractions", (0.13, 0.21, 0.55, 0.61)),
        ("upside down", (0, 1, 1, -1)),
        ("mirrored", (1, 0, -1, 1)),
        ("larger than the cell", (-0.5, -0.5, 2, 2)),
    ):
        pb = s.cell(label)
        x, y, w, h = s.box
        pb.viewport(x + part[0] * w, y + part[1] * h, part[2] * w, part[3] * h)
        pb.method("SET_VIEWPORT_CLIP_HORIZONTAL", 0, X0=max(x - w, 0), WIDTH=3 * w)
        pb.method("SET_VIEWPORT_CLIP_VERTICAL", 0, Y0=max(y - h, 0), HEIGHT=3 * h)
        hexagon()
    for label, axes in (
        ("x and y exchanged", (2, 0, 4, 6)),
        ("x negated", (1, 2, 4, 6)),
        ("y negated", (0, 3, 4, 6)),
        ("-y for x, x for y", (3, 0, 4, 6)),
    ):
        pb = s.cell(label)
        pb.method("SET_VIEWPORT_COORDINATE_SWIZZLE", 0, **dict(zip("XYZW", axes, strict=True)))
        hexagon()
    pb = s.cell("clip rectangle")
    x, y, w, h = s.box
    pb.method("SET_VIEWPORT_CLIP_HORIZONTAL", 0, X0=x + 5, WIDTH=w - 9)
    pb.method("SET_VIEWPORT_CLIP_VERTICAL", 0, Y0=y + 2, HEIGHT=h - 8)
    hexagon()
    pb = s.cell("positions in pixels")
    x, y, w, h = s.box
    pb.method("SET_VIEWPORT_SCALE_OFFSET", 0)
    places = [(x + (a + 1) * w / 2, y + (1 - b) * h / 2) for a, b in corners(6, 0.95)]
    s.draw(places, colours, topology="TRIANGLE_FAN")
    for label, near, far in (("near 0, far 1", 0, 1), ("near 1, far 0", 1, 0), ("0.25 to 0.5", 0.25, 0.5)):
        pb = s.cell(label)
        pb.viewport(*s.box, near=near, far=far)
        pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
        s.quad(WHITE, z=(0, 1, 1, 0))
        pb.method("SET_DEPTH_FUNC", V="OGL_LESS")
        s.quad(RED, z=(1, 0, 0, 1))
    for label, swap in (("four viewports", False), ("the fifth is nowhere", True)):
        pb = s.cell(label)
        s.programs(PIXEL, INDEXED_VIEW)
        x, y, w, h = s.box
        for n in range(4):
            pb.viewport(x + (n & 1) * w / 2, y + (n >> 1) * h / 2, w / 2, h / 2, number=n)
            pb.method("SET_SCISSOR_ENABLE", n, 1)
            pb.method("SET_SCISSOR_HORIZONTAL", n, XMIN=x, XMAX=x + w).method(
                "SET_SCISSOR_VERTICAL", n, YMIN=y, YMAX=y + h
            )
        for n in range(4):
            s.draw(corners(3 + n), colours[: 3 + n], topology="TRIANGLE_FAN", uv=(0.0, 0.0, n + float(swap)))
    s.show_depth()


@scene(6, 2, 20)
def cut_off(s: Scene) -> None:
    """A scissor; window clips that let pass what is inside any, outside all, or nothing; a polygon stipple; the surface
    clip; what a triangle's bounding box fills; conservative raster."""
    for label in (
        "scissor",
        "scissor of nothing",
        "inside any window",
        "outside all windows",
        "clip all",
        "one window",
        "stipple",
        "no stipple",
        "surface clip",
        "fill all",
        "bounding box",
        "plain",
    ):
        pb = s.cell(label)
        x, y = s.box[:2]
        if label == "scissor":
            pb.scissor((x + 3, y + 5, 9, 8))
        elif label == "scissor of nothing":
            pb.scissor((x + 3, y + 5, 0, 8))
        elif "window" in label or label == "clip all":
            width, height = (9, 14) if label == "one window" else (3, 6)
            for n in range(1 if label == "one window" else 8):
                left, top = x + 4 * (n & 3) + (n >> 2), y + 2 + 9 * (n >> 2)
                pb.method("SET_WINDOW_CLIP_HORIZONTAL", n, XMIN=left, XMAX=left + width)
                pb.method("SET_WINDOW_CLIP_VERTICAL", n, YMIN=top, YMAX=top + height)
            pb.method("SET_WINDOW_CLIP_ENABLE", 1)
            pb.method("SET_WINDOW_CLIP_TYPE", V={"o": "EXCLUSIVE", "c": "CLIPALL"}.get(label[0], "INCLUSIVE"))
            if label == "one window":
                pb.method("SET_WINDOW_CLIP_TYPE", V="INCLUSIVE")
        elif "stipple" in label:
            pb.method("SET_POLYGON_STIPPLE", int(label == "stipple"))
            pb.method("SET_POLYGON_STIPPLE_PATTERN", 0, *[0xF0F0CCAA >> n % 8 | n << 24 for n in range(32)])
        elif label == "surface clip":
            pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=x + 2, WIDTH=11).method(
                "SET_SURFACE_CLIP_VERTICAL", Y=y + 4, HEIGHT=13
            )
        elif label in ("fill all", "bounding box"):
            pb.method("SET_FILL_VIA_TRIANGLE", MODE="FILL_ALL" if label == "fill all" else "FILL_BBOX")
        s.draw(corners(3), [RED, GREEN, BLUE])


DISTANCES = VERTEX.replace(
    "EXIT",
    """
    FADD R12, R0, 0.25
    FADD R13, -R1, 0.5
    AST.64 a[0x2c0], R12
    EXIT""",
)


@scene(5, 3, 20)
def clipping(s: Scene) -> None:
    """Distances of two planes that clip or cull whole triangles; triangles through the near plane, through the far one
    and behind the eye; depth clamped instead; far outside of the viewport on all sides; a plane in perspective."""
    for label, planes, culls in (
        ("no planes", 0, 0),
        ("first clips", 1, 0),
        ("second clips", 2, 0),
        ("both clip", 3, 0),
        ("first culls", 1, 1),
    ):
        pb = s.cell(label)
        s.programs(PIXEL, DISTANCES)
        pb.method("SET_USER_CLIP_ENABLE", planes).method("SET_USER_CLIP_OP", culls)
        s.draw(corners(8), [RED, GREEN, BLUE, YELLOW] * 2, topology="TRIANGLE_FAN")
        s.draw([(-1, -0.9), (-0.5, -0.9), (-0.75, -0.5)], WHITE)
    for label, z in (
        ("near", (-1, 1, 0.5)),
        ("far", (0.5, 2, 0.5)),
        ("both", (-1.0, 2, 0.5)),
        ("outside", (2, 3, 1.5)),
    ):
        s.cell(f"through {label}")
        s.draw([(*at, depth) for at, depth in zip(corners(3), z, strict=True)], [RED, GREEN, BLUE])
    pb = s.cell("through both, clamped")
    pb.method("SET_VIEWPORT_CLIP_CONTROL", GEOMETRY_CLIP=2, PIXEL_MIN_Z="CLAMP", PIXEL_MAX_Z="CLAMP")
    s.draw([(*at, depth) for at, depth in zip(corners(3), (-1.0, 2, 0.5), strict=True)], [RED, GREEN, BLUE])
    s.cell("behind the eye")
    s.draw([(-0.5, -0.5, 0.2, 1), (0.5, -0.5, 0.2, 1), (0, -0.8, 0.1, -0.6)], [RED, GREEN, BLUE])
    s.cell("far outside")
    s.draw([(-4000, -3000), (5000, -2000), (100, 6000)], [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)])
    s.cell("perspective")
    s.quad([RED, GREEN, BLUE, YELLOW], w=(1, 1, 6, 6))
    pb = s.cell("without perspective")
    s.programs("".join(f"IPA.PASS R{n}, a[{0x80 + 4 * n:#x}], RZ\n" for n in range(4)) + "EXIT")
    s.quad([RED, GREEN, BLUE, YELLOW], w=(1, 1, 6, 6))
    s.cell("z = -w is in front with clip at -w").method("SET_VIEWPORT_Z_CLIP", 0)
    s.draw([(*at, depth) for at, depth in zip(corners(3), (-1.0, 0.5, 0.5), strict=True)], [RED, GREEN, BLUE])


STAR = [p for at in corners(7, 0.95, 0.1) for p in ((0.0, 0.0), at)]


@scene(5, 5, 24)
def lines(s: Scene) -> None:
    """A star of seven lines of widths 1, 1.5, 2, 3.7 and 6 (columns): aliased, with the other width register, smooth
    and blended, stippled, stippled as a loop that goes on counting."""
    for how in ("aliased", "other width", "smooth", "stippled", "stippled loop"):
        for width in (1.0, 1.5, 2.0, 3.7, 6.0):
            pb = s.cell(f"{how} {width}")
            pb.method("SET_LINE_WIDTH_FLOAT", width)
            if how == "other width":
                pb.method("SET_ALIASED_LINE_WIDTH_ENABLE", 1).method("SET_ALIASED_LINE_WIDTH_FLOAT", 7 - width)
            if how == "smooth":
                pb.method("SET_ANTI_ALIASED_LINE", 1).method("SET_BLEND", 0, 1)
                pb.method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_SRC_ALPHA")
                pb.method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")
            if how.startswith("stippled"):
                pb.method("SET_LINE_STIPPLE", 1).method(
                    "SET_LINE_STIPPLE_PARAMETERS", FACTOR=1 if width < 3 else 0, PATTERN=0x5F3
                )
            if how == "stippled loop":
                s.draw(corners(5), [RED, GREEN, BLUE, YELLOW, WHITE], topology="LINE_LOOP")
            else:
                s.draw(STAR, [RED, YELLOW] * 7, topology="LINES")


SIZED = VERTEX.replace("EXIT", "ALD R12, a[0xa0]\nAST a[0x6c], R12\nEXIT")
SPRITE = """
    IPA.PASS R0, a[0x2e0], RZ
    IPA.PASS R1, a[0x2e4], RZ
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    EXIT
"""
SPRITE_TEXTURE = (
    INTERPOLATE + "IPA.PASS R0, a[0x300], RZ\nIPA.PASS R1, a[0x304], RZ\nMOV R2, RZ\nMOV32I R3, 0x3f800000\nEXIT"
)


@scene(6, 3, 24)
def points(s: Scene) -> None:
    """Points of sizes 1 to 11: plain, sprites with their own coordinates from above and from below, sprites in texture
    coordinates, smooth and blended, of the size that the program gives."""
    sizes = (1.0, 4.0, 11.0)
    for n, size in enumerate(sizes):
        for how in ("plain", "sprite", "sprite from below", "texture", "smooth", "program"):
            pb = s.cell(f"{how} {size}")
            pb.method("SET_POINT_SIZE", size)
            if "sprite" in how or how == "texture":
                pb.method("SET_POINT_SPRITE", 1)
                pb.method("SET_POINT_SPRITE_SELECT", RMODE="ZERO", ORIGIN=int("below" not in how), TEXTURE0="GENERATE")
                s.programs(SPRITE_TEXTURE if how == "texture" else SPRITE)
            if how == "smooth":
                pb.method("SET_ANTI_ALIASED_POINT", 1).method("SET_BLEND", 0, 1)
                pb.method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_SRC_ALPHA")
                pb.method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")
            if how == "program":
                pb.method("SET_ATTRIBUTE_POINT_SIZE", ENABLE=1, SLOT=0x6C // 4)
                s.programs(PIXEL, SIZED)
            at = np.array([(-0.6, 0.55), (0.5, 0.45), (0.02, -0.5)])
            s.draw(at, [RED, GREEN, YELLOW], topology="POINTS", uv=np.array([[n + 1.0], [3.0 * n + 2], [5.5]]))


MASKED_VIEW = INDEXED_VIEW.replace("a[0x68]", "a[0x3a0]")


@scene(6, 1, 20)
def viewport_masks(s: Scene) -> None:
    """Four viewports, those of which shapes go to whose bits the vertices' mask has: triangles, some of them clipped,
    lines, points with sizes of viewports, quads that change from one viewport to the next."""
    shades = [RED, GREEN, BLUE, YELLOW, WHITE, (1, 0, 1, 1)]
    for label, topology, masks in (
        ("all", "TRIANGLE_FAN", [15]),
        ("two, then two", "TRIANGLE_FAN", [9, 6]),
        ("none", "TRIANGLE_FAN", [0]),
        ("lines", "LINE_LOOP", [7]),
        ("points", "POINTS", [13]),
        ("each triangle its own", "TRIANGLES", [1, 2, 4, 8, 3, 12]),
    ):
        pb = s.cell(label)
        s.programs(PIXEL, MASKED_VIEW)
        pb.method("SET_POINT_SIZE", 4.0)
        x, y, w, h = s.box
        for n in range(4):
            pb.viewport(x + (n & 1) * w / 2, y + (n >> 1) * h / 2, w / 2, h / 2, number=n)
        at = corners(6, 1.3 if topology == "TRIANGLE_FAN" else 0.8)
        for n, mask in enumerate(masks):
            turned = np.roll(at, n, axis=0)[: 3 if topology == "TRIANGLES" else 6]
            s.draw(turned, shades[: len(turned)], topology=topology, uv=(0.0, 0.0, float(mask)))


@scene(5, 1, 24)
def smooth_polygons(s: Scene) -> None:
    """Polygons whose edges fade: a hexagon, two triangles with a common edge, slivers, one that is clipped, their edges
    as lines, which stay hard."""
    for label in ("hexagon", "common edge", "slivers", "clipped", "lines"):
        pb = s.cell(label)
        pb.method("SET_POLY_SMOOTH", 1).method("SET_BLEND", 0, 1)
        pb.method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_SRC_ALPHA")
        pb.method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")
        if label == "common edge":
            s.draw(
                [(-0.9, -0.8), (0.9, 0.5), (-0.6, 0.9), (-0.9, -0.8), (0.7, -0.9), (0.9, 0.5)], [RED] * 3 + [BLUE] * 3
            )
        elif label == "slivers":
            for n in range(4):
                s.draw([(-0.9, -0.9 + n / 4), (0.9, 0.2 + n / 5), (0.9, 0.25 + n / 4)], [YELLOW, RED, GREEN])
        else:
            pb.method("SET_FRONT_POLYGON_MODE", MODES["LINE" if label == "lines" else "FILL"])
            at = corners(6, 1.4 if label == "clipped" else 0.8, 0.2)
            s.draw(at, [RED, GREEN, BLUE, YELLOW, WHITE, RED], topology="POLYGON")
