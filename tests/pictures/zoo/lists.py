"""Command lists: jumps and their interrupt, byte masks, data ports; and render targets in blocks of 32x32."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import assemble
from pocketgpu.builder.entries import FINALIZE_VALUE
from pocketgpu.facts.pica import PICA

from .stage import BLUE, GREEN, RED, WHITE, YELLOW, List, Scene, scene

UNIFORM = assemble("""
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mov o1, c0
        end
    third:
        mov o0, v0
        mov o1, c2
        end
""")


@scene(6, 1, 16, events=["list.no-finalize"])
def list_jumps(s: Scene) -> None:
    """A list (red) that jumps through channel 0 to a second one (green), which jumps through channel 1 to a third
    (blue). What is after the third's FINALIZE is not drawn (empty). A list without FINALIZE is drawn (yellow) but
    raises no interrupt; of a list whose size ends before its draw nothing is seen (empty). One P3D in all."""
    lists: list[List] = []

    def part(label: str, color: tuple[float, ...], reuse: bool = False) -> List:
        s.cl = lists[-1] if reuse else s.new_list()
        if not reuse:
            lists.append(s.cl)
        s.cell(label)
        s.triangle(color)
        return s.cl

    first, second = part("first list", RED), part("second list", GREEN)
    third = part("third list", BLUE)
    third.write_word("FINALIZE", FINALIZE_VALUE)
    part("behind FINALIZE", WHITE, reuse=True)
    third.finalize()
    address = s.capture.put(third.tobytes())
    second.jump(address, 4 * len(third), channel=1)
    address = s.capture.put(second.tobytes())
    first.jump(address, 4 * len(second), channel=0)
    s.capture.submit(first)
    for label, color, words in (("without FINALIZE", YELLOW, 0), ("size ends before the draw", WHITE, 32)):
        cl = part(label, color)
        while len(cl) % 4:
            cl.write_word(0, 0, byte_mask=0)
        data = cl.tobytes()[: 4 * words] if words else cl.tobytes()
        start = s.capture.put(cl.tobytes())
        for name, value in (("CMDBUF_SIZE0", len(data) >> 3), ("CMDBUF_ADDR0", start >> 3), ("CMDBUF_JUMP0", 1)):
            s.capture.write_word(PICA[name].address, value)
    s.cl = List()


@scene(8, 3, 8)
def list_entries(s: Scene) -> None:
    """Byte masks: a constant colour of (60, 60, 60, 60) is overwritten with (250, 150, 0, 255) under each of the
    sixteen masks (bit 0 is red, bit 3 alpha). Third row, a green constant each: one entry for consecutive registers;
    one that goes to the same register again and again (the last word counts); uniforms as 32-bit floats, as 24-bit
    ones, and from the middle on, through another data port."""
    for stage in range(6):
        s.cl.combiner(stage)
    s.cl.combiner(0, ("replace", "constant"), ("replace", "constant"))
    for mask in range(16):
        s.cell(f"mask {mask:04b}").write_word("TEXENV0_COLOR", 0x3C3C3C3C)
        s.cl.write_word("TEXENV0_COLOR", 0xFF0096FA, byte_mask=mask)
        s.quad()
    green = 0xFF28C83C
    s.cell("consecutive registers").write_words("TEXENV0_SOURCE", [0x000E000E, 0, 0, green, 0])
    s.quad()
    s.cell("the same register").write_words("TEXENV0_COLOR", [0, 0xFFFFFFFF, green], consecutive=False)
    s.quad()
    s.cl.combiner(0, ("replace", "vertex color"), ("replace", "vertex color"))
    s.cl.shader(UNIFORM)
    shade = [60 / 255, 200 / 255, 40 / 255, 1]
    s.cell("uniforms, f32").uniforms(0, [shade])
    s.quad()
    s.cell("uniforms, f24").uniforms(0, [shade[::-1]], f32=False).uniforms(0, [shade], f32=False)
    s.quad()
    s.cell("from c1 on").uniforms(0, [[1, 0, 0, 1]]).uniforms(1, [[0, 0, 1, 1], shade])
    s.cl.entry(UNIFORM, "third")
    s.quad()
    s.cell("another data port").entry(UNIFORM).write("VSH_FLOATUNIFORM_INDEX", index=0, f32=True)
    s.cl.fifo("VSH_FLOATUNIFORM_DATA5", np.array(shade[::-1], np.float32).view(np.uint32).tolist())
    s.quad()


@scene(2, 2, 32, gap=0, events=["pica.block32"])
def blocks_of_32(s: Scene) -> None:
    """A target in blocks of 32x32 pixels, in an order that is a guess (choice transfer.block32), and what a transfer in
    such blocks makes of it: a linear copy. Four quads and triangles, whole in both pictures."""
    s.surfaces = [s.surface("color", s.color, "RGBA8", blocks32=True)]
    s.cl.write("FRAMEBUFFER_BLOCK32", enable=True)
    corners = np.array([RED, GREEN, BLUE, YELLOW])
    for number, name in enumerate(("upper left", "upper right", "lower left", "lower right")):
        s.cell(name)
        s.quad(np.roll(corners, number, axis=0))
        s.triangle(WHITE, size=0.4 + 0.15 * number)
    s.submit()
    linear = s.capture.allocate(4 * s.texels)
    s.capture.transfer(s.color, linear, s.width, s.height, output_format="RGBA8", block32=True)
    s.surfaces.append(s.surface("linear", linear, "RGBA8", layout="linear"))
    s.cl = List()
