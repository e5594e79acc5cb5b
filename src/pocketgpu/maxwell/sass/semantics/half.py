"""Pairs of half precision numbers in a register.

Each half is computed in double precision and rounded once. Sums and products of halves are exact there, or rounded to
odd, which gives the same result.
"""

from __future__ import annotations

from pocketgpu.lanes import F64, Value
from pocketgpu.lanes.fused import sum_to_odd
from pocketgpu.maxwell.sass.semantics.convert import half_to_f32, pack16
from pocketgpu.maxwell.sass.semantics.float32 import canonical, compare
from pocketgpu.maxwell.sass.semantics.unit import Unit, combine, operation

Pair = tuple[Value, Value]
"""The lower and the upper number of a register, as f64."""


def _numbers(u: Unit, source: int, name: str, v: Value) -> Pair:
    """A source by its swizzle: both halves 0, an f32 for both 1, the lower one twice 2, the upper one twice 3."""
    k = u.k
    low, high = lambda: half_to_f32(u, v), lambda: half_to_f32(u, v.lsr(16))

    def both(f: Value) -> Pair:
        return f, f

    x, y = u.pick(
        name, [lambda: (low(), high()), lambda: both(k.bits_f32(v)), lambda: both(low()), lambda: both(high())]
    )
    return _signed(u, source, x), _signed(u, source, y)


def _signed(u: Unit, source: int, x: Value) -> Value:
    k = u.k
    negate, absolute = u.mask(u.negated(source)), u.mask(u.absolute(source))
    if not u.known(u.absolute(source), False):
        x = k.select(absolute, k.abs(x), x)
    if not u.known(u.negated(source), False):
        x = k.select(negate, -x, x)
    return k.to_f64(_flushed(u, x))


def _flushed(u: Unit, x: Value) -> Value:
    """Denormal halves as zero of their sign."""
    ftz = u.code("ftz")
    if isinstance(ftz, int) and not ftz:
        return x
    k = u.k
    tiny = (k.abs(x) < 6.103515625e-05) & u.mask(ftz != 0)
    return k.select(tiny, k.bits_f32(k.bits_i32(x) & -0x80000000), x)


def _result(u: Unit, low: Value, high: Value, old: Value) -> Value:
    """Both numbers in the register: `out` 0 as a pair, 1 the lower as f32, 2 and 3 merged into one half of it."""
    k = u.k

    def finished(x: Value) -> Value:
        bits = pack16(u, k.bits_i64(x), 0)
        ftz = u.code("ftz")
        if not (isinstance(ftz, int) and not ftz):
            tiny = ((bits & 0x7C00) == 0) & u.mask(ftz != 0)
            bits = k.select(tiny, bits & 0x8000, bits)
        one = k.select((bits & 0x8000) != 0, 0, k.select(bits > 0x7C00, 0, k.min(bits, 0x3C00)))
        return k.select(u.mask(u.flag("sat")), one, bits)

    def single() -> Value:
        x = k.to_f32(low)
        x = k.select(u.mask(u.flag("sat")), k.min(k.max(x, 0.0), 1.0), x)
        return canonical(x)

    return u.pick(
        "out",
        [
            lambda: finished(low) | (finished(high) << 16),
            single,
            lambda: (old & -0x10000) | finished(low),
            lambda: (old & 0xFFFF) | (finished(high) << 16),
        ],
    )


def _zero_rule(u: Unit, x: Value, y: Value, total: Value, other: Value | None) -> Value:
    """FMZ: 0 times anything is 0."""
    fmz = u.code("ftz")
    if isinstance(fmz, int) and fmz != 2:
        return total
    k = u.k
    instead = k.splat(0.0, type=F64) if other is None else other
    return k.select(u.mask(fmz == 2) & ((x == 0.0) | (y == 0.0)), instead, total)


@operation("HADD2", "i", "iii", out=2, swizzle_a=2, swizzle_b=2, ftz=2, sat=1)
def hadd2(u: Unit, a: Value, b: Value, old: Value) -> Value:
    x, y = _numbers(u, 0, "swizzle_a", a), _numbers(u, 1, "swizzle_b", b)
    low, high = (sum_to_odd(u.k, p, q) for p, q in zip(x, y, strict=True))
    return _result(u, low, high, old)


@operation("HMUL2", "i", "iii", out=2, swizzle_a=2, swizzle_b=2, ftz=2, sat=1)
def hmul2(u: Unit, a: Value, b: Value, old: Value) -> Value:
    x, y = _numbers(u, 0, "swizzle_a", a), _numbers(u, 1, "swizzle_b", b)
    low, high = (_zero_rule(u, p, q, p * q, None) for p, q in zip(x, y, strict=True))
    return _result(u, low, high, old)


@operation("HFMA2", "i", "iiii", out=2, swizzle_a=2, swizzle_b=2, swizzle_c=2, ftz=2, sat=1)
def hfma2(u: Unit, a: Value, b: Value, c: Value, old: Value) -> Value:
    x, y = _numbers(u, 0, "swizzle_a", a), _numbers(u, 1, "swizzle_b", b)
    z = _numbers(u, 2, "swizzle_c", c)
    parts = [
        _zero_rule(u, p, q, sum_to_odd(u.k, p * q, r), 0.0 + r) for p, q, r in zip(x, y, z, strict=True)
    ]  # fmt: skip
    return _result(u, parts[0], parts[1], old)


@operation("HSET2", "i", "ii", predicates=1, swizzle_a=2, swizzle_b=2, cmp=4, ftz=1, bool=2, bf=1)
def hset2(u: Unit, a: Value, b: Value) -> Value:
    """For each half all ones, or 1.0 with .BF, where the comparison holds."""
    k, (low, high) = u.k, _compared(u, a, b)
    ones = k.select(u.mask(u.flag("bf")), k.splat(0x3C00), 0xFFFF)
    return k.select(low, ones, 0) | (k.select(high, ones, 0) << 16)


def _compared(u: Unit, a: Value, b: Value) -> Pair:
    x, y = _numbers(u, 0, "swizzle_a", a), _numbers(u, 1, "swizzle_b", b)
    other = u.predicates[0]
    low, high = (compare(u, p, q) for p, q in zip(x, y, strict=True))
    return combine(u, low, other), combine(u, high, other)


@operation("HSETP2", "pp", "ii", predicates=1, swizzle_a=2, swizzle_b=2, cmp=4, ftz=1, bool=2, h_and=1)
def hsetp2(u: Unit, a: Value, b: Value) -> Pair:
    """The comparison of the lower and that of the upper half; with H_AND whether both hold, and whether not."""
    x, y = _numbers(u, 0, "swizzle_a", a), _numbers(u, 1, "swizzle_b", b)
    low, high = (compare(u, p, q) for p, q in zip(x, y, strict=True))
    both, other = low & high, u.predicates[0]
    joined = u.mask(u.flag("h_and"))
    first = u.k.select(joined, both, low)
    second = u.k.select(joined, ~both, high)
    return combine(u, first, other), combine(u, second, other)
