"""Scenes of the combiner stages."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder.command_list import Operand
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLACK, BLUE, DARK, LEFT, ORANGE, RIGHT, Canvas, Color

_WHITE: Color = (255, 255, 255, 255)


def _canvas(number: int) -> Canvas:
    """A canvas whose texture 0 is this number in all channels."""
    canvas = Canvas()
    canvas.texture(np.full((8, 8, 4), number, np.uint8), filter="nearest")
    return canvas


def _stage(canvas: Canvas, *ways: Operand, constant: int = 0, most: int) -> None:
    """What the first stage computes, shown as orange where its red is more than `most`, else as blue."""
    canvas.list.combiner(0, ways, color=(constant,) * 4)
    canvas.by_red(most, BLUE, ORANGE)


@scene("combiner.arithmetic")
def _() -> Made:
    """100 times 101 of 255, which is 39.6: 39 (integer), or 40 (float). The squares are orange where it is more than 38
    on the left and more than 39 on the right, else blue."""
    canvas = _canvas(100)
    for box, most in ((LEFT, 38), (RIGHT, 39)):
        _stage(canvas, "modulate", "texture 0", "constant", constant=101, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.vertex_color")
def _() -> Made:
    """A vertex colour of 100.6 of 255: 101 (round), or 100 (truncate). The squares are orange where it is more than 99
    on the left and more than 100 on the right, else blue."""
    canvas = Canvas()
    for box, most in ((LEFT, 99), (RIGHT, 100)):
        _stage(canvas, "replace", "vertex color", most=most)
        canvas.quad(box, color=(100.6 / 255,) * 4)
    return canvas.made()


@scene("combiner.add_signed")
def _() -> Made:
    """100 and 50, added with sign: 22, which is 128 less (128), or 23 (127). The squares are orange where it is more
    than 21 on the left and more than 22 on the right, else blue."""
    canvas = _canvas(100)
    for box, most in ((LEFT, 21), (RIGHT, 22)):
        _stage(canvas, "add signed", "texture 0", "constant", constant=50, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.add_multiply")
def _() -> Made:
    """200 and 200 are added and multiplied by 100 of 255: 100, since the sum is limited to 255 (clamp), or 156
    (unlimited). The squares are orange where it is more than 50 on the left and more than 128 on the right, else
    blue."""
    canvas = _canvas(200)
    for box, most in ((LEFT, 50), (RIGHT, 128)):
        _stage(canvas, "add then multiply", "texture 0", "texture 0", "constant", constant=100, most=most)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.scale_3")
def _() -> Made:
    """Dark grey is shown with a scale, which is 1 on the left and has code 3 on the right: it is dark grey too (x1), or
    eight times as bright, which is white (x8)."""
    canvas = Canvas()
    for box, code in ((LEFT, 0), (RIGHT, 3)):
        canvas.paint(DARK).write("TEXENV0_SCALE", rgb=code)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.first_previous")
def _() -> Made:
    """The first stage shows its previous stage, which is none. On the right this is the vertex colour, white
    (vertex-color), the third operand's source, orange (third-source), black (zero), or TEXENV_BUFFER_COLOR, blue
    (buffer-color). On the left are these four colours, in lines from the upper left."""
    canvas = Canvas()
    for number, color in enumerate((_WHITE, ORANGE, BLACK, BLUE)):
        canvas.fill(LEFT.part(number % 2, 2, number // 2, 2), color)
    ways = ("replace", "previous stage", "vertex color", "constant")
    canvas.list.combiner(0, ways, ("replace", "constant"), color=ORANGE)
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", BLUE, strict=True)))
    canvas.quad(RIGHT)
    return canvas.made()


@scene("combiner.first_buffer")
def _() -> Made:
    """TEXENV_BUFFER_COLOR is orange. The second stage shows the buffer on the left, the first one on the right: it is
    black (zero), or orange too (buffer-color)."""
    canvas = Canvas()
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", ORANGE, strict=True)))
    for box, stage in ((LEFT, 1), (RIGHT, 0)):
        canvas.list.combiner(0).combiner(1)
        canvas.list.combiner(stage, ("replace", "combiner buffer"), ("replace", "constant"), color=BLACK)
        canvas.quad(box)
    return canvas.made()


@scene("combiner.buffer_delay")
def _() -> Made:
    """The buffer is blue, and the first stage stores orange in it. The third stage reads it on the left, which is
    orange. On the right the second stage does: it is still blue (one-stage), or orange (none)."""
    canvas = Canvas()
    canvas.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", BLUE, strict=True)))
    canvas.list.write("TEXENV_UPDATE_BUFFER", rgb0=True, alpha0=True)
    ways = ("replace", "combiner buffer")
    for box, stage in ((LEFT, 2), (RIGHT, 1)):
        canvas.paint(ORANGE).combiner(1).combiner(2).combiner(stage, ways, ways)
        canvas.quad(box)
    return canvas.made()
