"""Bytes of a dump as a picture, and a picture as bytes for a texture: conversions between `surface` and image files.

`surface` has formats and layouts. This module adds other names for the formats, pictures that are stored rotated or
upside down, and conversion of colours to luminance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import BY_NAME, PixelFormat
from pocketgpu.pica.memory import surface
from pocketgpu.pictures import to_image

if TYPE_CHECKING:
    from PIL.Image import Image

OTHER_NAMES: Final[Mapping[str, str]] = {
    "RGBA8888": "RGBA8",
    "RGB888": "RGB8",
    "RGBA5551": "RGB5A1",
    "RGBA4444": "RGBA4",
    "LA8": "IA8",
    "RG8": "HILO8",
    "HILO88": "HILO8",
    "L8": "I8",
    "LA4": "IA44",
    "LA44": "IA44",
    "L4": "I4",
}
"""Names of formats in tools and drivers, to ours."""


def format_named(name: str) -> PixelFormat:
    """The format of a name or alias, upper or lower case.

    :raises ValueError: there is none; the message lists all names.
    """
    word = name.strip().upper()
    found = BY_NAME.get(OTHER_NAMES.get(word, word))
    if found is None:
        raise ValueError(f"{name!r} is no pixel format. There are {', '.join(BY_NAME)}.")
    return found


def to_picture(
    data: bytes,
    format: PixelFormat,
    width: int,
    height: int,
    layout: surface.Layout,
    *,
    flip: bool = False,
    upright: bool = False,
) -> Image:
    """A surface as a Pillow image: RGBA if the format has alpha, else RGB; depth as 16-bit grey, its upper bits.

    flip: the first row of memory is the lowest of the picture. upright: turn a framebuffer, whose rows are the columns
    of the screen.

    :raises UsageError: the size does not fit the data or the layout.
    """
    pixels: NDArray[Any]
    if format.kind == "depth":
        depth = surface.decode_depth(data, format, width, height, layout)["depth"]
        pixels = (depth >> np.uint32(0 if format.name == "D16" else 8)).astype(np.uint16)
    else:
        pixels = surface.decode(data, format, width, height, layout)[..., : 4 if format.has_alpha else 3]
    if flip:
        pixels = pixels[::-1]
    if upright:
        pixels = pixels.swapaxes(0, 1)[::-1]
    return to_image(pixels)


def from_picture(
    image: Image, format: PixelFormat, layout: surface.Layout, *, flip: bool = False, upright: bool = False
) -> bytes:
    """The bytes of a surface that shows `image`; the inverse of `to_picture` as far as the format allows.

    :raises UsageError: the format holds no colours, or the size does not suit the layout.
    """
    if format.kind == "depth":
        raise UsageError(f"{format.name} holds no colours", hint="Depth can be looked at, not made from a picture.")
    pixels = np.asarray(image.convert("RGBA"))
    if format.channel("l"):
        # In grey pictures each channel is the luminance already; others are weighted as for television.
        pixels = pixels.copy()
        pixels[..., :3] = np.asarray(image.convert("RGB").convert("L"))[..., None]
    if upright:
        pixels = pixels[::-1].swapaxes(0, 1)
    if flip:
        pixels = pixels[::-1]
    height, width = pixels.shape[:2]
    if layout == "tiled" and (width % 8 or height % 8):
        raise UsageError(
            f"a tiled picture of {width}x{height} has no whole number of tiles",
            hint="Make both sides multiples of 8.",
        )
    return surface.encode(np.ascontiguousarray(pixels), format, layout)
