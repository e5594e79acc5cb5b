"""Surfaces: formats and layouts of pixels in guest memory, to and from arrays and pictures.

All tools that show or make pixels use this module: the display, texture views, dumps of colour and depth buffers,
tests. A surface is decoded in two independent steps: a *format* turns bytes into a row of texels in memory order, and a
*layout* gives the texel number at (x, y). Arrays are in memory-row order: row 0 is the first in memory. Callers rotate
pictures upright where needed.

Sources: 3dbrew GPU/Internal Registers (texture and framebuffer formats), GPU/External Registers (LCD formats).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import PixelFormat

Layout: TypeAlias = Literal["linear", "tiled"]
Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint32]

#: Texels of depth formats: what :func:`decode_depth` returns and :func:`encode_depth` takes.
DEPTH_DTYPE = np.dtype([("depth", np.uint32), ("stencil", np.uint8)])

#: No side of a surface is longer: all size fields of the console have at most 16 bits.
MAX_SIDE = 1 << 16
#: No surface has more texels: with four bytes each they fill the largest memory of the console.
MAX_TEXELS = 1 << 26

# Larger index arrays are not cached: sixteen of this size take 64 MiB.
_KEPT_TEXELS = 1 << 20

# The RGBA channels of a format's colour channels; luminance fills three.
_TARGETS: Mapping[str, tuple[int, ...]] = {"r": (0,), "g": (1,), "b": (2,), "a": (3,), "l": (0, 1, 2)}
_DEPTH_NAMES = {"d": "depth", "s": "stencil"}


# Layouts


def texel_index(width: int, height: int, layout: Layout) -> NDArray[np.int32]:
    """Texel number, counted from the start of the surface, of every (row, column): shape (height, width), read-only.

    "linear" is row by row. "tiled" is 8x8 texels in Morton order, tiles row by row. If a width is not a multiple of 8,
    the row pitch uses the next smaller multiple, as in the chip's address formula, so tiles overlap.
    Source: 3dbrew GPU/Internal Registers, texture data layout.

    :raises UsageError: a side is not in 1..65536, the surface is too large, or the layout is unknown.
    """
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_TEXELS):
        raise UsageError(f"no surface has {width}x{height} texels")
    if layout not in ("linear", "tiled"):
        raise UsageError(f"unknown layout {layout!r}", hint="Layouts are linear and tiled.")
    if width * height <= _KEPT_TEXELS:
        return _kept_index(width, height, layout)
    return _make_index(width, height, layout)


def _make_index(width: int, height: int, layout: Layout) -> NDArray[np.int32]:
    y, x = np.arange(height, dtype=np.int32)[:, None], np.arange(width, dtype=np.int32)[None, :]
    if layout == "linear":
        index = y * width + x
    else:
        index = ((y >> 3) * (width >> 3) + (x >> 3)) * 64 + _spread(x & 7) + 2 * _spread(y & 7)
    index.setflags(write=False)
    return index


_kept_index = lru_cache(maxsize=16)(_make_index)


def _spread(v: NDArray[np.int32]) -> NDArray[np.int32]:
    """Three bits to the even bit positions."""
    return (v & 1) | (v & 2) << 1 | (v & 4) << 2


def texel_count(width: int, height: int, layout: Layout) -> int:
    """Texels from the start of a surface to the end of its last one."""
    if layout == "linear":
        return width * height
    # Numbers rise with column and row. Only below a width of 8 all tile rows overlap, and the last row may not be the
    # end.
    last_row = height - 1 if width >= 8 else min(height - 1, 7)
    return int(texel_index(width, height, layout)[last_row, -1]) + 1


def byte_size(format: PixelFormat, width: int, height: int, layout: Layout = "linear") -> int:
    """Bytes of a surface in memory, from its start to the end of its last texel (or compressed block)."""
    texels = texel_count(width, height, layout)
    if _is_etc(format):
        texels = (texels + 15) // 16 * 16
    return (texels * format.bits + 7) // 8


# Colours


def decode(
    data: bytes | bytearray | memoryview | NDArray[Any],
    format: PixelFormat,
    width: int,
    height: int,
    layout: Layout = "linear",
) -> Bytes:
    """Colours of a surface as RGBA, 8 bits each: shape (height, width, 4) in memory-row order.

    Narrow channels expand by repeating their upper bits. Channels that the format lacks have its defaults.

    :raises UsageError: `data` is too short, the format holds no colours, or a compressed format is not tiled.
    """
    _require_colour(format)
    if _is_etc(format) and layout != "tiled":
        raise UsageError(f"{format.name} exists only in tiled layout")
    index = texel_index(width, height, layout)
    texels = decode_texels(_exact(data, byte_size(format, width, height, layout)), format)
    return np.take(_as_words(texels), index).view(np.uint8).reshape(height, width, 4)


def decode_texels(data: bytes | bytearray | memoryview | NDArray[Any], format: PixelFormat) -> Bytes:
    """The format step alone: colours of all whole texels of `data` in memory order, shape (texels, 4).

    :raises UsageError: the format holds no colours.
    """
    _require_colour(format)
    raw = _bytes_of(data)
    if _is_etc(format):
        return _decode_etc(raw, format)
    if format.bits == 4:
        # Two texels per byte: the table holds pairs.
        return _pair_table(format)[raw].view(np.uint8).reshape(-1, 4)
    if format.bits <= 16:
        words = raw if format.bits == 8 else raw[: len(raw) & ~1].view("<u2")
        return _table(format)[words].view(np.uint8).reshape(-1, 4)
    size = format.bits // 8
    columns = raw[: len(raw) // size * size].reshape(-1, size)
    texels = np.empty((len(columns), 4), np.uint8)
    # A channel at a time: NumPy is slow where the last axis has 3 or 4 elements.
    for target, value in enumerate(format.defaults):
        texels[:, target] = value
    for channel, lo, _ in format.channels:  # all of them are whole bytes in the wide formats
        for target in _TARGETS[channel]:
            texels[:, target] = columns[:, lo // 8]
    return texels


def encode(pixels: Bytes, format: PixelFormat, layout: Layout = "linear") -> bytes:
    """The bytes of a surface from RGBA of shape (height, width, 4) in memory-row order; channels keep their upper bits.

    Luminance is taken from red. Texels without a pixel are 0. For compressed formats a close match is searched (about
    10 seconds for 512x512).

    :raises UsageError: the shape is wrong, the format holds no colours, or a compressed format is not tiled.
    """
    _require_colour(format)
    if pixels.ndim != 3 or pixels.shape[2] != 4:
        raise UsageError(f"pixels have shape (height, width, 4), not {pixels.shape}")
    height, width = pixels.shape[:2]
    if _is_etc(format):
        return _encode_etc(pixels, format, layout)
    words = np.zeros((height, width), np.uint32)
    for channel, lo, bits in format.channels:
        narrow = pixels[:, :, _TARGETS[channel][0]].astype(np.uint32) >> np.uint32(8 - bits)
        words |= narrow << np.uint32(lo)
    return _pack(_scatter(words, layout), format.bits)


def _require_colour(format: PixelFormat) -> None:
    if format.kind == "depth":
        raise UsageError(f"{format.name} holds no colours", hint="Use decode_depth and encode_depth.")


def _expand(values: Words, bits: int) -> Words:
    """A channel of 1, 4, 5, 6 or 8 bits to 8 bits."""
    if bits == 8:
        return values
    if bits < 4:
        return values * np.uint32(255 // ((1 << bits) - 1))
    return values << np.uint32(8 - bits) | values >> np.uint32(2 * bits - 8)


@lru_cache(maxsize=32)
def _table(format: PixelFormat) -> Words:
    """Memory word -> RGBA (red in the first byte), for formats of up to 16 bits."""
    words = np.arange(1 << format.bits, dtype=np.uint32)
    table = np.empty((len(words), 4), np.uint8)
    table[:] = format.defaults
    for channel, lo, bits in format.channels:
        value = _expand(words >> np.uint32(lo) & np.uint32((1 << bits) - 1), bits)
        for target in _TARGETS[channel]:
            table[:, target] = value
    return _as_words(table)


@lru_cache(maxsize=4)
def _pair_table(format: PixelFormat) -> Words:
    """Byte -> the two texels in it, the low nibble first."""
    both = np.arange(256)
    return _table(format)[np.stack([both & 15, both >> 4], axis=1)]


# ETC: a block of 4x4 texels in eight bytes, read as one little-endian number (the reverse of the published byte order).

_MODIFIERS = np.array([[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]], dtype=np.int16)


def _decode_etc(raw: Bytes, format: PixelFormat) -> Bytes:
    """Texels of ETC1 or ETC1A4 blocks in Morton order, which is the order of blocks and tiles in memory.

    Source: OES_compressed_ETC1_RGB8_texture; 3dbrew GPU/Internal Registers for order and alpha.
    """
    size = format.block_bytes
    blocks = raw[: len(raw) // size * size].view("<u8").reshape(-1, size // 8)
    colour = blocks[:, -1:]

    def field(lo: int, bits: int) -> NDArray[np.int16]:
        return (colour >> np.uint64(lo) & np.uint64((1 << bits) - 1)).astype(np.int16)

    # Texel numbers of ETC count down columns; Morton order counts in a z shape.
    place = np.arange(16, dtype=np.uint64)
    x, y = (place & 1) | (place >> 1 & 2), (place >> 1 & 1) | (place >> 2 & 2)
    k = 4 * x + y
    flip, differential = field(32, 1), field(33, 1)
    second = np.where(flip == 1, y >= 2, x >= 2)

    large = (colour >> k & np.uint64(1)).astype(np.intp)
    table = np.where(second, field(34, 3), field(37, 3))
    modifier = _MODIFIERS[table, large]
    modifier = np.where(colour >> (k + np.uint64(16)) & np.uint64(1), -modifier, modifier)

    texels = np.empty((len(blocks), 16, 4), np.uint8)
    for channel, lo in enumerate((56, 48, 40)):
        step = (field(lo, 3) ^ 4) - 4
        five = field(lo + 3, 5)
        five2 = (five + step) & 31
        base1 = np.where(differential == 1, five << 3 | five >> 2, field(lo + 4, 4) * 17)
        base2 = np.where(differential == 1, five2 << 3 | five2 >> 2, field(lo, 4) * 17)
        texels[:, :, channel] = np.clip(np.where(second, base2, base1) + modifier, 0, 255)
    if format.has_alpha:
        texels[:, :, 3] = (blocks[:, :1] >> (4 * k) & np.uint64(15)) * np.uint64(17)
    else:
        texels[:, :, 3] = 255
    return texels.reshape(-1, 4)


def _encode_etc(pixels: Bytes, format: PixelFormat, layout: Layout) -> bytes:
    from pocketgpu.pica.memory.etc1_encode import encode_blocks  # rarely needed, and it builds tables

    if layout != "tiled":
        raise UsageError(f"{format.name} exists only in tiled layout")
    height, width = pixels.shape[:2]
    stream = np.zeros(((texel_count(width, height, layout) + 15) // 16 * 16, 4), np.uint8)
    stream[texel_index(width, height, layout)] = pixels
    return encode_blocks(stream, format.has_alpha)


# Depth


def decode_depth(
    data: bytes | bytearray | memoryview | NDArray[Any],
    format: PixelFormat,
    width: int,
    height: int,
    layout: Layout = "tiled",
) -> NDArray[Any]:
    """Depth and stencil of a surface as stored: shape (height, width) of DEPTH_DTYPE; stencil 0 if the format has none.

    :raises UsageError: `data` is too short or the format holds no depth.
    """
    fields = _depth_fields(format)
    index = texel_index(width, height, layout)
    size = format.bits // 8
    columns = _exact(data, byte_size(format, width, height, layout)).reshape(-1, size)
    words = np.zeros((len(columns), 4), np.uint8)
    words[:, :size] = columns
    values = np.take(_as_words(words), index)
    result = np.zeros((height, width), DEPTH_DTYPE)
    for name, lo, bits in fields:
        result[name] = values >> np.uint32(lo) & np.uint32((1 << bits) - 1)
    return result


def encode_depth(texels: NDArray[Any], format: PixelFormat, layout: Layout = "tiled") -> bytes:
    """The bytes of a depth surface from an array (height, width) of DEPTH_DTYPE; bits that do not fit are dropped.

    :raises UsageError: the array has another type or shape, or the format holds no depth.
    """
    fields = _depth_fields(format)
    if texels.ndim != 2 or texels.dtype != DEPTH_DTYPE:
        raise UsageError("depth texels are an array (height, width) of surface.DEPTH_DTYPE")
    words = np.zeros(texels.shape, np.uint32)
    for name, lo, bits in fields:
        words |= (texels[name].astype(np.uint32) & np.uint32((1 << bits) - 1)) << np.uint32(lo)
    return _pack(_scatter(words, layout), format.bits)


def _depth_fields(format: PixelFormat) -> tuple[tuple[str, int, int], ...]:
    if format.kind != "depth":
        raise UsageError(f"{format.name} holds no depth", hint="Use decode and encode.")
    return tuple((_DEPTH_NAMES[channel], lo, bits) for channel, lo, bits in format.channels)


# Pictures


def _is_etc(format: PixelFormat) -> bool:
    return format.kind == "etc1"


def _bytes_of(data: bytes | bytearray | memoryview | NDArray[Any]) -> Bytes:
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return np.frombuffer(data, dtype=np.uint8)


def _exact(data: bytes | bytearray | memoryview | NDArray[Any], size: int) -> Bytes:
    raw = _bytes_of(data)
    if len(raw) < size:
        raise UsageError(f"the surface needs {size} bytes, there are {len(raw)}")
    return raw[:size]


def _as_words(texels: Bytes) -> Words:
    """(n, 4) bytes as n words, for moving whole texels; undone by ``view(uint8)``."""
    return texels.view(np.uint32).reshape(-1)


def _scatter(words: Words, layout: Layout) -> Words:
    height, width = words.shape
    index = texel_index(width, height, layout)
    stream = np.zeros(texel_count(width, height, layout), np.uint32)
    stream[index] = words
    return stream


def _pack(stream: Words, bits: int) -> bytes:
    """Words of 4 to 32 bits to little-endian bytes, the low nibble first."""
    if bits == 4:
        if len(stream) % 2:
            stream = np.append(stream, np.uint32(0))
        return (stream[0::2] | stream[1::2] << np.uint32(4)).astype(np.uint8).tobytes()
    return stream.astype("<u4").view(np.uint8).reshape(-1, 4)[:, : bits // 8].tobytes()
