"""Scenes of clipping, the viewport, culling and depth."""

from __future__ import annotations

from pocketgpu.facts.pica_enums import CULL
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import (
    BLUE,
    DARK,
    HEIGHT,
    LEFT,
    ORANGE,
    RIGHT,
    WIDTH,
    Box,
    SceneCanvas,
    grid,
)

_DEPTHS = (1 << 24) - 1
"""Steps of a depth from 0 to 1."""


@scene("clip.depth_range")
def _() -> Made:
    """The left square lies at z = -w/2, the right one at z = w/2. The right square is clipped away (half), or drawn
    (full)."""
    canvas = SceneCanvas()
    for box, depth in ((LEFT, 0.5), (RIGHT, -0.5)):
        canvas.fill(box, DARK)
        canvas.fill(box.inner(20), ORANGE, depth)
    return canvas.made()


@scene("viewport.offset_sign")
def _() -> Made:
    """VIEWPORT_XY moves a square from the middle by 96 pixels: to the left (plus), or to the right (minus)."""
    canvas = SceneCanvas()
    canvas.fill(LEFT, DARK)
    canvas.fill(RIGHT, DARK)
    middle = Box(*(a + b >> 1 for a, b in zip(LEFT, RIGHT, strict=True)))
    canvas.list.viewport(0, middle.left - LEFT.left, HEIGHT, WIDTH)
    canvas.fill(middle.inner(20), ORANGE)
    return canvas.made()


@scene("raster.cull_0_3")
def _() -> Made:
    """Squares seen from the front are on the left, squares seen from the back on the right. The culling mode is 0 in
    the upper row and 3 in the lower one. All are drawn (none), or those seen from the back are missing (back)."""
    canvas = SceneCanvas()
    for mode, (front, back) in zip((CULL.NONE, CULL.NONE_3), grid(2, 2), strict=True):
        canvas.list.write("FACECULLING_CONFIG", mode=mode)
        canvas.fill(front, BLUE)
        canvas.fill(back, DARK)
        canvas.fill(back.inner(8).turned, ORANGE)
    return canvas.made()


@scene("depth.bits")
def _() -> Made:
    """A blue square writes its depth, and an orange one is drawn where its own depth is equal. On the left it is equal.
    On the right it differs by the smallest step of 24 bits: it is not drawn (24), or it is, because that bit is left
    out (23)."""
    canvas = SceneCanvas()
    for box, near, far in ((LEFT, 2, 2), (RIGHT, 3, 2)):
        canvas.list.depth("always", write=True)
        canvas.fill(box, BLUE, (near + 0.5) / _DEPTHS)
        canvas.list.depth("equal", write=False)
        canvas.fill(box.inner(20), ORANGE, (far + 0.5) / _DEPTHS)
    return canvas.made()
