"""
The colour table of a screen
============================

One framebuffer through four tables: as it is, with a gamma of 1.8, inverted, and with four levels a channel.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.shapes import cube, sphere, torus
from pocketgpu.pictures import beside

at = np.arange(256)
TABLES = {
    "as it is": np.column_stack([at, at, at]),
    "gamma 1.8": np.column_stack([255 * (at / 255) ** (1 / 1.8)] * 3),
    "inverted": np.column_stack([255 - at] * 3),
    "four levels": np.column_stack([at // 64 * 85] * 3),
}

canvas = Canvas((36, 70, 96, 255))
canvas.camera((0, 1.2, 7), angle=0.6)
canvas.list.depth("greater")
canvas.lighting(ambient=(30, 30, 40))
canvas.light(0, (-3, 5, 5), diffuse=(225, 225, 215))
canvas.list.combiner(1, ("modulate", "previous stage", "vertex color"))
canvas.mesh(torus(0.9, 0.35), translation(-1.9, 0, 0) @ rotation((1, 1, 0), 0.6), color=(250, 120, 60, 255))
canvas.mesh(sphere(0.95), color=(80, 190, 110, 255))
canvas.mesh(cube(1.35), translation(2, 0, 0) @ rotation((1, 1, 0), 0.7), color=(240, 200, 80, 255))
for table in TABLES.values():
    canvas.capture.write("PDC0_LUT_INDEX", index=0)
    for red, green, blue in np.round(table).astype(int).tolist():
        canvas.capture.write("PDC0_LUT_DATA", r=red, g=green, b=blue)
    canvas.end_frame()
beside(canvas.images(), [*TABLES], columns=2).save("display_colors.png")

# %%
# A display controller sends each channel of a pixel through a table of 256 entries on its way to the screen: a byte
# goes in, another byte comes out. The system software fills it with the numbers 0 to 255, which changes nothing. A
# program writes the number of the first entry to :register:`PDC0_LUT_INDEX` and then colours to
# :register:`PDC0_LUT_DATA`; the index goes on by one with each. The lower screen has a table of its own, in
# :register:`PDC1_LUT_DATA`. The framebuffer is the same in all four pictures, and nothing is drawn again: so a fade
# to black or a flash costs 256 writes. A picture that is taken from the framebuffer does not show it, which is why a
# photo of the screen can differ from a screenshot. A table can only look at one channel: it cannot turn a picture
# grey.
