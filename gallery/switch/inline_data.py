"""
Pictures inside of a pushbuffer
===============================

A night sky full of stars, small and large, whose pixels have all been words of the pushbuffer itself.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas

WIDTH, HEIGHT = 480, 240


def star(size, color):
    """A star of size x size pixels with four rays over the dark ground."""
    at = np.abs(np.linspace(-1, 1, size))
    x, y = at[None], at[:, None]
    light = np.clip(0.05 / (x * y * 6 + 0.04) * (1 - np.hypot(x, y)), 0, 1)[..., None]
    mixed = np.array((18, 24, 58)) * (1 - light) + np.array(color) * light
    return np.concatenate([mixed, np.full((size, size, 1), 255)], axis=2).astype(np.uint8)


canvas = MaxwellCanvas(WIDTH, HEIGHT, (18, 24, 58)).wait()
rng = np.random.default_rng(21)
places = [(x, y) for x in range(0, WIDTH, 40) for y in range(0, HEIGHT, 40)]
for x, y in places:
    size = int(rng.choice([5, 7, 9, 15, 25, 39], p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05]))
    color = [(255, 250, 225), (190, 215, 255), (255, 205, 150)][rng.integers(3)]
    left, top = x + rng.integers(41 - size), y + rng.integers(41 - size)
    canvas.pb.on("inline-to-memory").inline_rectangle(canvas.target, int(left), int(top), star(size, color))
canvas.image().save("inline_data.png")

# %%
# Small amounts of data need no memory of their own: a pushbuffer can carry them. The program names a target and its
# size, then :method:`A140.LAUNCH_DMA` starts, and each word written to :method:`A140.LOAD_INLINE_DATA` is four bytes of
# it, here a pixel. The header form that does not increment lets thousands of words go to this one method. The target
# may be block-linear: with :method:`A140.SET_DST_WIDTH`, :method:`A140.SET_DST_ORIGIN_BYTES_X` and its neighbours the
# words become a rectangle in a picture, and the class finds the GOBs. The 72 stars are written like this, one after the
# other, into the picture that is shown, and nothing is drawn. The 3D and the compute class have the same methods.
# Drivers send constants and the metadata of grids this way, as the words stay in order with all other work.
