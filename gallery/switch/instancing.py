"""
Instancing
==========

A sunflower of 900 petals: one leaf of six vertices is drawn 900 times, each time at another place, turned and coloured.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas

PETALS = 900
VERTEX = """
    ALD.64 R0, a[0x80]                   // attribute 0: a vertex of the leaf
    ALD.128 R4, a[0x90]                  // attribute 1, of the instance: place, and a vector for turn and size
    ALD.128 R8, a[0xa0]                  // attribute 2, of the instance: colour
    FFMA R4, R0, R6, R4
    FFMA R4, R1, -R7, R4
    FFMA R5, R0, R7, R5
    FFMA R5, R1, R6, R5
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4
    FMUL R2, R0, 0.5                     // the outer end of a leaf is lighter
    FADD R2, R2, 0.5
    FMUL R8, R8, R2
    FMUL R9, R9, R2
    AST.128 a[0x80], R8
    EXIT
"""
LEAF = np.array([(0, 0), (0.3, 0.3), (0.7, 0.25), (1, 0), (0.7, -0.25), (0.3, -0.3)], "<f4")

n = np.arange(PETALS)[::-1]
angle, radius = n * np.pi * (3 - 5**0.5), 0.88 * np.sqrt((n + 0.5) / PETALS)
size = 0.025 + 0.09 * radius
color = np.stack([0.35 + 0.7 * radius, 0.1 + 0.75 * radius**1.4, 0.08 + 0 * n, 1 + 0 * n], axis=1)
place = np.stack([radius * np.cos(angle), radius * np.sin(angle), size * np.cos(angle), size * np.sin(angle)], axis=1)
instances = np.concatenate([place, color], axis=1).astype("<f4")

canvas = MaxwellCanvas(360, 360)
many = canvas.samples(4)
pb = canvas.programs(vertex=VERTEX).pb
pb.stream(0, canvas.put(LEAF), 8, size=LEAF.nbytes).attribute(0, 0, 0, "R32_G32")
pb.stream(1, canvas.put(instances), 32, size=instances.nbytes, divisor=1)
pb.attribute(1, 1, 0, "R32_G32_B32_A32").attribute(2, 1, 16, "R32_G32_B32_A32")
pb.draw("TRIANGLE_FAN", len(LEAF), instances=PETALS)
canvas.resolve(many).image().save("instancing.png")

# %%
# An instance is one more run of the same draw. Vertices come from streams, and a stream with a divisor
# (:method:`SET_VERTEX_STREAM_A_FREQUENCY`) goes one element further not with each vertex but after so many instances,
# where :method:`SET_VERTEX_STREAM_INSTANCE_A` turns that on. Here stream 0 has six vertices of a leaf, and stream 1 has
# 900 places, sizes, directions and colours, one for each instance; the vertex program turns and moves the leaf. No
# method draws many instances at once: the pushbuffer repeats :method:`BEGIN`, :method:`DRAW_VERTEX_ARRAY` and
# :method:`END`, and the field INSTANCE_ID of BEGIN says whether the number starts again or goes on. Drivers let a macro
# do that. The angle from one leaf to the next is the golden angle of real sunflowers.
