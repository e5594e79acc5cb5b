"""
Depth offset
============

A poster exactly on a wall is full of holes; a small offset mends it, and a large one puts it before the ball.
"""

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.pictures import beside

WALL = patterns.ramp(patterns.bricks(64), [(96, 84, 80), (150, 128, 116)])
POSTER = patterns.checks(64, 4, [(250, 214, 90), (214, 60, 64)])
wall = shapes.tiled(shapes.plane(8, 5, 5, 3), 8, 5)
turn = rotation((0, 1, 0), 0.5)

canvas = Canvas()
offsets = (0.0, 0.0001, 0.02)
for offset in offsets:
    canvas.clear()
    canvas.list.depth("greater")
    canvas.texture(WALL)
    canvas.mesh(wall, turn)
    canvas.texture(POSTER, filter="nearest")
    canvas.list.write("DEPTHMAP_OFFSET", value=offset)
    canvas.mesh(shapes.plane(2.4, 1.8, 8, 6), turn @ rotation((0, 0, 1), 0.15))
    canvas.list.write("DEPTHMAP_OFFSET")
    canvas.lighting(ambient=(20, 50, 50))
    canvas.light(0, (3, 3, 4), diffuse=(60, 150, 140))
    canvas.mesh(shapes.sphere(0.5), turn @ translation(0.3, -0.1, 0.2))
    canvas.end_frame()
pictures = [picture.crop((80, 20, 320, 220)) for picture in canvas.images()]
beside(pictures, [f"offset {offset:g}" for offset in offsets]).save("depth_offset.png")

# %%
# Poster and wall lie in one plane, and the depth test asks for "greater" (:register:`DEPTH_COLOR_MASK`): 1 is near on
# this canvas. Their triangles have other corners, so rounding makes now one depth larger, now the other, and the poster
# is full of holes. :register:`DEPTHMAP_OFFSET` adds a number to every depth of the draws that follow. 0.0001 is far
# more than rounding and far less than the distance of things: the poster is whole, and the ball still comes out of it.
# With 0.02 the poster's depths are nearer than those of the ball's left side, which vanishes though it stands in front.
# The offset is the same at any angle; there is no factor for slopes as other GPUs have.
