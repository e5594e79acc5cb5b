"""
Several lights and their reach
==============================

Coloured lamps over a floor with balls: one lamp, three that reach everywhere, three with a reach, and eight.
"""

import numpy as np

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.pictures import beside

FALL = (1 - np.arange(257) / 256) ** 2
LAMPS = {  # x and z: colour
    (-3, 1): (255, 90, 60), (2.6, 1.6): (70, 120, 255), (0, -2): (60, 220, 110),
    (-1.2, 2.8): (255, 190, 60), (3.6, -1.6): (200, 80, 255), (-3.6, -2.4): (60, 220, 220),
    (0.8, 0.4): (255, 99, 170), (-0.9, -0.6): (190, 190, 190),
}  # fmt: skip
BALLS = [(-2, 0.5, 0), (0, 0.5, 1.5), (1.5, 0.5, -0.5), (3, 0.5, 0.5), (-0.8, 0.5, -2)]
VARIANTS = {
    "1 light": (1, False), "3 lights, distance_off": (3, False),
    "3 lights": (3, True), "8 lights": (8, True),
}  # fmt: skip

canvas = Canvas((8, 8, 14, 255))
canvas.camera((0, 6, 8), (0, -0.4, 0), angle=0.65)
for count, reach in VARIANTS.values():
    canvas.clear()
    canvas.list.depth("greater")
    tables = {f"DA{number}": FALL for number in range(count)}
    canvas.lighting(tables if reach else {}, ambient=(10, 10, 16))
    for number, ((x, z), color) in enumerate([*LAMPS.items()][:count]):
        canvas.light(number, (x, 1, z), diffuse=color)
        # The end of the table is 4 away.
        canvas.list.write(f"LIGHT{number}_ATTENUATION_SCALE", value=1 / 4)
        canvas.list.write(f"LIGHT{number}_ATTENUATION_BIAS", value=0)
    canvas.mesh(shapes.plane(14, 10), rotation((1, 0, 0), -np.pi / 2))
    for place in BALLS:
        canvas.mesh(shapes.sphere(0.5), translation(*place))
    canvas.end_frame()
pictures = [picture.crop((65, 35, 335, 225)) for picture in canvas.images()]
beside(pictures, [*VARIANTS], columns=2).save("several_lights.png")

# %%
# :register:`LIGHTING_NUM_LIGHTS` counts the lights of a draw, up to 8, and every fragment adds them up. A light has
# colours, a place and nothing that says how far it reaches: without a distance table it shines on everything, as in
# the second picture, where three lamps make nearly white together. With a table DA0 to DA7 the distance d from light
# to fragment is looked up at d times :register:`LIGHT0_ATTENUATION_SCALE` plus :register:`LIGHT0_ATTENUATION_BIAS`,
# cut to 0 to 1. Here the scale is 1/4 and the table falls to 0, so the light ends 4 away from its lamp. The bits
# ``distance_off`` of :register:`LIGHTING_CONFIG1` switch the tables off, light by light. Sums are cut at full
# brightness only in the end; whether a colour of a light may exceed 255 is the choice :choice:`lighting.color_bits`.
# All balls share one material, and no lamp throws a shadow.
