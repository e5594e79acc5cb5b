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
    Canvas,
    grid,
)

_DEPTHS = (1 << 24) - 1
"""Steps of a depth from 0 to 1."""


@scene("clip.depth_range")
def _() -> Made:
    """The left square has z = -w/2, the right one z = w/2. It is clipped away (half), or drawn (full)."""
    canvas = Canvas()
    for box, depth in ((LEFT, 0.5), (RIGHT, -0.5)):
        canvas.fill(box, DARK)
        canvas.fill(box.inner(20), ORANGE, depth)
    return canvas.made()


@scene("viewport.offset_sign")
def _() -> Made:
    """An orange square in the middle of the viewport, which VIEWPORT_XY moves by 96 pixels: to the left (plus), or to
    the right (minus)."""
    canvas = Canvas()
    canvas.fill(LEFT, DARK)
    canvas.fill(RIGHT, DARK)
    middle = Box(*(a + b >> 1 for a, b in zip(LEFT, RIGHT, strict=True)))
    canvas.list.viewport(0, middle.left - LEFT.left, HEIGHT, WIDTH)
    canvas.fill(middle.inner(20), ORANGE)
    return canvas.made()


@scene("raster.cull_0_3")
def _() -> Made:
    """Squares seen from the front on the left and from behind on the right, with culling mode 0 in the upper row and 3
    in the lower one. All are there (none), or those on the right are missing (back)."""
    canvas = Canvas()
    for mode, (front, back) in zip((CULL.NONE, CULL.NONE_3), grid(2, 2), strict=True):
        canvas.list.write("FACECULLING_CONFIG", mode=mode)
        canvas.fill(front, BLUE)
        canvas.fill(back, DARK)
        canvas.fill(back.inner(8).turned, ORANGE)
    return canvas.made()


@scene("depth.bits")
def _() -> Made:
    """A blue square writes a depth, and an orange one inside is drawn where its depth is equal. On the left it is. On
    the right the depths are 3 and 2 in the smallest steps of 24 bits: not equal (24), or equal without the lowest bit
    (23)."""
    canvas = Canvas()
    for box, near, far in ((LEFT, 2, 2), (RIGHT, 3, 2)):
        canvas.list.depth("always", write=True)
        canvas.fill(box, BLUE, (near + 0.5) / _DEPTHS)
        canvas.list.depth("equal", write=False)
        canvas.fill(box.inner(20), ORANGE, (far + 0.5) / _DEPTHS)
    return canvas.made()
