"""
Blending
========

The same three spots of red, green and blue on the same stripes, by eight ways to mix them with what is there.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas
from pocketgpu.pictures import beside

y, x = (np.mgrid[:64, :64] + 0.5) / 32 - 1
spot = np.full((64, 64, 4), 255, np.uint8)
spot[..., 3] = np.clip(1.2 - 1.2 * np.hypot(x, y), 0, 1) * 255
GROUND = [(16, 20, 48), (84, 92, 116), (160, 160, 168), (236, 232, 220)]
COLORS = [(255, 64, 64, 255), (64, 224, 96, 255), (80, 112, 255, 255)]
MODES = {
    "one, zero": ("one", "zero"),
    "source alpha, 1 - source alpha": ("source alpha", "1 - source alpha"),
    "source alpha, one": ("source alpha", "one"),
    "1 - destination color, one": ("1 - destination color", "one"),
    "destination color, zero": ("destination color", "zero"),
    "reverse subtract": ("source alpha", "one", "reverse subtract"),
    "minimum": ("one", "one", "minimum"),
    "maximum": ("one", "one", "maximum"),
}
canvas = Canvas()
address = canvas.capture.put_texture(spot)
view = Box(100, 50, 300, 190)
for mode in MODES.values():
    for number, color in enumerate(GROUND):
        canvas.fill(view.part(0, 1, number, 4), (*color, 255))
    canvas.list.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=0)
    canvas.list.blend(*mode).texture(0, address, 64, 64, wrap="clamp to edge")
    for number, color in enumerate(COLORS):
        tinted = ("modulate", "texture 0", "constant")
        canvas.list.combiner(0, tinted, ("replace", "texture 0"), color=color)
        canvas.quad(Box(110 + 45 * number, 75, 200 + 45 * number, 165))
    canvas.end_frame()
pictures = [picture.crop(view) for picture in canvas.images()]
beside(pictures, [*MODES], columns=4).save("blending.png")

# %%
# The last step of a fragment mixes its colour (source) with that of the target (destination). Both are multiplied by
# a factor, then an equation puts them together: source plus destination, either difference, or the smaller or larger
# one. :register:`BLEND_FUNC` has factors and equation, for colour and alpha apart, and labels above name the source's
# factor first. The spots are opaque in their middle and clear at their edge; the alpha test keeps only what is not
# quite clear, so all have the same discs. "One, zero" is drawing without blending. "Source alpha, one" adds light,
# and "destination color, zero" multiplies, as a coloured glass does. "Reverse subtract" takes light away. Minimum and
# maximum compare each channel; a console was measured to multiply by the factors first, :choice:`blend.min_max`.
