"""
Outside of a texture
====================

An arrow in the middle and what is around it in eight ways: repeated, mirrored, stretched to the edge, or a border.
"""

from pocketgpu import Texture
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.patterns import drawn
from pocketgpu.pictures import beside

ARROW = drawn(
    """
    gggggggggggggggr
    gaaaaaaaaaaaaaar
    gaaaaaayyaaaaaar
    gaaaaayyyyaaaaar
    gaaaayyyyyyaaaar
    gaaayyyyyyyyaaar
    gaayyyyyyyyyyaar
    gaaaaayyyyaaaaar
    gaaaaayyyyaaaaar
    gaaaaayyyyaaaaar
    gaaaaayyyyaaaaar
    gaaaaayyyyyyaaar
    gaaaaayyyyyyaaar
    gaaaaaaaaaaaaaar
    gaaaaaaaaaaaaaar
    gbbbbbbbbbbbbbbr
    """,
    {"a": (30, 60, 110, 255), "y": (250, 210, 90, 255), "g": (60, 170, 120, 255), "r": (220, 80, 80, 255),
     "b": (90, 140, 220, 255)},
)  # fmt: skip
MODES = ["wrap", "mirror", "clamp", "border", "clamp_gl", "mirror_once", "mirror_once_border", "mirror_once_gl"]

images = []
for mode in MODES:
    texture = Texture(
        ARROW, numbers="unorm", normalized=True, filter="linear", address=mode, border=(0.85, 0.3, 0.75, 1)
    )
    canvas = MaxwellCanvas(180, 180).texture(texture)
    images.append(canvas.textured(part=(-1.25, -1.25, 2.25, 2.25)).image())
beside(images, MODES, columns=4).save("address_modes.png")

# %%
# Coordinates from 0 to 1 lie in a texture; what is outside is a matter of the sampler, which has a mode for each axis.
# It has eight words in the table at :method:`SET_TEX_SAMPLER_POOL_A`. WRAP repeats the texture and MIRROR turns every
# second copy around. CLAMP_TO_EDGE goes on with the texels of the edge, BORDER with a colour of the sampler. The modes
# with ONCE mirror the texture once, at 0, and then behave like one of the others. CLAMP_OGL, of old OpenGL, holds the
# coordinate at 0 or 1 exactly: there the linear filter mixes the last texel with the border half and half, as the
# colours around the fifth picture show. The arrow has a foot on one side, so mirror images can be told apart, and the
# edges of the texture have three colours.
