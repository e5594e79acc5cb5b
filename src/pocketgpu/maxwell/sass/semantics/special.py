"""The multi-function unit: reciprocals, roots, powers, logarithms, sine and cosine; and range reduction before it.

The chip's own results are right to 22 or 23 bits; these are closer to the true value. Denormal numbers are flushed as
on the chip. Range reduction does not change its number here, and sine and cosine take radians.
"""

from __future__ import annotations

import math

from pocketgpu.lanes import F64, Value
from pocketgpu.lanes.elementary import exp2, log2
from pocketgpu.maxwell.sass.semantics.float32 import canonical, flush, saturate
from pocketgpu.maxwell.sass.semantics.float64 import canonical as canonical64
from pocketgpu.maxwell.sass.semantics.unit import Unit, operation

_PI_2 = math.pi / 2
# pi/2 as a sum: the first part has 33 bits, so that its product with a number of turns below 2**20 is exact.
_PI_2_HIGH, _PI_2_LOW = float.fromhex("0x1.921fb54400000p+0"), 6.07710050650619224932e-11


def _polynomial(x: Value, terms: list[float]) -> Value:
    p = x.k.splat(terms[-1], type=F64)
    for c in reversed(terms[:-1]):
        p = p * x + c
    return p


_SIN = [(-1) ** n / math.factorial(2 * n + 1) for n in range(7)]
_COS = [(-1) ** n / math.factorial(2 * n) for n in range(8)]


def _turned(u: Unit, x: Value, quadrants: int) -> Value:
    """sin(x + quadrants * pi/2) of an f32."""
    k = u.k
    d = k.to_f64(x)
    turns = k.floor(d * (1 / _PI_2) + 0.5)
    r = (d - turns * _PI_2_HIGH) - turns * _PI_2_LOW
    # The quadrant modulo 4, which stays exact however large it is.
    quadrant = turns - k.floor(turns * 0.25) * 4.0 + float(quadrants)
    quadrant = k.select(quadrant >= 4.0, quadrant - 4.0, quadrant)
    r2 = r * r
    sine, cosine = r * _polynomial(r2, _SIN), _polynomial(r2, _COS)
    odd = (quadrant == 1.0) | (quadrant == 3.0)
    value = k.to_f32(k.select(odd, cosine, sine))
    value = k.select(quadrant >= 2.0, -value, value)
    nothing = x - x  # NaN for infinity, which has no sine; else 0
    return k.select(nothing == 0.0, k.min(k.max(value, -1.0), 1.0), nothing)


def _upper_half(u: Unit, x: Value, root: bool) -> Value:
    """1/x or 1/sqrt(x) of a double whose upper word is x: the upper word of the result."""
    k = u.k
    d = k.bits_f64(k.to_i64(k.bits_i32(x)) << 32)
    result = 1.0 / (k.sqrt(d) if root else d)
    return k.low32(canonical64(result).lsr(32))


@operation("MUFU", "i", "s", fn=4, sat=1)
def mufu(u: Unit, a: Value) -> Value:
    """fn: cosine, sine, 2**x, logarithm to base 2, 1/x, 1/sqrt, those two of a double's upper word, root (0 to 8)."""
    k = u.k
    x = flush(u, a, True)
    done = lambda v: canonical(saturate(u, flush(u, v, True)))
    return u.pick(
        "fn",
        [
            lambda: done(_turned(u, x, 1)),
            lambda: done(_turned(u, x, 0)),
            lambda: done(exp2(k, x)),
            lambda: done(log2(k, x)),
            lambda: done(1.0 / x),
            lambda: done(1.0 / k.sqrt(x)),
            lambda: _upper_half(u, a, False),
            lambda: _upper_half(u, a, True),
            lambda: done(k.sqrt(x)),
        ],
    )


@operation("RRO", "f", "f", fn=1)
def rro(u: Unit, a: Value) -> Value:
    return a
