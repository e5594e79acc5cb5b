"""Copies of textures: the storage kind of a texture, and its decoded texels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.formats.channels import NUMBER_INTEGER, Channels
from pocketgpu.maxwell.formats.texture_header import MAX_LEVEL_BYTES, SOURCES, TextureHeader
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.texel_outputs import is_half
from pocketgpu.maxwell.textures import blocks

MAX_SLICES = 2048
"""The most layers and slices of a texture of this chip."""
_ALPHA = SOURCES.IN_A
_OF_ALPHA = SOURCES.numbers("IN_A", "IN_ZERO", "IN_ONE_INT", "IN_ONE_FLOAT")
"""Sources of alpha that the sRGB curve does not apply to."""


def _channels(texture: TextureHeader) -> Sequence[Channels]:
    """The channels of each of the pixels that share an element.

    Empty for compressed formats, and if a type does not exist for a component's bits, which is reported when texels are
    read.
    """
    layout = texture.format
    count = layout.block[0] if layout.components else 0
    try:
        return [Channels.of(layout, texture.types, pixel=n) for n in range(count)]
    except UsageError:
        return []


def is_integer(texture: TextureHeader) -> bool:
    """Whether texels are integers, which are never filtered."""
    return any(channels.numbers == NUMBER_INTEGER for channels in _channels(texture))


def kind_of(texture: TextureHeader) -> int:
    """The storage kind of a texture's copy.

    :raises UsageError: the format has no description.
    """
    layout = texture.format
    if not layout.bytes:
        raise UsageError(f"the texture format {layout.name} has no description")
    if is_integer(texture):
        return r.INTEGER
    # The sRGB curve applies before the swizzle.
    plain = all(code != _ALPHA for code in texture.swizzle[:3]) and texture.swizzle[3] in _OF_ALPHA
    if layout.compressed:
        codec = blocks.codec(layout, texture.types, texture.srgb)
        if codec.form == "unorm8":
            return r.FLOAT if texture.srgb and not plain else r.SRGB8 if texture.srgb else r.UNORM8
        return r.SRGB8 if codec.srgb and plain else r.FLOAT
    if is_half(layout, texture.types) and not texture.srgb:
        return r.HALF
    channels = _channels(texture)
    if len(channels) == 1 and channels[0].bytes_of_channels is not None:
        return r.UNORM8 if not texture.srgb else r.SRGB8 if plain else r.FLOAT
    return r.FLOAT


def storage_of(texture: TextureHeader, choices: Mapping[str, str]) -> tuple[int, int]:
    """(address, bytes) of all memory that the texels of a texture are read from.

    :raises UsageError: it is too much, or more than the chip supports.
    """
    if texture.layout == "block-linear":
        size = texture.mips_with(choices).size
    elif texture.layout == "pitch":
        across, down = texture.format.block
        row = -(-texture.width // across) * texture.format.bytes
        size = (-(-texture.height // down) - 1) * texture.pitch + row
    else:
        size = texture.width * texture.format.bytes
    if not 0 < size <= MAX_LEVEL_BYTES:
        raise UsageError(f"a texture of {size} bytes is too large to be read")
    if max(texture.layers, texture.depth) > MAX_SLICES:
        raise UsageError(f"no texture has more than {MAX_SLICES} layers or slices")
    return texture.address, size


def canonical(
    texture: TextureHeader, memory: GpuMemory, engine: Engine, choices: Mapping[str, str]
) -> tuple[int, list[NDArray[Any]]]:
    """(storage, an array (slices, height, width, 4) for each level of the view): uint8, float32 or 32-bit integers.

    The storage is that of `kind_of`, or FLOAT where it would not be exact.

    :raises UsageError: there is no decoder for the format, or a level is too large.
    """
    kind = kind_of(texture)
    slices = [
        [
            (level, layer, z)
            for layer in range(texture.layers)
            for z in range(texture.surface(level, 0, choices)[0].depth)
        ]
        for level in range(texture.last_level - texture.first_level + 1)
    ]

    def read(at: tuple[int, int, int]) -> NDArray[Any]:
        level, layer, z = at
        return texture.decode(memory, engine, level, layer, z, choices)

    if kind == r.SRGB8 and texture.format.compressed and not _whole_alpha(read(at) for level in slices for at in level):
        kind = r.FLOAT
    dtype: Any = np.uint8 if kind in (r.UNORM8, r.SRGB8) else np.int32 if kind == r.INTEGER else np.float32
    dtype = np.uint16 if kind == r.HALF else dtype
    levels = []
    for places in slices:
        found, _ = texture.surface(places[0][0], 0, choices)
        texels = np.empty((len(places), found.height, found.width, 4), dtype)
        for n, at in enumerate(places):
            if kind in (r.UNORM8, r.SRGB8):
                texels[n] = texture.picture(memory, engine, *at, choices)
            else:
                one = read(at)
                texels[n] = one.view(np.int32) if kind == r.INTEGER else _halves(one) if kind == r.HALF else one
        levels.append(texels)
    return kind, levels


def _halves(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The bits of half floats with these values, which all are such values."""
    bits = values.view(np.uint32)
    of_nan = bits >> 16 & 0x8000 | 0x7C00 | bits >> 13 & 0x3FF
    return np.where(np.isnan(values), of_nan, values.astype(np.float16).view(np.uint16)).astype(np.uint16)


def _whole_alpha(slices: Iterable[NDArray[Any]]) -> bool:
    """Whether 8 bits are enough for alpha: ASTC decodes sRGB to colours of 8 bits, but alpha to 16."""
    return all(bool((np.rint(texels[..., 3] * 255) / np.float32(255) == texels[..., 3]).all()) for texels in slices)
