"""The shader unit's arithmetic instructions over lanes of vertices.

Each instruction is defined once; the translator and the interpreter both use `OPERATIONS`. Values are f32, as in all
public models of the unit, or rounded to the unit's 24 bits (`Rules.precision`). Some rules differ from IEEE: a product
of zero and infinity is zero, and reciprocals of zero are positive infinity.

Source: 3dbrew GPU/Shader Instruction Set, "Instructions" and "Floating-Point Behavior".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pocketgpu.facts.shader_isa import Opcode
from pocketgpu.lanes import F32, Lang, Value, Var
from pocketgpu.lanes.elementary import exp2, log2
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.shader_choices import Rules

# LITP limits the magnitude of the shininess to this.
LITP_BOUND = 0x7FFF / 0x100
# f24: below the first, the exponent is 0 and the value is flushed; from the second on it is infinity.
_F24_SMALLEST, _F24_BEYOND = 2.0**-62, 2.0**64

Vector = list[Value]


def round_f24(k: Lang, x: Value) -> Value:
    """The nearest f24 to x towards zero; infinity outside the range, +0 for values that are too small and for -0."""
    size = k.abs(x)
    cut = k.bits_f32(k.bits_i32(x) & ~0x7F)
    cut = k.select(size >= _F24_BEYOND, k.select(x > 0.0, math.inf, -math.inf), cut)
    cut = k.select(size < _F24_SMALLEST, 0.0, cut)
    return k.select(x == x, cut, x)


class Alu:
    """The arithmetic under one set of rules.

    exact=False uses plain multiplication. If a product of zero and infinity may have occurred, some result is NaN, and
    the vertices must be run again with exact=True. `suspects` records these lanes. Without infinities in the data this
    halves the work, and the results are the same.
    """

    def __init__(self, k: Lang, rules: Rules, exact: bool) -> None:
        self.k, self.rules, self.exact = k, rules, exact
        self.suspects: Var | None = None if exact else k.var(k.iota() < 0)

    def round(self, x: Value) -> Value:
        """A result, or an input, in the unit's precision. f24 results are computed as f32, then truncated."""
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
        """Record the lanes in which one of the values is NaN (exact=False only)."""
        if self.suspects is None or not values:
            return
        found = self.suspects.value
        for i in range(0, len(values), 2):  # pairs: machine code tests two values together
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
        """Comparison number `op` of CMP. With NaN all are false except "not equal" and the two that are always true."""
        table: list[Callable[[], Value]] = [
            lambda: a == b, lambda: a != b, lambda: a < b, lambda: a <= b, lambda: a > b, lambda: a >= b,
        ]  # fmt: skip
        return table[op]() if op < 6 else (self.k.iota() >= 0)

    def address(self, x: Value) -> Value:
        """The integer that MOVA makes of a number: truncated. Values that do not fit are far outside of any index."""
        return self.k.to_i32(x, -2147483648.0, 2147483520.0)


def _each(f: Callable[[Alu, Value, Value], Value]) -> Callable[[Alu, Vector, Vector, Vector], Vector]:
    return lambda alu, s, t, u: [f(alu, a, b) for a, b in zip(s, t, strict=True)]


def _first(f: Callable[[Alu, Value], Value]) -> Callable[[Alu, Vector, Vector, Vector], Vector]:
    return lambda alu, s, t, u: [f(alu, s[0])] * 4


@dataclass(frozen=True, slots=True)
class Operation:
    """compute(alu, s, t, u): four result components from the swizzled sources (missing sources are empty).

    spreads: the source components whose NaN makes a result component NaN, for the search of NaN products: "each" the
    same component, "first" the first of s, "dot3", "dot4" and "doth" those of a dot product, "" none. products: whether
    it multiplies.
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


__all__ = ["LITP_BOUND", "OPERATIONS", "Alu", "Operation", "Vector", "operation_name", "round_f24"]
