"""Surfaces as arrays of red, green, blue and alpha, and back: the codec over NumPy arrays, for users, tools and tests.

A surface's rows are uint8 of shape (height, bytes of a row), as `blocklinear.detile` and `surface_copy.to_array` return
them. Colours are arrays of shape (height, width, 4):

* float32, unless all components are integers (unorm in 0..1, snorm in -1..1; stencil becomes a float);
* uint32 or int32 where all components are integers of that kind.

Missing colours are 0 and missing alpha is 1. Rounding: unorm and snorm to the nearest step, halves away from zero;
small floats to the nearest even mantissa; NaN becomes 0 in normalised and integer formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Bytes
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, PixelLayout
from pocketgpu.lanes import ArrayLang, Value
from pocketgpu.maxwell.formats import components
from pocketgpu.maxwell.formats.channels import NUMBER_INTEGER, UNORM_TYPES, Channels
from pocketgpu.maxwell.formats.components import (
    ABSENT,
    FLOAT10,
    FLOAT11,
    FLOAT16,
    FLOAT32,
    SINT,
    SRGB,
    UINT,
    UNORM,
    ZERO,
    Channel,
    Quotient,
    Rounding,
)
from pocketgpu.maxwell.formats.srgb import srgb_tables, srgb_to_linear
from pocketgpu.maxwell.formats.words import Words, words_of
from pocketgpu.maxwell.textures import blocks

Numbers = NDArray[Any]
_EVERY_TYPE = range(ZERO + 1)
_PIECE = 1 << 14  # elements that are converted at a time: what fits into the processor's caches
_AS_F32 = (FLOAT32, FLOAT16, FLOAT11, FLOAT10, SRGB)  # types whose values are rounded to f32 first
_SRGB_FLOATS = ("DXT1", "DXT23", "DXT45")  # compressed formats whose sRGB colours are interpolated to more than 8 bits
_RGBA8, _INTEGER_RGBA8 = "A8B8G8R8", "AU8BU8GU8RU8"

# Guests may store any NaN and any size.
_quiet = np.errstate(invalid="ignore", over="ignore")


# Decoding


@_quiet
def decode(rows: Bytes, layout: PixelLayout, types: Sequence[str] = UNORM_TYPES, srgb: bool = False) -> Numbers:
    """Colours of a surface's rows, shape (height, width, 4); of a compressed format with whole blocks.

    :param types: of red, green, blue and alpha if the format does not define them: "unorm", "snorm", "uint", "sint",
        "float", "uscaled" and "sscaled" (integers converted to floats), "unorm16" and "snorm16" (which pass through
        half floats).
    :param srgb: red, green and blue are sRGB, whatever the format says; the results are linear. Compressed formats that
        have no sRGB version ignore it (BC4, BC5, BC6H, EAC), and so do integers.
    :raises UsageError: the format has no description, or rows are not whole elements.
    """
    elements = _elements(rows, layout)
    if layout.compressed:
        return _decode_blocks(elements, layout, types, srgb)
    pixels = []
    for number in range(layout.block[0]):  # of those that share an element
        channels = Channels.of(layout, tuple(types), pixel=number)
        order = channels.bytes_of_channels
        if order is None:
            pixels.append(_decode_words(elements, channels, srgb))
        else:
            pixels.append(_decode_bytes(elements, channels, order, srgb))
    if len(pixels) == 1:
        return pixels[0]
    height, width = elements.shape[:2]
    return np.stack(pixels, 2).reshape(height, width * len(pixels), 4)


def dtype_of(channels: Channels) -> Any:
    """The dtype of arrays with the colours of a format: uint32, int32 or float32."""
    if channels.numbers != NUMBER_INTEGER:
        return np.float32
    return np.int32 if any(channel.type == SINT for channel in channels.channels) else np.uint32


def _decode_words(elements: Bytes, channels: Channels, srgb: bool) -> Numbers:
    """Colours of elements, decoded from words."""
    dtype = dtype_of(channels)
    values = np.empty((elements.shape[0] * elements.shape[1], 4), dtype)
    for i, channel in enumerate(channels.channels):
        if channel.type == ABSENT:
            values[:, i] = i == 3
    flat = elements.reshape(-1, elements.shape[2])
    for start in range(0, len(values), _PIECE):
        part = slice(start, start + _PIECE)
        k, words = _words(flat[part])
        for channel, places in _alike(channels):
            found = _values(k, words, channel, [channels.channels[i] for i in places])
            for i, raw in zip(places, found, strict=True):
                if dtype is not np.float32:
                    values[part, i] = raw.view(dtype)
                    continue
                if channels.halves[i]:
                    raw = raw.astype(np.float16).astype(np.float64)
                if channels.exponent is not None and i < 3:
                    raw = raw * k.to_array(channels.scale(k, words))
                values[part, i] = srgb_to_linear(raw) if srgb and i < 3 and channel.type != SRGB else raw
    return values.reshape(*elements.shape[:2], 4)


def _alike(channels: Channels) -> list[tuple[Channel, list[int]]]:
    """The channels of a format, by type and width: equal ones are converted together."""
    found: dict[Channel, list[int]] = {}
    for i, channel in enumerate(channels.channels):
        if channel.type != ABSENT:
            found.setdefault(replace(channel, word=0, low=0), []).append(i)
    return list(found.items())


def _values(k: ArrayLang, words: Words, kind: Channel, channels: Sequence[Channel]) -> Numbers:
    """Values of several channels of one kind, (channels, elements). kind: one of them, moved to the lowest bits."""
    bits = []
    for c in channels:
        assert isinstance(c.word, int)
        bits.append(k.to_array(words[c.word].lsr(c.low)))
    whole = _lang(sum(map(len, bits)))
    value = components.decode(
        whole, kind, whole.from_array(np.concatenate(bits)), _tables_at(whole), Quotient.DOUBLE, types=_EVERY_TYPE
    )
    return whole.to_array(value).reshape(len(channels), -1)


def _decode_bytes(elements: Bytes, channels: Channels, order: Sequence[int | None], srgb: bool) -> Numbers:
    """The same if each channel is a byte: looked up in a table of 256 values."""
    values = np.empty((*elements.shape[:2], 4), np.float32)
    for i, (channel, byte) in enumerate(zip(channels.channels, order, strict=True)):
        if byte is None:
            values[..., i] = i == 3
            continue
        linear = channel.type == SRGB or (srgb and i < 3)
        # This mode is faster than the one that raises.
        values[..., i] = np.take(_values_of_bytes(SRGB if linear else UNORM), elements[..., byte], mode="clip")
    return values


@cache
def _values_of_bytes(type: int) -> NDArray[np.float32]:
    """The value of each byte, f32: UNORM or SRGB."""
    return values_of_codes(Channel(type, 0, 0, 8)).astype(np.float32)


def values_of_codes(channel: Channel) -> Numbers:
    """The value (f64 or f32) of each code of a channel with constant bits."""
    assert isinstance(channel.width, int)
    codes = np.arange(1 << channel.width, dtype=np.int32)
    k = _lang(len(codes))
    value = components.decode(k, channel, k.from_array(codes), _tables_at(k), Quotient.DOUBLE, types=_EVERY_TYPE)
    return k.to_array(value)


@cache
def _bytes_of_codes(width: int) -> Bytes:
    """The byte for each code of unorm."""
    values = values_of_codes(Channel(UNORM, 0, 0, width)).astype(np.float32)
    return _codes([values], Channel(UNORM, 0, 0, 8))[0].astype(np.uint8)


@_quiet
def decode_depth(rows: Bytes, layout: PixelLayout) -> tuple[NDArray[np.float64] | None, Bytes | None]:
    """Depth (float64, unorm in 0..1) and stencil (uint8) of a surface's rows; None for a missing part.

    Works for depth targets and for texture formats with depth and stencil.

    :raises UsageError: the format has neither, or rows are not whole elements.
    """
    channels = Channels.of_depth(layout)
    elements = _elements(rows, layout)
    k, words = _words(elements.reshape(-1, layout.bytes))
    depth, stencil = (
        None if c.type == ABSENT else _values(k, words, replace(c, word=0, low=0), [c]).reshape(elements.shape[:2])
        for c in channels.channels
    )
    return (
        None if depth is None else depth.astype(np.float64),
        None if stencil is None else stencil.view(np.int32).astype(np.uint8),
    )


@_quiet
def to_rgba8(values: Numbers) -> Bytes:
    """Colours in 8 bits each, shape (height, width, 4): floats from 0..1 (clamped, NaN is 0), integers clamped to
    0..255."""
    name = _RGBA8 if values.dtype.kind == "f" else _INTEGER_RGBA8
    return encode(values, COLOR_TARGET.named(name)).reshape(values.shape)


def picture(
    rows: Bytes, layout: PixelLayout, types: Sequence[str] = UNORM_TYPES, srgb: bool = False, count: int = 4
) -> Bytes:  # fmt: skip
    """Rows of a surface as a picture: RGBA of 8 bits, shape (height, width, count). sRGB is not converted, for screens.

    :param srgb: as for `decode`; it only matters for ASTC, which decodes blocks differently with it.
    :param count: 3 leaves alpha out.
    :raises UsageError: as `decode`.
    """
    if layout.compressed:
        values = blocks.texels(_elements(rows, layout), layout, blocks.codec(layout, types, srgb))
        return (values if values.dtype == np.uint8 else to_rgba8(values))[..., :count]
    if layout.components and layout.block == (1, 1):
        channels = Channels.of(layout, tuple(types))
        if channels.bytes_of_channels is not None or _has_tables(channels):
            return _pictured(_elements(rows, layout), channels, count)
    return to_rgba8(decode(rows, layout, types))[..., :count]


def _has_tables(channels: Channels) -> bool:
    """Whether all channels are unorm with few enough bits for a table with a byte for each code."""
    narrow = (isinstance(c.width, int) and c.width <= 16 and c.type in (ABSENT, UNORM) for c in channels.channels)
    return all(narrow) and not any(channels.halves)


@cache
def _colours_of_codes(channels: Channels) -> NDArray[np.uint32]:
    """The colours of all elements of two bytes, as the four bytes of a word."""
    codes = np.arange(1 << 16, dtype="<u2").view(np.uint8).reshape(1, -1, 2)
    return _pictured(codes, channels, 4).reshape(-1).view("<u4")


def _pictured(elements: Bytes, channels: Channels, count: int) -> Bytes:
    """A picture of elements whose channels are bytes, or have tables of bytes."""
    if elements.shape[2] == 2 and elements.size > 2 << 16:  # as screens of text have: a table is worth it
        every = np.ascontiguousarray(elements).view("<u2")[..., 0]
        whole = np.take(_colours_of_codes(channels), every, mode="clip").view(np.uint8)
        return np.ascontiguousarray(whole.reshape(*elements.shape[:2], 4)[..., :count])
    flat, order = elements.reshape(-1, elements.shape[2]), channels.bytes_of_channels
    if order is not None and tuple(order[:count]) == tuple(range(elements.shape[2])):  # it is stored as it is shown
        return np.array(elements)
    found = np.empty((len(flat), count), np.uint8)
    for i, channel in enumerate(channels.channels[:count]):
        if channel.type == ABSENT:
            found[:, i] = 255 if i == 3 else 0
    if order is not None:
        for i, byte in enumerate(order[:count]):
            if byte is not None:
                found[:, i] = flat[:, byte]
        return found.reshape(*elements.shape[:2], count)
    for start in range(0, len(flat), _PIECE):
        part = slice(start, start + _PIECE)
        k, words = _words(flat[part])
        for i, c in enumerate(channels.channels[:count]):
            if c.type != ABSENT:
                assert isinstance(c.word, int) and isinstance(c.width, int)
                codes = k.to_array(c.code(k, words[c.word]))
                found[part, i] = np.take(_bytes_of_codes(c.width), codes, mode="clip")
    return found.reshape(*elements.shape[:2], count)


# Encoding


@_quiet
def encode(
    values: Numbers, layout: PixelLayout, types: Sequence[str] = UNORM_TYPES, srgb: bool = True
) -> Bytes:  # fmt: skip
    """The rows of a surface with these colours, shape (height, width, 4): the reverse of `decode`.

    Values outside a format's range are clamped. Bits that a format ignores are 0.

    :param srgb: whether sRGB components are converted; otherwise they are encoded as unorm.
    :raises UsageError: the array has another shape, or the format cannot be written (compressed, shared by pixels).
    """
    if values.ndim != 3 or values.shape[2] != 4:
        raise UsageError(f"colours have shape (height, width, 4), not {values.shape}")
    if not layout.components or layout.block != (1, 1) or layout.component("E"):
        raise UsageError(f"{layout.name} can only be read")
    return _packed(Channels.of(layout, tuple(types), srgb), [values[..., i] for i in range(4)])


@_quiet
def encode_depth(depth: Numbers | None, stencil: Numbers | None, layout: PixelLayout) -> Bytes:
    """The rows of a depth surface; a part that is None is stored as 0.

    :raises UsageError: the format has neither depth nor stencil, or arrays have other shapes than (height, width).
    """
    given = [a for a in (depth, stencil) if a is not None]
    if not given or any(a.ndim != 2 or a.shape != given[0].shape for a in given):
        raise UsageError("depth and stencil have one shape (height, width)")
    empty = np.zeros(given[0].shape, np.uint8)
    return _packed(Channels.of_depth(layout), [empty if a is None else a for a in (depth, stencil)])


def _packed(channels: Channels, values: Sequence[Numbers]) -> Bytes:
    """Rows of elements whose channels have these values, arrays of shape (height, width)."""
    (height, width), size = values[0].shape, channels.bytes
    assert isinstance(size, int)
    count, flat = height * width, [one.reshape(-1) for one in values]
    found = np.empty((count, channels.words), np.uint32)
    for start in range(0, count, _PIECE):
        part = slice(start, start + _PIECE)
        k = _lang(len(found[part]))
        codes: list[Value | None] = [None] * len(flat)
        for channel, places in _alike(channels):
            kept = [i for i in places if channels.stored[i]]
            for i, code in zip(kept, _codes([flat[i][part] for i in kept], channel), strict=True):
                codes[i] = k.from_array(code)
        for i, word in enumerate(channels.assembled(k, codes, k.lanes)):
            found[part, i] = k.to_array(word).view(np.uint32)
    return np.ascontiguousarray(found.view(np.uint8)[:, :size]).reshape(height, width * size)


def _codes(values: Sequence[Numbers], kind: Channel) -> Numbers:
    """The codes of several channels of one kind, (channels, elements)."""
    k = _lang(sum(map(len, values)))
    code = components.encode(
        k, kind, _taken(k, np.concatenate(values), kind), _tables_at(k), Rounding.DOUBLE, _EVERY_TYPE
    )
    return k.to_array(code).reshape(len(values), -1)


def _taken(k: ArrayLang, values: Numbers, channel: Channel) -> Value:
    """Values of one channel as inputs of `Channels.pack`: bits of integers, or f32, or f64 to be rounded once."""
    if channel.type in (UINT, SINT):
        whole = values.dtype.kind != "f"
        exact = values.astype(np.int64) if whole else np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0.0)
        low, high = (0, (1 << 32) - 1) if channel.type == UINT else (-(1 << 31), (1 << 31) - 1)
        bits = np.clip(exact, low, high).astype(np.int64).astype(np.uint32)
        return k.from_array(bits.view(np.float32))
    return k.from_array(values.astype(np.float32 if channel.type in _AS_F32 else np.float64))


# Parts


def _elements(rows: Bytes, layout: PixelLayout) -> Bytes:
    """Rows as (height, elements, bytes of one)."""
    if not layout.bytes:
        raise UsageError(f"the format {layout.name} has no description")
    if rows.ndim != 2 or rows.dtype != np.uint8 or rows.shape[1] % layout.bytes:
        raise UsageError(f"rows of {layout.name} have uint8 elements of {layout.bytes} bytes, not {rows.shape}")
    return rows.reshape(rows.shape[0], rows.shape[1] // layout.bytes, layout.bytes)


@cache
def _tables() -> Bytes:
    """`srgb_tables` as memory of lanes, starting at byte 0."""
    data = srgb_tables()
    return np.frombuffer(data + bytes(-len(data) % 8), np.uint8)


def _lang(count: int) -> ArrayLang:
    return ArrayLang(count, _tables())


def _tables_at(k: ArrayLang) -> Value:
    return k.i64(0)


def _words(flat: Bytes) -> tuple[ArrayLang, Words]:
    """The words of elements, (elements, bytes), one vector for each."""
    size = flat.shape[1]
    flat = np.ascontiguousarray(flat)
    if size in (1, 2):
        words = flat.view(f"<u{size}").astype(np.int32)
    elif size % 4:
        words = np.pad(flat, ((0, 0), (0, -size % 4))).view("<i4")
    else:
        words = flat.view("<i4")
    k = _lang(len(flat))
    return k, tuple(k.from_array(np.ascontiguousarray(words[:, i])) for i in range(words_of(size)))


# Compressed formats


def _decode_blocks(elements: Bytes, layout: PixelLayout, types: Sequence[str], srgb: bool) -> Numbers:
    codec = blocks.codec(layout, types, srgb)
    values = blocks.texels(elements, layout, codec)
    if values.dtype == np.uint8:
        return decode(values.reshape(values.shape[0], -1), COLOR_TARGET.named(_RGBA8), srgb=srgb)
    if codec.srgb:  # 8 bits as well
        values[..., :3] = _values_of_bytes(SRGB)[np.rint(values[..., :3] * 255).astype(np.uint8)]
    elif srgb and layout.name in _SRGB_FLOATS:
        values[..., :3] = srgb_to_linear(values[..., :3])
    for channel, type in enumerate(types):
        if type.endswith("16"):  # through half floats
            values[..., channel] = values[..., channel].astype(np.float16)
    return values
