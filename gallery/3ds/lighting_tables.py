"""
Lighting tables
===============

The same ring under the same light in six materials: matte, glossy, two highlights, metal, cartoon and velvet.
"""

import numpy as np

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

x = np.arange(257) / 256
TONES = np.digitize(x, (0.15, 0.5, 0.85)) / 3  # dark, two middle tones, bright
RED = {"diffuse": (180, 70, 60), "specular": (255, 240, 220)}
WINE = {"diffuse": (110, 30, 40), "specular": (255, 255, 255), "specular1": (120, 50, 110)}
BROWN = {"diffuse": (60, 40, 16), "specular1": (255, 255, 255)}
GREEN = {"diffuse": (0, 0, 0), "specular1": (110, 190, 90)}
VIOLET = {"diffuse": (60, 20, 90), "specular1": (230, 150, 255)}
METAL = {"D1": 0.15 + 0.85 * x**6, "RR": 0.3 + 0.7 * x, "RG": 0.2 + 0.6 * x**1.5}
METAL["RB"] = 0.1 + 0.5 * x**4
MATERIALS = {
    "matte: no table": ({}, {}, {"diffuse": RED["diffuse"]}),
    "glossy: D0 by N.H": ({"D0": x**40}, {}, RED),
    "D0 and D1": ({"D0": x**120, "D1": x**8}, {}, WINE),
    "metal: RR, RG, RB": (METAL, {"rr": "N.H", "rg": "N.H", "rb": "N.H"}, BROWN),
    "cartoon: D1 by L.N": ({"D1": TONES}, {"d1": "L.N"}, GREEN),
    "velvet: D1 by N.V": ({"D1": (1 - x) ** 2}, {"d1": "N.V"}, VIOLET),
}
canvas = Canvas()
canvas.camera((0, 0, 5.8))
for tables, inputs, colors in MATERIALS.values():
    canvas.clear()
    canvas.list.depth("greater")
    canvas.lighting(tables, inputs=inputs)
    canvas.light(0, (2, 3, 5), **colors)
    canvas.mesh(shapes.torus(1, 0.45, 64, 32), rotation((1, 0.3, 0), -0.6))
    canvas.end_frame()
pictures = [picture.crop((106, 32, 294, 208)) for picture in canvas.images()]
beside(pictures, [*MATERIALS], columns=3).save("lighting_tables.png")

# %%
# For every fragment and light the unit computes products of unit vectors: of the normal N, the light L, the eye V and
# the half vector H. The diffuse part is the light's colour times L.N, always. Highlights go through tables of 256
# entries that the program fills: D0 is the strength of :register:`LIGHT0_SPECULAR0`, D1 that of
# :register:`LIGHT0_SPECULAR1`, and RR, RG and RB colour the second one, channel by channel.
# :register:`LIGHTING_LUTINPUT_SELECT` says which product a table is looked up with, and :register:`LIGHTING_CONFIG1`
# which tables count. So a material is a table: a steep curve over N.H is gloss, three different curves make gold,
# steps over L.N are a cartoon, and a table that rises where the surface turns away from the eye is velvet. Both sums
# are sources of the combiners, and the first stage adds them here. Tables are read between entries:
# :choice:`lighting.lut`.
