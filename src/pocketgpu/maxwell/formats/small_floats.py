"""Floats with five bits of exponent in lanes: 16 bits with a sign, 11 and 10 bits without one.

They have denormal numbers, infinities and NaN like IEEE floats, and rounding goes to the nearest even mantissa. Source:
OpenGL and Direct3D 11 for the formats; the chip's rounding to 11 and 10 bits is not documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pocketgpu.lanes import Lang, Value

MANTISSA: Final = {16: 10, 11: 6, 10: 5}
"""Bits of the mantissa, by bits of the float."""
EXPONENT_BITS: Final = 5
_SCALE = 2.0**112  # between the exponent's bias of f32 and that of five bits
_LARGEST_EXPONENT = 31
_F32_MANTISSA = 23
_INFINITY = 0x7F800000
_NAN, _SIGN = 0x7FC00000, -(1 << 31)
# Of floats of 16 bits: exponents, their lowest bits and signs of two in a word; the sign, and the rest where an f32 has
# it.
_EXPONENTS, _LOWEST, _SIGNS, _SIGN_AND_REST = 0x7C007C00, 0x04000400, 0x80008000, 0x8FFFE000


def float_of(k: Lang, bits: Value, width: int) -> Value:
    """The f32 of small floats of `width` bits; higher bits are ignored."""
    mantissa, signed = MANTISSA[width], width == 16
    size = EXPONENT_BITS + mantissa
    magnitude = (bits & ((1 << size) - 1)) << (_F32_MANTISSA - mantissa)
    scaled = k.bits_i32(k.bits_f32(magnitude) * _SCALE)
    special = magnitude >= _LARGEST_EXPONENT << _F32_MANTISSA
    out = k.select(special, magnitude | _INFINITY, scaled)
    if signed:
        out = out | ((bits.lsr(size) & 1) << 31)
    return k.bits_f32(out)


def halves_of(k: Lang, words: Sequence[Value]) -> list[Value]:
    """The f32 of floats of 16 bits, two of them in each word, the lower one first."""
    # An exponent of ones carries into the sign. Finite numbers alone take half the work.
    carried = [(word & _EXPONENTS) + _LOWEST for word in words]
    special = carried[0]
    for one in carried[1:]:
        special = special | one

    def finite() -> tuple[Value, ...]:
        places = (
            (word << 16 if low else word) >> (16 - _F32_MANTISSA + MANTISSA[16]) for word in words for low in (1, 0)
        )
        return tuple(k.bits_f32(place & _SIGN_AND_REST) * _SCALE for place in places)

    def any_number() -> tuple[Value, ...]:
        return tuple(float_of(k, word.lsr(low), 16) for word in words for low in (0, 16))

    return list(k.branch(k.any((special & _SIGNS) != 0), any_number, finite, usual=False))


def float_to(k: Lang, v: Value, width: int) -> Value:
    """The bits of the nearest small float of `width` bits. Without a sign negative values become 0.

    NaN becomes the one with only the highest bit of the mantissa set; its sign is kept.
    """
    mantissa, signed = MANTISSA[width], width == 16
    word = k.bits_i32(v)
    if signed and k.halves:
        nan = k.bits_f32((word & _SIGN) | _NAN)
        return k.to_half(k.select(v == v, v, nan))
    magnitude = word & 0x7FFFFFFF
    drop = _F32_MANTISSA - mantissa
    rounded = (magnitude + (magnitude.lsr(drop) & 1) + ((1 << (drop - 1)) - 1)).lsr(drop) - (112 << mantissa)
    # Below the smallest normal number an addition rounds: the last bit of this constant is the smallest step.
    magic = 2.0 ** (_F32_MANTISSA - 14 - mantissa)
    small = k.bits_i32(k.bits_f32(magnitude) + magic) - int(np.float32(magic).view(np.int32))
    infinity = _LARGEST_EXPONENT << mantissa
    code = k.select(magnitude < (113 << _F32_MANTISSA), small, k.min(rounded, infinity))
    code = k.select(magnitude > _INFINITY, infinity | (1 << (mantissa - 1)), code)
    if signed:
        return code | (word.lsr(31) << (EXPONENT_BITS + mantissa))
    return k.select((word < 0) & (magnitude <= _INFINITY), 0, code)
