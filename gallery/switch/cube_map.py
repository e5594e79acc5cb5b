"""
A cube map
==========

A shining ball over a floor of tiles mirrors the sky, the sun and the floor around it.
"""

import numpy as np

from pocketgpu import Texture
from pocketgpu.builder.matrices import translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES, VALUES
from pocketgpu.builder.shapes import sphere

# The six faces in their order: for each one the direction of its middle, of u and of v.
FACES = ["+x-z-y", "-x+z-y", "+y+x+z", "-y+x-z", "+z+x-y", "-z-x-y"]
AXES = {sign + axis: np.eye(3)[n] * (1 if sign == "+" else -1) for n, axis in enumerate("xyz") for sign in "+-"}


def surroundings(direction):
    """The colours of directions: sky and sun above, tiles below, which are lost in the distance."""
    x, y, z = np.moveaxis(direction / np.linalg.norm(direction, axis=-1, keepdims=True), -1, 0)[..., None]
    down = np.minimum(y, -0.001)
    tile = (np.floor(-2 * x / down) + np.floor(-2 * z / down)) % 2
    haze = np.exp(5 * down)
    floor = (1 - haze) * ((60, 50, 45) + tile * (160, 155, 125)) + haze * (190, 205, 225)
    sky = (1 - y) * (190, 205, 225) + y * (30, 80, 180) + 255 * np.maximum(0.4 * x + 0.55 * y + 0.73 * z, 0) ** 200
    return np.where(y < 0, floor, sky).clip(0, 255)


at = np.linspace(-1, 1, 256)[:, None]
faces = [surroundings(AXES[f[:2]] + (at * AXES[f[2:4]])[None] + (at * AXES[f[4:]])[:, None]) for f in FACES]
texels = np.pad(np.array(faces).round(3), ((0, 0),) * 3 + ((0, 1),)).astype(np.uint8)

canvas = MaxwellCanvas(480, 270)
canvas.texture(Texture(texels, "cube", numbers="unorm", normalized=True, filter="linear"))
many = canvas.samples(8)
ahead = [(x * 0.75, y * 0.42, -1, 0) for y in (1, -1) for x in (-1, 1)]
canvas.shaded((0, 0, 480, 270), ahead, VALUES + "TEX R0, R0, RZ, 0x0, CUBE, 0xf\nEXIT")
# R16 to R18 get the place in eye space, which is the direction from the eye.
MIRROR = MESH_VALUES + "".join(f"IPA R{16 + n}, a[{0xA0 + 4 * n:#x}], R12\n" for n in range(3)) + """
    FMUL R20, R4, R16
    FFMA R20, R5, R17, R20
    FFMA R20, R6, R18, R20
    FADD R20, R20, R20
    FFMA R16, R4, -R20, R16              // mirrored at the normal
    FFMA R17, R5, -R20, R17
    FFMA R18, R6, -R20, R18
    TEX R0, R16, RZ, 0x0, CUBE, 0xf
    EXIT
"""
canvas.test_depth().mesh(sphere(1, 64, 32), translation(0, 0, -3.2), pixel=MIRROR)
canvas.resolve(many).image().save("cube_map.png")

# %%
# A cube map has six square faces. Its header, in the table at :method:`SET_TEX_HEADER_POOL_A`, has the type CUBEMAP,
# and its coordinates are a direction: the largest of the three numbers selects the face, the other two divided by it
# are the place on it. The picture around the ball is the cube map itself; each pixel has as its coordinates the
# direction in which the eye looks. On the ball the pixel program mirrors this direction at the normal: r = e - 2 (n *
# e) n, and reads the same texture there, so the ball shows what is behind the eye, such as the sun. No ray is followed:
# the ball can't mirror itself or another ball. Between two faces the linear filter mixes texels of both, if the field
# CUBEMAP_INTERFACE_FILTERING of the sampler says so.
