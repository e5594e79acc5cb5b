"""
Two eyes
========

A ring of balls for the left eye and for the right one; the third picture has both, for glasses of red and cyan.
"""

import numpy as np
from PIL import Image

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import translation
from pocketgpu.builder.shapes import plane, sphere
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pictures import beside

BALL, WALL = sphere(0.3), plane(16, 10)


def draw(canvas, eye):
    canvas.camera((eye, 1.6, 5.5), (0, 0, 0), angle=0.46)
    canvas.list.depth("greater")
    canvas.lighting(ambient=(50, 50, 56))
    canvas.light(0, (2, 4, 5), diffuse=(190, 180, 165))
    canvas.mesh(WALL, translation(0, 0, -4))
    for angle in np.arange(10) * np.pi / 5:
        canvas.mesh(BALL, translation(1.5 * np.sin(angle), 0.3 * np.cos(2 * angle), 1.5 * np.cos(angle)))


canvas = Canvas()
buffers = [canvas.capture.allocate(3 * 240 * 400, region="VRAM") for eye in "lr"]
for eye, buffer in zip((-0.16, 0.16), buffers, strict=True):
    draw(canvas, eye)
    canvas.submit()
    canvas.capture.transfer(canvas.target, buffer, 240, 400)
    canvas.clear()
canvas.capture.show("top", buffers[0]).write("PDC0_ADDRESS_B0", address=buffers[1])
reset = EXTERNAL["PDC0_FORMAT"].reset
canvas.capture.write("PDC0_FORMAT", reset, color_format="RGB8", interlace="A then B", scan_doubling=False).end_frame()

(frame,) = canvas.frames()
left, right = frame.top.image, frame.top_right.image
both = Image.merge("RGB", (left.getchannel("R"), right.getchannel("G"), right.getchannel("B")))
beside([left, right, both], ["left eye", "right eye", "both, red and cyan"]).save("stereo.png")

# %%
# The upper screen has 800 columns of pixels under a barrier: with the barrier on (:register:`PARALLAX_CONTROL`), the
# left eye sees every second one and the right eye the others. The GPU knows nothing of eyes. A program draws the
# scene twice, from two places, into two framebuffers. In the mode "A then B" of the field "interlace" in
# :register:`PDC0_FORMAT` the display controller reads a line of the one at :register:`PDC0_ADDRESS_A0`, then a line
# of the one at :register:`PDC0_ADDRESS_B0`, and so on; "scan_doubling", which shows each line twice for flat
# pictures, is off. That each framebuffer has 400 lines is shown by programs (:choice:`display.interleave`). Both
# cameras look at the middle of the ring, so nearer balls are shifted against each other one way, and farther ones the
# other way. At the middle there is no shift: it seems to lie on the glass.
