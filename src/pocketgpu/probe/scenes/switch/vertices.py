"""Scenes of vertices and the stages before the raster."""

from __future__ import annotations

from typing import Final

import numpy as np

from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.maxwell.sass.stages.stage import TESS_U, TESS_V
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import (
    BLUE,
    LEFT,
    ORANGE,
    RIGHT,
    Color,
    Rectangle,
    SceneCanvas,
    corners,
    floats,
)

_COLOR: Final = 0x80
"""The first word of the values in attribute space."""
_WORDS_OF_MASK: Final = 32
_STRIP = SPH["VTG"]["OUTPUT_TOPOLOGY"].values.TRIANGLESTRIP

EVALUATION: Final = f"""
    S2R R5, SR_LANEID
    ALD.O R20, a[{TESS_U:#x}], R5             // u and v of the point
    ALD.O R21, a[{TESS_V:#x}], R5
    MOV32I R6, 0x1
    ISBERD R4, [RZ]                     // the patch's two vertices
    ISBERD R6, [R6]
    ALD.128 R0, a[0x70], R4
    ALD.128 R8, a[0x70], R6
    ALD.128 R16, a[0x80], R4
    FADD R12, R8, -R0
    FADD R13, R9, -R1
    FFMA R0, R12, R20, R0
    FFMA R1, R13, R21, R1
    AST.128 a[0x70], R0
    AST.128 a[0x80], R16
    EXIT
"""
"""Places a point between the first vertex, where u and v are 0, and the second, where they are 1."""


@scene("draw.zero_frequency")
def _() -> Made:
    """Colours come from an instanced stream: blue, then orange. The left square has a frequency of 1, the right one of
    0: both are blue, the colour of the instance (constant), or the right one is orange, as its vertices' (per-vertex).
    """
    canvas = SceneCanvas()
    colors = canvas.put(np.array([floats(BLUE)] + [floats(ORANGE)] * 7, "<f4"))
    places = canvas.put(np.array(corners(LEFT) + corners(RIGHT), "<f4"))
    pb = canvas.programs().pb.stream(0, places, 16)
    pb.attribute(0, 0, 0, "R32_G32_B32_A32").attribute(1, 1, 0, "R32_G32_B32_A32")
    for frequency, first in ((1, 0), (0, 4)):
        pb.stream(1, colors, 16, divisor=frequency).draw("TRIANGLE_STRIP", 4, first)
    return canvas.made()


@scene("draw.array_base_vertex")
def _() -> Made:
    """A stream has the corners of a blue square on the left, a blue one on the right, and an orange one on the right.
    The first two are drawn without indices, the second with a base vertex of 4: it is blue (ignore), or the third one
    is drawn, orange (add)."""
    canvas = SceneCanvas()
    squares = (LEFT, BLUE), (RIGHT, BLUE), (RIGHT, ORANGE)
    canvas.programs().vertices([(*at, *floats(color)) for where, color in squares for at in corners(where)])
    canvas.pb.draw("TRIANGLE_STRIP", 4).method("SET_GLOBAL_BASE_VERTEX_INDEX", 4).draw("TRIANGLE_STRIP", 4, 4)
    return canvas.made()


@scene("draw.quad_diagonal")
def _() -> Made:
    """Squares with two orange corners and two blue ones. The left one is drawn as triangles with an orange edge between
    them, the right one as a quad: its diagonal is orange too (first) or blue (second)."""
    canvas = SceneCanvas().programs()
    for rectangle, topology, order in ((LEFT, "TRIANGLES", (0, 1, 2, 0, 2, 3)), (RIGHT, "QUADS", (0, 1, 2, 3))):
        upper_left, upper_right, lower_left, lower_right = corners(rectangle)
        around = (upper_left, upper_right, lower_right, lower_left)
        rows = [(*at, *floats(color)) for at, color in zip(around, (ORANGE, BLUE) * 2, strict=True)]
        canvas.draw(topology, [rows[n] for n in order])
    return canvas.made()


@scene("tessellation.winding")
def _() -> Made:
    """Front faces are clockwise and orange, back faces blue. The left square is made of clockwise triangles, the right
    one of patches that become clockwise triangles, with v downwards: it is orange too (v-down), or blue (v-up)."""
    canvas = SceneCanvas()
    pb = canvas.pb
    levels = [f"SET_TESSELLATION_LOD_{name}" for name in ("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")]
    for name in (*levels, "SET_TG_LOD_INTERIOR_U", "SET_TG_LOD_INTERIOR_V"):
        pb.method(name, 2.0)
    pb.method(
        "SET_TESSELLATION_PARAMETERS", DOMAIN_TYPE="QUAD", SPACING="INTEGER", OUTPUT_PRIMITIVES="TRIANGLES_CW"
    )  # fmt: skip
    pb.method("SET_PATCH", 2).method("OGL_SET_CULL", 1).method("OGL_SET_FRONT_FACE", "CW")
    outputs = {f"OMAP_TESSELLATION_EVALUATION_POINT_{axis}": 1 for axis in "UV"}
    asked = {"STORE_REQ_START": TESS_U // 4, "STORE_REQ_END": TESS_V // 4}
    evaluation = canvas.program("evaluation", EVALUATION, **outputs, **asked)
    for culled, color in (("BACK", ORANGE), ("FRONT", BLUE)):
        pb.method("OGL_SET_CULL_FACE", culled)
        canvas.programs().draw("TRIANGLES", _triangles(LEFT, color))
        upper_left, *_, lower_right = corners(RIGHT)
        canvas.programs(evaluation=evaluation)
        canvas.draw("PATCH", [(*at, *floats(color)) for at in (upper_left, lower_right)])
    return canvas.made()


@scene("geometry.skip_mask")
def _() -> Made:
    """Squares are blue, and a geometry program that passes vertices on makes them orange. Only for the right one the
    skip mask has the bits of the colour: the left one is orange and the right one blue (program), or the other way
    round (vertex)."""
    canvas = SceneCanvas()
    text = "\n".join(
        f"MOV32I R{n}, {np.float32(value).view(np.uint32):#x}" for n, value in enumerate(floats(ORANGE))
    )  # fmt: skip
    text += f"\nAST.128 a[{_COLOR:#x}], R0\nEXIT"
    triangles = {"MAX_OUTPUT_VERTEX_COUNT": 3, "OUTPUT_TOPOLOGY": _STRIP}
    geometry = canvas.program("geometry", text, pass_through=True, **triangles)
    canvas.programs(geometry=geometry)
    first = _COLOR // 4
    for rectangle, mask in ((LEFT, 0), (RIGHT, 0xF << first % _WORDS_OF_MASK)):
        canvas.pb.method("SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK", first // _WORDS_OF_MASK, mask)
        canvas.draw("TRIANGLES", _triangles(rectangle, BLUE))
    return canvas.made()


def _triangles(rectangle: Rectangle, color: Color) -> list[tuple[float, ...]]:
    """A rectangle as two clockwise triangles."""
    four = [(*at, *floats(color)) for at in corners(rectangle)]
    return [four[n] for n in (0, 1, 2, 2, 1, 3)]
