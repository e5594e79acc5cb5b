"""
Logic operations
================

Three discs on a ramp of colours by eight logic operations, which work on the bits of colours.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

y, x = (np.mgrid[:64, :64] + 0.5) / 32 - 1
disc = np.full((64, 64, 4), 255, np.uint8)
disc[np.hypot(x, y) > 0.95] = 0
HUES = [(20, 24, 60), (70, 110, 200), (255, 236, 200)]
ramp = patterns.ramp(np.tile(np.arange(64) / 63, (8, 1)), HUES)
COLORS = [(255, 0, 0, 255), (255, 255, 255, 255), (0, 160, 96, 255)]
OPERATIONS = ["copy", "invert", "xor", "and"]
OPERATIONS += ["or", "copy inverted", "nand", "and inverted"]

canvas = Canvas()
ground, address = canvas.capture.put_texture(ramp), canvas.capture.put_texture(disc)
view = Box(100, 50, 300, 190)
for operation in OPERATIONS:
    canvas.list.texture(0, ground, 64, 8, wrap="clamp to edge")
    canvas.show("texture 0")
    canvas.quad(view)
    canvas.list.texture(0, address, 64, 64, wrap="clamp to edge", filter="nearest")
    canvas.list.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=0)
    canvas.list.write("COLOR_OPERATION", blend_enable=False, line_config=0xE4)
    canvas.list.write("LOGIC_OP", op=operation)
    for number, color in enumerate(COLORS):
        alpha = ("replace", "texture 0")
        canvas.list.combiner(0, ("replace", "constant"), alpha, color=color)
        canvas.quad(Box(110 + 45 * number, 75, 200 + 45 * number, 165))
    canvas.end_frame()
pictures = [picture.crop(view) for picture in canvas.images()]
beside(pictures, OPERATIONS, columns=4).save("logic_operations.png")

# %%
# :register:`COLOR_OPERATION` decides between blending and a logic operation (``blend_enable`` = 0), which combines
# the bits of the fragment's colour with those of the target, all four channels at once. The discs are red, white and
# a green of (0, 160, 96). ``invert`` doesn't look at the disc's colour: it turns the target's bits over, so where two
# discs lie over each other the ramp comes back. ``xor`` with white does the same, and drawing twice also undoes any
# other colour, which is why cursors were drawn with it. ``and`` with red keeps the red of the target. Bits are not
# brightness: and, or and xor with 160 and 96 leave visible steps in the smooth ramp. :register:`LOGIC_OP` has 16
# codes; ``copy`` is plain drawing.
