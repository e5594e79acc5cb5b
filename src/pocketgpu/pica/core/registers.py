"""PICA registers for code over lanes.

Two views have one interface, `view("TEXUNIT0_DIM.width")`: `LiveRegisters` loads the word at run time,
`StaticRegisters` has it while tracing, so the code is specialised. Field positions come only from the fact tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from pocketgpu.facts.dialect.registers import BoundField, Field
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.vertices import NIBBLES
from pocketgpu.lanes import I32, Lang, Value


@cache
def field(name: str) -> BoundField:
    """The field "REGISTER.field" of the PICA block."""
    return PICA.field(name)


def part(word: Value, of: Field | BoundField) -> Value:
    """The bits of a field from a word of its register or structure."""
    return word.bits(of.lo, of.width)


def nibble_of(k: Lang, n: Value, low: Value, high: Value) -> Value:
    """The word with element n of a list of four-bit fields, shifted so that the element is in the lowest bits."""
    return k.select(n < NIBBLES, low, high).lsr((n & (NIBBLES - 1)) << 2)


def register_id(name: str) -> int:
    """The id of a register by name."""
    return PICA.offset_of(name)


def narrow_float(k: Lang, bits: Value, exponent_bits: int, mantissa_bits: int) -> Value:
    """f16, f20, f24 or f31 bits (right-aligned, upper bits ignored) as f32. Zero exponent flushes to +0.

    Source: 3dbrew GPU/Internal Registers, "Floating point numbers".
    """
    bias_shift = 127 - ((1 << (exponent_bits - 1)) - 1)
    sign = bits.bits(exponent_bits + mantissa_bits, 1) << 31
    exponent = bits.bits(mantissa_bits, exponent_bits)
    mantissa = bits.bits(0, mantissa_bits) << (23 - mantissa_bits)
    normal = ((exponent + bias_shift) << 23) | mantissa
    top = k.select(exponent == (1 << exponent_bits) - 1, mantissa | 0x7F800000, normal)
    return k.bits_f32(k.select(exponent == 0, 0, top | sign))


FLOAT_SHAPES = {"f16": (5, 10), "f20": (7, 12), "f24": (7, 16), "f31": (7, 23)}


class LiveRegisters:
    """Registers in the arena at byte offset `base` (word `id` at base + 4*id), read when the code runs."""

    def __init__(self, k: Lang, base: Value) -> None:
        self.k, self.base = k, base

    def word(self, name_or_id: str | int | Value) -> Value:
        """A whole register."""
        if isinstance(name_or_id, Value):
            return self.k.load(I32, self.base + self.k.to_i64(name_or_id << 2))
        number = register_id(name_or_id) if isinstance(name_or_id, str) else name_or_id
        return self.k.load(I32, self.base + 4 * number)

    def __call__(self, name: str) -> Value:
        """A field's raw bits, sign-extended if the table says so."""
        f = field(name)
        signed = f.type == "sint" or f.type.startswith("fixed")
        return self.word(f.register.offset).bits(f.lo, f.width, signed=signed)

    def bytes(self, name: str) -> Value:
        """An address or size in bytes, whatever the register's unit."""
        return self(name) << field(name).scale.bit_length() - 1

    def float(self, name: str) -> Value:
        """A field of a short float type as f32."""
        return narrow_float(self.k, self(name), *FLOAT_SHAPES[field(name).type])


class StaticRegisters:
    """Registers whose words are known while tracing. Missing words are zero."""

    def __init__(self, words: Mapping[int, int]) -> None:
        self.words = words

    def __call__(self, name: str) -> int:
        f = field(name)
        return f.field.raw(self.words.get(f.register.offset, 0))

    def bytes(self, name: str) -> int:
        """An address or size in bytes, whatever the register's unit."""
        return self(name) * field(name).scale


class StateWords:
    """A normal form of state registers in the arena: `place[id]` is the byte offset of a word from `base`.

    Every field is read immediately, so the values can be used anywhere in the kernel.
    """

    def __init__(self, k: Lang, base: Value, place: Mapping[int, int], names: Iterable[str]) -> None:
        self._words = {number: k.load(I32, base + offset) for number, offset in place.items()}
        self._zero = k.i32(0)
        self._fields: dict[str, Value] = {}
        for name in names:
            f = field(name)
            self._fields[name] = self._words[f.register.offset].bits(f.lo, f.width)

    def __call__(self, name: str) -> Value:
        if name in self._fields:
            return self._fields[name]
        f = field(name)
        return self._words[f.register.offset].bits(f.lo, f.width)

    def word(self, number: int) -> Value:
        """A whole register; 0 if it is not part of the state."""
        return self._words.get(number, self._zero)


Number = Value | int
"""A field's raw bits: a Python int in specialised code, a scalar i32 in general code."""
Flag = Value | bool
"""A yes or no: a Python bool in specialised code, a scalar bool in general code."""
State = Callable[[str], Any]
"""Returns a Number by field name: StaticRegisters or StateWords."""


def select_fields(names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """(register ids, word masks) that cover the named fields; they extract a state key from registers."""
    masks: dict[int, int] = {}
    for name in names:
        f = field(name)
        masks[f.register.offset] = masks.get(f.register.offset, 0) | f.mask
    ids = np.array(sorted(masks), np.int64)
    return ids, np.array([masks[int(i)] for i in ids], np.uint32)


__all__ = ["LiveRegisters", "StaticRegisters", "field", "narrow_float", "part", "register_id", "select_fields"]
