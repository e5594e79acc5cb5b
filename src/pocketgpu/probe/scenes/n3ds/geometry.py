"""Scenes of geometry programs: what they emit, and what they leave.

Each program makes one square of four vertices with two outputs, position and a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from pocketgpu.builder import Buffer, assemble
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, DARK, LEFT, ORANGE, RIGHT, VALUE, Box, SceneCanvas

_NUMBERS = ".constf c90, 0.0, 1.0, 0.5, 0.25\n"
_COLOR = """
    .out o0 position
    .out o1 color
"""
_OUTPUTS, _CORNERS = 2, 4
_ZERO, _ONE = (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0)
_TRIANGLES = ((0, 1, 2), (0, 2, 3))
"""Corners of a square, counter-clockwise."""
_TURNED = ((0, 2, 1), (0, 3, 2))
"""The same clockwise, which the winding bit turns round."""


def _vertex(corner: int, slot: int, flags: str | bool = "", value: str = "") -> str:
    """Emit a corner into an emission buffer. flags: of SETEMIT, if any. value: an instruction that writes o1 (empty:
    its own value)."""
    value = value or f"mov o1, v{_OUTPUTS * corner + 1}"
    return f"mov o0, v{_OUTPUTS * corner}\n{value}\nsetemit {slot}{f', {flags}' if flags else ''}\nemit\n"


def _square(emit: Callable[[int, int, bool], str], triangles: Sequence[Sequence[int]] = _TRIANGLES) -> str:
    """The two triangles of a square: text for a corner, its buffer, and whether it is a triangle's last one."""
    return "".join(emit(corner, slot, slot == 2) for triangle in triangles for slot, corner in enumerate(triangle))


def _plain(corner: int, slot: int, last: bool) -> str:
    return _vertex(corner, slot, last and "prim")


def _canvas(outputs: str = VALUE) -> SceneCanvas:
    """Values below 1/2 are blue, the others orange: of a texture coordinate, or of vertex colours."""
    canvas = SceneCanvas()
    canvas.shader(f"{outputs}\nmov o0, v0\nmov o1, v1\nend\n")
    if outputs == VALUE:
        canvas.palette(BLUE, ORANGE)
    else:
        canvas.by_vertex(BLUE, ORANGE)
    return canvas


def _use(canvas: SceneCanvas, text: str, outputs: str = VALUE) -> None:
    """A geometry program from here on."""
    canvas.list.bool_uniforms({}, unit="GSH")
    program = assemble(f"{outputs}{_NUMBERS}{text}end\n")
    canvas.list.geometry_shader(program, outputs=_OUTPUTS, inputs=_OUTPUTS * _CORNERS)


def _draw(canvas: SceneCanvas, *boxes: Box, values: tuple[tuple[float, ...], ...] = (_ONE,) * _CORNERS) -> None:
    """Boxes, one primitive each, whose corners have these values."""
    rows = [np.concatenate([canvas.corners(box), np.array(values, np.float32)], axis=1) for box in boxes]
    canvas.list.attributes(Buffer(canvas.put_floats(np.concatenate(rows)), [("f32", 4), ("f32", 4)]))
    canvas.list.draw_arrays(_CORNERS * len(boxes), primitive="geometry")


@scene("geometry.bool15")
def _() -> Made:
    """A geometry program runs for the left square, then for the right one, and shows boolean 15, which is false at
    first. The right square is orange, because the first run has set it (set), or blue (keep)."""
    canvas = _canvas()
    choose = "mov r7, c90.xxxx\nifu b15\nmov r7, c90.yyyy\nnop\n.end\n"
    _use(canvas, choose + _square(lambda corner, slot, last: _vertex(corner, slot, last and "prim", "mov o1, r7")))
    _draw(canvas, LEFT, RIGHT)
    return canvas.made()


@scene("geometry.winding")
def _() -> Made:
    """Flat triangles have the colour of their last vertex. The left square's are emitted as they are: orange. The right
    one's are emitted with the winding bit: the last vertex stays the last, orange (swap-first), or becomes the first,
    blue (reverse)."""
    canvas = _canvas(_COLOR)
    canvas.list.write("FLAT_SHADING", flat=True)
    values = {False: "mov o1, c90.xxxx", True: "mov o1, c90.yyyy"}
    for box, flags, triangles in ((LEFT, "prim", _TRIANGLES), (RIGHT, "prim inv", _TURNED)):
        emit = partial(_flagged, flags=flags, values=values)
        _use(canvas, _square(emit, triangles), _COLOR)
        _draw(canvas, box)
    return canvas.made()


def _flagged(corner: int, slot: int, last: bool, *, flags: str, values: Mapping[bool, str]) -> str:
    return _vertex(corner, slot, last and flags, values[last])


@scene("geometry.output_banks")
def _() -> Made:
    """The left square's program gives all vertices the value 1: orange. The right one's gives 1 to the first vertex, 0
    to the second, and none to later ones, of which each second one is used. Those repeat the value of two vertices
    before, 1, orange (double), or of the vertex before, 0, blue (single)."""
    canvas = _canvas()
    _use(canvas, _square(_plain))
    _draw(canvas, LEFT)
    first = _vertex(0, 0, "", "mov o1, c90.yyyy") + _vertex(0, 0, "", "mov o1, c90.xxxx") + _vertex(0, 0, "", "nop")
    _use(canvas, first + _square(_pair))
    _draw(canvas, RIGHT)
    return canvas.made()


def _pair(corner: int, slot: int, last: bool) -> str:
    """Two vertices without values; the second one takes the place of the first one in its buffer."""
    return _vertex(corner, slot, "", "nop") + _vertex(corner, slot, last and "prim", "nop")


@scene("geometry.emit_buffers")
def _() -> Made:
    """Three vertices go to buffers 0 to 2, and a triangle is requested: with the third vertex for the left square, with
    one more, of buffer 3, for the right one. The right square is there (4), or missing, because there is no such buffer
    (3)."""
    canvas = _canvas()
    for box in (LEFT, RIGHT):
        canvas.fill(box, DARK)
    canvas.shader(VALUE + "mov o0, v0\nmov o1, v1\nend\n")
    canvas.show("texture 0")
    _use(canvas, _square(_plain))
    _draw(canvas, LEFT.inner(20))
    _use(canvas, _square(_by_fourth))
    _draw(canvas, RIGHT.inner(20))
    return canvas.made()


def _by_fourth(corner: int, slot: int, last: bool) -> str:
    return _vertex(corner, slot) + (_vertex(corner, slot + 1, "prim") if last else "")
