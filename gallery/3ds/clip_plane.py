"""
Culling, and a plane that cuts
==============================

Two rings in each other: only their outer sides, only their inner sides, and both, cut open by a plane at two places.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import UPRIGHT, look_at, perspective, rotation, translation
from pocketgpu.builder.shapes import torus
from pocketgpu.pictures import beside

RING, EYE = torus(1, 0.42), (2.4, 2.2, 4.2)
VIEW = UPRIGHT @ perspective(0.6, 400 / 240, 1, 30) @ look_at(EYE, (0, 0, 0))
OUTER, INNER = (90, 150, 230, 255), (250, 170, 70, 255)
SIDES = {"back (clockwise)": OUTER, "front (counter-clockwise)": INNER}


def draw(sides, cut=None):
    canvas = Canvas()
    canvas.camera(EYE, angle=0.6)
    canvas.lighting(ambient=(50, 50, 60))
    canvas.light(0, (2, 5, 4), diffuse=(215, 215, 205), two_sided=True)
    canvas.list.combiner(1, ("modulate", "previous stage", "vertex color")).depth("greater")
    if cut is not None:
        plane = np.array((-0.45, 0, -1, cut)) @ np.linalg.inv(VIEW)  # of the world, as the clip space has it
        canvas.list.write("FRAGOP_CLIP", enable=True)
        for number, value in enumerate(plane):
            canvas.list.write(f"FRAGOP_CLIP_DATA{number}", value=value)
    for culled in sides:
        canvas.list.write("FACECULLING_CONFIG", mode=culled)
        canvas.mesh(RING, translation(-0.5, 0, 0), color=SIDES[culled])
        canvas.mesh(RING, translation(0.5, 0, 0) @ rotation((1, 0, 0), np.pi / 2), color=SIDES[culled])
    return canvas.image()


back, front = SIDES
pictures = [draw([back]), draw([front]), draw([back, front], 0.6), draw([back, front], 0.0)]
beside(pictures, ["back culled", "front culled", "both, cut", "cut elsewhere"], columns=2).save("clip_plane.png")

# %%
# A triangle whose corners run counter-clockwise on the screen is seen from the front. :register:`FACECULLING_CONFIG`
# drops one kind: a closed shape needs no back faces, which the first picture leaves out, and the second has nothing
# else. In the lower pictures all is drawn twice, outer sides blue and inner sides orange. A draw can be cut by one
# plane beside the sides of the view: :register:`FRAGOP_CLIP` enables it, and :register:`FRAGOP_CLIP_DATA0` to
# :register:`FRAGOP_CLIP_DATA3` hold its four numbers as 24-bit floats. A vertex stays if its place in clip space,
# times these numbers, is not negative; triangles that cross the plane get new corners there, with their colours and
# coordinates between those of the old ones. A plane of the world becomes one of clip space by the inverse of the
# camera's matrix. The cut is hollow: nothing fills it, and inner sides only look like a cap.
