"""Pictures to texture memory, ETC1 included.

Encoding ETC1 is a search, not a conversion, which is why it lives here and not with the surfaces: this one tries both
ways to halve a block and all modifier tables, with the mean colour of each half as its base.

Source: 3dbrew GPU/Internal Registers (texture data layout); OES_compressed_ETC1_RGB8_texture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import surface
from ..errors import UsageError
from ..facts.formats import TEXTURE_FORMATS

_FORMATS = {format.name: format for format in TEXTURE_FORMATS.values()}
_TABLES = np.array([[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]])
# The modifiers of each table in the order (large, negative) = 00, 10, 01, 11.
_MODIFIERS = np.concatenate([_TABLES, -_TABLES], axis=1)
_Y, _X = np.mgrid[0:4, 0:4]


def encode_texture(pixels: NDArray[np.uint8], format: str = "RGBA8") -> bytes:
    """Texture memory from a picture: RGBA of shape (height, width, 4), top row first, sides multiples of 8.

    The top row is what texture coordinate v = 1 shows.

    :raises UsageError: an unknown format, or a shape that cannot be.
    """
    if format not in _FORMATS:
        raise UsageError(f"no texture has format {format!r}", hint=f"Known are {', '.join(_FORMATS)}.")
    if pixels.ndim != 3 or pixels.shape[2] != 4 or pixels.shape[0] % 8 or pixels.shape[1] % 8:
        raise UsageError(f"textures have shape (height, width, 4) and sides of multiples of 8, not {pixels.shape}")
    if _FORMATS[format].kind != "etc1":
        return surface.encode(pixels, _FORMATS[format], "tiled")
    blocks = _blocks(pixels)
    words = _encode_colors(blocks[..., :3].astype(np.int64))
    if format == "ETC1":
        return words.astype("<u8").tobytes()
    alpha = (blocks[..., 3].astype(np.uint64) * 15 + 127) // 255
    alphas = (alpha << (4 * (4 * _X + _Y)).astype(np.uint64)).sum(axis=(1, 2), dtype=np.uint64)
    return np.stack([alphas, words], axis=1).astype("<u8").tobytes()


def _blocks(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Blocks of 4x4 in the order of memory: rows of tiles, and four blocks in each tile."""
    height, width = pixels.shape[:2]
    tiles = pixels.reshape(height // 8, 2, 4, width // 8, 2, 4, 4).transpose(0, 3, 1, 4, 2, 5, 6)
    return tiles.reshape(-1, 4, 4, 4)


def _encode_colors(blocks: NDArray[np.int64]) -> NDArray[np.uint64]:
    best: NDArray[Any] | None = None
    words = np.zeros(len(blocks), np.uint64)
    for flip in (0, 1):
        error, candidate = _encode_halves(blocks, flip)
        better = np.ones(len(blocks), np.bool_) if best is None else error < best
        best = error if best is None else np.minimum(best, error)
        words = np.where(better, candidate, words)
    return words


def _encode_halves(blocks: NDArray[np.int64], flip: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Error and word of every block, halved side by side (0) or one above the other (1)."""
    second = (_Y if flip else _X) >= 2
    means = [blocks[:, half].mean(axis=1) for half in (~second, second)]
    five = [np.clip(np.round(mean * 31 / 255), 0, 31).astype(np.int64) for mean in means]
    four = [np.clip(np.round(mean / 17), 0, 15).astype(np.int64) for mean in means]
    step = five[1] - five[0]
    close = np.all((step >= -4) & (step <= 3), axis=1)
    bases = [np.where(close[:, None], f5 << 3 | f5 >> 2, f4 * 17) for f5, f4 in zip(five, four, strict=True)]
    word = np.uint64(flip) << np.uint64(32) | close.astype(np.uint64) << np.uint64(33)
    for channel, lo in enumerate((56, 48, 40)):
        near = five[0][:, channel] << 3 | step[:, channel] & 7
        far = four[0][:, channel] << 4 | four[1][:, channel]
        word |= np.where(close, near, far).astype(np.uint64) << np.uint64(lo)
    total = np.zeros(len(blocks), np.int64)
    for half, base, lo in ((~second, bases[0], 37), (second, bases[1], 34)):
        # Axes: block, table, modifier, texel, channel.
        colors = np.clip(base[:, None, None, None, :] + _MODIFIERS[None, :, :, None, None], 0, 255)
        errors = ((colors - blocks[:, half][:, None, None]) ** 2).sum(axis=-1)
        choice = errors.argmin(axis=2)
        sums = errors.min(axis=2).sum(axis=-1)
        table = sums.argmin(axis=1)
        total += sums.min(axis=1)
        picked = choice[np.arange(len(blocks)), table].astype(np.uint64)
        number = (4 * _X + _Y)[half].astype(np.uint64)
        bits = (picked & np.uint64(1)) << number | (picked >> np.uint64(1)) << (number + np.uint64(16))
        word |= table.astype(np.uint64) << np.uint64(lo) | bits.sum(axis=1, dtype=np.uint64)
    return total, word
