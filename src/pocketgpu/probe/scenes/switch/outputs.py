"""Scenes of depth, stencil and blending."""

from __future__ import annotations

from typing import Any

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import BLUE, LEFT, LIGHT, ORANGE, RIGHT, SceneCanvas


def _write(pb: PushBuffer, slot: int, channels: str) -> None:
    """Let draws write only some components of a slot."""
    written: dict[str, Any] = {f"{name}_ENABLE": name in channels for name in "RGBA"}
    pb.method("SET_CT_WRITE", slot, **written)


@scene("output.blend_index")
def _() -> Made:
    """Light squares are drawn to a slot that takes red and green only. The left one goes to slot 0. The right one goes
    to slot 1, while slot 0 takes blue only: it is yellow as well (target), or blue (output)."""
    canvas = SceneCanvas()
    _write(canvas.pb, 0, "RG")
    canvas.square(LEFT, LIGHT)
    _write(canvas.pb, 0, "B")
    _write(canvas.pb, 1, "RG")
    canvas.draw_to(canvas.target, 1).pb.method("SET_CT_SELECT", TARGET_COUNT=1, TARGET0=1)
    return canvas.square(RIGHT, LIGHT).made()


@scene("output.alpha_equation")
def _() -> Made:
    """Blue squares have an alpha of 0. A draw whose colours replace what is there, and whose alpha does not, changes
    their alpha; the right one without separate blending of alpha. Then orange goes where alpha is 1: only to the right
    (flag), or nowhere (always)."""
    canvas = SceneCanvas().fill(LEFT, BLUE, 0.0).fill(RIGHT, BLUE, 0.0)
    pb = canvas.pb.method("SET_BLEND", 0, 1)
    _write(pb, 0, "A")
    _equation(pb, "COLOR", "OGL_ONE", "OGL_ZERO")
    _equation(pb, "ALPHA", "OGL_ZERO", "OGL_ONE")
    for rectangle, separate in ((LEFT, 1), (RIGHT, 0)):
        pb.method("SET_BLEND_SEPARATE_FOR_ALPHA", separate)
        canvas.square(rectangle, LIGHT)
    _write(pb, 0, "RGB")
    pb.method("SET_BLEND_SEPARATE_FOR_ALPHA", 1)
    _equation(pb, "COLOR", "OGL_DST_ALPHA", "OGL_ONE_MINUS_DST_ALPHA")
    return canvas.square(LEFT, ORANGE).square(RIGHT, ORANGE).made()


def _equation(pb: PushBuffer, part: str, source: str, target: str) -> None:
    pb.method(f"SET_BLEND_{part}_OP", "OGL_FUNC_ADD")
    pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", source).method(f"SET_BLEND_{part}_DEST_COEFF", target)


@scene("output.depth_bounds")
def _() -> Made:
    """Draws set the stencil where the depth test fails; then orange goes where it is set. The left square fails the
    depth test itself. The right one fails the depth bounds test: it stays blue (first), or is orange, too (depth)."""
    canvas = SceneCanvas().depth().fill(LEFT, BLUE).fill(RIGHT, BLUE)
    pb = canvas.pb
    _write(pb, 0, "")
    pb.method("SET_STENCIL_TEST", 1).method("SET_STENCIL_FUNC", "OGL_ALWAYS").method("SET_STENCIL_FUNC_REF", 1)
    for when, operation in (("FAIL", "OGL_KEEP"), ("ZFAIL", "OGL_REPLACE"), ("ZPASS", "OGL_KEEP")):
        pb.method(f"SET_STENCIL_OP_{when}", operation)
    pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_FUNC", "OGL_NEVER")
    canvas.square(LEFT, LIGHT)
    # The stored depth is 1, which is above the bounds.
    pb.method("SET_DEPTH_FUNC", "OGL_ALWAYS").method("SET_DEPTH_BOUNDS_TEST", 1)
    pb.method("SET_DEPTH_BOUNDS_MIN", 0.0).method("SET_DEPTH_BOUNDS_MAX", 0.5)
    canvas.square(RIGHT, LIGHT)
    pb.method("SET_DEPTH_BOUNDS_TEST", 0).method("SET_STENCIL_FUNC", "OGL_EQUAL")
    pb.method("SET_STENCIL_OP_ZFAIL", "OGL_KEEP")
    _write(pb, 0, "RGBA")
    return canvas.square(LEFT, ORANGE).square(RIGHT, ORANGE).made()
