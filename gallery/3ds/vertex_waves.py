"""
Waves in a vertex program
=========================

A lake in the evening: for each of 7000 vertices a loop adds up six waves, and their slopes make light and shade.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble
from pocketgpu.builder.matrices import UPRIGHT, perspective, rotation, translation
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import animate

PROGRAM = assemble(""".out o0 position\n.out o1 color
    .fvec waves[6], up, deep, bright
    .constf k(0.0, 1.0, 0.0, 0.0)
    .consti six(5, 0, 1, 0)     ; six times, from 0 in steps of 1
    mov r0, k.x
    for six
        dp3 r1.x, waves[lcnt].xyz, v0.xyz   ; place and time along a wave
        flr r1.y, r1.x
        add r1.x, r1.x, -r1.y               ; t: 0 to 1 within the wave
        add r1.y, k.y, -r1.x
        mul r1.z, r1.x, r1.y                ; an arch: t (1 - t)
        mad r0.x, -r1.z, waves[lcnt].w, r0.x
        add r1.z, r1.y, -r1.x               ; its slope: 1 - 2 t
        mad r0.y, r1.z, waves[lcnt].w, r0.y
    .end
    mad o0, r0.x, up, v1
    mov r2, deep
    mad o1, r0.y, bright, r2
    end""")
view = UPRIGHT @ perspective(0.5, 400 / 240, 1, 40) @ translation(0, -0.6, -9) @ rotation((1, 0, 0), 0.3)
vertices, indices = plane(20, 22, 89, 79)
(x, z), zero = vertices.T[:2], 0 * vertices[:, 0]
feet = np.column_stack([x, zero, z, zero + 1]) @ view.T
waves = [(0.1, 1, 0.2, 0.5), (-0.06, 1, 0.31, 0.4), (0.3, 2, 0.45, 0.16), (-0.42, 2, 0.6, 0.14)]
waves += [(0.1, 3, 1.1, 0.08), (1, 3, 0.9, 0.06)]  # 1 / length in x; rounds; 1 / length in z; height


def draw(time):
    canvas = Canvas((236, 206, 160, 255))
    canvas.show("vertex color").shader(PROGRAM).depth("greater")
    canvas.list.uniforms(0, [*waves, view[:, 1] * 0.7, (0.22, 0.36, 0.42, 1), (0.16, 0.24, 0.24, 0)])
    canvas.draw_vertices(np.column_stack([x, zero + time, z]), feet, indices=indices)
    return canvas.image().quantize(64, dither=0)


animate([draw(time) for time in np.arange(12) / 12], "vertex_waves.webp", milliseconds=80)

# %%
# A vertex program runs once for each vertex. This one has a loop: LOOP takes its number of rounds from an integer
# uniform (:register:`VSH_INTUNIFORM_I0`), and the loop counter aL, ``lcnt`` in the text, selects a float uniform in
# each round, so that a wave is one of the 96 uniforms that go through :register:`VSH_FLOATUNIFORM_DATA0`. The unit
# has no sine. FLR takes the whole part away, and t (1 - t) is an arch with the slope 1 - 2 t, which is enough for
# water. The program adds the height along the direction "up" to a place that is already in clip space. Colours go on
# without their sign, so a negative one would be bright: the colours here stay above 0. Only one uniform register can
# be read in an instruction; that is why "deep" is moved to a temporary register first. The vertices never change in
# memory but for the time, which stands in one of their components.
