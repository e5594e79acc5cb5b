"""Scenes of the tests of a pixel, and of blending."""

from __future__ import annotations

from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BACKGROUND, BLUE, DARK, LEFT, LIGHT, ORANGE, RIGHT, SceneCanvas


def _stencil(
    canvas: SceneCanvas, function: str, reference: int, operation: str = "keep", *, colors: str = "rgba"
) -> None:  # fmt: skip
    """Test the stencil from here on; what to do with it, whatever comes out; which channels are drawn."""
    canvas.list.depth(None, write=False, colors=colors)
    canvas.list.write(
        "STENCIL_TEST", enable=True, function=function, reference=reference, input_mask=255, write_mask=255
    )
    canvas.list.write("STENCIL_OP", fail=operation, z_fail=operation, z_pass=operation)


@scene("test.order")
def _() -> Made:
    """Fragments in the left square pass the alpha test, fragments in the right one do not; both are to set the stencil.
    Orange is then drawn where it is set: on the left only (alpha-first), or on both sides (depth-first)."""
    canvas = SceneCanvas()
    canvas.fill(LEFT, DARK)
    canvas.fill(RIGHT, DARK)
    canvas.list.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=127)
    for box, alpha in ((LEFT, 255), (RIGHT, 0)):
        _stencil(canvas, "never", 1, "replace")
        canvas.fill(box.inner(20), (*BACKGROUND[:3], alpha))
    canvas.list.write("FRAGOP_ALPHA_TEST")
    _stencil(canvas, "equal", 1)
    for box in (LEFT, RIGHT):
        canvas.fill(box, ORANGE)
    return canvas.made()


@scene("test.stencil_operands")
def _() -> Made:
    """The stencil is 5 everywhere, and the test is "less". The reference is 3 for the left square and 7 for the right
    one. The left square is blue, because 3 is less than 5 (reference), or the right one is, because 5 is less than 7
    (stored)."""
    canvas = SceneCanvas()
    _stencil(canvas, "always", 5, "replace")
    canvas.fill(LEFT, DARK)
    canvas.fill(RIGHT, DARK)
    for box, reference in ((LEFT, 3), (RIGHT, 7)):
        _stencil(canvas, "less", reference)
        canvas.fill(box, BLUE)
    return canvas.made()


@scene("test.stencil_write")
def _() -> Made:
    """Two squares set the stencil. DEPTHBUFFER_WRITE allows the stencil for the left one, and only the depth for the
    right one. Orange is then drawn where the stencil is set: on the left only (stencil), or on both sides (any)."""
    canvas = SceneCanvas()
    for box, stencil in ((LEFT, True), (RIGHT, False)):
        _stencil(canvas, "always", 1, "replace")
        canvas.list.write("DEPTHBUFFER_WRITE", depth=True, stencil=stencil)
        canvas.fill(box, DARK)
    _stencil(canvas, "equal", 1)
    for box in (LEFT, RIGHT):
        canvas.fill(box.inner(20), ORANGE)
    return canvas.made()


@scene("test.untested_depth_write")
def _() -> Made:
    """Two near, blue squares write their depth: the left one with a depth test that always passes, the right one
    without a test. Far, orange squares are hidden by both (yes), or the right one is not hidden (no)."""
    canvas = SceneCanvas()
    for box, test in ((LEFT, "always"), (RIGHT, None)):
        canvas.list.depth(test, write=True)
        canvas.fill(box, BLUE, depth=0.8)
    canvas.list.depth("greater", write=False)
    for box in (LEFT, RIGHT):
        canvas.fill(box.inner(20), ORANGE, depth=0.3)
    return canvas.made()


@scene("blend.min_max")
def _() -> Made:
    """Light grey is drawn over blue with factors of zero. The left square adds both: black. The right one takes the
    minimum: of colours times factors, black (with-factors), or of the colours themselves, blue (plain)."""
    canvas = SceneCanvas()
    for box, equation in ((LEFT, "add"), (RIGHT, "minimum")):
        canvas.list.blend()
        canvas.fill(box, BLUE)
        canvas.list.blend("zero", "zero", equation)
        canvas.fill(box.inner(20), LIGHT)
    return canvas.made()


@scene("blend.factor_15")
def _() -> Made:
    """Orange is drawn with the source factor "one" for the left square and code 15 for the right one. That is the same
    (one), or darker, because the colour is multiplied by itself (source)."""
    canvas = SceneCanvas()
    for box, code in ((LEFT, 1), (RIGHT, 15)):
        canvas.list.write("BLEND_FUNC", src_rgb=code, src_alpha=code)
        canvas.fill(box, ORANGE)
    return canvas.made()
