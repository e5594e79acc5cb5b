"""
Brushed metal
=============

A steel disc with a round highlight, brushed from left to right, and turned on a lathe.
"""

import numpy as np

from pocketgpu.builder import Canvas, shapes
from pocketgpu.pictures import beside

y, x = (np.mgrid[:128, :128] + 0.5) / 64 - 1
turned = np.zeros((128, 128, 4), np.uint8)
# Tangents of circles.
turned[..., 0], turned[..., 1] = 127.5 + 127.5 * np.stack([y, x]) / np.hypot(x, y)
turned[..., 2], turned[..., 3] = 128, 255 * (np.hypot(x, y) < 0.96)
# Inputs of a table from -1 to 1, in its order.
signed = np.concatenate([np.arange(128), np.arange(-128, 1)]) / 128
canvas = Canvas()
STREAK = np.exp(-((signed / 0.25) ** 2))  # bright where the tangent is across
GLOSS = (np.arange(257) / 256) ** 40
VARIANTS = {
    "D0 by N.H": ("N.H", "none", GLOSS),
    "D0 by cos phi": ("cos phi", "none", STREAK),
    "tangent map": ("cos phi", "tangent map", STREAK),
}
for product, mode, table in VARIANTS.values():
    canvas.clear()
    canvas.texture(turned, wrap="clamp to edge")
    canvas.lighting(
        {"D0": table}, inputs={"d0": product}, bump_mode=mode, ambient=(40, 44, 52)
    )
    canvas.list.write("LIGHTING_LUTINPUT_ABS", d0=product == "cos phi")
    canvas.list.combiner(1, ("replace", "previous stage"), ("replace", "texture 0"))
    canvas.list.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=127)
    canvas.light(0, (1.5, 1.5, 2.5), diffuse=(70, 76, 90), specular=(190, 190, 180))
    canvas.mesh(shapes.plane(3, 3))
    canvas.end_frame()
pictures = [picture.crop((100, 20, 300, 220)) for picture in canvas.images()]
beside(pictures, [*VARIANTS]).save("brushed_metal.png")

# %%
# Brushed metal shines along lines across its scratches. The light unit has a product for that, cos phi: the tangent
# of the surface times the part of the half vector H that lies in the surface. The table D0 is looked up with it and
# is bright near 0, where H leans neither along the tangent nor against it. As cos phi goes from -1 to 1, the bit of
# D0 in :register:`LIGHTING_LUTINPUT_ABS` is set, and the table's second half holds the negative values. In the second
# picture all tangents point to the right. In the third a texture gives them, as circles: with ``bump_mode`` = tangent
# map in :register:`LIGHTING_CONFIG0` the colours are tangents, not normals, and the shine becomes the two fans of a
# pan's bottom. Only one of the layer configurations has cos phi, ``all``; in the others it counts as 0.
