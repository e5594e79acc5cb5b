"""
Linear and sRGB targets
=======================

Three bands from one colour to another, dark in the middle where bytes are mixed and brighter where light is mixed.
"""

from dataclasses import replace

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import COLORED
from pocketgpu.pictures import beside

images, formats = [], {"A8B8G8R8, bytes are mixed": "A8B8G8R8", "A8BL8GL8RL8, light is mixed": "A8BL8GL8RL8"}
for format in formats.values():
    canvas = MaxwellCanvas(320, 200, (0, 0, 0))
    canvas.draw_to(replace(canvas.target, format=format)).pb.method("SET_SRGB_WRITE", 1)
    pairs = [((1, 0, 0), (0, 1, 0)), ((0, 0, 1), (1, 1, 0)), ((0, 0, 0), (1, 1, 1))]
    for row, (left, right) in enumerate(pairs):
        canvas.blend("ONE", "ZERO").square((10, 10 + 62 * row, 300, 56), [round(255 * part) for part in left])
        canvas.blend().shaded((10, 10 + 62 * row, 300, 56), [(*right, 0), (*right, 1)] * 2, COLORED)
    images.append(canvas.image())
beside(images, list(formats)).save("srgb.png")

# %%
# The bytes of a picture are not amounts of light: in sRGB, half the light is the byte 188, because eyes tell dark tones
# apart better than light ones. Blending adds, multiplies and mixes, which is right for light, not for such bytes. A
# target of a format with L in its name, such as A8BL8GL8RL8, stores sRGB: with :method:`SET_SRGB_WRITE` the GPU turns
# the bytes of the target into light before it blends, and the result into bytes again. In both pictures a colour whose
# alpha rises from left to right is blended over another one, with the same draws and the same memory; only the format
# in :method:`SET_COLOR_TARGET_FORMAT` differs. Textures have the same conversion, as a bit of their header. What looks
# too dark between two colours in a game was often mixed as bytes.
