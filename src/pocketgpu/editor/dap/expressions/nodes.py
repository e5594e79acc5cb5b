"""The parts of expressions, each with its value."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from pocketgpu.editor.dap.expressions.values import (
    WORD,
    WORD_BITS,
    Number,
    Plain,
    decoded,
    divided,
    each,
    encoded,
    remainder,
    truth,
)
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.memory_words import name_of
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.late_dataclass import dataclass

COMPONENTS: Final = "xyzw"
_COLOURS: Final = str.maketrans("rgba", COMPONENTS)
_MOST_ADDRESS: Final = 1 << 40
_MOST_WHOLE: Final = 1 << 128
"""Whole numbers of expressions are smaller."""


class Registers(Protocol):
    """Where registers and constants have their values."""

    def find(self, name: str) -> Value | None:
        """A register or constant by its whole name."""
        ...


def _shift(a: Number, b: Number, left: bool) -> Number:
    a, b = int(a), int(b)
    if not 0 <= b < 2 * WORD_BITS:
        raise UsageError(f"a shift by {b} bits", hint=f"By 0 to {2 * WORD_BITS - 1}.")
    return a << b if left else a >> b


def _whole(function: Callable[[int, int], int]) -> Callable[[Number, Number], Number]:
    def apply(a: Number, b: Number) -> Number:
        if isinstance(a, float) or isinstance(b, float):
            raise UsageError("bits of floats", hint="Write (R4 as bits) & 0xff.")
        return function(a, b)

    return apply


BINARY: Final[Mapping[str, Callable[[Any, Any], Number]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": divided, "%": remainder,
    "&": _whole(operator.and_), "|": _whole(operator.or_), "^": _whole(operator.xor),
    "<<": lambda a, b: _shift(a, b, True), ">>": lambda a, b: _shift(a, b, False),
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
UNARY: Final[Mapping[str, Callable[[Any], Number]]] = {
    "-": operator.neg, "+": operator.pos, "~": lambda a: int(a) ^ WORD if a >= 0 else ~int(a),
}  # fmt: skip


def _vector(value: Plain) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,)


def _dot(a: Plain, b: Plain) -> Plain:
    return sum(_vector(each(operator.mul, a, b)))


FUNCTIONS: Final[Mapping[str, tuple[int, Callable[..., Plain]]]] = {
    "abs": (1, lambda a: each(abs, a)),
    "sqrt": (1, lambda a: each(lambda one: math.sqrt(one) if one >= 0 else math.nan, a)),
    "isnan": (1, lambda a: any(one != one for one in _vector(a))),
    "isinf": (1, lambda a: any(isinstance(one, float) and math.isinf(one) for one in _vector(a))),
    "length": (1, lambda a: math.sqrt(sum(float(one) * float(one) for one in _vector(a)))),
    "dot": (2, _dot),
    "min": (2, lambda a, b: each(min, a, b)),
    "max": (2, lambda a, b: each(max, a, b)),
}
"""By name: how many operands, and what it computes."""


class Expression(ABC):
    """A part of an expression."""

    @abstractmethod
    def value(self, registers: Registers) -> Plain:
        """Its value with these registers.

        :raises UsageError: a register is missing, or values do not go together.
        """

    def words(self, registers: Registers) -> list[int]:
        """The value as words of 32 bits."""
        return [encoded(one, "f32" if isinstance(one, float) else "bits") for one in _vector(self.value(registers))]

    def names(self, registers: Registers) -> list[str]:
        """The registers that it names, if it only names registers; else none."""
        del registers
        return []

    @property
    def is_raw(self) -> bool:
        """Whether it is written as words: hexadecimal digits, or with a type."""
        return False


@dataclass(frozen=True)
class Literal(Expression):
    """A number. raw: it was written with hexadecimal digits."""

    number: Number
    raw: bool = False

    @property
    def is_raw(self) -> bool:
        return self.raw

    def value(self, registers: Registers) -> Plain:
        return self.number


@dataclass(frozen=True)
class Named(Expression):
    """A register, components of one, or a constant."""

    name: str

    def found(self, registers: Registers) -> list[Value]:
        """The register, or the components of it that the name asks for.

        :raises UsageError: there is no such register.
        """
        whole = registers.find(self.name)
        if whole is not None:
            return [whole]
        letters: str = COMPONENTS
        stem = self.name
        if registers.find(f"{stem}.x") is None:
            stem, _, letters = self.name.rpartition(".")
            letters = letters.translate(_COLOURS) if set(letters) <= set("rgba") else letters
        values = [registers.find(f"{stem}.{letter}") for letter in letters] if stem and letters else []
        present = [one for one in values if one is not None]
        if not present or (len(present) < len(values) and stem != self.name):
            raise UsageError(f"there is no register {self.name!r}")
        return present

    def value(self, registers: Registers) -> Plain:
        found: list[Number] = []
        for one in self.found(registers):
            number = one.number
            found += number if isinstance(number, tuple) else [number]
        return found[0] if len(found) == 1 else tuple(found)

    def words(self, registers: Registers) -> list[int]:
        return [one.bits for one in self.found(registers)]

    def names(self, registers: Registers) -> list[str]:
        return [one.name for one in self.found(registers)]


@dataclass(frozen=True)
class Loaded(Expression):
    """A word of memory. space: of memory; place: its address, one number or two words, the lower one first."""

    space: str
    place: Expression

    def _found(self, registers: Registers) -> Value:
        value = self.place.value(registers)
        if isinstance(value, tuple) or self.place.names(registers):
            words = self.place.words(registers)
            if not 1 <= len(words) <= 2:
                raise UsageError(f"an address has one or two words, not {len(words)}")
            value = sum(word << WORD_BITS * n for n, word in enumerate(words))
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST_ADDRESS:
            raise UsageError(f"{value} is no address")
        name = name_of(self.space, value)
        found = registers.find(name)
        if found is None:
            raise UsageError(f"nothing is at {name}")
        return found

    def value(self, registers: Registers) -> Plain:
        return self._found(registers).bits

    def words(self, registers: Registers) -> list[int]:
        return [self._found(registers).bits]

    def names(self, registers: Registers) -> list[str]:
        return [self._found(registers).name]


@dataclass(frozen=True)
class Typed(Expression):
    """The words of an expression as another type."""

    inner: Expression
    kind: str

    @property
    def is_raw(self) -> bool:
        return True

    def value(self, registers: Registers) -> Plain:
        return decoded(self.inner.words(registers), self.kind)

    def words(self, registers: Registers) -> list[int]:
        return self.inner.words(registers)

    def names(self, registers: Registers) -> list[str]:
        return self.inner.names(registers)


@dataclass(frozen=True)
class Vector(Expression):
    """Several values in parentheses."""

    parts: tuple[Expression, ...]

    @property
    def is_raw(self) -> bool:
        return all(part.is_raw for part in self.parts)

    def value(self, registers: Registers) -> Plain:
        return tuple(number for part in self.parts for number in _vector(part.value(registers)))

    def words(self, registers: Registers) -> list[int]:
        return [word for part in self.parts for word in part.words(registers)]


@dataclass(frozen=True)
class Unary(Expression):
    """An operation on one value."""

    sign: str
    inner: Expression

    def value(self, registers: Registers) -> Plain:
        return each(UNARY[self.sign], self.inner.value(registers))


@dataclass(frozen=True)
class Not(Expression):
    """The opposite of a truth."""

    inner: Expression

    def value(self, registers: Registers) -> Plain:
        return not truth(self.inner.value(registers))


@dataclass(frozen=True)
class Binary(Expression):
    """An operation on two values."""

    sign: str
    left: Expression
    right: Expression

    def value(self, registers: Registers) -> Plain:
        found = each(BINARY[self.sign], self.left.value(registers), self.right.value(registers))
        if any(isinstance(one, int) and abs(one) >= _MOST_WHOLE for one in _vector(found)):
            raise UsageError("a whole number is too large")
        return found


@dataclass(frozen=True)
class Both(Expression):
    """`and` (every), or `or`; what decides it ends it."""

    every: bool
    parts: Sequence[Expression]

    def value(self, registers: Registers) -> Plain:
        return (all if self.every else any)(truth(one.value(registers)) for one in self.parts)


@dataclass(frozen=True)
class Call(Expression):
    """A function."""

    name: str
    operands: tuple[Expression, ...]

    def value(self, registers: Registers) -> Plain:
        return FUNCTIONS[self.name][1](*(one.value(registers) for one in self.operands))


__all__ = [
    "BINARY", "COMPONENTS", "FUNCTIONS", "UNARY", "Binary", "Both", "Call", "Expression", "Literal", "Loaded", "Named",
    "Not", "Registers", "Typed", "Unary", "Vector",
]  # fmt: skip
