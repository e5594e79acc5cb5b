"""Scenes of the tests of a pixel, and of blending."""

from __future__ import annotations

from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BACKGROUND, BLUE, DARK, LEFT, LIGHT, ORANGE, RIGHT, Canvas


def _stencil(canvas: Canvas, function: str, reference: int, operation: str = "keep", *, colors: str = "rgba") -> None:
    """Test the stencil from here on; what to do with it, whatever comes out; which channels are drawn."""
    canvas.list.depth(None, write=False, colors=colors)
    canvas.list.write(
        "STENCIL_TEST", enable=True, function=function, reference=reference, input_mask=255, write_mask=255
    )
    canvas.list.write("STENCIL_OP", fail=operation, z_fail=operation, z_pass=operation)


@scene("test.order")
def _() -> Made:
    """Left, a square that the alpha test lets through sets the stencil; right, one that it rejects does. Orange is
    drawn where the stencil is set: on the left only (alpha-first), or on both sides (depth-first)."""
    canvas = Canvas()
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
    """The stencil is 5 everywhere. Blue is drawn where the reference 3 is less, or where 5 is less than the reference
    7: on the left under "reference < stored" (reference), on the right under "stored < reference" (stored)."""
    canvas = Canvas()
    _stencil(canvas, "always", 5, "replace")
    canvas.fill(LEFT, DARK)
    canvas.fill(RIGHT, DARK)
    for box, reference in ((LEFT, 3), (RIGHT, 7)):
        _stencil(canvas, "less", reference)
        canvas.fill(box, BLUE)
    return canvas.made()


@scene("test.stencil_write")
def _() -> Made:
    """Two squares go into the stencil, and a colour goes where the stencil is set. For the left one DEPTHBUFFER_WRITE
    allows the stencil, for the right one only the depth: it is missing (stencil), or there (any)."""
    canvas = Canvas()
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
    """Two near squares write their depth, the left one with a depth test that always passes, the right one without a
    test. A far square is then behind both (yes), or covers the right one (no)."""
    canvas = Canvas()
    for box, test in ((LEFT, "always"), (RIGHT, None)):
        canvas.list.depth(test, write=True)
        canvas.fill(box, BLUE, depth=0.8)
    canvas.list.depth("greater", write=False)
    for box in (LEFT, RIGHT):
        canvas.fill(box.inner(20), ORANGE, depth=0.3)
    return canvas.made()


@scene("blend.min_max")
def _() -> Made:
    """Light grey is drawn over blue with "minimum" and factors of zero. On the left the equation is "add": black. On
    the right it is black too (with-factors), or the lesser of both colours, which is blue (plain)."""
    canvas = Canvas()
    for box, equation in ((LEFT, "add"), (RIGHT, "minimum")):
        canvas.list.blend()
        canvas.fill(box, BLUE)
        canvas.list.blend("zero", "zero", equation)
        canvas.fill(box.inner(20), LIGHT)
    return canvas.made()


@scene("blend.factor_15")
def _() -> Made:
    """An orange square is drawn with the source factor "one" on the left and with code 15 on the right: it is the same
    (one), or the colour is multiplied by itself and darker (source)."""
    canvas = Canvas()
    for box, code in ((LEFT, 1), (RIGHT, 15)):
        canvas.list.write("BLEND_FUNC", src_rgb=code, src_alpha=code)
        canvas.fill(box, ORANGE)
    return canvas.made()
