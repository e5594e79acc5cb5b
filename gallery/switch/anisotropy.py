"""
Filters for a floor in the distance
===================================

A floor of tiles up to the horizon four times: jagged, shimmering, grey and blurred, and sharp with an anisotropic
filter.
"""

from pocketgpu import Texture
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES
from pocketgpu.builder.patterns import checks
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import beside

TILES = checks(64, 2, [(235, 228, 205, 255), (40, 70, 120, 255)])
levels = [TILES]
while levels[-1].shape[0] > 1:  # each level is half as large: the mean of four texels
    above = levels[-1].astype(int)
    levels.append(((above[::2, ::2] + above[1::2, ::2] + above[::2, 1::2] + above[1::2, 1::2]) // 4).astype("u1"))

WAYS = {
    "nearest texel": {"filter": "nearest"},
    "linear": {"filter": "linear"},
    "linear, with mip levels": {"filter": "linear", "mip_filter": "linear"},
    "anisotropic, 16 samples": {"filter": "linear", "mip_filter": "linear", "anisotropy": 16},
}
floor, indices = plane(60, 60)
floor[:, 6:] *= 60
images = []
for way in WAYS.values():
    canvas = MaxwellCanvas(320, 160, (120, 170, 220))
    canvas.texture(Texture(levels, numbers="unorm", normalized=True, address="wrap", **way))
    model = translation(0, -0.7, -27) @ rotation((1, 0, 0), -1.5708) @ rotation((0, 0, 1), 0.3)
    canvas.mesh((floor, indices), model, pixel=MESH_VALUES + "TEX R0, R8, RZ, 0x0, 2D, 0xf\nEXIT")
    images.append(canvas.image())
beside(images, list(WAYS), columns=2).save("anisotropy.png")

# %%
# Far away a pixel covers many texels. With one texel for each pixel, or four mixed by the linear filter, most of them
# are left out, and the tiles break into noise. Mip levels are smaller copies of a texture; the GPU takes the
# derivatives of the coordinates in a square of 2 x 2 pixels and selects the level whose texels are about as large as a
# pixel. On a floor a pixel is long and narrow in the texture, and a level that is right for its length is too coarse
# for its width, so the tiles turn grey early. The anisotropic filter selects the level by the width and takes several
# samples along the length, here at most 16. All of this is set by the sampler, eight words in the table at
# :method:`SET_TEX_SAMPLER_POOL_A`.
