"""
Depth by z and by w
===================

Three ridges of far mountains: with depth by z they run into each other, with depth by w each covers the farther ones.
"""

import numpy as np

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.pictures import beside

NEAR, FAR = 0.0001, 1000.0
VARIANTS = {"enable = 1: z / w": True, "enable = 0: depth times w": False}
RIDGES = {  # distance: height, colour; the farthest first
    -360: (95, (190, 168, 184, 255)),
    -330: (62, (132, 126, 160, 255)),
    -300: (30, (70, 92, 118, 255)),
}
turn = rotation((0, 1, 0), 0.5)

canvas = Canvas((250, 206, 160, 255))
for by_z in VARIANTS.values():
    canvas.clear()
    canvas.camera((0, 20, 0), (0, 24, -100), near=NEAR, far=FAR)
    canvas.list.depth("greater")
    if not by_z:
        canvas.list.write("DEPTHMAP_ENABLE", enable=False)
        canvas.list.write("DEPTHMAP_SCALE", value=-1 / NEAR)
    random = np.random.default_rng(5)
    for z, (height, color) in RIDGES.items():
        vertices, indices = shapes.plane(900, 2, 60)
        peaks = height * (1 + 0.4 * random.random(len(vertices)))
        vertices[:, 1] = np.where(vertices[:, 1] > 0, peaks, -300)
        canvas.paint(color)
        canvas.mesh((vertices, indices), translation(0, 0, z) @ turn)
    canvas.end_frame()
beside(canvas.images(), [*VARIANTS]).save("w_buffer.png")

# %%
# The depth of a fragment is z / w, times :register:`DEPTHMAP_SCALE`, plus :register:`DEPTHMAP_OFFSET`. It falls with
# one over the distance: if the nearest distance is 0.0001, as here, depths of things 300 away are 3 ten-millionths,
# and the 24 bits of the buffer count in steps of 0.6 ten-millionths. Ridges that are 30 apart get the same depth in
# places, and there the one that was drawn first stays: the far one. With ``enable`` = 0 in
# :register:`DEPTHMAP_ENABLE` the result is multiplied by w, which is the distance, and depth becomes even with
# distance: one step is the same everywhere. The scale has to fit, here -1 / 0.0001, so that depth is 1 at the eye and
# 0 at 1000. Programs call it a w buffer. Fog is looked up by this depth too.
