"""
A shadow map
============

A ring and a ball throw shadows on a floor; the small picture is what the lamp sees, as distances from dark to light.
"""

import numpy as np

from pocketgpu.builder.matrices import look_at, rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES, SHADE, transformed
from pocketgpu.builder.shapes import plane, sphere, torus

DISTANCE = MESH_VALUES + "IPA R0, a[0xa8], R12\nFMUL32I R0, R0, -0.15\nMOV R1, R0\nMOV R2, R0\nEXIT"
LOOK_UP = transformed(16, 0) + """
    FMUL R7, R4, c[0x1][0x40]            // R16 to R19: where the lamp sees this place, and how far away
    FFMA R7, R5, c[0x1][0x44], R7        // R7: the light, from the normal and the direction of the lamp
    FFMA R7, R6, c[0x1][0x48], R7
    MUFU.RCP R19, R19
    FMUL R16, R16, R19
    FMUL R17, R17, R19
    TEX R8, R16, RZ, 0x0, 2D, 0x1        // how far the lamp sees in this direction
    FSETP.GT.AND P0, PT, R18, R8, PT     // this place is farther away: something is before it
    @P0 MOV R7, RZ
    FMNMX R7, R7, 0.25, !PT              // some light is everywhere
"""
PLACE = "".join(f"IPA R{n}, a[{0xA0 + 4 * n:#x}], R12\n" for n in range(3))
COLOR = "".join(f"MOV R{n}, c[0x1][{4 * n:#x}]\n" for n in range(3))
SHADOWED = MESH_VALUES + PLACE + LOOK_UP.replace("c[0x1]", "c[0x2]") + COLOR + SHADE
SHAPES = [
    (plane(9, 7), translation(0, -1, 0) @ rotation((1, 0, 0), -np.pi / 2), (225, 220, 205)),
    (torus(0.9, 0.33), translation(-0.5, 0.2, 0.3) @ rotation((0.3, 1, 0), 0.5), (240, 150, 40)),
    (sphere(0.75, 48, 32), translation(1.5, -0.25, -0.3), (60, 150, 210)),
]
canvas = MaxwellCanvas(400, 280)
eye, lamp = look_at((0.2, 2.6, 5.4), (0, -0.2, 0)), look_at((2.2, 4.1, 2.2), (-0.2, -0.5, 0))
from_eye = lamp @ np.linalg.inv(eye)
matrix = np.array([[0.5, 0, 0, 0.5], [0, -0.5, 0, 0.5], [0, 0, 0, 0], [0, 0, 0, 1]]) @ canvas.view @ from_eye
matrix[2] = -0.15 * from_eye[2] - (0, 0, 0, 0.012)  # a little less, so that no place shadows itself
seen = canvas.surface(400, 280, "RF32_GF32_BF32_AF32")
canvas.draw_to(seen).test_depth().pb.clear((1, 1, 1, 1))
for shape, model, _ in SHAPES:
    canvas.mesh(shape, lamp @ model, pixel=DISTANCE)
many = canvas.samples(8)
canvas.test_depth().texture(seen).constants([*matrix.ravel(), *(eye @ np.linalg.inv(lamp))[:3, 2]], slot=2)
for shape, model, color in SHAPES:
    canvas.mesh(shape, eye @ model, color=color, pixel=SHADOWED)
canvas.resolve(many).show(seen, (8, 8, 120, 84)).image().save("shadow_map.png")

# %%
# A lamp lights what it can see. So the scene is drawn twice: first from the lamp, into a target of floats that keeps
# only how far away the nearest thing is in each direction, then from the eye. In the second pass the program takes each
# pixel to the view of the lamp by a matrix, and reads the map there. If the map has a smaller distance than the pixel,
# something lies between, and the pixel is in shadow. A little is taken from the distance of the pixel, as those of the
# map are coarse and a floor would otherwise shadow itself. The sampler can do the comparison too: with DEPTH_COMPARE
# set, TEX.DC compares a depth texture with a third coordinate and filters the results, which makes edges softer. The
# map is the colour target of :method:`SET_COLOR_TARGET_A` first, and a texture afterwards.
