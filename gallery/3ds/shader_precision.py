"""
The precision of the shader unit
================================

The Mandelbrot set, computed by a vertex program for 15000 points: seen nearer, numbers of 24 bits break it into blocks.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import beside

PROGRAM = assemble(""".out o0 position\n.out o1.xyz texcoord0w
    .constf k(0.0, 1.0, 4.0, 0.03125)
    .consti most(254, 0, 1, 0)      ; 255 times
    mov r0, k.x                 ; z, and how many rounds it took
    for most
        mul r1.xy, r0.xy, r0.xy
        mul r2.x, r0.x, r0.y
        add r0.x, r1.x, -r1.y
        add r0.y, r2.x, r2.x
        add r0.xy, v1.xy, r0.xy
        add r1.x, r1.x, r1.y
        cmp k.zz, lt, lt, r1.xx
        breakc cmp.x
        add r0.z, k.y, r0.z
    .end
    mov o0, v0
    mul o1, k.w, r0.z           ; texture coordinate u
    end""")
vertices, indices = plane(2, 2, 159, 95)
wave = 0.5 + 0.5 * np.cos(2 * np.pi * (np.arange(32)[:, None] / 32 + (0.5, 0.4, 0.3, 0)))
places = np.column_stack([vertices[:, 1], -vertices[:, 0], 0 * vertices[:, 0] - 0.5])
RAMP = np.tile((wave * 255).astype(np.uint8), (8, 1, 1))


def draw(size, precision):
    canvas = Canvas()
    canvas.texture(RAMP, filter="nearest")
    canvas.list.shader(PROGRAM)
    canvas.draw_vertices(places, vertices[:, :2] * (size, size * 0.6) + (-0.77568377, 0.13646737), indices=indices)
    return canvas.image(switches={"shader.precision": precision})

pictures = [draw(size, kind) for size in (1e-3, 1e-4) for kind in ("f32", "f24")]
labels = ["32 bits", "24 bits", "32 bits, ten times nearer", "24 bits, ten times nearer"]
beside(pictures, labels, columns=2).quantize(48, dither=0).save("shader_precision.png")

# %%
# The program squares a complex number and adds a constant, up to 255 times; BREAKC leaves the loop as soon as CMP
# finds the number large. The number of rounds is a texture coordinate and so becomes a colour. The shader unit has
# floats of 24 bits: a sign, 7 bits of exponent and 16 of mantissa, so next to 0.78 the step from one number to the
# next is 0.0000076. In the lower pictures two columns of vertices are 0.0000013 apart, and six of them share one
# number. This package computes in 32 bits unless the choice :choice:`shader.precision` says "f24": it is known that
# there are 24 bits, but not how the unit rounds, and a wrong guess would do more harm. Uniforms come in either
# format, as the bit f32 of :register:`VSH_FLOATUNIFORM_INDEX` says, and are kept in 24 bits.
