"""
Mipmaps
=======

A tiled floor with one level of its texture, and with four, of which each has its own colour: blue, red, green, brown.
"""

import numpy as np

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

COLORS = [(40, 60, 96), (120, 40, 52), (36, 92, 60), (104, 84, 24)]  # of levels 0 to 3
LIGHT = (236, 230, 216)
levels = [patterns.checks(64 >> n, 8, [LIGHT, color]) for n, color in enumerate(COLORS)]
floor = shapes.tiled(shapes.plane(60, 60), 14, 14)
VARIANTS = {
    "level 0 only": {"levels": 1},
    "mip_filter = nearest": {"levels": 4},
    "mip_filter = linear": {"levels": 4, "level_filter": "linear"},
    "linear, bias = 1.5": {"levels": 4, "level_filter": "linear", "level_bias": 1.5},
}

canvas = Canvas((150, 190, 220, 255))
canvas.camera(eye=(0, 2, 10), target=(1, 0, 0), far=60)
address = canvas.capture.put_texture(levels[0], levels=levels[1:])
for options in VARIANTS.values():
    canvas.clear()
    canvas.list.texture(0, address, 64, 64, **options)
    canvas.show("texture 0")
    canvas.mesh(floor, rotation((1, 0, 0), -np.pi / 2))
    canvas.end_frame()
pictures = [picture.crop((100, 60, 300, 240)) for picture in canvas.images()]
beside(pictures, [*VARIANTS], columns=4).save("mipmaps.png")

# %%
# A texture can have smaller levels, which follow it in memory, each half as wide and high as the one before. Without
# them, several texels fall on one pixel far away, and the filter sees only four of them: false rings appear on the
# floor. With ``max_level`` = 3 in :register:`TEXUNIT0_LOD` the GPU computes for each pixel how many texels it covers
# and takes the level where that is about one: 64 x 64 (blue) in front, then 32 (red), 16 (green) and 8 (brown), which
# is the smallest side that a texture can have; so rings remain near the horizon. ``mip_filter`` in
# :register:`TEXUNIT0_PARAM` either takes one level, with a visible edge where it changes, or mixes two. The bias is
# added to the level: 1.5 brings smaller levels nearer and makes the floor blurred. :choice:`texture.levels` shows a
# recording as renderers without levels do.
