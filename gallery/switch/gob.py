"""
The order of bytes in a GOB
===========================

A white line goes through the 128 pixels of one GOB in the order of their addresses and turns after every fourth one.
"""

import numpy as np
from PIL import ImageDraw

from pocketgpu.builder.maxwell import MaxwellCanvas, Surface

WIDTH, HEIGHT, SCALE = 16, 8, 40  # 64 bytes of 4 for each pixel, 8 rows

# The pixel at each address has its number as its red, and a colour that shows the sector of 32 bytes.
number = np.arange(WIDTH * HEIGHT)
sector = number // 8
colors = np.stack([number, 60 + sector % 4 * 30, 110 + sector // 4 * 40, 0 * number + 255], axis=1)

canvas = MaxwellCanvas(WIDTH * SCALE, HEIGHT * SCALE)
gob = Surface(canvas.capture.put(colors.astype(np.uint8), kind="generic_16bx2"), WIDTH, HEIGHT, block_height_log2=0)
canvas.show(gob, (0, 0, canvas.width, canvas.height))
picture = canvas.image()

# Where the pixel of each address came to lie is read from the picture.
red = np.asarray(picture)[SCALE // 2 :: SCALE, SCALE // 2 :: SCALE, 0]
places = [divmod(int(np.flatnonzero(red.reshape(-1) == n)[0]), WIDTH) for n in number]
points = [(x * SCALE + SCALE // 2, y * SCALE + SCALE // 2) for y, x in places]
draw = ImageDraw.Draw(picture)
draw.line(points, fill="white", width=2)
for n, (x, y) in enumerate(points):
    if n % 4 == 0:
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill="white")
draw.ellipse((points[0][0] - 10, points[0][1] - 10, points[0][0] + 10, points[0][1] + 10), outline="white", width=3)
picture.save("gob.png")

# %%
# A GOB is 64 bytes wide and 8 rows high, 16 x 8 pixels of four bytes. The machine read 512 bytes in one piece as such a
# surface, and the picture shows where the bytes came to lie. 16 bytes are beside each other, the next 16 lie below
# them: together they are a sector of 32 bytes, which has one colour here. Two sectors beside each other are 32 bytes of
# two rows; four such pairs go down the eight rows, and then the right half follows. Bits of x and y alternate in the
# address, so a small square of pixels lies in few sectors, and a texture that is read across or down needs about as
# many. The ring marks the first pixel. :method:`902D.SET_SRC_MEMORY_LAYOUT` selects this order or plain rows, and a
# texture header has the same choice.
