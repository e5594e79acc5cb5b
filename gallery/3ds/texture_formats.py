"""
Texture formats
===============

A sunset of 64 x 64 texels in eight texture formats: in colour from 16384 to 2048 bytes, and in grey below.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

SIDE = 64
BITS = {  # of a texel
    "RGBA8": 32, "RGB565": 16, "RGBA4": 16, "ETC1": 4, "IA8": 16, "I8": 8, "IA44": 8, "I4": 4,
}  # fmt: skip
x, y = np.meshgrid((np.arange(SIDE) + 0.5) / SIDE, (np.arange(SIDE) + 0.5) / SIDE)
sky = [(28, 32, 92), (112, 60, 140), (232, 112, 104), (255, 196, 112)]
picture = patterns.ramp(y / 0.75, sky)
picture[np.hypot(x - 0.62, y - 0.52) < 0.17] = (255, 240, 176, 255)
for height, color in ((0.66, (96, 48, 104)), (0.78, (40, 96, 84)), (0.88, (16, 40, 48))):
    edge = height + 0.05 * np.sin(9 * x + 20 * height) + 0.03 * np.sin(23 * x)
    picture[y > edge] = (*color, 255)

canvas, labels = Canvas(), []
for name, bits in BITS.items():
    canvas.clear()
    canvas.texture(picture, name, filter="nearest")
    canvas.quad(Box(104, 24, 296, 216))
    canvas.end_frame()
    labels.append(f"{name}: {SIDE * SIDE * bits // 8} bytes")
pictures = [frame.crop((104, 24, 296, 216)) for frame in canvas.images()]
beside(pictures, labels, columns=4).save("texture_formats.png")

# %%
# The format is a number in :register:`TEXUNIT0_TYPE`; the unit decodes each texel to four channels of 8 bits before
# it filters. RGB565 has half the bytes of RGBA8 and shows first stripes in the sky. RGBA4 has 16 steps a channel:
# wide stripes. ETC1 needs only 4 bits for a texel: a block of 4 x 4 texels has two base colours, one for each half,
# and every texel only changes their brightness. So flat areas stay clean, and blocks where three colours meet get
# wrong ones, as at the edge of the mountains. The lower row keeps one value instead of three (here that of red),
# which all three channels get: with 8 bits of alpha (IA8), without (I8), or with 4 bits each (IA44) and 4 bits in all
# (I4). How 5 and 6 bits become 8 is the choice :choice:`texture.expand`.
