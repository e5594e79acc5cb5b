"""
A geometry program grows grass
==============================

Each of 700 points becomes a blade of grass of eight triangles, and gusts of wind run over the meadow.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas, assemble
from pocketgpu.builder.matrices import UPRIGHT, perspective, rotation, translation
from pocketgpu.pictures import animate

VERTEX = assemble(".out o0 position\n.out o1 color\nmov o0, v0\nmov o1, v1\nend\n")
POINT = """.out o0 position\n.out o1 color\n.constf k(0.0, 1.0, 0.25, -1.0)\n.consti steps(3, 0, 1, 0)
.proc point                 ; r0.x: how far up, 0 to 1; v0: the foot; v1: lean, height, width, hue
    mul r2.x, r0.x, r0.x\n    mul r2.x, v1.x, r2.x\n    add r2.z, k.y, -r0.x\n    mul r2.z, v1.z, r2.z
    mad r2.x, r2.z, r0.y, r2.x  ; to the side: the lean, and half of the width, which tapers
    mul r2.y, v1.y, r0.x\n    mov r3, v0\n    mad r3, c0, r2.y, r3\n    mad o0, c1, r2.x, r3
    mov r4, c2\n    mad r4, c3, r0.x, r4\n    mad o1, c4, v1.w, r4\n.end
.proc main\n    mov r0, k.x\n    for steps\n"""
SIDES = (("y", "0"), ("w", "1"), ("y", "2, prim"), ("w", "0, prim inv"))
PARTS = [f"mov r0.y, k.{side}\ncall point\nsetemit {corner}\nemit\n" for side, corner in SIDES]
BLADE = assemble(POINT + PARTS[0] + PARTS[1] + "add r0.x, k.z, r0.x\n" + PARTS[2] + PARTS[3] + "nop\n.end\nend\n.end\n")

view = UPRIGHT @ perspective(0.6, 400 / 240, 1, 30) @ translation(0, -1.0, -5.5) @ rotation((1, 0, 0), 0.25)
random = np.random.default_rng(3)
feet = np.column_stack([random.uniform((-4.5, 0, -6), (4.5, 0, 1.5), (700, 3)), np.ones(700)])
blades = random.uniform((-0.15, 0.5, 0.03, 0), (0.15, 1.1, 0.06, 1), (700, 4))


def draw(time):
    canvas = Canvas((150, 190, 220, 255))
    canvas.fill(Box(0, 70, 400, 240), (40, 74, 36, 255), depth=0)
    canvas.show("vertex color").depth("greater").shader(VERTEX).geometry_shader(BLADE, outputs=2)
    canvas.list.uniforms(0, [view[:, 1], view[:, 0], (0.1, 0.25, 0.08, 1), (0.4, 0.55, 0.1, 0)], unit="GSH")
    canvas.list.uniforms(4, [(0.2, 0.05, 0, 0)], unit="GSH")
    wind = 0.45 * np.sin(2 * np.pi * (feet[:, 0] / 6 + feet[:, 2] / 15 - time)) ** 4
    canvas.draw_vertices(feet @ view.T, blades + np.outer(wind, (1, 0, 0, 0)), primitive="geometry")
    return canvas.image().quantize(64, dither=0)

animate([draw(time) for time in np.arange(12) / 24], "geometry_grass.webp", milliseconds=90)

# %%
# With :register:`GEOSTAGE_CONFIG` switched on, one of the four shader units runs a geometry program between the
# vertex program and the rasteriser. In mode "point" of :register:`GSH_MISC0` it starts as soon as the outputs of the
# vertex program fill its input registers, here two of one vertex: the foot of a blade, and its lean, height, width
# and hue. The program has to make each vertex: SETEMIT chooses one of four buffers (:choice:`geometry.emit_buffers`),
# EMIT stores the output registers in it, and with the flag "prim" a triangle of the first three buffers goes on. A
# strip needs no vertex twice, as a buffer keeps its vertex; the flag "inv" turns every second triangle round. The
# rasteriser gets what :register:`GSH_OUTMAP_MASK` names. So 700 points of 32 bytes become 5600 triangles, and the
# wind is one number of each point. Booleans, integers and 96 float uniforms of this unit are its own, such as
# :register:`GSH_INTUNIFORM_I0`.
