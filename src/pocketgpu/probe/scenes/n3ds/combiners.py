"""Scenes of the combiner stages."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder.command_list import Operand
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLACK, BLUE, DARK, LEFT, ORANGE, RIGHT, Color, SceneCanvas

_WHITE: Color = (255, 255, 255, 255)


def _canvas(number: int) -> SceneCanvas:
    """A canvas whose texture 0 is this number in all channels."""
    canvas = SceneCanvas()
    canvas.texture(np.full((8, 8, 4), number, np.uint8), filter="nearest")
    return canvas


def _stage(canvas: SceneCanvas, *ways: Operand, constant: int = 0, most: int) -> None:
    """What the first stage computes, shown as orange where its red is more than `most`, else as blue."""
    canvas.list.combiner(0, ways, color=(constant,) * 4)
    canvas.by_red(most, BLUE, ORANGE)


@scene("combiner.arithmetic")
def _() -> Made:
    """100/255 times 101/255 is 39.6/255, which becomes 39 (integer), or 40 (float). The left square is orange because
    that is more than 38. The right one is orange if it is more than 39, else blue."""
    canvas = _canvas(100)
    for box, most in ((LEFT, 38), (RIGHT, 39)):
        _stage(canvas, "modulate", "texture 0", "constant", constant=101, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.vertex_color")
def _() -> Made:
    """A vertex colour of 100.6/255 becomes 101 (round), or 100 (truncate). The left square is orange because that is
    more than 99. The right one is orange if it is more than 100, else blue."""
    canvas = SceneCanvas()
    for box, most in ((LEFT, 99), (RIGHT, 100)):
        _stage(canvas, "replace", "vertex color", most=most)
        canvas.quad(box, color=(100.6 / 255,) * 4)
    return canvas.made()


@scene("combiner.add_signed")
def _() -> Made:
    """100 and 50 are added with sign, which gives 22 (128), or 23 (127). The left square is orange because that is more
    than 21. The right one is orange if it is more than 22, else blue."""
    canvas = _canvas(100)
    for box, most in ((LEFT, 21), (RIGHT, 22)):
        _stage(canvas, "add signed", "texture 0", "constant", constant=50, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.add_multiply")
def _() -> Made:
    """200 and 200 are added and multiplied by 100/255. That gives 100, because the sum is limited to 255 (clamp), or
    156 (unlimited). The left square is orange because that is more than 50. The right one is orange if it is more than
    128, else blue."""
    canvas = _canvas(200)
    for box, most in ((LEFT, 50), (RIGHT, 128)):
        _stage(canvas, "add then multiply", "texture 0", "texture 0", "constant", constant=100, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.scale_3")
def _() -> Made:
    """Dark grey is multiplied by a scale: 1 for the left square, code 3 for the right one, which is as dark (x1), or
    eight times as bright, white (x8)."""
    canvas = SceneCanvas()
    for box, code in ((LEFT, 0), (RIGHT, 3)):
        canvas.paint(DARK).write("TEXENV0_SCALE", rgb=code)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.first_previous")
def _() -> Made:
    """The first stage reads the previous stage, which does not exist. The right square has the vertex colour, white
    (vertex-color), the colour of the third operand, orange (third-source), black (zero), or TEXENV_BUFFER_COLOR, blue
    (buffer-color). The left square has these four to compare."""
    canvas = SceneCanvas()
    for number, color in enumerate((_WHITE, ORANGE, BLACK, BLUE)):
        canvas.fill(LEFT.part(number % 2, 2, number // 2, 2), color)
    ways = ("replace", "previous stage", "vertex color", "constant")
    canvas.list.combiner(0, ways, ("replace", "constant"), color=ORANGE)
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", BLUE, strict=True)))
    canvas.quad(RIGHT)
    return canvas.made()


@scene("combiner.first_buffer")
def _() -> Made:
    """TEXENV_BUFFER_COLOR is orange. The second stage reads the combiner buffer for the left square: orange. The first
    stage reads it for the right one: black (zero), or orange (buffer-color)."""
    canvas = SceneCanvas()
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", ORANGE, strict=True)))
    for box, stage in ((LEFT, 1), (RIGHT, 0)):
        canvas.list.combiner(0).combiner(1)
        canvas.list.combiner(stage, ("replace", "combiner buffer"), ("replace", "constant"), color=BLACK)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.buffer_delay")
def _() -> Made:
    """The combiner buffer is blue, and the first stage stores orange in it. The third stage reads it for the left
    square: orange. The second stage reads it for the right one: still blue (one-stage), or orange (none)."""
    canvas = SceneCanvas()
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", BLUE, strict=True)))
    canvas.list.write("TEXENV_UPDATE_BUFFER", rgb0=True, alpha0=True)
    ways = ("replace", "combiner buffer")
    for box, stage in ((LEFT, 2), (RIGHT, 1)):
        canvas.paint(ORANGE).combiner(1).combiner(2).combiner(stage, ways, ways)
        canvas.quad(box)
    return canvas.made()
