"""What the shader unit's arithmetic instructions compute, one component of many vertices at a time.

Values are f32 as every public model of the unit keeps them. Two of its rules differ from IEEE: a product of zero and
infinity is zero, and reciprocals of zero are positive infinity. EX2 and LG2 are our own polynomials, so that every
machine gives the same bits. Source: 3dbrew GPU/Shader Instruction Set.
"""

from __future__ import annotations

import math

from ...lanes import F32, Lang, Value, Var

# 2**f on [-0.5, 0.5]: Taylor coefficients of exp(f ln 2), exact to the last bit of f32 there.
_EXP2 = [math.log(2) ** n / math.factorial(n) for n in range(8)]
# log2((1+s)/(1-s)) = 2/ln2 * (s + s^3/3 + s^5/5 + ...), |s| < 0.1716
_LOG2 = [2 / math.log(2) / n for n in (1, 3, 5, 7, 9, 11)]


class Multiplier:
    """Products by the unit's rule (0 * inf = 0, NaN * anything = NaN).

    exact=False multiplies plainly and sets `suspects` where some product was NaN: only then can the rule matter, and
    the vertices are run again with exact=True. For finite data that halves the work, and the results are the same.
    """

    def __init__(self, k: Lang, exact: bool) -> None:
        self.k, self.exact = k, exact
        self.suspects: Var | None = None if exact else k.var(k.iota() < 0)

    def __call__(self, a: Value, b: Value) -> Value:
        product = a * b
        if not self.exact:
            return product
        k = self.k
        invalid = (product != product) & (a == a) & (b == b)
        return k.select(invalid, 0.0, product)

    def watch(self, result: Value) -> Value:
        """Note a result into which products went."""
        if self.suspects is not None:
            self.suspects.value = self.suspects.value | (result != result)
        return result


def exp2(k: Lang, x: Value) -> Value:
    """2 to the power x; 0 below the range, infinity above, NaN for NaN."""
    bounded = k.clamp(x, -160.0, 160.0)
    whole = k.floor(bounded + 0.5)
    f = bounded - whole
    p = k.splat(_EXP2[-1], f.lanes, F32)
    for c in reversed(_EXP2[:-1]):
        p = p * f + c
    # Two factors, so that neither exponent leaves the range of normal numbers.
    n = k.to_i32(whole, -160, 160)
    half = n >> 1
    scaled = p * k.bits_f32((half + 127) << 23) * k.bits_f32((n - half + 127) << 23)
    return k.select(x == x, scaled, x)


def log2(k: Lang, x: Value) -> Value:
    """Logarithm to base 2: -inf for zero, NaN for negative numbers and NaN, +inf for infinity."""
    tiny = x < 1.1754943508222875e-38
    bits = k.bits_i32(k.select(tiny, x * 8388608.0, x))
    exponent = (bits >> 23) - 127
    m = k.bits_f32((bits & 0x7FFFFF) | 0x3F800000)
    big = m > 1.4142135381698608
    m = k.select(big, m * 0.5, m)
    exponent = exponent + k.select(big, 1, 0) - k.select(tiny, 23, 0)
    s = (m - 1.0) / (m + 1.0)
    s2 = s * s
    p = k.splat(_LOG2[-1], s.lanes, F32)
    for c in reversed(_LOG2[:-1]):
        p = p * s2 + c
    r = p * s + k.to_f32(exponent)
    r = k.select(x == math.inf, math.inf, r)
    r = k.select(x == 0.0, -math.inf, r)
    return k.select(x >= 0.0, r, math.nan)


def reciprocal(k: Lang, x: Value) -> Value:
    """1/x; +inf for both zeros."""
    return k.select(x == 0.0, math.inf, 1.0 / x)


def reciprocal_sqrt(k: Lang, x: Value) -> Value:
    """1/sqrt(x); +inf for both zeros, NaN for negative numbers."""
    return k.select(x == 0.0, math.inf, 1.0 / k.sqrt(x))


def compare(k: Lang, op: int, a: Value, b: Value) -> Value:
    """A condition of CMP. With NaN all are false but "not equal" and "true"."""
    table = [lambda: a == b, lambda: a != b, lambda: a < b, lambda: a <= b, lambda: a > b, lambda: a >= b]
    return table[op]() if op < 6 else (k.iota() >= 0)
