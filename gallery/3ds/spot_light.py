"""
Spot light
==========

A lamp over a stage with a ring, a ball and a box: its cone has a hard edge, a soft edge, or rings.
"""

import numpy as np

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.pictures import beside

x = np.arange(257) / 256  # the cosine of the angle to the axis of the cone
cone = np.degrees(np.arccos(x))
TABLES = {
    "spot_off": None,
    "17 degrees, hard": (cone < 17) * 1.0,
    "from 8 to 25 degrees": np.clip((25 - cone) / 17, 0, 1),
    "rings": (cone < 25) * (cone % 8 < 5),
}
canvas = Canvas((12, 12, 20, 255))
canvas.camera((0, 4, 8), (0, 0.2, 0), angle=0.6)
for table in TABLES.values():
    canvas.clear()
    canvas.list.depth("greater")
    tables = {} if table is None else {"SP0": table}
    canvas.lighting(tables, inputs={"sp": "-L.P (spot)"}, ambient=(20, 20, 36))
    canvas.light(0, (-2, 6, 3), diffuse=(255, 220, 170), aim=(0, 0, 0))
    canvas.mesh(shapes.plane(12, 9), rotation((1, 0, 0), -np.pi / 2))
    canvas.mesh(shapes.sphere(0.6, 48, 24), translation(0.9, 0.6, 0.8))
    canvas.mesh(shapes.cube(1.1), translation(-1.1, 0.55, 0) @ rotation((0, 1, 0), 0.6))
    canvas.mesh(shapes.torus(0.7, 0.2), translation(0.4, 0.9, -1))
    canvas.end_frame()
beside(canvas.images(), [*TABLES], columns=2).save("spot_light.png")

# %%
# A spot light is a light with a table SP of its own: SP0 to SP7 for lights 0 to 7. It is looked up with the cosine of
# the angle between the direction to the light and the axis of the cone, which :register:`LIGHT0_SPOTDIR_XY` and
# :register:`LIGHT0_SPOTDIR_Z` hold (negated), and the result is multiplied to all that the light gives. One bit a
# light of ``spot_off`` in :register:`LIGHTING_CONFIG1` switches the table off, as in the first picture. A table with
# a step makes a hard edge, a slope a soft one, and nothing forbids rings. An entry is 1/256 of the cosine: near the
# axis that is 5 degrees, so the step at 17 degrees is sharp, and finer detail in the middle is lost. Every fragment
# has its own angle; a floor of two triangles is enough. The lamp throws no shadows.
