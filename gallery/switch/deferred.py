"""
Several targets: deferred lighting
==================================

A ring and a ball under coloured lamps, and what was drawn first for that: their colours, normals and places.
"""

import numpy as np

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES, VALUES
from pocketgpu.builder.shapes import plane, sphere, torus
from pocketgpu.pictures import beside

WIDTH, HEIGHT, LAMPS = 300, 200, 9
STORE = MESH_VALUES + "".join(f"IPA R{8 + n}, a[{0xA0 + 4 * n:#x}], R12\n" for n in range(3)) + "MOV R11, R3\nEXIT"
# R0 to R2: colour, R4 to R6: normal, R8 to R10: place, all from textures; R20 to R22: light.
LIGHT = VALUES + "MOV R16, R0\nMOV R17, R1\n" + "".join(f"TEX R{4 * n}, R16, RZ, {n:#x}, 2D, 0xf\n" for n in range(3))
LIGHT += "".join(f"MOV32I R{20 + n}, 0x3dcccccd\n" for n in range(3))
for lamp in range(LAMPS):  # the light of a lamp gets less with its distance
    at = [f"c[0x1][{32 * lamp + 4 * n:#x}]" for n in range(8)]
    LIGHT += "".join(f"FADD R{24 + n}, -R{8 + n}, {at[n]}\n" for n in range(3))
    for to, other in ((28, 24), (29, 4)):
        LIGHT += f"FMUL R{to}, R24, R{other}\n"
        LIGHT += "".join(f"FFMA R{to}, R{24 + n}, R{other + n}, R{to}\n" for n in (1, 2))
    LIGHT += "FMUL R28, R28, R28\nMUFU.RCP R28, R28\nFMNMX R29, R29, RZ, !PT\nFMUL R29, R29, R28\n"
    LIGHT += "".join(f"FFMA R{20 + n}, R29, {at[4 + n]}, R{20 + n}\n" for n in range(3))
LIGHT += "".join(f"FMUL R{n}, R{n}, R{20 + n}\n" for n in range(3)) + "MOV32I R3, 0x3f800000\nEXIT"

canvas = MaxwellCanvas(300, 200)
targets = [canvas.surface(300, 200, format) for format in ("A8B8G8R8", *["RF16_GF16_BF16_AF16"] * 2)]
canvas.draw_to_all(*targets).clear((0, 0, 0)).test_depth()
store = canvas.program("pixel", STORE, targets=("rgba", "rgba", "rgba"))
floor = translation(0, -1, -6) @ rotation((1, 0, 0), -1.5708)
canvas.mesh(plane(12, 8), floor, color=(200, 200, 200), pixel=store)
ring = translation(-1.1, 0.1, -5.5) @ rotation((1, 0.4, 0), -0.7)
canvas.mesh(torus(1, 0.4), ring, color=(250, 220, 190), pixel=store)
canvas.mesh(sphere(0.9), translation(1.5, -0.1, -5), color=(190, 220, 250), pixel=store)

angle = np.arange(LAMPS) * 2 * np.pi / LAMPS
lamps = np.zeros((LAMPS, 8))
lamps[:, :3] = np.stack([2.8 * np.cos(angle), 0 * angle + 0.2, -5.2 + 1.8 * np.sin(angle)], axis=1)
lamps[:, 4:7] = 0.9 + 0.9 * np.cos(angle[:, None] + (0, 2.1, 4.2))
canvas.draw_to_all(canvas.target).pb.method("SET_DEPTH_TEST", 0)
canvas.texture(*targets).constants(lamps).textured(pixel=LIGHT)
images = [canvas.image()]
for target in targets:
    canvas.show(target, (0, 0, 300, 200))
    images.append(canvas.image())
beside(images, ["lit", "colour", "normal", "place"], columns=2).save("deferred.png")

# %%
# A pixel program can write up to eight targets at once: R0 to R3 go to target 0, R4 to R7 to target 1, and so on, as
# :method:`SET_CT_SELECT` maps them. The first pass draws all shapes and stores no light at all, only what a pixel is:
# its colour in bytes, and in two targets of 16-bit floats its normal and its place as seen from the eye (negative
# numbers are black in the picture). The second pass draws one rectangle over everything. Its program reads the three
# targets as textures and adds up nine lamps, whose light gets less with the cube of their distance. So the cost of the
# lamps depends on the pixels that are seen, not on the shapes. :method:`SET_COLOR_TARGET_FORMAT` has a format for each
# target; their sizes are the same.
