"""
Fresnel alpha
=============

Balls before a tiled wall: without Fresnel, and with three tables that make their middle clear, as of glass.
"""

import numpy as np

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import translation
from pocketgpu.pictures import beside

x = np.arange(257) / 256
TABLES = {"fresnel = none": x, "1 - N.V": 1 - x, "(1 - N.V) ^ 3": (1 - x) ** 3}
TABLES["a step"] = x < 0.6
wall = patterns.checks(64, 8, [(226, 214, 190), (150, 96, 84)])

canvas = Canvas()
for name, table in TABLES.items():
    canvas.clear()
    canvas.texture(wall, filter="nearest")
    canvas.mesh(shapes.plane(8, 4), translation(0, 0, -1))
    canvas.list.write("FACECULLING_CONFIG", mode="back (clockwise)")
    canvas.list.depth("greater").blend("source alpha", "1 - source alpha")
    kind = "none" if name == "fresnel = none" else "primary alpha"
    tables = {"D0": x**60, "FR": table}
    canvas.lighting(tables, inputs={"fr": "N.V"}, ambient=(60, 120, 130), fresnel=kind)
    canvas.light(0, (-3, 4, 5), diffuse=(60, 110, 120), specular=(255, 255, 255))
    canvas.mesh(shapes.sphere(0.85, 64, 32), translation(0, 0, 0.6))
    canvas.end_frame()
pictures = [picture.crop((110, 30, 290, 210)) for picture in canvas.images()]
beside(pictures, [*TABLES], columns=4).save("fresnel.png")

# %%
# Glass is clear where one looks straight at it and reflects where one looks along it. The unit has a table for that,
# FR. It does not change colours but gives an alpha: that of the primary result, of the secondary one, or of both, as
# ``fresnel`` in :register:`LIGHTING_CONFIG0` says. Here it is looked up with N.V, which is 1 in the middle of the
# ball and 0 at its edge, and blending by alpha (:register:`BLEND_FUNC`) does the rest. 1 - N.V gives mist, the third
# power a thin shell, and a table with a step a hard rim. The back of the ball is culled
# (:register:`FACECULLING_CONFIG`). With several lights only the last one gives the alpha; that was measured on a
# console, and :choice:`lighting.fresnel` can add all up instead.
