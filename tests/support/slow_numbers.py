"""Floating-point numbers as exact fractions: decoded from bits, added, multiplied, and rounded once, in any format."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

NEAREST, DOWN, UP, ZERO = range(4)


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the whole, bits of the significand with its hidden one, exponent of the largest."""

    width: int
    precision: int
    largest: int

    @property
    def infinity(self) -> int:
        return (2 * self.largest + 1) << (self.precision - 1)

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def canonical(self) -> int:
        """The one form of NaN."""
        return self.sign - 1


HALF, SINGLE, DOUBLE = Format(16, 11, 15), Format(32, 24, 127), Format(64, 53, 1023)


@dataclass(frozen=True)
class Number:
    """kind "nan", "inf" or "num" with its value; `negative` also tells zeros apart."""

    kind: str
    negative: bool
    value: Fraction = Fraction(0)

    def __neg__(self) -> Number:
        return Number(self.kind, not self.negative, -self.value)

    def __abs__(self) -> Number:
        return Number(self.kind, False, abs(self.value))

    @property
    def is_nan(self) -> bool:
        return self.kind == "nan"

    @property
    def is_zero(self) -> bool:
        return self.kind == "num" and self.value == 0

    @property
    def order(self) -> tuple[int, Fraction]:
        """What numbers compare by."""
        if self.kind == "inf":
            return (-1 if self.negative else 1, Fraction(0))
        return (0, self.value)


NAN = Number("nan", False)
ZERO_VALUE = Number("num", False)
ONE = Number("num", False, Fraction(1))


def decode(bits: int, format: Format) -> Number:
    negative = bool(bits & format.sign)
    size = bits & (format.sign - 1)
    if size > format.infinity:
        return Number("nan", negative)
    if size == format.infinity:
        return Number("inf", negative)
    p = format.precision
    field, fraction = size >> (p - 1), size & (1 << (p - 1)) - 1
    exponent = max(field, 1) - format.largest - (p - 1)
    value = (fraction + (bool(field) << (p - 1))) * Fraction(2) ** exponent
    return Number("num", negative, -value if negative else value)


def whole(value: Fraction, rounding: int) -> int:
    """An integer out of a fraction."""
    low = value.numerator // value.denominator
    rest = value - low
    if rest == 0 or rounding == DOWN:
        return low
    if rounding == UP:
        return low + 1
    if rounding == ZERO:
        return low + (value < 0)
    half = Fraction(1, 2)
    return low + (rest > half or (rest == half and low % 2))


def encode(number: Number, format: Format, rounding: int = NEAREST) -> int:
    """The bits of a number, rounded."""
    if number.is_nan:
        return format.canonical
    sign = format.sign if number.negative else 0
    if number.kind == "inf":
        return sign | format.infinity
    size = abs(number.value)
    if size == 0:
        return sign
    p = format.precision
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - format.largest)
    mirrored = {DOWN: UP, UP: DOWN}.get(rounding, rounding) if number.negative else rounding
    count = whole(size / Fraction(2) ** (exponent - p + 1), mirrored)
    bits = count + ((exponent + format.largest - 1) << (p - 1))
    if bits >= format.infinity:
        bits = format.infinity if mirrored in (NEAREST, UP) else format.infinity - 1
    return sign | bits


def number(value: Fraction | int) -> Number:
    return Number("num", value < 0, Fraction(value))


def multiply(a: Number, b: Number) -> Number:
    if a.is_nan or b.is_nan:
        return NAN
    negative = a.negative != b.negative
    if "inf" in (a.kind, b.kind):
        return NAN if a.is_zero or b.is_zero else Number("inf", negative)
    return Number("num", negative, a.value * b.value)


def add(a: Number, b: Number, rounding: int = NEAREST) -> Number:
    """The exact sum; the rounding decides which zero it is."""
    if a.is_nan or b.is_nan:
        return NAN
    if a.kind == "inf" or b.kind == "inf":
        if a.kind == b.kind and a.negative != b.negative:
            return NAN
        return a if a.kind == "inf" else b
    total = a.value + b.value
    if total:
        return number(total)
    return Number("num", a.negative if a.negative == b.negative else rounding == DOWN)


def flushed(bits: int, format: Format) -> int:
    """Denormal numbers as zero of their sign."""
    return bits & format.sign if not bits & format.infinity else bits


def saturated(bits: int, format: Format) -> int:
    """Between 0 and 1; NaN is 0."""
    one = encode(ONE, format)
    n = decode(bits, format)
    if n.is_nan or n.negative:
        return 0
    return min(bits, one)


def compares(a: Number, b: Number, test: int) -> bool:
    """One of the sixteen comparisons: F LT EQ LE GT NE GE NUM, NAN and those that also hold for NaN."""
    unordered = a.is_nan or b.is_nan
    if test in (0, 15):
        return test == 15
    if test in (7, 8):
        return unordered == (test == 8)
    if unordered:
        return test > 8
    x, y = a.order, b.order
    return bool((test & 1 and x < y) or (test & 2 and x == y) or (test & 4 and x > y))


def lesser(a: Number, b: Number, wanted: bool) -> bool:
    """Whether a minimum (or maximum) of two takes the first; a number beats none, -0 is below +0."""
    if b.is_nan:
        return True
    if a.is_nan:
        return False
    if a.order == b.order:
        return (a.negative and not b.negative) == wanted if a.negative != b.negative else True
    return (a.order < b.order) == wanted
