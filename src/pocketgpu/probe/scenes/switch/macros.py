"""Scenes of the macro engine and its shadow RAM."""

from __future__ import annotations

import numpy as np

from pocketgpu.maxwell.mme.assembler import assemble
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import BLUE, LEFT, ORANGE, RIGHT, Color, SceneCanvas, floats

_MODE = "SET_MME_SHADOW_RAM_CONTROL"
_SMALL_RAM = 2048
"""Words of the instruction RAM by one source."""
_SIDE = 88


@scene("mme.reads")
def _() -> Made:
    """The clear colour is blue in registers and shadow RAM, then orange in registers only. A macro reads it and writes
    it again, and the right square is cleared: orange (state) or blue (shadow)."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    code = assemble("""
        mov r2, read(@SET_COLOR_CLEAR_VALUE[0])
        mov r3, read(@SET_COLOR_CLEAR_VALUE[1])
        mov r4, read(@SET_COLOR_CLEAR_VALUE[2])
        maddr @SET_COLOR_CLEAR_VALUE[0]:1
        send r2
        send r3
        exit send r4
        nop
    """)
    pb = canvas.pb.upload_macro(0, code, at=0)
    pb.method("SET_COLOR_CLEAR_VALUE", 0, *floats(BLUE)).method(_MODE, "METHOD_PASSTHROUGH")
    pb.method("SET_COLOR_CLEAR_VALUE", 0, *floats(ORANGE)).method(_MODE, "METHOD_TRACK").call_macro(0)
    return canvas.fill(RIGHT, None).made()


@scene("mme.shadow_exempt")
def _() -> Made:
    """Inline data makes a blue square on the left, and the shadow RAM keeps its place. While the shadow RAM replays, an
    orange square is sent to the right: there it is (low-words), or it has the place of the blue one (none)."""
    canvas = SceneCanvas().wait()
    canvas.pb.on("3D")
    squares = (LEFT, BLUE, "METHOD_TRACK"), (RIGHT, ORANGE, "METHOD_REPLAY")
    for (x, y, width, height), color, mode in squares:
        canvas.pb.method(_MODE, mode)
        at = x + (width - _SIDE) // 2, y + (height - _SIDE) // 2
        canvas.pb.inline_rectangle(canvas.target, *at, _square(color))
    canvas.pb.method(_MODE, "METHOD_TRACK")
    return canvas.made()


def _square(color: Color) -> np.ndarray:
    return np.full((_SIDE, _SIDE, 4), (*color, 255), np.uint8)


@scene("mme.wide_shift")
def _() -> Made:
    """A macro computes the width of squares: 31 shifted by 2 for the left one, 31 shifted by 34 for the right one. Both
    are there (modulo), or the right one has no width (zero)."""
    canvas = SceneCanvas()
    code = assemble("""
        parm r2                         ; r1 is where the square begins, r2 the shift
        mov r3, 31
        mov r3, extract(r3, 0, 5, r2)
        mov r3, add(r1, r3)
        maddr @SET_SCISSOR_HORIZONTAL
        exit send insert(r1, r3, 0, 16, 16)
        nop
    """)
    canvas.pb.upload_macro(0, code, at=0)
    for rectangle, shift in ((LEFT, 2), (RIGHT, 34)):
        canvas.pb.scissor(rectangle).call_macro(0, rectangle[0], shift).clear(floats(ORANGE))
    canvas.pb.scissor(None)
    return canvas.made()


@scene("mme.instruction_ram")
def _() -> Made:
    """Two macros say where a square is cleared. The one for the left square begins at word 8 of the instruction RAM,
    the one for the right square at word 2048: both are there (8192), or the right one is missing (2048)."""
    canvas = SceneCanvas()
    code, nothing = assemble("maddr @SET_SCISSOR_HORIZONTAL\nexit send r1\nnop"), assemble("exit nop\nnop")
    # A small RAM may begin again at word 2048. Its first words are loaded last, and do nothing.
    canvas.pb.upload_macro(1, code, at=_SMALL_RAM).upload_macro(2, nothing, at=0).upload_macro(0, code, at=8)
    canvas.pb.scissor(LEFT)
    for number, (x, _, width, _) in enumerate((LEFT, RIGHT)):
        canvas.pb.call_macro(number, x | x + width << 16).clear(floats(ORANGE))
    canvas.pb.scissor(None)
    return canvas.made()
