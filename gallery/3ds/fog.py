"""
Fog
===

A row of pillars at dusk without fog, and in fog by three tables: even with distance, dense, and in steps.
"""

import numpy as np

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation, scaling, translation
from pocketgpu.pictures import beside

NEAR, FAR = 1.0, 40.0
depth = np.arange(129) / 128
distance = FAR * NEAR / (depth * (FAR - NEAR) + NEAR)  # of the camera's depths
TABLES = {
    "fog_mode = off": None,
    "even": 1 - distance / FAR,
    "dense: exp(-distance / 8)": np.exp(-distance / 8),
    "steps of 8": 1 - np.floor(distance / 8) / 4,
}
canvas = Canvas((226, 170, 140, 255))
for table in TABLES.values():
    canvas.clear()
    canvas.camera((0.9, 2.4, 9), (0.2, 1.5, 0), near=NEAR, far=FAR)
    canvas.list.depth("greater")
    canvas.texture(patterns.checks(64, 2, [(96, 104, 84), (128, 132, 100)]))
    if table is not None:
        canvas.list.write("TEXENV_UPDATE_BUFFER", fog_mode="fog")
        canvas.list.write("FOG_COLOR", r=226, g=170, b=140)
        canvas.list.fog_table(table)
    floor = shapes.tiled(shapes.plane(80, 80), 20, 20)
    canvas.mesh(floor, rotation((1, 0, 0), -np.pi / 2))
    canvas.lighting(ambient=(50, 44, 80))
    canvas.light(0, (3, 2, 2), diffuse=(120, 96, 150), directional=True)
    for z in range(4, -30, -4):
        for x in (-2.5, 2.5):
            canvas.mesh(shapes.cube(0.8), translation(x, 1.5, z) @ scaling(1, 3.75, 1))
    canvas.end_frame()
beside(canvas.images(), [*TABLES], columns=2).save("fog.png")

# %%
# Fog comes after the combiners: the share of the fragment's own colour is looked up by its depth in a table of 128
# entries, each with the difference to the next one, and the rest is :register:`FOG_COLOR`. ``fog_mode`` in
# :register:`TEXENV_UPDATE_BUFFER` switches it on, and the table goes through :register:`FOG_LUT_DATA0`. The GPU knows
# no kind of fog; what the program writes into the table makes it even, dense, or a row of steps. But depth is not
# distance: with this camera, depth 1 is 1 away, depth 0 is 40 away, and the entry next to depth 0 is only 31 away. So
# the near step is sharp and the far ones run together. Alpha stays as it is. How results are rounded is not known:
# :choice:`fog.arithmetic`.
