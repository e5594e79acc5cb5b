"""A slow model of pixel formats in plain Python: what the bits of a component mean, and the bits for a value.

What a colour format is it reads from its name alone; numbers are fractions wherever they are not floats by definition.
"""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

import numpy as np

from pocketgpu.facts.maxwell.formats import Component

Part = tuple[str, str, int, int]
"""Component, type, lowest bit, bits."""
LETTERS = {"": "unorm", "N": "snorm", "U": "uint", "S": "sint", "F": "float", "L": "srgb"}
MANTISSA = {16: 10, 11: 6, 10: 5}


def parts_of(name: str) -> list[Part]:
    """The components of a colour format: underscores in memory order, letters together highest first."""
    found: list[Part] = []
    base = 0
    for part in name.split("_"):
        at = base
        for component, letter, width in reversed(re.findall(r"([RGBAXYZOSV])([NSUFL]?)(\d+)", part)):
            found.append((component, LETTERS[letter], at, int(width)))
            at += int(width)
        base = at
    return found


# Single floats


def f32(word: int) -> float:
    """The float with these 32 bits."""
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def word_of(value: float) -> int:
    """The 32 bits of the nearest f32."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def small_float(code: int, width: int) -> float:
    """A float of 16, 11 or 10 bits."""
    mantissa = MANTISSA[width]
    sign = -1.0 if width == 16 and code >> 15 else 1.0
    exponent, fraction = code >> mantissa & 31, code & ((1 << mantissa) - 1)
    if exponent == 31:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(fraction, -14 - mantissa)
    return sign * math.ldexp((1 << mantissa) + fraction, exponent - 15 - mantissa)


def nearest_small(value: float, width: int) -> int:
    """The nearest code of a small float, the even one of two. Found by bisection, as codes grow with their values."""
    mantissa = MANTISSA[width]
    top = 31 << mantissa  # infinity
    if math.isnan(value):
        return top | 1 << (mantissa - 1)
    if math.copysign(1.0, value) < 0:
        return nearest_small(-value, width) | 1 << 15 if width == 16 else 0
    largest = Fraction(small_float(top - 1, width))
    step = largest - Fraction(small_float(top - 2, width))
    if math.isinf(value) or Fraction(value) >= largest + step / 2:
        return top
    low, high = 0, top - 1  # the code is one of these; low is not above the value
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if small_float(middle, width) <= value else (low, middle)
    exact = Fraction(value)
    return min((low, high), key=lambda code: (abs(Fraction(small_float(code, width)) - exact), code & 1))


# sRGB


def linear(value: float) -> float:
    """The sRGB curve, decoding."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def encoded(value: float) -> float:
    """The sRGB curve, encoding."""
    return value * 12.92 if value <= 0.0031308 else float(1.055 * value ** (1 / 2.4) - 0.055)


# Components


def signed(code: int, width: int) -> int:
    """A code as a signed number."""
    return code - (1 << width) if code >> (width - 1) else code


def value_of(type: str, code: int, width: int) -> float | int:
    """What a code means: an int of integers, else a float, for normalised types the f64 nearest to the quotient."""
    if type == "float":
        return f32(code) if width == 32 else small_float(code, width)
    if type in ("sint", "sscaled"):
        return signed(code, width)
    if type in ("uint", "uscaled"):
        return code
    if type == "snorm" and width == 1:
        return float(signed(code, width))
    if type == "snorm":
        return float(max(Fraction(signed(code, width), (1 << (width - 1)) - 1), Fraction(-1)))
    value = float(Fraction(code, (1 << width) - 1))
    return linear(value) if type == "srgb" else value


def code_of(type: str, value: float, width: int) -> int:
    """The nearest code of a value that is no integer, halves away from zero, as if computed exactly; NaN is 0."""
    if type == "float":
        return word_of(value) if width == 32 else nearest_small(value, width)
    if math.isnan(value):
        return 0
    exact = Fraction(math.copysign(1.0, value) if math.isinf(value) else value)
    if type == "srgb":
        return math.floor(encoded(float(max(Fraction(0), min(Fraction(1), exact)))) * 255 + 0.5)
    if type == "snorm":
        scaled = max(Fraction(-1), min(Fraction(1), exact)) * ((1 << (width - 1)) - 1)
        whole = math.floor(abs(scaled) + Fraction(1, 2))
        return (-whole if scaled < 0 else whole) & ((1 << width) - 1)
    return math.floor(max(Fraction(0), min(Fraction(1), exact)) * ((1 << width) - 1) + Fraction(1, 2))


def integer_code(type: str, word: int, width: int) -> int:
    """The code for a register's 32 bits, of uint or sint: what does not fit becomes the nearest integer that does."""
    if type == "uint":
        return min(word, (1 << width) - 1)
    half = 1 << (width - 1)
    return max(-half, min(signed(word, 32), half - 1)) & ((1 << width) - 1)


def encode(component: Component, word: int, srgb: bool) -> int:
    """The code of a component for 32 bits that are an f32, or an integer where the format holds such."""
    type = "unorm" if component.type == "srgb" and not srgb else component.type
    if type in ("uint", "sint"):
        return integer_code(type, word, component.width)
    if type == "float" and component.width == 32:
        return word
    return code_of(type, f32(word), component.width)


def decode(component: Component, code: int, srgb: bool) -> float:
    """The value of a component."""
    type = "unorm" if component.type == "srgb" and not srgb else component.type
    return float(value_of(type, code, component.width))
