"""
Compressed textures
===================

The same colourful picture plain, as BC1, and as ASTC with one colour a block, in blocks of 4 x 4, 8 x 8 and 12 x 12.
"""

import numpy as np

from pocketgpu import Texture
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.patterns import noise, ramp
from pocketgpu.pictures import beside

SIDE = 96
COLORS = [(20, 30, 80, 255), (30, 110, 160, 255), (240, 220, 150, 255), (220, 100, 50, 255), (90, 20, 50, 255)]
picture = ramp(noise(SIDE, 3, 4), COLORS)


def blocks(size):
    """The texels of square blocks, (rows, columns, texels, channels)."""
    parts = picture.astype(int).reshape(SIDE // size, size, SIDE // size, size, 4)
    return parts.swapaxes(1, 2).reshape(SIDE // size, SIDE // size, size * size, 4)


def bc1():
    """8 bytes a block: two colours of 16 bits, and two bits for each texel, which choose these or one between them."""
    texels = blocks(4)[..., :3]
    low, high = texels.min(axis=2, keepdims=True), texels.max(axis=2, keepdims=True)
    along = ((texels - low) * (high - low)).sum(-1) / ((high - low) ** 2).sum(-1).clip(1)
    bits = (np.array([1, 3, 2, 0])[np.rint(along * 3).astype(int)] << 2 * np.arange(16)).sum(-1)
    ends = [(color[..., 0, :] >> (3, 2, 3) << (11, 5, 0)).sum(-1) for color in (high, low)]
    return np.stack([*ends, bits & 0xFFFF, bits >> 16], axis=-1).astype("<u2")


def astc(size):
    """16 bytes a block, of the kind that has one colour for all texels."""
    color = blocks(size).mean(axis=2).astype("<u2") * 257
    return np.concatenate([np.zeros_like(color) + np.array([0xFDFC, 0xFFFF, 0xFFFF, 0xFFFF], "<u2"), color], axis=-1)


WAYS = {"A8B8G8R8, 32 bits a texel": ("A8B8G8R8", picture), "DXT1, 4 bits": ("DXT1", bc1())}
WAYS |= {f"ASTC {n} x {n}, {128 / n / n:.3g} bits": (f"ASTC_2D_{n}X{n}", astc(n)) for n in (4, 8, 12)}
images = []
for format, data in WAYS.values():
    texture = Texture(data.view(np.uint8), format=format, numbers="unorm", normalized=True)
    images.append(MaxwellCanvas(192, 192).texture(texture).textured().image())
beside(images, list(WAYS), columns=5).save("compressed.png")

# %%
# A compressed texture stays compressed in memory and in the cache; the texture unit unpacks blocks as it reads them.
# Its header, in the table at :method:`SET_TEX_HEADER_POOL_A`, has the number of the format. BC1 (DXT1 in the header)
# keeps two colours for each block of 4 x 4 texels, and each texel selects one of them or of two between them. So a
# block has all its colours on one line, which can be seen where three colours meet. ASTC has 16 bytes for every block,
# and its size can be chosen from 4 x 4 to 12 x 12 texels, from 8 down to 0.89 bits a texel. Its blocks can hold
# gradients and patterns in many ways; these here use the simplest one, a single colour, to show how much of a picture
# shares 16 bytes.
