"""
Memory fills of the right width, and of wrong ones
==================================================

The same orange, filled as 16, 24 and 32 bits and read as each: where both differ it is wrong, mostly in stripes.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.facts.formats import RGB8, RGB565, RGBA8
from pocketgpu.pictures import beside
from pocketgpu.surface import encode

WIDTH, HEIGHT, SIZE = 48, 24, 48 * 24 * 4
FORMATS = (RGB565, RGB8, RGBA8)
orange = np.full((1, 1, 4), (250, 150, 32, 255), np.uint8)

canvas = Canvas()
addresses = [canvas.capture.allocate(SIZE, region="VRAM") for _ in FORMATS]
for format, address in zip(FORMATS, addresses, strict=True):
    value = int.from_bytes(encode(orange, format, "linear"), "little")
    canvas.capture.fill(address, address + SIZE, value, width=format.bits)

pictures, labels = [], []
for filled, address in zip(FORMATS, addresses, strict=True):
    for read in FORMATS:
        pictures.append(canvas.decoded(address, WIDTH, HEIGHT, read.name, "linear"))
        labels.append(f"{filled.bits} bits filled, read as {read.name}")
beside(pictures, labels, columns=3, scale=6).save("memory_fill.png")

# %%
# Two units fill memory, so that a colour and a depth buffer can be cleared at the same time. :register:`PSC0_START`
# and :register:`PSC0_END` are the range, in steps of 16 bytes, :register:`PSC0_VALUE` is the value, and
# :register:`PSC0_CONTROL` has its width of 16, 24 or 32 bits and starts the fill. The unit knows nothing of pixels:
# it writes the low byte of the value first and repeats it up to the end. So the width has to be that of the format.
# If three bytes are read as four, a pixel begins at another byte of the value each time, and the colours come round
# after three pixels; two bytes read as four are two equal halves, which is one wrong colour. Stripes of two to four
# colours in a cleared buffer show a wrong width. How a fill of 24 bits ends when the length is no multiple of
# three is a choice: :choice:`fill.tail_24`.
