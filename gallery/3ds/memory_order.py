"""
The order of pixels in memory
=============================

A line goes through 32 x 32 pixels in the order of their addresses, from blue to yellow: rows, tiles, and one block.
"""

import numpy as np
from PIL import Image, ImageDraw

from pocketgpu.builder import Canvas
from pocketgpu.pictures import beside

SIDE, SIZE = 32, 12
COLORS = (50, 230, 255), (90, 60, 230), (220, 130, 70)
numbers = np.arange(SIDE * SIDE, dtype=np.uint32)
canvas = Canvas()
rows = canvas.capture.put(numbers)
tiles, block = (canvas.capture.allocate(4 * SIDE * SIDE) for _ in range(2))
for target, block32 in ((tiles, False), (block, True)):
    canvas.capture.transfer(rows, target, SIDE, SIDE, output_format="RGBA8", linear_to_tiled=True, block32=block32)
memory = canvas.frames()[-1].machine.memory


def path(address):
    """The pixels whose numbers are found from an address on, joined by a line."""
    found = np.frombuffer(memory.read(address, 4 * SIDE * SIDE), np.uint32)
    picture = Image.new("RGB", (SIDE * SIZE, SIDE * SIZE), (24, 28, 40))
    draw = ImageDraw.Draw(picture)
    for corner in range(0, SIDE * SIZE, 8 * SIZE):
        draw.line([(corner, 0), (corner, SIDE * SIZE)], (60, 66, 84))
        draw.line([(0, corner), (SIDE * SIZE, corner)], (60, 66, 84))
    places = [((n % SIDE + 0.5) * SIZE, (n // SIDE + 0.5) * SIZE) for n in found]
    for number, (x, y) in enumerate(places):
        color = tuple(int(np.interp(number, (0, 512, 1023), levels)) for levels in COLORS)
        draw.line([places[max(number - 1, 0)], (x, y)], color, 2)
        draw.rectangle([x - 2, y - 2, x + 2, y + 2], color)
    return picture


labels = ["rows", "8 x 8 tiles", "a 32 x 32 block"]
beside([path(address) for address in (rows, tiles, block)], labels).save("memory_order.png")

# %%
# Textures and render targets do not lie in rows. Four neighbours, two by two, follow each other, then four such
# squares, then four of those: that is a tile of 8 x 8 pixels, whose order is that of the interleaved bits of column
# and row (Morton order). Tiles follow each other in rows. A triangle touches few tiles, and a tile is one piece of
# memory: 256 bytes at 32 bits a pixel. Screens need rows, and the display transfer changes one order into the other:
# "linear_to_tiled" in :register:`PPF_FLAGS` made the second picture of the first. With the bit "block32" the order
# goes on to blocks of 32 x 32, which a draw can have too (:register:`FRAMEBUFFER_BLOCK32`). Which order such a block
# has is a guess: :choice:`transfer.block32`. A texture that looks cut into squares was decoded in the wrong order.
