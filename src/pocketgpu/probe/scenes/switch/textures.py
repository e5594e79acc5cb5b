"""Scenes of textures: layout, coordinates and filters."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.compute.texture_objects import Texture
from pocketgpu.maxwell.memory.blocklinear import mip_layout
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import (
    BLUE,
    FAR_APART,
    IMAGE,
    LEFT,
    ORANGE,
    RIGHT,
    TEXTURED,
    VALUES,
    Color,
    SceneCanvas,
    pixels,
)

_VOLUME: Final = VALUES + "TEX R0, R0, RZ, 0x0, 3D, 0xf\nEXIT"
_BY_NUMBER: Final = VALUES + "F2I.S32.F32 R0, R0\nF2I.S32.F32 R1, R1\nTLD.LZ R0, R0, RZ, 0x0, 2D, 0xf\nEXIT"
_BY_GRADIENTS: Final = VALUES + "MOV32I R8, 0x3f000000\nMOV R9, R8\nTXD R0, R8, R0, 0x0, 2D, 0xf\nEXIT"
"""The middle of a texture, with the values as the four words of TXD."""
_DEEP: Final = 4
"""log2 of the slices of a block, in headers of textures with slices."""


@scene("memory.block_depth_base")
def _() -> Made:
    """The header of a texture of two slices says blocks of 16. Its right half begins after a block of two, where memory
    is orange (reduce), or of 16, where it is blue (keep). The left square shows the former without a texture."""
    canvas = SceneCanvas()
    x, y, width, height = LEFT
    canvas.fill((x, y, width // 2, height), BLUE).fill((x + width // 2, y, width // 2, height), ORANGE)
    columns, rows, slices = 32, 8, 2
    small, large = (
        mip_layout(
            columns, rows, slices, element_bytes=4, block_height_log2=0, block_depth_log2=_DEEP,
            reduce_base_depth=reduced,
        ).levels[0].layout.size
        for reduced in (True, False)
    )  # fmt: skip
    texels = np.tile(pixels([BLUE])[0], (large // 4, 1))
    texels[small // 8 : small // 4] = pixels([ORANGE])[0, 0]
    texture = Texture(
        np.zeros((slices, rows, columns, 4), np.uint8), "3d", numbers="unorm", normalized=True
    )  # fmt: skip
    canvas.texture(texture, at=canvas.capture.put(texels, kind=IMAGE))
    return canvas.shaded(RIGHT, [(u, v, 0.25, 0) for v in (0, 1) for u in (0, 1)], _VOLUME).made()


@scene("texture.fraction")
def _() -> Made:
    """A filter between two texels, with colours for which equal weights give light blue, and any more of the second one
    orange. Left coordinates are 2/256 of a texel beyond the middle, right ones 0.75/256: orange, as if it were 1/256
    (round), or light blue, as if it were none (truncate)."""
    canvas = SceneCanvas()
    texels = np.array([FAR_APART], np.float32)
    canvas.texture(Texture(texels, filter="linear"))
    for rectangle, further in ((LEFT, 2.0), (RIGHT, 0.75)):
        canvas.shaded(rectangle, [(1 + further / 256, 0.5, 0, 0)] * 4, TEXTURED)
    return canvas.made()


@scene("texture.gradient_order")
def _() -> Made:
    """A wide texture is blue, its smaller levels are orange. A gradient of 1/8 is the first word of TXD at the left and
    the second one at the right: orange, as it is of u, the wide side (interleaved), or blue, as it is of v (pairs)."""
    canvas = SceneCanvas()
    canvas.texture(Texture(_levels(64, 4), filter="linear", mip_filter="nearest", **_UNORM))
    for rectangle, gradients in ((LEFT, (1 / 8, 0, 0, 0)), (RIGHT, (0, 1 / 8, 0, 0))):
        canvas.shaded(rectangle, [gradients] * 4, _BY_GRADIENTS)
    return canvas.made()


@scene("texture.fetch_outside")
def _() -> Made:
    """Texels of an orange texture are fetched by number, at the right some outside of it: they are black (zero), or
    orange (clamp)."""
    canvas = SceneCanvas()
    canvas.texture(Texture(np.tile(pixels([ORANGE]), (8, 8, 1)), numbers="unorm"))
    for rectangle, last in ((LEFT, 7.0), (RIGHT, 15.0)):
        canvas.shaded(rectangle, [(u, v, 0, 0) for v in (0, last) for u in (0, last)], _BY_NUMBER)
    return canvas.made()


@scene("texture.anisotropy")
def _() -> Made:
    """A texture is blue, its smaller levels are orange; its sampler allows 16 samples, its header one. The right square
    has 8 times as many texels in one direction: blue, as 8 samples suffice (sampler), or orange (least)."""
    canvas = SceneCanvas()
    canvas.texture(Texture(_levels(64, 64), filter="linear", mip_filter="nearest", anisotropy=16, **_UNORM))
    for rectangle, along in ((LEFT, 1), (RIGHT, 8)):
        canvas.shaded(rectangle, [(along / 64, 0, 0, 1 / 64)] * 4, _BY_GRADIENTS)
    return canvas.made()


_UNORM: Final[dict[str, Any]] = {"numbers": "unorm", "normalized": True, "address": "wrap"}


def _levels(width: int, height: int) -> list[NDArray[np.uint8]]:
    """All levels of a texture: the first one blue, the others orange."""
    found: list[NDArray[np.uint8]] = []
    for number in range(max(width, height).bit_length()):
        color: Color = ORANGE if number else BLUE
        found.append(np.tile(pixels([color]), (max(height >> number, 1), max(width >> number, 1), 1)))
    return found
