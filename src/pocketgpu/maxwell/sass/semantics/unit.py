"""The table of operations, and what its functions are written with: modifiers, predicates, the condition code.

The semantics of an operation is one function over lane values, which both executors share. In specialised code the
modifiers are numbers known while tracing; in the interpreter they are scalars read from the program. `Unit.flag`,
`Unit.code` and `Unit.pick` hide the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pocketgpu.lanes import BOOL, I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.semantics.known import Flag

LANES = 32

Code = int | Value


@dataclass
class Flags:
    """The condition code: carry, overflow, sign, zero, a mask each."""

    carry: Value
    overflow: Value
    sign: Value
    zero: Value


class Unit:
    """One instruction at work.

    :param mods: modifiers by name, as numbers or as scalars (i32).
    :param signs: for each source whether it is negated (or inverted) and whether its absolute value is meant.
    :param predicates: predicate operands, negation applied.
    :param flags: the condition code before the instruction.
    :param nan_integer: the integer that NaN becomes, 0 if it is left out.
    """

    def __init__(
        self,
        k: Lang,
        mods: Mapping[str, Code],
        signs: Sequence[tuple[Flag, Flag]] = (),
        predicates: Sequence[Value] = (),
        flags: Callable[[], Flags] | None = None,
        wants_flags: bool = False,
        nan_integer: Callable[[], Value] | None = None,
    ) -> None:
        self.k, self.mods, self.signs, self.predicates = k, mods, signs, predicates
        self._flags = flags
        self.wants_flags = wants_flags
        self._nan_integer = nan_integer
        self.flags_out: Flags | None = None

    def code(self, name: str) -> Code:
        """A modifier as its number."""
        return self.mods.get(name, 0)

    def nan_integer(self) -> Value:
        """What NaN of f32 or f16 becomes as an integer of up to 32 bits."""
        return self.k.splat(self._nan_integer() if self._nan_integer is not None else 0)

    def flag(self, name: str) -> Flag:
        """Whether a modifier is not 0."""
        code = self.mods.get(name, 0)
        return code != 0 if isinstance(code, Value) else bool(code)

    def pick(self, name: str, cases: Sequence[Callable[[], Any]]) -> Any:
        """What the case numbered by a modifier returns."""
        return self.k.switch(self.code(name), cases)

    def choose(self, flag: Flag, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """What one of two functions returns."""
        return self.k.branch(flag, then, otherwise)

    def negated(self, source: int) -> Flag:
        return self.signs[source][0]

    def absolute(self, source: int) -> Flag:
        return self.signs[source][1]

    def known(self, flag: Flag, value: bool) -> bool:
        """Whether a flag is known to be `value` while tracing."""
        return isinstance(flag, bool) and flag is value

    @property
    def flags(self) -> Flags:
        """The condition code before the instruction."""
        assert self._flags is not None
        return self._flags()

    def zeros(self) -> Value:
        return self.k.splat(0)

    def mask(self, flag: Flag | Value) -> Value:
        """A flag as a mask over the lanes."""
        return self.k.fit(flag, BOOL, LANES)

    def result_flags(self, result: Value, carry: Value | None = None, overflow: Value | None = None) -> None:
        """Set the condition code from an integer result (with .X the zero flag goes on from the lower word's)."""
        if not self.wants_flags:
            return
        k = self.k
        no = self.mask(False)
        zero = k.fit(result == 0, BOOL, LANES)
        chained = self.flag("x")
        if not self.known(chained, False):
            zero = zero & (self.flags.zero | ~self.mask(chained))
        self.flags_out = Flags(no if carry is None else carry, no if overflow is None else overflow, result < 0, zero)

    def number_flags(self, low: Value, high: Value, format: Code) -> None:
        """Set the condition code from the bits of a float: 1 f16, 2 f32, 3 f64. NaN sets sign and zero."""
        if not self.wants_flags:
            return
        k = self.k
        half, double = lambda: low << 16, lambda: high | k.select(low == 0, self.zeros(), 1)
        # As a word with the sign in its highest bit. A denormal double must not become zero.
        bits = k.switch(format, [lambda: low, half, lambda: low, double])
        infinity = k.switch(format, [lambda: k.splat(v) for v in (0x7F800000, 0x7C000000, 0x7F800000, 0x7FF00000)])
        size = bits & 0x7FFFFFFF
        unordered, no = size > infinity, self.mask(False)
        self.flags_out = Flags(no, no, ((bits < 0) & (size != 0)) | unordered, (size == 0) | unordered)


Semantics = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """An entry of the table.

    :param dest: a letter for each result, in order: i, f (a register), d (a pair, as f64), p (a predicate), w (two
        words and whether the upper one is written).
    :param sources: a letter for each source: i, f, d as above; s (an f32 of which every bit counts); w (a register and
        the one above it, as two words). Signs are applied to f, s and d; for others the semantics does it.
    :param mods: modifiers and their widths in bits.
    """

    name: str
    run: Semantics
    dest: str
    sources: str
    mods: Mapping[str, int] = field(default_factory=dict)
    predicates: int = 0


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, dest: str, sources: str, predicates: int = 0, **mods: int) -> Callable[[Semantics], Semantics]:
    """Enter a function into the table. Modifiers are given with their width in bits."""

    def enter(run: Semantics) -> Semantics:
        OPERATIONS[name] = Operation(name, run, dest, sources, mods, predicates)
        return run

    return enter


def combine(u: Unit, condition: Value, other: Value) -> Value:
    """`bool`: a comparison and a predicate, by and, or, xor."""
    return u.pick("bool", [lambda: condition & other, lambda: condition | other, lambda: condition ^ other])


def i32(u: Unit, flag: Value) -> Value:
    """A mask as 1 or 0."""
    return u.k.select(flag, u.k.splat(1), 0)


__all__ = ["I32", "LANES", "OPERATIONS", "Code", "Flags", "Operation", "Unit", "combine", "i32", "operation"]
