"""Scenes of vertices: where attributes come from, and which triangles immediate strips have.

An attribute is shown as a colour of a palette, except where a whole triangle is missing.
"""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import Buffer
from pocketgpu.builder.uploads import pack_f24
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, LEFT, LIGHT, ORANGE, ORDER, RIGHT, Box, SceneCanvas

_ZERO, _HALF, _ONE = (0.0, 0.0, 0.0, 1.0), (0.5, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)
_ATTRIBUTE = 1
"""The attribute that scenes are about; 0 is the position."""


def _start() -> SceneCanvas:
    """A canvas that shows v1.x, as blue for 0 and orange for 1."""
    canvas = SceneCanvas()
    canvas.program("mov o1.xy, v1.x")
    canvas.palette(BLUE, ORANGE)
    return canvas


def _buffer(canvas: SceneCanvas, value: tuple[float, ...]) -> Buffer:
    """The attribute for all vertices of a box, in a buffer of its own."""
    return Buffer(canvas.put_floats([value] * len(ORDER)), [("f32", 4)])


def _position(canvas: SceneCanvas, box: Box) -> Buffer:
    return Buffer(canvas.put_floats(canvas.corners(box)[ORDER]), [("f32", 4)])


@scene("vertex.alignment")
def _() -> Made:
    """A 32-bit number follows some bytes in a vertex buffer. For the left square it is aligned, and is 1: orange. For
    the right one it is not: read from the next multiple of 4 it is 1, orange (element); from its own address it is 0.5,
    light grey (padding); from the multiple before it is 0, blue (address)."""
    canvas = SceneCanvas()
    canvas.program("mov o1.xy, v2.x")
    canvas.palette(BLUE, LIGHT, ORANGE)
    one = np.array([1.0], "<f4").tobytes()
    half = np.array([0.5], "<f4").tobytes()
    # The last byte of 0.5 is the first one of a number that is next to 1.
    for box, bytes_before, data in ((LEFT, 4, bytes(4) + one), (RIGHT, 1, bytes(1) + half + one[1:])):
        numbers = Buffer(canvas.capture.put(data * len(ORDER)), [("u8", bytes_before), ("f32", 1)], stride=len(data))
        canvas.list.attributes(_position(canvas, box), numbers)
        canvas.list.draw_arrays(len(ORDER))
    return canvas.made()


@scene("vertex.repeated_attribute")
def _() -> Made:
    """Two buffers hold the same attribute, 0 in the first and 1 in the second. The left square only has the second
    buffer: orange. The right one has both: orange (last), or blue (first)."""
    canvas = _start()
    canvas.draw(LEFT, _ONE)
    position, first, last = _position(canvas, RIGHT), _buffer(canvas, _ZERO), _buffer(canvas, _ONE)
    canvas.list.attributes(position, first)
    canvas.list.write("ATTRIBBUFFER2_OFFSET", offset=last.address - min(position.address, first.address))
    canvas.list.write("ATTRIBBUFFER2_CONFIG1", component1=f"attribute {_ATTRIBUTE}")
    canvas.list.write("ATTRIBBUFFER2_CONFIG2", stride=last.size(), count=1)
    canvas.list.draw_arrays(len(ORDER))
    return canvas.made()


@scene("vertex.fixed_and_loaded")
def _() -> Made:
    """An attribute is 0 as a fixed value and 1 in a buffer. It is not marked as fixed for the left square: orange. It
    is for the right one: orange (loaded), or blue (fixed)."""
    canvas = _start()
    for box, fixed in ((LEFT, 0), (RIGHT, 1 << _ATTRIBUTE)):
        canvas.list.fixed_attribute(_ATTRIBUTE, _ZERO)
        canvas.list.attributes(_position(canvas, box), _buffer(canvas, _ONE))
        canvas.list.write("ATTRIBBUFFERS_FORMAT_HIGH", fixed_mask=fixed, count=2)
        canvas.list.draw_arrays(len(ORDER))
    return canvas.made()


@scene("vertex.fixed_index")
def _() -> Made:
    """Fixed attributes 1 and 2 are 0.5, light grey. Then FIXEDATTRIB_INDEX becomes 1, and 0 and 1 are sent. The left
    square shows attribute 1, the right one attribute 2. They are blue and orange (advance), or orange and light grey
    (keep)."""
    canvas = SceneCanvas()
    canvas.palette(BLUE, LIGHT, ORANGE)
    for box, attribute in ((LEFT, 1), (RIGHT, 2)):
        canvas.program(f"mov o1.xy, v{attribute}.x")
        canvas.list.attributes(_position(canvas, box), fixed=[_HALF, _HALF])
        canvas.list.write("FIXEDATTRIB_INDEX", index=_ATTRIBUTE)
        for value in (_ZERO, _ONE):
            canvas.list.write_words("FIXEDATTRIB_DATA0", pack_f24(value))
        canvas.list.draw_arrays(len(ORDER))
    return canvas.made()


@scene("vertex.immediate_inputs")
def _() -> Made:
    """Vertices in the list have 1 as attribute 1 and 0 as attribute 2, and the program shows v1. Attribute 1 goes to v1
    for the left square: orange. Attribute 2 is to go there for the right one: blue (permuted), or orange, because
    attributes stay in order (in-order)."""
    canvas = _start()
    for box, inputs in ((LEFT, (0, 1, 2)), (RIGHT, (0, 2, 1))):
        canvas.list.draw_immediate([(corner, _ONE, _ZERO) for corner in canvas.corners(box)[ORDER]], inputs=inputs)
    return canvas.made()


@scene("vertex.immediate_strip")
def _() -> Made:
    """Both squares are strips of two triangles, and back faces are culled. The left strip is in memory. The right one
    is in the list: whole (turned), or only one triangle (kept)."""
    canvas = _start()
    canvas.list.write("FACECULLING_CONFIG", mode="back (clockwise)")
    strip = [0, 1, 3, 2]
    places = Buffer(canvas.put_floats(canvas.corners(LEFT)[strip]), [("f32", 4)])
    canvas.list.attributes(places, _buffer(canvas, _ONE)).draw_arrays(len(strip), primitive="triangle strip")
    places_in_list = [(corner, _ONE) for corner in canvas.corners(RIGHT)[strip]]
    canvas.list.draw_immediate(places_in_list, "triangle strip")
    return canvas.made()
