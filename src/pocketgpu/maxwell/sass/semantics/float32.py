"""Single precision: additions and products in four roundings, flushing, comparisons, and numbers close to division."""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.lanes import F32, F64, Value
from pocketgpu.lanes.fused import sum_to_odd
from pocketgpu.maxwell.sass.semantics.integer import set_word
from pocketgpu.maxwell.sass.semantics.unit import Flags, Unit, combine, operation

_SIGN = -0x80000000
_INFINITY = 0x7F800000
CANONICAL_NAN = 0x7FFFFFFF


def canonical(value: Value) -> Value:
    """A result whose NaNs are all the canonical one."""
    k = value.k
    return k.select(value == value, k.bits_i32(value), CANONICAL_NAN)


def flush(u: Unit, x: Value, wanted: bool | Value) -> Value:
    """Denormal numbers as zero of their sign."""
    if u.known(wanted, False):
        return x
    k = u.k
    bits = k.bits_i32(x)
    tiny = (bits & _INFINITY) == 0
    if isinstance(wanted, Value):
        tiny = tiny & u.mask(wanted)
    return k.bits_f32(k.select(tiny, bits & _SIGN, bits))


def saturate(u: Unit, x: Value) -> Value:
    """With .SAT the number cut to 0..1, and NaN as 0."""
    k, sat = u.k, u.flag("sat")
    if u.known(sat, False):
        return x
    return k.select(u.mask(sat), k.min(k.max(x, 0.0), 1.0), x)


def step(u: Unit, r: Value, down: Value, up: Value) -> Value:
    """The neighbours of f32 numbers, below or above where the masks say so."""
    k = u.k
    bits = k.bits_i32(r)
    inward = k.select(bits < 0, up, down)
    outward = k.select(bits < 0, down, up)
    return k.bits_f32(bits + k.select(outward, k.splat(1), 0) - k.select(inward, k.splat(1), 0))


def directed(u: Unit, exact: Value, rounding: int) -> Value:
    """An f64, exact or rounded to odd, as f32. Roundings: down 1, up 2, towards zero 3."""
    k = u.k
    r = k.to_f32(exact)
    wide = k.to_f64(r)
    no = u.mask(False)
    above, below = wide > exact, wide < exact
    if rounding == 1:
        return step(u, r, above, no)
    if rounding == 2:
        return step(u, r, no, below)
    positive = k.bits_i32(r) >= 0
    return step(u, r, above & positive, below & ~positive)


def _zero_sign(u: Unit, r: Value, a: Value, b: Value) -> Value:
    """When rounding down, the sum of two numbers that cancel is -0."""
    k = u.k
    both_plus = (k.bits_i64(a) >= 0) & (k.bits_i64(b) >= 0)
    return k.select((r == 0.0) & ~both_plus, k.bits_f32(k.bits_i32(r) | _SIGN), r)


def rounded(u: Unit, nearest: Callable[[], Value], parts: Callable[[], tuple[Value, Value]]) -> Value:
    """A sum: to nearest by `nearest`, else from two f64 whose exact sum it is."""

    def in_direction(rounding: int) -> Value:
        a, b = parts()
        r = directed(u, sum_to_odd(u.k, a, b), rounding)
        return _zero_sign(u, r, a, b) if rounding == 1 else r

    return u.pick("rounding", [nearest, *(lambda n=n: in_direction(n) for n in (1, 2, 3))])


def float_flags(u: Unit, x: Value) -> None:
    """The condition code of an f32 result. NaN sets both sign and zero."""
    if u.wants_flags:
        no = u.mask(False)
        unordered = x != x
        u.flags_out = Flags(no, no, (x < 0.0) | unordered, (x == 0.0) | unordered)


def _finish(u: Unit, x: Value, ftz: bool | Value) -> Value:
    x = saturate(u, flush(u, x, ftz))
    float_flags(u, x)
    return x


@operation("FADD", "f", "ff", rounding=2, ftz=1, sat=1)
def fadd(u: Unit, a: Value, b: Value) -> Value:
    k, ftz = u.k, u.flag("ftz")
    a, b = flush(u, a, ftz), flush(u, b, ftz)
    return _finish(u, rounded(u, lambda: a + b, lambda: (k.to_f64(a), k.to_f64(b))), ftz)


_SCALES = (1.0, 0.5, 0.25, 0.125, 8.0, 4.0, 2.0)


def _flush_mode(u: Unit) -> tuple[bool | Value, bool | Value]:
    """(ftz or fmz, fmz) of the modifier `ftz`: 1 flushes, 2 also makes 0 times anything 0."""
    mode = u.code("ftz")
    return (mode != 0, mode == 2)


def _product_rule(u: Unit, fmz: bool | Value, a: Value, b: Value, product: Value) -> Value:
    if u.known(fmz, False):
        return product
    k = u.k
    return k.select(u.mask(fmz) & ((a == 0.0) | (b == 0.0)), 0.0, product)


