"""
Face culling
============

A hollow ball that lacks its upper part: drawn whole, without its front sides, and without its back sides.
"""

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

vertices, indices = shapes.sphere(1.2, 48, 24)
bowl = vertices, indices[: len(indices) * 2 // 3]  # rows from the lower pole up
MODES = {"none": "none", "front": "front (counter-clockwise)", "back": "back (clockwise)"}

canvas = Canvas()
for mode in MODES.values():
    canvas.clear()
    canvas.camera((0, 1.8, 4.6), (0, -0.3, 0))
    canvas.list.depth("greater")
    tiles = patterns.checks(64, 8, [(240, 200, 120), (190, 90, 70)])
    canvas.texture(tiles, filter="nearest")
    canvas.lighting(ambient=(110, 110, 130))
    canvas.light(0, (-2, 4, 4), diffuse=(150, 145, 125), two_sided=True)
    canvas.list.combiner(1, ("modulate", "previous stage", "texture 0"))
    canvas.list.write("FACECULLING_CONFIG", mode=mode)
    canvas.mesh(shapes.tiled(bowl, 2, 1), rotation((0, 1, 0), 0.4))
    canvas.end_frame()
pictures = [picture.crop((90, 20, 310, 220)) for picture in canvas.images()]
beside(pictures, [f"mode = {name}" for name in MODES]).save("face_culling.png")

# %%
# A triangle has a front and a back side: seen from the front, its corners follow each other counter-clockwise.
# :register:`FACECULLING_CONFIG` drops triangles before they become pixels. Mode 1 drops the front ones: what remains
# of the bowl is its inside, and one looks through the near wall to the bottom. Mode 2 drops the back ones: the usual
# setting for closed shapes, whose back sides can't be seen, and it saves nearly half of the triangles. Here it takes
# the inside away. Which side is which is decided by the order of corners on the target, so a program that mirrors a
# scene has to swap the modes. Normals don't matter; the light counts for both sides because of ``two_sided`` in
# :register:`LIGHT0_CONFIG`. Codes 0 and 3 are both off, :choice:`raster.cull_0_3`.
