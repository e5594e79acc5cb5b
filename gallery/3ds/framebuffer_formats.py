"""
Colour formats of render targets
================================

An evening sky, drawn with 32 and with 16 bits a pixel: the fewer levels a channel has, the broader are its bands.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.canvas import clip
from pocketgpu.pictures import beside

SKY = np.array([(6, 8, 36), (44, 26, 84), (130, 48, 92), (214, 96, 60), (250, 190, 110)]) / 255
HEIGHTS = (0, 80, 140, 195, 240)
corners = [(*clip(x, y), -0.5, 1) for y in HEIGHTS for x in (0, 400)]
circle = [(0, 0)] + [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 65)]


def glow(canvas, radius, middle, edge):
    """A round light around the place of the sun: its colour in the middle, and at the edge."""
    places = [(*clip(130 + radius * x, 190 + radius * y), -0.5, 1) for x, y in circle]
    canvas.draw_vertices(places, [middle] + [edge] * 65, (0, 0, 1), primitive="triangle fan")


def draw(format):
    canvas = Canvas(format=format)
    canvas.show("vertex color")
    canvas.draw_vertices(corners, np.repeat(SKY, 2, axis=0), (0, 0, 1), primitive="triangle strip")
    canvas.list.blend("source alpha", "one")
    glow(canvas, 230, (1, 0.7, 0.3, 0.5), (1, 0.3, 0.3, 0))
    glow(canvas, 26, (1, 1, 0.8, 1), (1, 0.9, 0.6, 0.9))
    return canvas.image()


formats = ["RGBA8", "RGB565", "RGB5A1", "RGBA4"]
beside([draw(format) for format in formats], formats, columns=2).save("framebuffer_formats.png")

# %%
# :register:`COLORBUFFER_FORMAT` says how a colour is stored in a render target. RGBA8 has 256 levels of each channel
# in four bytes. The others have two bytes: RGB565 has 32 levels of red and blue and 64 of green, RGB5A1 has 32 of
# each and one bit of alpha, RGBA4 has 16. The lowest bits of a colour are lost when a pixel is written, and each
# blend reads the coarser colour back, so that a second layer adds to the error: the glow around the sun is a layer
# over the sky. The hardware does not dither. In return a draw moves half the bytes, and a picture fits into half of
# the 6 MiB of video memory. A display transfer brings the picture to the screen; :register:`PPF_FLAGS` has formats of
# its own for both sides. Screens expand 5 and 6 bits to 8: the choice :choice:`display.expand` says how.
