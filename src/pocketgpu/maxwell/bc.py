"""Block-compressed textures BC1, BC2 and BC3 (DXT1, DXT23, DXT45) to colours. NumPy; for people, tools and tests.

A block is 4x4 texels: two colours of 16 bits and an index of 2 bits a texel that chooses one of them or a mixture. BC2
has 4 bits of alpha a texel before that, BC3 two alphas of 8 bits and an index of 3 bits.

Colours are mixed exactly, from the ends as fractions of 31 and 63, and come out as float32. How many bits the chip
keeps on the way nobody has published.

Source: EXT_texture_compression_s3tc; Direct3D 11 functional specification, section 19.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Bytes
from pocketgpu.errors import UsageError

from ..facts.maxwell.formats import PixelLayout

Texels = NDArray[np.float32]


def decode(blocks: Bytes, layout: PixelLayout) -> Texels:
    """Colours of rows of blocks, uint8 of shape (rows, blocks, bytes of a block), as (4*rows, 4*blocks, 4).

    :raises UsageError: the format is another one, or blocks have another size.
    """
    decoder = _DECODERS.get(layout.name)
    if decoder is None:
        raise UsageError(f"there is no decoder for {layout.name} yet", hint=f"There are {', '.join(_DECODERS)}.")
    if blocks.ndim != 3 or blocks.dtype != np.uint8 or blocks.shape[2] != layout.bytes:
        raise UsageError(f"blocks of {layout.name} have {layout.bytes} bytes, not shape {blocks.shape}")
    rows, count = blocks.shape[:2]
    texels = decoder(np.ascontiguousarray(blocks).reshape(-1, layout.bytes))
    return texels.reshape(rows, count, 4, 4, 4).transpose(0, 2, 1, 3, 4).reshape(4 * rows, 4 * count, 4)


def decode_bc1(blocks: Bytes) -> Texels:
    """Texels (n, 16, 4) of blocks (n, 8). Index 3 is transparent black unless the first colour is the larger one."""
    return _colours(blocks, may_be_clear=True)


def decode_bc2(blocks: Bytes) -> Texels:
    """Texels (n, 16, 4) of blocks (n, 16)."""
    texels = _colours(blocks[:, 8:], may_be_clear=False)
    texels[..., 3] = _fields(blocks[:, :8], 0, 4, 16) / 15
    return texels


def decode_bc3(blocks: Bytes) -> Texels:
    """Texels (n, 16, 4) of blocks (n, 16)."""
    texels = _colours(blocks[:, 8:], may_be_clear=False)
    texels[..., 3] = _ramp(blocks[:, :8])
    return texels


def _words(blocks: Bytes) -> NDArray[np.uint64]:
    return np.ascontiguousarray(blocks[:, :8]).view("<u8")


def _fields(blocks: Bytes, lo: int, width: int, count: int) -> NDArray[np.uint64]:
    """`count` fields of `width` bits, from bit `lo` on, of each block's eight bytes."""
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(width) + np.uint64(lo)
    return _words(blocks) >> shifts & np.uint64((1 << width) - 1)


def _colours(blocks: Bytes, may_be_clear: bool) -> Texels:
    ends = _fields(blocks, 0, 16, 2)
    palette = np.zeros((len(blocks), 4, 4), np.float64)
    palette[..., 3] = 1
    for channel, (lo, width) in enumerate(((11, 5), (5, 6), (0, 5))):
        top = (1 << width) - 1
        first, second = (ends >> np.uint64(lo) & np.uint64(top)).astype(np.float64).T
        mixed = (first, second, (2 * first + second) / 3, (first + 2 * second) / 3)
        for index, value in enumerate(mixed):
            palette[:, index, channel] = value / top
        if may_be_clear:
            clear = ends[:, 0] <= ends[:, 1]
            palette[clear, 2, channel] = ((first + second) / (2 * top))[clear]
            palette[clear, 3, channel] = 0
    if may_be_clear:
        palette[ends[:, 0] <= ends[:, 1], 3, 3] = 0
    chosen = _fields(blocks, 32, 2, 16).astype(np.intp)
    return np.take_along_axis(palette.astype(np.float32), chosen[:, :, None], axis=1)


def _ramp(blocks: Bytes) -> NDArray[Any]:
    """Values (n, 16) in 0..1 of blocks with two ends of 8 bits and 16 indices of 3."""
    first, second = _fields(blocks, 0, 8, 2).astype(np.float64).T
    ramp = np.empty((len(blocks), 8), np.float64)
    ramp[:, 0], ramp[:, 1] = first, second
    wide = first > second
    for step in range(1, 7):
        ramp[:, step + 1] = ((7 - step) * first + step * second) / 7
    for step in range(1, 5):
        ramp[~wide, step + 1] = (((5 - step) * first + step * second) / 5)[~wide]
    ramp[~wide, 6], ramp[~wide, 7] = 0, 255
    chosen = _fields(blocks, 16, 3, 16).astype(np.intp)
    return np.take_along_axis(ramp, chosen, axis=1) / 255


_DECODERS: dict[str, Callable[[Bytes], Texels]] = {"DXT1": decode_bc1, "DXT23": decode_bc2, "DXT45": decode_bc3}
