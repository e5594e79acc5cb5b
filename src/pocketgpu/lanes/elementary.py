"""Powers and logarithms to base 2 in f32 operations alone, so that every machine gives the same bits.

About 49 of 50 results are the f32 next to the true value; the others are one step away. For that, leading terms are
kept as exact sums of two floats: factors are split into halves of 12 bits, whose products are exact.
"""

from __future__ import annotations

import math

import numpy as np

from pocketgpu.lanes.language import Lang
from pocketgpu.lanes.values import F32, Value

_TERMS = 9
# 2**f = 1 + f ln 2 + f^2 * (...), |f| <= 0.5
_EXP2 = [math.log(2) ** n / math.factorial(n) for n in range(2, _TERMS)]
# log2((1+s)/(1-s)) = 2/ln 2 * s + s^3 * (2/ln 2/3 + 2/ln 2/5 s^2 + ...), |s| < 0.1716
_LOG2 = [2 / math.log(2) / n for n in (3, 5, 7, 9, 11)]


def _halves(x: float) -> tuple[float, float]:
    """x as a sum of two numbers: 12 bits, and an f32 for the rest."""
    high = float((np.float32(x).view(np.int32) & ~0xFFF).view(np.float32))
    return high, float(np.float32(x - high))


_LN2 = _halves(math.log(2))
_TWO_BY_LN2 = _halves(2 / math.log(2))


def _split(k: Lang, x: Value) -> tuple[Value, Value]:
    """x as an exact sum of two numbers of 12 bits."""
    high = k.bits_f32(k.bits_i32(x) & ~0xFFF)
    return high, x - high


def _polynomial(k: Lang, x: Value, terms: list[float]) -> Value:
    p = k.splat(terms[-1], x.lanes, F32)
    for c in reversed(terms[:-1]):
        p = p * x + c
    return p


def exp2(k: Lang, x: Value) -> Value:
    """2 to the power x; 0 below the range, infinity above, NaN for NaN."""
    bounded = k.clamp(x, -160.0, 160.0)
    whole = k.floor(bounded + 0.5)
    f = bounded - whole
    high, low = _split(k, f)
    first = high * _LN2[0]
    total = first + 1.0
    lost = first - (total - 1.0)
    p = total + (lost + (low * _LN2[0] + (f * _LN2[1] + f * f * _polynomial(k, f, _EXP2))))
    # Two factors, so that neither exponent leaves the range of normal numbers.
    n = k.to_i32(whole, -160, 160)
    half = n >> 1
    scaled = p * k.bits_f32((half + 127) << 23) * k.bits_f32((n - half + 127) << 23)
    return k.select(x == x, scaled, x)


def _mantissa(k: Lang, x: Value) -> tuple[Value, Value]:
    """(m, e) with x = m * 2**e and m from 0.707 to 1.414, for positive finite x."""
    tiny = x < 1.1754943508222875e-38
    bits = k.bits_i32(k.select(tiny, x * 8388608.0, x))
    m = k.bits_f32((bits & 0x7FFFFF) | 0x3F800000)
    big = m > 1.4142135381698608
    exponent = (bits >> 23) - 127 + k.select(big, 1, 0) - k.select(tiny, 23, 0)
    return k.select(big, m * 0.5, m), k.to_f32(exponent)


def _special(k: Lang, x: Value, r: Value) -> Value:
    """The logarithm r of x; zero, infinity, and numbers that have no logarithm get their own results."""
    r = k.select(x == math.inf, math.inf, r)
    r = k.select(x == 0.0, -math.inf, r)
    return k.select(x >= 0.0, r, math.nan)


def quick_log2(k: Lang, x: Value) -> Value:
    """As `log2` with half the work; the last two or three bits may be wrong."""
    m, exponent = _mantissa(k, x)
    s = (m - 1.0) / (m + 1.0)
    s2 = s * s
    p = _polynomial(k, s2, [2 / math.log(2), *_LOG2])
    return _special(k, x, p * s + exponent)


def log2(k: Lang, x: Value) -> Value:
    """Logarithm to base 2: -inf for zero, NaN for negative numbers and NaN, +inf for infinity."""
    m, exponent = _mantissa(k, x)
    n, d = m - 1.0, m + 1.0
    s = n / d
    # What was lost when the quotient and its divisor were rounded.
    d_high, d_low = _split(k, d)
    s_high, s_low = _split(k, s)
    left = n - s_high * d_high - s_high * d_low - s_low * d_high - s_low * d_low - s * (m - (d - 1.0))
    more = left / d
    s2 = s * s
    rest = s * _TWO_BY_LN2[1] + (more * (2 / math.log(2)) + s * s2 * _polynomial(k, s2, _LOG2))
    rest = s_low * _TWO_BY_LN2[0] + rest
    first = s_high * _TWO_BY_LN2[0]
    total = first + exponent
    lost = first - (total - exponent)
    # Where the exponent is 0 the first sum is exact; elsewhere it is the larger one.
    return _special(k, x, total + (lost + rest))
