"""
Bump mapping
============

A flat wall and a ball under a lamp: smooth, with the bumps of a map of normals, and that map itself.
"""

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import translation
from pocketgpu.pictures import beside

normals = patterns.normals(patterns.bricks(64) + 0.1 * patterns.noise(64, 8, 1), 0.5)
wall = shapes.tiled(shapes.plane(8, 8), 5, 6)
ball = shapes.tiled(shapes.sphere(1, 64, 32), 4, 3)
GLOSS = [(n / 256) ** 20 for n in range(257)]

canvas = Canvas()
address = canvas.capture.put_texture(normals)
for mode, source in (("none", None), ("bump map", None), ("none", "texture 0")):
    canvas.clear()
    canvas.list.depth("greater").texture(0, address, 64, 64)
    canvas.lighting({"D0": GLOSS}, ambient=(40, 30, 36), bump_mode=mode, bump_unit=0)
    canvas.light(0, (-2, 1.5, 2.5), diffuse=(210, 130, 96), specular=(90, 80, 70))
    if source is not None:
        canvas.show(source)
    canvas.mesh(wall, translation(0, 0, -1))
    canvas.mesh(ball, translation(0.3, -0.1, 0.2))
    canvas.end_frame()
pictures = [picture.crop((110, 30, 290, 210)) for picture in canvas.images()]
LABELS = ["bump_mode = none", "bump_mode = bump map", "the map"]
beside(pictures, LABELS).save("bump_mapping.png")

# %%
# With ``bump_mode`` in :register:`LIGHTING_CONFIG0` a texture unit gives the normal of each fragment: red, green and
# blue are x, y and z, from -1 to 1. The unit takes x and y of it and works z out, unless ``bump_keep_z`` is set. The
# result stands in the space of the surface, where z is away from it. The PICA200 gets no normal and tangent from the
# vertex program but one quaternion, the rotation from that space to the eye's; rasterisation interpolates it, and it
# turns the bumps with the surface, so the lamp on the left lights left slopes of the wall and the ball alike. The
# surface itself stays flat, as the round edge of the ball shows. The map of the right picture is the texture as the
# combiners see it; a flat place is about (128, 128, 255).
