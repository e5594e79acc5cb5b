"""
Mip levels and their bias
=========================

A floor of rings four times; each mip level has a colour, from white near the eye over orange and violet to blue far
away.
"""

import numpy as np

from pocketgpu import Texture
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import beside

COLORS = [(240, 240, 230), (240, 180, 60), (220, 90, 60), (170, 60, 140), (70, 90, 200), (40, 170, 160), (60, 60, 70)]
levels = []
for level, color in enumerate(COLORS):  # 64 x 64 down to 1 x 1: a ring in the colour of the level
    at = (np.arange(64 >> level) + 0.5) / (64 >> level) - 0.5
    ring = abs(np.hypot(*np.meshgrid(at, at)) - 0.33) < 0.12
    texels = np.dstack([np.array(color) * (0.55 + 0.45 * ring[..., None]), np.full(ring.shape, 255)])
    levels.append(texels.astype(np.uint8))

WAYS = {
    "the computed level": {"mip_filter": "nearest"},
    "between two levels": {"mip_filter": "linear"},
    "bias -1.5": {"mip_filter": "linear", "lod_bias": -1.5},
    "bias 1.5": {"mip_filter": "linear", "lod_bias": 1.5},
}
floor, indices = plane(40, 40)
floor[:, 6:] *= 24
images = []
for way in WAYS.values():
    canvas = MaxwellCanvas(320, 150, (24, 32, 48))
    canvas.texture(Texture(levels, numbers="unorm", normalized=True, address="wrap", filter="linear", **way))
    model = rotation((1, 0, 0), 0.28) @ translation(0, -1.1, -20) @ rotation((1, 0, 0), -1.5708)
    canvas.mesh((floor, indices), model, pixel=MESH_VALUES + "TEX R0, R8, RZ, 0x0, 2D, 0xf\nEXIT")
    images.append(canvas.image())
beside(images, list(WAYS), columns=2).save("mip_levels.png")

# %%
# A texture has up to 15 levels, each half as large as the one before. Here each of seven levels has its own colour, so
# the picture shows which one the GPU reads. Four pixels of a quad compare their coordinates: if these change by two
# texels from one pixel to the next, level 1 has texels of about the size of a pixel, if by four, level 2. In the first
# picture the nearest level is taken, and there are lines where it changes; in the second one two levels are mixed.
# MIP_LOD_BIAS in the sampler, which lies in the table at :method:`SET_TEX_SAMPLER_POOL_A`, is added to the computed
# level: -1.5 makes the picture sharper and lets it shimmer, 1.5 makes it blurred. MIN_LOD_CLAMP and MAX_LOD_CLAMP limit
# the level. Programs can also choose it themselves, by TEX.LL.
