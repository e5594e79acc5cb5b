"""Values of expressions: numbers, booleans, and tuples of them, made from words of registers and back."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.register_values import Value

Number: TypeAlias = int | float | bool
Plain: TypeAlias = Number | tuple[Number, ...]
WORD = 0xFFFFFFFF
WORD_BITS = 32
TYPES = ("f32", "f64", "f16x2", "i32", "u32", "bits", "bool")
"""What `as` can make of words."""
_PAIRS = ("f64",)


def decoded(words: list[int], kind: str) -> Plain:
    """Words as a type: one number for each word, or pair of words.

    :raises UsageError: there are not enough words.
    """
    if kind in _PAIRS:
        if len(words) != 2:
            raise UsageError(f"{kind} needs two registers, the lower word first", hint="Such as (R2, R3) as f64.")
        return float(struct.unpack("<d", struct.pack("<2I", *words))[0])
    found: list[Any] = []
    for word in words:
        if kind == "f16x2":
            found += struct.unpack("<2e", struct.pack("<I", word))
        elif kind in ("bits", "u32"):
            found.append(word)
        else:
            found.append(Value(("",), word, kind).number)
    return found[0] if len(found) == 1 else tuple(found)


def encoded(number: Number, kind: str) -> int:
    """A number as the word of a register of a type: a whole number for a register without a type is the word itself.

    :raises UsageError: it does not fit into 32 bits.
    """
    if kind == "bool":
        return int(bool(number))
    if isinstance(number, float) or kind == "f32":
        try:
            return int(struct.unpack("<I", struct.pack("<f", float(number)))[0])
        except OverflowError:
            return 0xFF800000 if number < 0 else 0x7F800000
    if not -(1 << WORD_BITS - 1) <= number <= WORD:
        raise UsageError(f"{number} does not fit into {WORD_BITS} bits")
    return number & WORD


def shown(value: Plain, hexadecimal: bool = False) -> str:
    """A value as text."""
    if isinstance(value, tuple):
        return "(" + ", ".join(shown(one, hexadecimal) for one in value) + ")"
    if isinstance(value, bool):
        return "true" if value else "false"
    if hexadecimal:
        return f"{encoded(value, 'f32' if isinstance(value, float) else 'bits'):#010x}"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def each(function: Callable[..., Number], *values: Plain) -> Plain:
    """A function of numbers on vectors, component by component; a number goes with every component.

    :raises UsageError: vectors have different lengths.
    """
    sizes = {len(one) for one in values if isinstance(one, tuple)}
    if not sizes:
        return function(*values)
    if len(sizes) > 1:
        raise UsageError("these vectors have " + " and ".join(map(str, sorted(sizes))) + " components")
    (size,) = sizes
    return tuple(function(*(one[n] if isinstance(one, tuple) else one for one in values)) for n in range(size))


def truth(value: Plain) -> bool:
    """A vector is true if all its components are."""
    return all(value) if isinstance(value, tuple) else bool(value)


def divided(a: Number, b: Number) -> Number:
    """As the field divides: by 0 is infinite, and 0 by 0 a NaN."""
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def remainder(a: Number, b: Number) -> Number:
    if b == 0 or (isinstance(a, float) and math.isinf(a)):
        return math.nan
    return a - b * int(a / b) if isinstance(a, float) or isinstance(b, float) else a % b


__all__ = ["TYPES", "Number", "Plain", "decoded", "divided", "each", "encoded", "remainder", "shown", "truth"]
