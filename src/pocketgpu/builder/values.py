"""From natural values to register words.

One rule for all writers of registers: enumerations by name, counts as counts, addresses in bytes, floats as floats.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeAlias

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Field, Register, RegisterBlock

FieldValue: TypeAlias = int | float | bool | str


def register_of(block: RegisterBlock, key: str | int) -> Register:
    """A register by name, alias or number. Raises UsageError that suggests a similar name."""
    found = block.get(key)
    if found is None:
        names = [register.name for register in block]
        close = difflib.get_close_matches(key.upper(), names, 1) if isinstance(key, str) else []
        hint = f"Did you mean {close[0]}?" if close else "See: facts of the register blocks."
        raise UsageError(f"{block.name} has no register {key!r}", hint=hint)
    return found


def encode_field(register: Register, name: str, value: FieldValue, word: int = 0) -> int:
    """`word` with a field set. Names of enumerations are those of the tables, in any case; a field that stores one less
    than its count takes the count. Raises UsageError for values that do not fit."""
    try:
        field = register[name]
    except KeyError as problem:
        raise UsageError(str(problem.args[0])) from None
    place = f"{register.name}.{name}"
    if isinstance(value, str):
        value = _named(field, value, place)
    elif field.unit == "minus one":
        value = value - 1
    try:
        return field.encode(value, word)
    except ValueError as problem:
        raise UsageError(str(problem), location=place) from None


def _named(field: Field, name: str, place: str) -> int:
    for number, known in (field.enum or {}).items():
        if known.lower() == name.lower():
            return number
    names = ", ".join(sorted((field.enum or {}).values()))
    hint = f"Known are: {names}." if names else "It takes a number."
    raise UsageError(f"{name!r} is no value of {place}", hint=hint)


def encode_register(register: Register, fields: Mapping[str, FieldValue], word: int = 0) -> int:
    """`word` with the given fields set."""
    for name, value in fields.items():
        word = encode_field(register, name, value, word)
    return word
