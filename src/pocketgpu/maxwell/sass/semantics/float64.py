"""Double precision. To nearest by the host; the directed roundings with integers."""

from __future__ import annotations

from pocketgpu.lanes import F64, Value
from pocketgpu.lanes.fused import fma64
from pocketgpu.maxwell.sass.semantics.float32 import compare, least
from pocketgpu.maxwell.sass.semantics.integer import set_word
from pocketgpu.maxwell.sass.semantics.unit import Flags, Unit, combine, operation

CANONICAL_NAN = 0x7FFFFFFF_FFFFFFFF
_SIGN = -(1 << 63)


def canonical(value: Value) -> Value:
    """The bits of a result, with the canonical NaN for all NaNs."""
    k = value.k
    return k.select(value == value, k.bits_i64(value), CANONICAL_NAN)


def _fused(u: Unit, a: Value, b: Value, c: Value, nearest: Value) -> Value:
    rounding = u.code("rounding")
    if isinstance(rounding, int):
        return nearest if rounding == 0 else fma64(u.k, a, b, c, rounding)
    return u.choose(rounding == 0, lambda: nearest, lambda: fma64(u.k, a, b, c, rounding))


def _flags(u: Unit, x: Value) -> Value:
    if u.wants_flags:
        no, unordered = u.mask(False), x != x
        u.flags_out = Flags(no, no, (x < 0.0) | unordered, (x == 0.0) | unordered)
    return x


@operation("DADD", "d", "dd", rounding=2)
def dadd(u: Unit, a: Value, b: Value) -> Value:
    return _flags(u, _fused(u, a, u.k.splat(1.0, type=F64), b, a + b))


@operation("DMUL", "d", "dd", rounding=2)
def dmul(u: Unit, a: Value, b: Value) -> Value:
    k = u.k
    # Adding a zero with the sign of the product does not change a zero product.
    zero = k.bits_f64((k.bits_i64(a) ^ k.bits_i64(b)) & _SIGN)
    return _flags(u, _fused(u, a, b, zero, a * b))


@operation("DFMA", "d", "ddd", rounding=2)
def dfma(u: Unit, a: Value, b: Value, c: Value) -> Value:
    return _flags(u, _fused(u, a, b, c, u.k.fma(a, b, c)))


@operation("DMNMX", "d", "dd", predicates=1)
def dmnmx(u: Unit, a: Value, b: Value) -> Value:
    """Minimum where the predicate is true, else maximum."""
    return _flags(u, least(a, b, u.predicates[0]))


@operation("DSETP", "pp", "dd", predicates=1, cmp=4, bool=2)
def dsetp(u: Unit, a: Value, b: Value) -> tuple[Value, Value]:
    condition, other = compare(u, a, b), u.predicates[0]
    return combine(u, condition, other), combine(u, ~condition, other)


@operation("DSET", "i", "dd", predicates=1, cmp=4, bool=2, bf=1)
def dset(u: Unit, a: Value, b: Value) -> Value:
    return set_word(u, combine(u, compare(u, a, b), u.predicates[0]))
