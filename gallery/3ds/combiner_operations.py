"""
Combiner operations
===================

A wheel of colours A, a ramp from black to white B, and what eight operations of a combiner stage make of them.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

y, x = (np.mgrid[:64, :64] + 0.5) / 32 - 1
RAINBOW = [(255, 64, 64), (255, 220, 48), (64, 220, 96), (48, 180, 255), (176, 80, 255)]
wheel = patterns.ramp(np.arctan2(y, x) / (2 * np.pi) + 0.5, [*RAINBOW, RAINBOW[0]])
wheel[np.hypot(x, y) > 0.92] = (32, 32, 40, 255)
BLACK, WHITE = (0, 0, 0, 1), (1, 1, 1, 1)

A, B, C = "texture 0", "vertex color", "constant"
STAGES = {
    "A": ("replace", A),
    "B": ("replace", B),
    "modulate": ("modulate", A, B),
    "add": ("add", A, B),
    "add signed": ("add signed", A, B),
    "subtract": ("subtract", A, B),
    "interpolate": ("interpolate", A, C, B),
    "multiply then add": ("multiply then add", A, B, C),
    "add then multiply": ("add then multiply", A, B, C),
    "dot3 rgb": ("dot3 rgb", A, B),
}
canvas = Canvas()
address = canvas.capture.put_texture(wheel)
box = Box(120, 40, 280, 200)
for operation in STAGES.values():
    canvas.list.texture(0, address, 64, 64, wrap="clamp to edge")
    canvas.list.combiner(0, operation, ("replace", A), color=(255, 144, 48, 255))
    canvas.quad(box, color=[BLACK, WHITE, WHITE, BLACK])
    canvas.end_frame()
pictures = [picture.crop(box) for picture in canvas.images()]
beside(pictures, [*STAGES], columns=5).save("combiner_operations.png")

# %%
# The operation stands in :register:`TEXENV0_COMBINER`, one for colour and one for alpha. Here A is a texture, B the
# vertex colour, and C the constant of :register:`TEXENV0_COLOR`, orange. ``modulate`` is A x B, ``add`` A + B, ``add
# signed`` A + B - 0.5, ``subtract`` A - B, each cut to 0 to 1. ``interpolate`` mixes two colours by a third: A x B +
# C x (1 - B), so orange stands where the ramp is black. Two more take all three: A x B + C, and (A + B) x C, where
# the sum is cut to 1 before it is multiplied (:choice:`combiner.add_multiply`). ``dot3 rgb`` takes 0 to 1 as -1 to 1,
# multiplies channel by channel and adds up the three: one grey value, once used for bump mapping. What half is in
# ``add signed``, 128 or 127 of 255, is :choice:`combiner.add_signed`.
