"""The last step of a fragment: blending, logic operations, masks, formats of the colour buffer."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.pica_enums import BLEND_EQUATION, BLEND_FACTOR, COLOR_FORMAT, COMPARE, LOGIC_OP

from .stage import BACKGROUND, TO_RIGHT, Scene, each, rgba, scene

SOURCE = ((0.1, 0.9, 0.3, 0.1), (0.1, 0.9, 0.3, 1.0), (1.0, 0.9, 0.3, 1.0), (1.0, 0.9, 0.3, 0.1))
"""Red grows upward, alpha to the right."""


def under(s: Scene) -> None:
    """What is drawn upon: green and blue grow to the right, alpha upward."""
    x, y = s.content
    s.fill_color(s.pattern(rgba(0.4, x, 1 - x, 0.1 + 0.9 * y), outside=BACKGROUND))


@scene(15, 2, 16)
def blend_factors(s: Scene) -> None:
    """Every factor. Upper row: of the source (red grows upward, green 0.9, alpha to the right) in rgb, of the
    destination (green to the right, blue to the left, alpha upward) in alpha; lower row the other way round. The other
    factor is zero, the constant colour is (0.25, 0.5, 0.75, 0.6)."""
    under(s)
    s.cl.write("BLEND_COLOR", r=64, g=128, b=191, a=153)
    for factor in each(BLEND_FACTOR):
        s.cell(f"rgb source {factor}, alpha destination {factor}")
        s.cl.blend(factor, "zero", source_alpha="zero", destination_alpha=factor)
        s.quad(SOURCE)
    for factor in each(BLEND_FACTOR):
        s.cell(f"rgb destination {factor}, alpha source {factor}")
        s.cl.blend("zero", factor, source_alpha=factor, destination_alpha="zero")
        s.quad(SOURCE)


PAIRS = (
    ("one", "one"), ("source alpha", "1 - source alpha"), ("destination color", "constant alpha"),
    ("1 - destination alpha", "source color"),
)  # fmt: skip


@scene(8, 4, 16)
def blend_equations(s: Scene) -> None:
    """Every equation (columns; codes 5 to 7 add), with a pair of factors for each row. Alpha has the equations in
    reverse order. Source and destination are those of blend_factors."""
    under(s)
    s.cl.write("BLEND_COLOR", r=64, g=128, b=191, a=153)
    names = list(each(BLEND_EQUATION))
    for source, destination in PAIRS:
        for equation, other in zip(names, names[::-1], strict=True):
            s.cell(f"{equation}: {source}, {destination}")
            s.cl.blend(source, destination, equation, equation_alpha=other)
            s.quad(SOURCE)


@scene(4, 4, 32)
def logic_ops(s: Scene) -> None:
    """The sixteen logic operations on all bits: the source grows to the right, the destination upward (in green the
    other way), so that each shows a pattern of squares in squares; alpha too."""
    _, y = s.content
    s.fill_color(s.pattern(rgba(y, 1 - y, y, y), outside=BACKGROUND))
    s.cl.write("COLOR_OPERATION", line_config=0xE4)
    for op in each(LOGIC_OP):
        s.cell(op).write("LOGIC_OP", op=op)
        s.quad([(0, 1, 0, 0), (1, 0, 1, 1), (1, 0, 1, 1), (0, 1, 0, 0)])


@scene(9, 3, 16)
def alpha_test(s: Scene) -> None:
    """Every function (columns) against references 0, 128 and 255, and in the last column with the test off: three bands
    of alpha 0, 128 and 255 from left to right; what fails leaves the background."""
    bands = [(1, 0.25 + 0.75 * a / 255, 0.2, a / 255) for a in (0, 128, 255)]
    for reference in (0, 128, 255):
        for function in each(COMPARE):
            cl = s.cell(f"{function} {reference}")
            cl.write("FRAGOP_ALPHA_TEST", enable=True, function=function, reference=reference)
            s.bands(bands)
        s.cell(f"off (never {reference})").write("FRAGOP_ALPHA_TEST", function="never", reference=reference)
        s.bands(bands)


@scene(8, 4, 16)
def write_masks(s: Scene) -> None:
    """What reaches the buffers. First two rows: the sixteen masks of red, green, blue and alpha (a white quad of alpha
    255 over grey of alpha 64). Third row: depth written or not with and without a depth test; then the colour
    buffer's write register. Fourth: the depth buffer's write and read registers: reading off means that stored depths
    count as 0."""
    x, _ = s.content
    s.fill_color(s.pattern(rgba(0.4 * x, 0.4 * x, 0.4 * x, 0.25 + 0 * x), outside=BACKGROUND))
    s.fill_depth(s.pattern(0.75 + 0 * x), s.pattern(np.full(x.shape, 32)))
    for mask in range(16):
        colors = "".join(c for i, c in enumerate("rgba") if mask >> i & 1)
        s.cell(f"colours {colors or 'none'}").depth(None, write=False, colors=colors)
        s.quad()
    s.cl.write("STENCIL_TEST", enable=True, function="always", reference=200, write_mask=255, input_mask=255)
    s.cl.write("STENCIL_OP", fail="zero", z_fail="invert", z_pass="replace")
    for write in (False, True):
        for test in (None, "always", "greater", "less"):
            s.cell(f"depth write {'on' if write else 'off'}, test {test or 'off'}").depth(test, write=write)
            s.quad(z=(-0.5, -1.0, -1.0, -0.5))
    for stencil in (False, True):
        for depth in (False, True):
            s.cell(f"DEPTHBUFFER_WRITE stencil {int(stencil)} depth {int(depth)}").depth("greater")
            s.cl.write("DEPTHBUFFER_WRITE", stencil=stencil, depth=depth)
            s.quad(z=(-0.5, -1.0, -1.0, -0.5))
    for stencil, depth in ((False, True), (True, False)):
        s.cell(f"DEPTHBUFFER_READ stencil {int(stencil)} depth {int(depth)}").depth("greater")
        s.cl.write("DEPTHBUFFER_WRITE", stencil=True, depth=True)
        s.cl.write("DEPTHBUFFER_READ", stencil=stencil, depth=depth)
        s.cl.write("STENCIL_TEST", enable=True, function="equal", reference=32, write_mask=255, input_mask=255)
        s.quad(z=(-0.5, -1.0, -1.0, -0.5))
    s.cl.write("STENCIL_TEST").write("DEPTHBUFFER_READ", stencil=True, depth=True)
    for mask in (0, 1):
        s.cell(f"COLORBUFFER_WRITE {mask}").depth("always")
        s.cl.write("COLORBUFFER_WRITE", mask=mask)
        s.quad(z=-1.0)


@scene(4, 1, (32, 32))
def color_formats(s: Scene) -> None:
    """The five formats of colour buffers, a surface each: a rainbow, alpha rising upward, copied; then blended half
    transparent over stripes; then added to what is there; then an xor of bits with stripes."""
    s.surfaces.clear()
    x, y = s.content
    stripes = (x * 4).astype(int) & 1
    first = s.pattern(rgba(stripes * 0.8, 0.2, 1 - stripes * 0.8, y), outside=BACKGROUND)
    rainbow = ((1, 0, 0, 0), (0, 0, 1, 0), (0, 1, 1, 1.0), (1, 1, 0, 1.0))
    for format in each(COLOR_FORMAT):
        s.color_format = format
        s.color = s.capture.allocate(s.texels * 4, region="VRAM")
        s.fill_color(first)
        s.surfaces.append(s.surface(format, s.color, format))
        s.submit()
        for number, name in enumerate(("copy", "blend", "add", "xor")):
            if format == "RGBA8":
                s.cell(name)
            x0, y0, w, h = 32 * number, s.gap, 32 - s.gap, 32 - s.gap
            s.cl.viewport(x0, y0, w, h)
            if name == "blend":
                s.cl.blend("source alpha", "1 - source alpha")
            elif name == "add":
                s.cl.blend("one", "one")
            elif name == "xor":
                s.cl.write("COLOR_OPERATION", line_config=0xE4).write("LOGIC_OP", op="xor")
            s.quad(rainbow)


@scene(4, 2, 16, alike=True)
def early_depth(s: Scene) -> None:
    """The early depth test only saves work where it is used as intended; nothing of it may change a picture. All eight
    cells are alike, whatever function and clear value: a slope that passes the ordinary test in its right half."""
    x, _ = s.content
    s.fill_depth(s.pattern(0.5 + 0 * x))
    s.cl.depth("greater")
    for value in (0, 0xFFFFFF):
        for number, function in enumerate(("greater or equal", "greater", "less or equal", "less")):
            s.cell(f"{function}, cleared to {value:#x}").write("EARLYDEPTH_FUNC", function=number)
            s.cl.write("EARLYDEPTH_DATA", value=value).write("EARLYDEPTH_CLEAR", clear=True)
            s.cl.write("EARLYDEPTH_TEST1", enable=True).write("EARLYDEPTH_TEST2", enable=True)
            s.quad(TO_RIGHT, z=(0, -1, -1, 0))