@operation("FMUL", "f", "ff", rounding=2, ftz=2, sat=1, scale=3)
def fmul(u: Unit, a: Value, b: Value) -> Value:
    """a * b, and a power of two, rounded once."""
    k = u.k
    ftz, fmz = _flush_mode(u)
    a, b = flush(u, a, ftz), flush(u, b, ftz)
    scale = u.code("scale")
    plain = isinstance(scale, int) and scale == 0
    scales = [lambda s=s: k.splat(s, type=F64) for s in _SCALES]
    # Exact: 48 bits, and exponents that are far from the limits of an f64.
    exact = lambda: k.to_f64(a) * k.to_f64(b) * (1.0 if plain else u.pick("scale", scales))

    def in_direction(rounding: int) -> Value:
        return directed(u, exact(), rounding)

    nearest = lambda: a * b if plain else k.to_f32(exact())
    product = u.pick("rounding", [nearest, *(lambda n=n: in_direction(n) for n in (1, 2, 3))])
    return _finish(u, _product_rule(u, fmz, a, b, product), ftz)


@operation("FFMA", "f", "fff", rounding=2, ftz=2, sat=1)
def ffma(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once."""
    k = u.k
    ftz, fmz = _flush_mode(u)
    a, b, c = (flush(u, v, ftz) for v in (a, b, c))
    total = rounded(u, lambda: k.fma(a, b, c), lambda: (k.to_f64(a) * k.to_f64(b), k.to_f64(c)))
    if not u.known(fmz, False):
        # The product is +0 then; a sum with -0 is -0 only when rounding down.
        plus = lambda: 0.0 + c
        alone = u.pick("rounding", [plus, lambda: c, plus, plus])
        total = k.select(u.mask(fmz) & ((a == 0.0) | (b == 0.0)), alone, total)
    return _finish(u, total, ftz)


def least(a: Value, b: Value, want_least: Value) -> Value:
    """The smaller one where the mask is set, else the larger, of f32 or f64. NaN loses to a number; -0 is below +0."""
    k = a.k
    bits = k.bits_i32 if a.type is F32 else k.bits_i64
    ordered_less = (a < b) | ((a == b) & (bits(a) < bits(b)))
    take_a = k.select(ordered_less, i := want_least, ~i)
    take_a = (take_a & (a == a)) | (b != b)
    return k.select(take_a, a, b)


@operation("FMNMX", "f", "ff", predicates=1, ftz=1)
def fmnmx(u: Unit, a: Value, b: Value) -> Value:
    """Minimum where the predicate is true, else maximum."""
    ftz = u.flag("ftz")
    a, b = flush(u, a, ftz), flush(u, b, ftz)
    result = least(a, b, u.predicates[0])
    float_flags(u, result)
    return result


def compare(u: Unit, a: Value, b: Value, name: str = "cmp") -> Value:
    """One of the sixteen comparisons of numbers. Those from 9 on are also true if a number is NaN."""
    un = lambda: (a != a) | (b != b)
    cases = [
        lambda: u.mask(False), lambda: a < b, lambda: a == b, lambda: a <= b, lambda: a > b,
        lambda: (a < b) | (a > b), lambda: a >= b, lambda: ~un(), un, lambda: ~(a >= b),
        lambda: ~((a < b) | (a > b)), lambda: ~(a > b), lambda: ~(a <= b), lambda: a != b, lambda: ~(a < b),
        lambda: u.mask(True),
    ]  # fmt: skip
    return u.pick(name, cases)


@operation("FSETP", "pp", "ff", predicates=1, cmp=4, ftz=1, bool=2)
def fsetp(u: Unit, a: Value, b: Value) -> tuple[Value, Value]:
    """A comparison and its opposite, each joined with a predicate."""
    ftz = u.flag("ftz")
    condition, other = compare(u, flush(u, a, ftz), flush(u, b, ftz)), u.predicates[0]
    return combine(u, condition, other), combine(u, ~condition, other)


@operation("FSET", "i", "ff", predicates=1, cmp=4, ftz=1, bool=2, bf=1)
def fset(u: Unit, a: Value, b: Value) -> Value:
    ftz = u.flag("ftz")
    return set_word(u, combine(u, compare(u, flush(u, a, ftz), flush(u, b, ftz)), u.predicates[0]))


@operation("FCMP", "i", "iif", cmp=4, ftz=1)
def fcmp(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a where c compares with zero, else b."""
    k = u.k
    return k.select(compare(u, flush(u, c, u.flag("ftz")), k.splat(0.0, type=F32)), a, b)


@operation("FCHK", "p", "ff")
def fchk(u: Unit, a: Value, b: Value) -> Value:
    """Whether a / b must be computed the slow way, because its exponent or one of theirs may be extreme."""
    k = u.k
    exponent = lambda v: k.bits_i32(v).bits(23, 8)
    ea, eb = exponent(a), exponent(b)
    apart = ea - eb
    extreme = (ea == 0xFF) | (eb == 0xFF) | (eb == 0) | (ea < 24) | (eb > 252) | (eb < 2)
    return extreme | (apart > 125) | (apart < -124)




@operation("FSWZADD", "f", "ffi", rounding=2, ftz=1)
def fswzadd(u: Unit, a: Value, b: Value, mask: Value) -> Value:
    """a + b, where each lane of a quad has its own signs. Lane 0 takes the highest two bits of the mask."""
    k, ftz = u.k, u.flag("ftz")
    code = (mask >> (6 - 2 * (k.iota() & 3))) & 3
    a, b = flush(u, a, ftz), flush(u, b, ftz)
    first = k.select(code == 1, -a, k.select(code == 3, k.splat(0.0, type=F32), a))
    second = k.select(code == 2, -b, b)
    alone = code == 3
    total = rounded(u, lambda: first + second, lambda: (k.to_f64(first), k.to_f64(second)))
    return _finish(u, k.select(alone, b, total), ftz)
