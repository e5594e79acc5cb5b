"""
One scene on both screens
=========================

A planet with a ring reaches over the gap between the screens, which lie above each other as on the console.
"""

import numpy as np
from PIL import Image

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import rotation
from pocketgpu.builder.shapes import sphere, torus

stars = np.repeat(np.random.default_rng(2).uniform((-200, -260, -250), (200, 250, -250), (260, 3)), 3, axis=0)
stars += np.tile([(0, 0, 0), (0, -2, 0), (2, 0, 0)], (260, 1))
(planet, planet_order), (ring, ring_order) = sphere(105, 64, 32), torus(180, 28, 96, 32)
day = np.clip(planet[:, 3:6] @ (-0.6, 0.5, 0.6), 0.05, 1)
bands = 0.5 + 0.2 * np.cos(np.hypot(ring[:, 0], ring[:, 1]) / 3)
ring = ring[:, :3] * (1, 1, 0) @ rotation((1, 0, 0.4), -1.25)[:3, :3].T
SHAPES = (
    (stars, (1, 1, 1), None),
    (planet[:, :3], np.outer(day, (0.95, 0.65, 0.4)), planet_order),
    (ring, np.outer(bands, (1, 0.9, 0.8)), ring_order),
)


def draw(canvas, left, top, width):  # what a screen shows of the plane of both
    canvas.show("vertex color").depth("greater")
    for places, colors, indices in SHAPES:
        x, y, z = places.T
        clip = np.column_stack([1 - (250 - y - top) / 120, 1 - (200 + x - left) / (width / 2), -z / 600 - 0.5])
        canvas.draw_vertices(clip, colors, (0, 0, 1), indices=indices)


canvas = Canvas((10, 12, 28, 255))
draw(canvas, 0, 0, 400)
canvas.submit()
lower = canvas.capture.allocate(4 * 240 * 320, region="VRAM")
canvas.capture.clear(lower, 240, 320, 0x0A0C1CFF).clear(canvas.depth, 240, 320, 0, format="D24S8")
canvas.draw_to(lower, 240, 320, depth=canvas.depth)
draw(canvas, 40, 270, 320)
canvas.submit()
canvas.capture.present("top", canvas.target).present("bottom", lower).end_frame()
(frame,) = canvas.frames()
console = Image.new("RGB", (400, 510), (70, 72, 78))
console.paste(frame.top.image, (0, 0))
console.paste(frame.bottom.image, (40, 270))
console.save("both_screens.png")

# %%
# There is one GPU for two screens. A program draws the scene twice, into a target of 240 x 400 pixels and into one of
# 240 x 320, as memory lies on its side. Only the place of the middle differs: 30 lines of the scene are lost in the
# hinge, and the lower screen is 40 pixels narrower on each side. :register:`FRAMEBUFFER_DIM` and the viewport
# (:register:`VIEWPORT_WIDTH`, :register:`VIEWPORT_HEIGHT`) change between the draws; the second one takes the depth
# buffer of the first, which is filled with 0 in between. Each picture goes to a framebuffer by a display transfer,
# and each screen has a display controller: the upper one reads from :register:`PDC0_ADDRESS_A0`, the lower one from
# :register:`PDC1_ADDRESS_A0`. Both show a new picture from their next frame on.
