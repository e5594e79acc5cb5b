"""
Block-linear memory
===================

Five pictures show the same bytes of memory as an image, with blocks of 1, 2, 4, 8 and 16 GOBs; the colour follows the
address.
"""

import colorsys

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas, Surface
from pocketgpu.pictures import beside

WIDTH, HEIGHT, SCALE = 64, 128, 2
GOB = 128  # pixels of 4 bytes in a GOB of 512 bytes

# Memory in the order of addresses: the hue goes once around the circle, and each GOB begins dark and ends light.
texels = [
    (*colorsys.hsv_to_rgb(0.66 * n / (WIDTH * HEIGHT), 0.75, 0.45 + 0.5 * (n % GOB) / GOB), 1.0)
    for n in range(WIDTH * HEIGHT)
]
memory = (np.array(texels) * 255).astype(np.uint8)

images, labels = [], []
for log2 in range(5):
    canvas = MaxwellCanvas(WIDTH * SCALE, HEIGHT * SCALE)
    surface = Surface(canvas.capture.put(memory, kind="generic_16bx2"), WIDTH, HEIGHT, block_height_log2=log2)
    canvas.show(surface, (0, 0, canvas.width, canvas.height))
    images.append(canvas.image())
    labels.append(f"{1 << log2} GOB{'s' if log2 else ''} high")
beside(images, labels).save("block_linear.png")

# %%
# Most images of this GPU do not lie in memory row by row. 64 bytes of 8 rows are a GOB, 512 bytes in one piece. GOBs on
# top of each other form a block, and blocks follow each other to the right, then down. All five pictures are the same
# memory, from red over green to blue by address; within each GOB the colour goes from dark to light. With blocks of one
# GOB the colour goes along rows of GOBs, with blocks of 16 GOBs each column is filled first from top to bottom, so
# pixels above each other are near each other in memory. The log2 of the height is the field BLOCK_HEIGHT of
# :method:`SET_COLOR_TARGET_MEMORY`; here the 2D engine read it in :method:`902D.SET_SRC_BLOCK_SIZE`, as it copied each
# picture to the screen with twice its size.
