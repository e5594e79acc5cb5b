"""What the shader unit's arithmetic instructions compute, some lanes of vertices at a time.

Here every instruction is said once; the translator and the interpreter both take it from `OPERATIONS`. Values are f32
as every public model of the unit keeps them, or rounded to its own 24 bits (`Rules.precision`). Some of its rules
differ from IEEE: a product of zero and infinity is zero, and reciprocals of zero are positive infinity. EX2 and LG2 are
our own polynomials, so that every machine gives the same bits.

Source: 3dbrew GPU/Shader Instruction Set, "Instructions" and "Floating-Point Behavior".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...facts.shader_isa import Opcode
from ...lanes import F32, Lang, Value, Var
from .rules import Rules

# 2**f on [-0.5, 0.5]: Taylor coefficients of exp(f ln 2), exact to the last bit of f32 there.
_EXP2 = [math.log(2) ** n / math.factorial(n) for n in range(8)]
# log2((1+s)/(1-s)) = 2/ln2 * (s + s^3/3 + s^5/5 + ...), |s| < 0.1716
_LOG2 = [2 / math.log(2) / n for n in (1, 3, 5, 7, 9, 11)]
# LITP limits the shininess to this on both sides.
LITP_BOUND = 0x7FFF / 0x100
# f24: below the first the exponent is 0 and the value flushed; from the second on it is infinity.
_F24_SMALLEST, _F24_BEYOND = 2.0**-62, 2.0**64

Vector = list[Value]


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


def round_f24(k: Lang, x: Value) -> Value:
    """The f24 next to x towards zero; infinity beyond the range, +0 for what is too small and for -0."""
    size = k.abs(x)
    cut = k.bits_f32(k.bits_i32(x) & ~0x7F)
    cut = k.select(size >= _F24_BEYOND, k.select(x > 0.0, math.inf, -math.inf), cut)
    cut = k.select(size < _F24_SMALLEST, 0.0, cut)
    return k.select(x == x, cut, x)


class Alu:
    """The arithmetic under one set of rules.

    exact=False multiplies plainly: where a product of zero and infinity may have come up, some result is NaN, and
    then the vertices must be run again with exact=True. `suspects` is there to note such lanes. For data without
    infinities that halves the work, and the results are the same.
    """

    def __init__(self, k: Lang, rules: Rules, exact: bool) -> None:
        self.k, self.rules, self.exact = k, rules, exact
        self.suspects: Var | None = None if exact else k.var(k.iota() < 0)

    def round(self, x: Value) -> Value:
        """A result, or a value from outside, in the unit's precision."""
        return round_f24(self.k, x) if self.rules.precision == "f24" else x

    def mul(self, a: Value, b: Value) -> Value:
        """A product by the unit's rule: 0 * inf = 0, NaN * anything = NaN."""
        product = a * b
        if self.exact:
            invalid = (product != product) & (a == a) & (b == b)
            product = self.k.select(invalid, 0.0, product)
        return self.round(product)

    def add(self, a: Value, b: Value) -> Value:
        return self.round(a + b)

    def watch(self, values: Vector) -> None:
        """Note the lanes in which one of the values is NaN (exact=False only)."""
        if self.suspects is None or not values:
            return
        found = self.suspects.value
        for i in range(0, len(values), 2):  # pairs: machine code tests two values at once
            a, b = values[i], values[min(i + 1, len(values) - 1)]
            found = found | ((a != a) | (b != b))
        self.suspects.value = found

    def zero(self) -> Value:
        return self.k.splat(0.0, type=F32)

    def one(self) -> Value:
        return self.k.splat(1.0, type=F32)

    def dot(self, terms: list[tuple[Value, Value]], last: Value | None = None) -> Vector:
        """Sum of products from left to right, in all components. last: a final term without a factor."""
        total = self.mul(*terms[0])
        for a, b in terms[1:]:
            total = self.add(total, self.mul(a, b))
        if last is not None:
            total = self.add(total, last)
        return [total] * 4

    def reciprocal(self, x: Value) -> Value:
        r = self.round(1.0 / x)
        return self.k.select(x == 0.0, math.inf, r) if self.rules.reciprocal_zero == "positive" else r

    def reciprocal_sqrt(self, x: Value) -> Value:
        r = self.round(1.0 / self.k.sqrt(x))
        return self.k.select(x == 0.0, math.inf, r) if self.rules.reciprocal_zero == "positive" else r

    def maximum(self, s: Value, t: Value) -> Value:
        """s if s > t else t: MAX(0, NaN) is NaN, MAX(NaN, 0) is 0."""
        r = self.k.max(s, t)
        return self.k.select(t == -math.inf, t, r) if self.rules.max_infinity == "result" else r

    def partial_lighting(self, s: Vector) -> Vector:
        """The vector that LITP writes."""
        k = self.k
        limited = [k.max(s[0], 0.0), k.clamp(s[1], -LITP_BOUND, LITP_BOUND), self.zero(), k.max(s[3], 0.0)]
        if self.rules.litp_nan == "keep":
            limited = [r if i == 2 else k.select(s[i] == s[i], r, s[i]) for i, r in enumerate(limited)]
        return limited

    def compare(self, op: int, a: Value, b: Value) -> Value:
        """Comparison number `op` of CMP. With NaN all are false but "not equal" and the two that are always true."""
        table: list[Callable[[], Value]] = [
            lambda: a == b, lambda: a != b, lambda: a < b, lambda: a <= b, lambda: a > b, lambda: a >= b,
        ]  # fmt: skip
        return table[op]() if op < 6 else (self.k.iota() >= 0)

    def address(self, x: Value) -> Value:
        """What MOVA makes of a number: cut towards zero. What does not fit is far outside of any index."""
        return self.k.to_i32(x, -2147483648.0, 2147483520.0)


