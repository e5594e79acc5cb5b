"""Surfaces of a 3DS in Python: formats and layouts of pixels in guest memory, to and from arrays and pictures.

    from pocketgpu import surface
    from pocketgpu.facts.formats import RGBA8

    pixels = surface.decode(data, RGBA8, 240, 400, "tiled")

These are the public names; the code is in `pocketgpu.pica.memory.surface` and `pocketgpu.pictures`.
"""

from pocketgpu.pica.memory.surface import (
    Layout,
    byte_size,
    decode,
    decode_depth,
    decode_texels,
    encode,
    encode_depth,
    texel_count,
    texel_index,
)
from pocketgpu.pictures import to_image, to_png

__all__ = [
    "Layout",
    "byte_size",
    "decode",
    "decode_depth",
    "decode_texels",
    "encode",
    "encode_depth",
    "texel_count",
    "texel_index",
    "to_image",
    "to_png",
]


def __dir__() -> list[str]:
    return [*__all__]
