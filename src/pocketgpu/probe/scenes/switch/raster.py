"""Scenes of the viewport, clip rectangles and depth offsets."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.maxwell import B197
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import (
    BLUE,
    DARK,
    HEIGHT,
    LEFT,
    ORANGE,
    RIGHT,
    WIDTH,
    Rectangle,
    SceneCanvas,
    corners,
    floats,
)

_ZOOM: Final = 20


def _upper(rectangle: Rectangle) -> Rectangle:
    """The upper half; the halves of LEFT and RIGHT are each other's mirror images in the middle of the target."""
    x, y, width, height = rectangle
    return x, y, width, height // 2


@scene("raster.lower_left")
def _() -> Made:
    """The upper half of two blue squares is drawn over in orange, for the right one with the window's origin at the
    lower left: that makes no difference (nothing), or its lower half is orange (mirror)."""
    canvas = SceneCanvas().fill(LEFT, BLUE).fill(RIGHT, BLUE).square(_upper(LEFT), ORANGE)
    canvas.pb.method("SET_WINDOW_ORIGIN", MODE="LOWER_LEFT")
    return canvas.square(_upper(RIGHT), ORANGE).made()


@scene("raster.window_clip_end")
def _() -> Made:
    """In large pixels, a scissor limits the left square to 5 columns and rows, and a window clip rectangle with ends
    that are 5 more limits the right one: it is as large (exclusive), or larger by one (inclusive)."""
    canvas = SceneCanvas()
    small = canvas.surface(WIDTH // _ZOOM, HEIGHT // _ZOOM)
    whole = corners((0, 0, small.width, small.height), 0.5, small.width, small.height)
    canvas.draw_to(small).programs().pb.clear(floats(DARK)).scissor((2, 2, 5, 5))
    canvas.draw("TRIANGLE_STRIP", [(*at, *floats(ORANGE)) for at in whole]).pb.scissor(None)
    canvas.pb.method("SET_WINDOW_CLIP_ENABLE", 1).method("SET_WINDOW_CLIP_TYPE", "INCLUSIVE")
    for number in range(B197["SET_WINDOW_CLIP_HORIZONTAL"].count):
        canvas.pb.method("SET_WINDOW_CLIP_HORIZONTAL", number, XMIN=9, XMAX=14)
        canvas.pb.method("SET_WINDOW_CLIP_VERTICAL", number, YMIN=2, YMAX=7)
    canvas.draw("TRIANGLE_STRIP", [(*at, *floats(ORANGE)) for at in whole])
    return canvas.show(small, (0, 0, WIDTH, HEIGHT)).made()


@scene("raster.offset_step")
def _() -> Made:
    """Orange squares are drawn over blue ones, in a depth buffer of 16 bits. The left one is nearer, the right one
    farther away, with a depth offset of -100 steps: it shows if these are of 16 bits (format), and is hidden if they
    are of 24 (control)."""
    canvas = SceneCanvas().depth("Z16")
    pb = canvas.pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", "OGL_LESS")
    canvas.square(LEFT, BLUE).square(RIGHT, BLUE).square(LEFT, ORANGE, z=0.499)
    pb.method("SET_DEPTH_BIAS_CONTROL", DEPTH_FORMAT_DEPENDENT=False).method("SET_POLY_OFFSET_FILL", 1)
    pb.method("SET_DEPTH_BIAS", 2 * -100.0)  # drivers store twice the steps
    pb.method("SET_SLOPE_SCALE_DEPTH_BIAS", 0.0).method("SET_DEPTH_BIAS_CLAMP", 0.0)
    return canvas.square(RIGHT, ORANGE, z=0.5005).made()


@scene("raster.window_offset")
def _() -> Made:
    """The upper half of two blue squares is drawn over in orange, for the right one with a window offset of half its
    height: the lower half is orange (shapes), or the offset makes no difference (ignore)."""
    canvas = SceneCanvas().fill(LEFT, BLUE).fill(RIGHT, BLUE).square(_upper(LEFT), ORANGE)
    canvas.pb.method("SET_WINDOW_OFFSET_Y", _upper(RIGHT)[3])
    return canvas.square(_upper(RIGHT), ORANGE).made()