def _each(f: Callable[[Alu, Value, Value], Value]) -> Callable[[Alu, Vector, Vector, Vector], Vector]:
    return lambda alu, s, t, u: [f(alu, a, b) for a, b in zip(s, t, strict=True)]


def _first(f: Callable[[Alu, Value], Value]) -> Callable[[Alu, Vector, Vector, Vector], Vector]:
    return lambda alu, s, t, u: [f(alu, s[0])] * 4


@dataclass(frozen=True, slots=True)
class Operation:
    """compute(alu, s, t, u): four result components of the swizzled sources (those it has not are empty).

    spreads: which source components a result component is NaN with, for the search of NaN products: "each" its own,
    "first" the first of s, "dot3", "dot4" and "doth" those of a dot product, "" none for sure. products: whether it
    multiplies.
    """

    compute: Callable[[Alu, Vector, Vector, Vector], Vector]
    spreads: str = ""
    products: bool = False


OPERATIONS: Mapping[str, Operation] = {
    "ADD": Operation(_each(Alu.add), "each"),
    "DP3": Operation(lambda alu, s, t, u: alu.dot(list(zip(s[:3], t[:3], strict=True))), "dot3", True),
    "DP4": Operation(lambda alu, s, t, u: alu.dot(list(zip(s, t, strict=True))), "dot4", True),
    "DPH": Operation(lambda alu, s, t, u: alu.dot(list(zip(s[:3], t[:3], strict=True)), t[3]), "doth", True),
    "DST": Operation(lambda alu, s, t, u: [alu.one(), alu.mul(s[1], t[1]), s[2], t[3]], "", True),
    "EX2": Operation(_first(lambda alu, x: alu.round(exp2(alu.k, x))), "first"),
    "LG2": Operation(_first(lambda alu, x: alu.round(log2(alu.k, x))), "first"),
    "LITP": Operation(lambda alu, s, t, u: alu.partial_lighting(s)),
    "MUL": Operation(_each(Alu.mul), "each", True),
    "SGE": Operation(_each(lambda alu, a, b: alu.k.to_f32(a >= b))),
    "SLT": Operation(_each(lambda alu, a, b: alu.k.to_f32(a < b))),
    "FLR": Operation(lambda alu, s, t, u: [alu.k.floor(a) for a in s], "each"),
    "MAX": Operation(_each(Alu.maximum)),
    "MIN": Operation(_each(lambda alu, a, b: alu.k.min(a, b))),
    "RCP": Operation(_first(Alu.reciprocal), "first"),
    "RSQ": Operation(_first(Alu.reciprocal_sqrt), "first"),
    "MOV": Operation(lambda alu, s, t, u: s),
    "MAD": Operation(
        lambda alu, s, t, u: [alu.add(alu.mul(a, b), c) for a, b, c in zip(s, t, u, strict=True)], "each", True
    ),
}
"""The instructions that write a register, by name; "inverted" forms (`DPHI`, `MADI`, ...) are the same operations."""


def operation_name(op: Opcode) -> str:
    """The name in OPERATIONS of an opcode that writes a register."""
    return op.name if op.name in OPERATIONS else op.name.removesuffix("I")


__all__ = ["LITP_BOUND", "OPERATIONS", "Alu", "Operation", "Vector", "exp2", "log2", "operation_name", "round_f24"]
