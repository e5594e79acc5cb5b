"""
A volume
========

A white cloud with grey shadows in a blue sky: each pixel goes through a three-dimensional texture in 64 steps.
"""

import numpy as np

from pocketgpu import Texture
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import COLORED, VALUES

SIDE = 64
MARCH = VALUES + """
        MOV R8, RZ                       // R0 to R2 is the place in the texture, from the front on,
        MOV R9, RZ                       // R8 to R10 the colour so far,
        MOV R10, RZ                      // and R3, 1 at first, how much is still seen
        PBK done
again:  TEX.LZ R4, R0, RZ, 0x0, 3D, 0xf
        FMUL R7, R7, R3                  // alpha is how dense it is
        FFMA R8, R4, R7, R8
        FFMA R9, R5, R7, R9
        FFMA R10, R6, R7, R10
        FADD R3, R3, -R7
        FADD R2, R2, 0.015625
        FSETP.GT.AND P0, PT, R2, 1, PT
    @P0 BRK
        BRA again
done:   MOV R0, R8
        MOV R1, R9
        MOV R2, R10
        FADD R3, -R3, 1
        EXIT
"""
# Smooth noise of many sizes, which is dense in the middle; light comes from above.
z, y, x = np.meshgrid(*[np.fft.fftfreq(SIDE) * SIDE] * 3, indexing="ij")
noise = np.random.default_rng(4).normal(size=(SIDE,) * 3)
noise = np.fft.ifftn(np.fft.fftn(noise) / (np.sqrt(x * x + y * y + z * z) + 1) ** 1.9).real
z, y, x = np.mgrid[:SIDE, :SIDE, :SIDE] / SIDE - 0.5
dense = np.clip(0.25 * noise / noise.std() + 0.7 - 2.0 * np.sqrt(1.1 * x**2 + 2.2 * y**2 + z**2), 0, 0.25)
light = np.exp(-0.55 * np.cumsum(dense, axis=1))[..., None]
texels = np.concatenate([(0.42, 0.48, 0.6) + light * (0.58, 0.5, 0.36), dense[..., None]], axis=-1)

canvas = MaxwellCanvas(480, 300)
sky = [(0.2, 0.42, 0.75, 1)] * 2 + [(0.65, 0.8, 0.92, 1)] * 2
canvas.shaded((0, 0, 480, 300), sky, COLORED).blend("ONE", "ONE_MINUS_SRC_ALPHA")
cloud = Texture((texels * 255).astype(np.uint8), "3d", numbers="unorm", normalized=True, filter="linear")
canvas.texture(cloud).textured(pixel=MARCH).image().save("volume.png")

# %%
# A texture can have a third dimension: the type in its header, in the table at :method:`SET_TEX_HEADER_POOL_A`, is
# THREE_D. Its linear filter then mixes eight texels. Here it holds a cloud of 64 x 64 x 64 texels: the colour of each
# place, already with the shadow of what lies above it, and in alpha how dense it is. The pixel program walks from the
# front to the back, adds each colour as far as it is still seen, and leaves its sum as a colour to blend over the sky.
# All lanes of a warp take 64 steps, so none waits for another one. In memory such a texture has blocks that are several
# slices deep as well as several GOBs high, so neighbours in all three directions are near each other. The texture unit
# computes no level of detail here, as TEX.LZ names level 0.
