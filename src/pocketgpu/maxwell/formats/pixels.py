"""Pixels in lanes: words of a format to red, green, blue and alpha as floats, and back. Derived from the format table.

Unorm and snorm are rounded to the nearest step, halves away from zero; small floats (16, 11 and 10 bits) round to the
nearest even mantissa, with denormal numbers, infinities and NaN. sRGB goes through tables in the arena (`SrgbTables`),
so that both evaluators give the same bits and an 8-bit code survives the way to linear and back.
Source for layouts: NVIDIA class headers; for the rounding of 11- and 10-bit floats there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.lanes import F32, I32, U8, U16, Lang, Value

WORD_TYPES = {1: U8, 2: U16, 4: I32, 8: I32, 16: I32}
"""The memory type in which a pixel of so many bytes is loaded; 8 and 16 bytes are two and four words."""

Layout = tuple[tuple[str, str, int, int], ...]
"""What shapes code in a format: (component, type, lowest bit, bits) for each of its components."""


def shape(layout: PixelLayout) -> tuple[int, Layout]:
    """Bytes and components of a format as static values of kernels."""
    return layout.bytes, tuple((c[0], c[1], c[2], c[3]) for c in layout.components)


# sRGB

_BINS = 4096  # narrow enough that a bin never holds more than one step of the curve


def srgb_to_linear(v: Any) -> Any:
    """The sRGB curve, decoding, in the precision of `v` (IEC 61966-2-1)."""
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(v: Any) -> Any:
    """The sRGB curve, encoding."""
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0.0) ** (1 / 2.4) - 0.055)


@cache
def srgb_tables() -> bytes:
    """Tables for `decode_srgb` and `encode_srgb`: 256 linear values, 257 thresholds, one first guess for each bin.

    Threshold c is the least f32 that is nearer to code c than to c - 1 on the encoded side.
    """
    codes = np.arange(256)
    linear = srgb_to_linear(codes / 255).astype(np.float32)
    edges = srgb_to_linear((np.arange(257) - 0.5) / 255)
    thresholds = edges.astype(np.float32)
    low = thresholds.astype(np.float64) < edges
    thresholds[low] = np.nextafter(thresholds[low], np.float32(np.inf))
    thresholds[0], thresholds[256] = -np.inf, np.inf
    bins = (np.arange(_BINS + 1) / _BINS).astype(np.float32)
    guess = (np.searchsorted(thresholds[:256], bins, side="right") - 1).astype(np.uint8)
    return linear.tobytes() + thresholds.tobytes() + guess.tobytes()


_THRESHOLDS = 4 * 256
_GUESS = _THRESHOLDS + 4 * 257


def decode_srgb(k: Lang, tables: Value, code: Value) -> Value:
    """Linear values (f32 lanes) of 8-bit sRGB codes; tables: i64 offset of `srgb_tables`."""
    return k.gather(F32, k.to_i64(code << 2) + tables)


def encode_srgb(k: Lang, tables: Value, v: Value) -> Value:
    """The nearest 8-bit sRGB code of linear values, which are clamped to 0..1; NaN gives 0."""
    x = k.clamp(v, 0.0, 1.0)
    code = k.gather(U8, k.to_i64(k.to_i32(x * float(_BINS), 0, _BINS)) + (tables + _GUESS))
    # A bin begins at or below the value and holds one threshold at most.
    above = k.gather(F32, k.to_i64((code + 1) << 2) + (tables + _THRESHOLDS))
    return k.select(x >= above, code + 1, code)


# small floats

_BIAS = 2.0**112  # between the exponent bias of f32 and that of five exponent bits


def float_of(k: Lang, bits: Value, mantissa: int, signed: bool) -> Value:
    """f32 of floats with five exponent bits and `mantissa` mantissa bits, a sign above them if `signed`."""
    width = 5 + mantissa
    magnitude = (bits & ((1 << width) - 1)) << (23 - mantissa)
    scaled = k.bits_i32(k.bits_f32(magnitude) * _BIAS)
    special = magnitude >= 31 << 23
    out = k.select(special, magnitude | 0x7F800000, scaled)
    if signed:
        out = out | ((bits.lsr(width) & 1) << 31)
    return k.bits_f32(out)


def float_to(k: Lang, v: Value, mantissa: int, signed: bool) -> Value:
    """Bits of the nearest float with five exponent bits (ties to even); without a sign negative values become 0."""
    word = k.bits_i32(v)
    magnitude = word & 0x7FFFFFFF
    drop = 23 - mantissa
    rounded = (magnitude + (magnitude.lsr(drop) & 1) + ((1 << (drop - 1)) - 1)).lsr(drop) - (112 << mantissa)
    # Below the smallest normal number an addition rounds: its last place is the smallest step.
    magic = 2.0 ** (23 - 14 - mantissa)
    small = k.bits_i32(k.bits_f32(magnitude) + magic) - int(np.float32(magic).view(np.int32))
    code = k.select(magnitude < (113 << 23), small, k.min(rounded, 31 << mantissa))
    code = k.select(magnitude > 0x7F800000, (31 << mantissa) | (1 << (mantissa - 1)), code)
    if signed:
        return code | (word.lsr(31) << (5 + mantissa))
    return k.select((word < 0) & (magnitude <= 0x7F800000), 0, code)


_MANTISSA = {16: 10, 11: 6, 10: 5}

# pixels


def load(k: Lang, bytes: int, offsets: Value) -> list[Value]:
    """The words of one pixel for each lane, from lane offsets (i64) that are multiples of the word."""
    if bytes <= 4:
        return [k.gather(WORD_TYPES[bytes], offsets)]
    return [k.gather(I32, offsets + at) for at in range(0, bytes, 4)]


def store(k: Lang, bytes: int, offsets: Value, words: Sequence[Value], mask: Value) -> None:
    """Store one pixel for each lane of the mask."""
    if bytes <= 4:
        k.scatter(WORD_TYPES[bytes], offsets, words[0], mask)
        return
    for i, word in enumerate(words):
        k.scatter(I32, offsets + 4 * i, word, mask)


def _component(k: Lang, word: Value, type: str, lo: int, width: int, tables: Value) -> Value:
    """A component as f32; unorm ones in steps of the format, not yet divided by the largest."""
    if type == "srgb":
        return decode_srgb(k, tables, word.bits(lo, width))
    if type == "float":
        if width == 32:
            return k.bits_f32(word)
        return float_of(k, word.bits(lo, width), _MANTISSA[width], signed=width == 16)
    if type == "snorm":
        top = float((1 << (width - 1)) - 1)
        return k.max(k.to_f32(word.bits(lo, width, signed=True)) / top, -1.0)
    if type == "unorm":
        if width == 32:  # to_f32 takes the sign; two halves do not
            return k.to_f32(word.lsr(16)) * 65536.0 + k.to_f32(word & 0xFFFF)
        return k.to_f32(word.bits(lo, width))
    raise ValueError(f"a component of type {type!r} has no value as a colour")


def unpack_steps(k: Lang, words: Sequence[Value], layout: Layout, tables: Value) -> dict[str, Value]:
    """The channels that a format has (f32), unorm ones in steps: `colour_of` makes a colour of them.

    A filter mixes these, and divides once instead of once for each pixel. Y gives all three colours.
    """
    out: dict[str, Value] = {}
    for name, type, lo, width in layout:
        if name in "RGBAY":
            value = _component(k, words[lo >> 5], type, lo & 31, width, tables)
            for channel in "rgb" if name == "Y" else name.lower():
                out[channel] = value
    return out


def colour_of(k: Lang, steps: dict[str, Value], layout: Layout) -> dict[str, Value]:
    """Red, green, blue and alpha. Missing ones are 0, alpha 1."""
    out = dict(steps)
    for name, type, _, width in layout:
        if type == "unorm" and name in "RGBAY":
            value = steps["r" if name == "Y" else name.lower()] / float((1 << width) - 1)
            for channel in "rgb" if name == "Y" else name.lower():
                out[channel] = value
    lanes = max(v.lanes for v in out.values())
    for channel in "rgba":
        if channel not in out:
            out[channel] = k.splat(k.f32(float(channel == "a")), lanes)
    return out


def unpack(k: Lang, words: Sequence[Value], layout: Layout, tables: Value) -> dict[str, Value]:
    """Red, green, blue and alpha (f32) of pixel words. Missing ones are 0, alpha 1; Y gives all three colours."""
    return colour_of(k, unpack_steps(k, words, layout, tables), layout)


def _code(k: Lang, v: Value, type: str, width: int, tables: Value) -> Value:
    if type == "srgb":
        return encode_srgb(k, tables, v)
    if type == "float":
        return k.bits_i32(v) if width == 32 else float_to(k, v, _MANTISSA[width], signed=width == 16)
    if type == "snorm":
        top = float((1 << (width - 1)) - 1)
        scaled = k.clamp(v, -1.0, 1.0) * top
        code = k.to_i32(scaled + k.select(scaled < 0.0, -0.5, 0.5), -top, top)
        return k.select(v != v, 0, code) & ((1 << width) - 1)
    if type == "unorm":
        x = k.clamp(v, 0.0, 1.0)
        if width == 32:
            high = k.to_i32(x * 65536.0, 0, 65536)
            low = k.to_i32((x * 65536.0 - k.to_f32(high)) * 65536.0, 0, 65535)
            return k.select(x >= 1.0, -1, (high << 16) + low)
        top = float((1 << width) - 1)
        return k.to_i32(x * top + 0.5, 0, top)
    raise ValueError(f"a component of type {type!r} takes no colour")


def pack(k: Lang, colour: dict[str, Value], bytes: int, layout: Layout, tables: Value) -> list[Value]:
    """Pixel words of a colour. Y takes red; what the format ignores is written as 0, what it sets to one as ones."""
    words: list[Value | int] = [0] * max(1, bytes // 4)
    for name, type, lo, width in layout:
        if name in "RGBAY":
            code: Value | int = _code(k, colour["r" if name == "Y" else name.lower()], type, width, tables)
        elif type == "one":
            code = (1 << width) - 1
        else:
            continue
        part = code << (lo & 31) if lo & 31 else code
        words[lo >> 5] = part | words[lo >> 5] if isinstance(part, Value) else words[lo >> 5] | part
    lanes = colour["r"].lanes
    return [w if isinstance(w, Value) else k.splat(k.i32(w), lanes) for w in words]
