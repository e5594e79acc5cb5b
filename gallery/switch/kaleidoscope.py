"""
Several viewports: a kaleidoscope
=================================

Seventy coloured shards, drawn once, appear in all four quarters of the picture, mirrored towards the middle.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas

VERTEX = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    MOV32I R8, 0xf
    AST a[0x3a0], R8                     // the mask of viewports: all four
    EXIT
"""
SIDE = 360
rng = np.random.default_rng(11)
rows = []
for _ in range(70):  # shards of all colours, more of them near the lower left corner
    middle, turn = rng.beta(1.1, 1.8, 2) * 2 - 1, rng.uniform(0, 6.28)
    size, hue = rng.uniform(0.1, 0.5), rng.uniform(0, 6.28)
    color = 0.55 + 0.45 * np.cos(hue + np.array([0, 2.1, 4.2]))
    for k in range(3):
        at = middle + size * np.array([np.cos(turn + 2.1 * k), np.sin(turn + 2.1 * k)])
        rows.append((*at, 0.5, 1, *(color * (1 - 0.3 * k)), 0.75))

canvas = MaxwellCanvas(SIDE, SIDE)
many = canvas.samples(4)
canvas.programs(vertex=VERTEX).blend()
for number in range(4):
    right, lower = number & 1, number >> 1
    canvas.pb.viewport(SIDE / 2 * right, SIDE / 2 * lower, SIDE / 2, SIDE / 2, number=number)
    x, y = ("NEG_X", "POS_X")[right], ("POS_Y", "NEG_Y")[lower]
    canvas.pb.method("SET_VIEWPORT_COORDINATE_SWIZZLE", number, X=x, Y=y, Z="POS_Z", W="POS_W")
canvas.draw("TRIANGLES", rows).resolve(many).image().quantize(160).save("kaleidoscope.png")

# %%
# The GPU has sixteen viewports. A vertex or geometry program can say with one word which of them a triangle goes to, by
# number, or on Maxwell by a mask: a bit for each viewport, and the triangle is drawn in all of them. Here the mask is
# 15, so one draw of 70 triangles fills four quarters. Each viewport has its own rectangle
# (:method:`SET_VIEWPORT_SCALE_X`, :method:`SET_VIEWPORT_OFFSET_X`) and its own swizzle,
# :method:`SET_VIEWPORT_COORDINATE_SWIZZLE`, which says which coordinate of a position, with which sign, becomes x, y, z
# and w. In three of the four x, y or both are negative, so the quarters mirror each other. With the six swizzles that
# turn to the faces of a cube, and a layer for each, a cube map can be drawn at once. Triangles are clipped for each
# viewport on its own.
