"""
Lists, strips and fans
======================

The same nine points, from red over green to violet, are three triangles, a strip and a fan; below, with flat colours.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas
from pocketgpu.builder.canvas import clip
from pocketgpu.pictures import beside

number = np.arange(9)
angle, radius = np.pi * (9 - number) / 9, np.where(number % 2, 190, 120) * (number > 0)
across, up = 200 + radius * np.cos(angle), 215 - radius * np.sin(angle)
places = [(*clip(x, y), -0.5, 1) for x, y in zip(across, up, strict=True)]
colors = np.clip(np.abs((number[:, None] / 10 * 6 + [0, 4, 2]) % 6 - 3) - 1, 0.1, 1)

pictures = []
for flat in (False, True):
    for primitive in ("triangles", "triangle strip", "triangle fan"):
        canvas = Canvas()
        canvas.list.write("FLAT_SHADING", flat=flat)
        canvas.show("vertex color")
        canvas.draw_vertices(places, colors, (0, 0, 1), primitive=primitive)
        for x, y in zip(across.astype(int), up.astype(int), strict=True):
            canvas.fill(Box(x - 3, y - 3, x + 4, y + 4), (232, 232, 232, 255))
        pictures.append(canvas.image())

names = ["triangles", "triangle strip", "triangle fan"]
beside(pictures, [*names, *(name + ", flat" for name in names)], columns=3).save("primitives.png")

# %%
# A draw names how vertices become triangles in :register:`PRIMITIVE_CONFIG`. A list takes three vertices for each
# triangle, so nine make three. A strip makes a triangle of each vertex and the two before it, and a fan makes one of
# each vertex, the one before it and the very first: both make seven of nine. Every second triangle of a strip would
# run the other way round, so two of its vertices are exchanged, and :register:`FACECULLING_CONFIG` finds all front
# faces on the same side. The number of vertices is in :register:`NUMVERTICES`, and a write to :register:`DRAWARRAYS`
# starts the draw; :register:`DRAWELEMENTS` takes them in the order of an index buffer. A write to
# :register:`RESTART_PRIMITIVE` forgets the last vertices and begins a new strip. :register:`FLAT_SHADING` gives a
# whole triangle the colour of its third vertex: the lower row shows which one that is.
