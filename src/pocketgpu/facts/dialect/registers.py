"""Descriptions of registers and fields, the form of all register tables of this package.

The simulator (positions of values), code generators (shift and width), tools (readable text) and readers (source and
certainty) all use the same description.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import ClassVar

from pocketgpu.facts.dialect.certainty import Certainty as Certainty
from pocketgpu.facts.dialect.values import Values
from pocketgpu.late_dataclass import dataclass

Value = int | float | bool
"""A decoded field: bool for "bool", float for the float and fixed-point types, int for all others."""


_FLOATS: Mapping[str, tuple[int, int]] = {
    "f16": (5, 10),
    "f20": (7, 12),
    "f24": (7, 16),
    "f31": (7, 23),
    "f32": (8, 23),
}
"""Type to (exponent bits, mantissa bits). The bias is half the exponent range: 15, 63 or 127."""

_PLAIN = frozenset({"uint", "sint", "smag", "bool", "enum", "ieee32"})


@cache
def _scale(type_: str) -> int:
    """Bytes per unit of a type that counts units of several bytes ("pa", "pa8", "x16"), 0 for other types."""
    if type_ == "pa":
        return 1
    digits = type_.removeprefix("pa").removeprefix("x")
    return int(digits) if digits != type_ and digits.isdigit() else 0


@cache
def _fixed_fraction(type_: str) -> tuple[bool, int] | None:
    """(signed, fraction bits) of a fixed-point type name such as "fixed8" or "ufixed12", else None."""
    digits = type_.removeprefix("u").removeprefix("fixed")
    if "fixed" not in type_ or not digits.isdigit():
        return None
    return not type_.startswith("u"), int(digits)


def decode_float(raw: int, type_: str) -> float:
    """Value of the bits `raw` of a float type ("f16", "f20", "f24", "f31", "f32").

    An exponent field of zero means zero for any mantissa, as in the chip's arithmetic.
    Source: 3dbrew GPU/Internal Registers, GPU/Shader Instruction Set.
    """
    exponent_bits, mantissa_bits = _FLOATS[type_]
    mantissa = raw & ((1 << mantissa_bits) - 1)
    exponent = (raw >> mantissa_bits) & ((1 << exponent_bits) - 1)
    sign = -1.0 if (raw >> (mantissa_bits + exponent_bits)) & 1 else 1.0
    if exponent == 0:
        return 0.0
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    bias = (1 << (exponent_bits - 1)) - 1
    return sign * math.ldexp(1.0 + mantissa / (1 << mantissa_bits), exponent - bias)


def encode_float(value: float, type_: str) -> int:
    """Bits of `value` in a float type: mantissa truncated, underflow to zero, overflow to infinity.

    This is the rounding of the public driver library; that of the chip is unknown.
    """
    exponent_bits, mantissa_bits = _FLOATS[type_]
    top = (1 << exponent_bits) - 1
    sign = (1 if math.copysign(1.0, value) < 0 else 0) << (exponent_bits + mantissa_bits)
    if math.isnan(value):
        return (top << mantissa_bits) | (1 << (mantissa_bits - 1))
    if math.isinf(value):
        return sign | (top << mantissa_bits)
    if value == 0.0:
        return 0
    fraction, exponent = math.frexp(abs(value))
    biased = exponent - 1 + (1 << (exponent_bits - 1)) - 1
    if biased <= 0:
        return 0
    if biased >= top:
        return sign | (top << mantissa_bits)
    return sign | (biased << mantissa_bits) | int((fraction * 2.0 - 1.0) * (1 << mantissa_bits))


def _encode_ieee(value: float) -> int:
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:  # finite, but larger than the largest binary32
        return 0x7F800000 if value > 0 else 0xFF800000


@dataclass(frozen=True, slots=True)
class Field:
    """Bits lo .. lo+width-1 of a register.

    type: "uint", "sint" (two's complement), "smag" (sign bit on top of a magnitude), "bool", "enum",
    "f16" "f20" "f24" "f31" "f32" (a PICA's floats), "ieee32" (standard binary32),
    "fixedN" / "ufixedN" (two's complement / unsigned with N fraction bits),
    "pa" "paN" (physical address in bytes, or in units of N bytes, such as "pa8"), "xN" (size in such units).
    unit: a word for readers; "minus one" means that the stored number is one less than the count.
    view: the field shows bits that another field of the register also has (a second interpretation).
    source, certainty: empty if they are those of the register.
    step: bytes per unit of a plain number that counts units of several bytes; see `bytes`.
    """

    size: ClassVar[int] = 32
    """Bits of the word that contains the field."""

    name: str
    lo: int
    width: int
    type: str = "uint"
    unit: str = ""
    enum: Mapping[int, str] | None = None
    doc: str = ""
    view: bool = False
    source: str = ""
    certainty: Certainty | None = None
    step: int = 1

    def __post_init__(self) -> None:
        if self.lo < 0 or self.width < 1 or self.lo + self.width > self.size:
            raise ValueError(f"field {self.name}: bits {self.hi}:{self.lo} do not fit a {self.size}-bit register")
        known = self.type in _PLAIN or self.type in _FLOATS or _scale(self.type)
        if not known and _fixed_fraction(self.type) is None:
            raise ValueError(f"field {self.name}: unknown type {self.type!r}")
        if self.type in _FLOATS and self.width != 1 + sum(_FLOATS[self.type]):
            raise ValueError(f"field {self.name}: {self.type} needs {1 + sum(_FLOATS[self.type])} bits")
        if self.type == "ieee32" and self.width != 32:
            raise ValueError(f"field {self.name}: ieee32 needs 32 bits")
        if (self.type == "enum") != (self.enum is not None):
            raise ValueError(f"field {self.name}: type enum and a table of names go together")

    @property
    def hi(self) -> int:
        """Number of the highest bit."""
        return self.lo + self.width - 1

    @property
    def mask(self) -> int:
        """The bits of the field in place."""
        return ((1 << self.width) - 1) << self.lo

    @property
    def scale(self) -> int:
        """The factor from the stored number to an address or a size in bytes; 1 for other types."""
        return _scale(self.type) or self.step

    @property
    def values(self) -> Values:
        """The values of an enumeration, with their symbols. Raises TypeError for fields of other types."""
        if isinstance(self.enum, Values):
            return self.enum
        raise TypeError(f"field {self.name} has no named values")

    def raw(self, word: int) -> int:
        """The bits of the field, shifted down, without any interpretation."""
        return (word >> self.lo) & ((1 << self.width) - 1)

    def bytes(self, word: int) -> int:
        """The address or the size in bytes, even if `text` shows the stored number."""
        return self.raw(word) * self.scale

    def decode(self, word: int) -> Value:
        """Value of the field in a register word; addresses and sizes in bytes."""
        raw = self.raw(word)
        if self.type == "bool":
            return raw != 0
        if self.type == "sint":
            return self._signed(raw)
        if self.type == "smag":
            magnitude = raw & ~(1 << (self.width - 1))
            return -magnitude if raw >> (self.width - 1) else magnitude
        if self.type in _FLOATS:
            return decode_float(raw, self.type)
        if self.type == "ieee32":
            return float(struct.unpack("<f", raw.to_bytes(4, "little"))[0])
        if scale := _scale(self.type):
            return raw * scale
        fixed = _fixed_fraction(self.type)
        if fixed is not None:
            signed, fraction = fixed
            return math.ldexp(self._signed(raw) if signed else raw, -fraction)
        return raw

    def encode(self, value: Value, word: int = 0) -> int:
        """`word` with this field set to `value` (in the form that `decode` returns).

        Raises ValueError when the value does not fit; float types saturate to infinity instead.
        """
        if self.type in _FLOATS:
            raw = encode_float(float(value), self.type)
        elif self.type == "ieee32":
            raw = _encode_ieee(float(value))
        else:
            raw = self._encode_exact(value)
        return (word & ~self.mask) | (raw << self.lo)

    def text(self, word: int) -> str:
        """The value as text: names of enumerations, addresses in hex, plain numbers."""
        value = self.decode(word)
        if self.enum is not None:
            number = int(value)
            name = self.enum.get(number)
            return f"{number} ({name})" if name else f"{number} (undefined)"
        if self.type == "bool":
            return "yes" if value else "no"
        if self.type.startswith("pa"):
            return f"{value:#010x}"
        if isinstance(value, float):
            text = f"{value:.9g}"
        else:
            text = str(value) if abs(value) < 0x1000 else f"{value} ({value & 0xFFFFFFFF:#x})"
        if self.unit == "minus one":
            return f"{value} (means {value + 1})"
        return f"{text} {self.unit}" if self.unit else text

    def _signed(self, raw: int) -> int:
        return raw - (1 << self.width) if raw >> (self.width - 1) else raw

    def _encode_exact(self, value: Value) -> int:
        limit = 1 << self.width
        fixed = _fixed_fraction(self.type)
        number: float = value
        low, high = 0, limit - 1
        if self.type == "bool":
            return 1 if value else 0
        if scale := _scale(self.type):
            number = value / scale
        if fixed is not None:
            number = math.ldexp(value, fixed[1])
        if self.type == "sint" or (fixed is not None and fixed[0]):
            low, high = -(limit >> 1), (limit >> 1) - 1
        if self.type == "smag":
            low, high = 1 - (limit >> 1), (limit >> 1) - 1
        if number != number or not low <= number <= high or (fixed is None and number != int(number)):
            raise ValueError(f"{value!r} does not fit field {self.name} ({self.type}, {self.width} bits)")
        raw = math.floor(number)
        if self.type == "smag" and raw < 0:
            return (limit >> 1) | -raw
        return raw & (limit - 1)


@dataclass(frozen=True, slots=True)
class Bank:
    """The place of a set of registers: register `offset` is at physical address base + offset * stride."""

    name: str
    base: int
    stride: int = 4


@dataclass(frozen=True, slots=True)
class Register:
    """One register.

    offset: in units of the bank's stride (register id, or bytes). reset: initial contents in a machine: the value that
    the system software leaves to programs, else the power-on value, else 0. access: "rw", "r" or "w". writable: bits
    that keep what is written. trigger: a write has an effect besides storing, so every write counts, also one of the
    same value.
    known: False for undocumented ids.
    """

    block: Bank
    offset: int
    name: str
    aliases: tuple[str, ...] = ()
    fields: Sequence[Field] = ()
    reset: int = 0
    access: str = "rw"
    writable: int = 0xFFFFFFFF
    trigger: bool = False
    unit: str = ""
    source: str = ""
    certainty: Certainty = Certainty.DOC
    doc: str = ""
    known: bool = True

    @property
    def address(self) -> int:
        """Physical address."""
        return self.block.base + self.offset * self.block.stride

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        names = ", ".join(field.name for field in self.fields) or "none"
        raise KeyError(f"{self.name} has no field {name!r} (it has: {names})")

    def decode(self, word: int) -> dict[str, Value]:
        """Field name to value."""
        return {field.name: field.decode(word) for field in self.fields}

    def encode(self, word: int = 0, /, **values: Value) -> int:
        """`word` with the named fields set."""
        for name, value in values.items():
            word = self[name].encode(value, word)
        return word

    def text(self, word: int) -> list[str]:
        """One line per field, "name = value"; a register without fields gives its word in hex."""
        if not self.fields:
            return [f"{word:#010x}"]
        return [f"{field.name} = {field.text(word)}" for field in self.fields]


@dataclass(frozen=True, slots=True)
class BoundField:
    """A field together with its register, for code generators."""

    register: Register
    field: Field

    @property
    def name(self) -> str:
        return f"{self.register.name}.{self.field.name}"

    @property
    def lo(self) -> int:
        return self.field.lo

    @property
    def hi(self) -> int:
        return self.field.hi

    @property
    def width(self) -> int:
        return self.field.width

    @property
    def type(self) -> str:
        return self.field.type

    @property
    def mask(self) -> int:
        return self.field.mask

    @property
    def scale(self) -> int:
        return self.field.scale

    @property
    def values(self) -> Values:
        return self.field.values

    def raw(self, word: int) -> int:
        return self.field.raw(word)

    def decode(self, word: int) -> Value:
        return self.field.decode(word)

    def encode(self, value: Value, word: int = 0) -> int:
        return self.field.encode(value, word)


class Slot:
    """A place in a block: its offset, its names, its reset value and the bits that can be written, and its register,
    which is made at its first use."""

    __slots__ = ("_made", "_make", "names", "number", "offset", "reset", "writable")

    def __init__(
        self,
        offset: int,
        names: Sequence[str],
        make: Callable[[Slot], Register],
        reset: int,
        writable: int,
        number: int = 0,
    ) -> None:
        self.offset = offset
        self.names = names
        self.reset = reset
        self.writable = writable
        self.number = number
        self._make = make
        self._made: Register | None = None

    @property
    def register(self) -> Register:
        """The register."""
        if self._made is None:
            self._made = self._make(self)
        return self._made


def _check(bank: Bank, slots: Iterable[Slot]) -> None:
    """Raise ValueError if two registers have a place or a name in common."""
    by_offset, by_name = dict[int, Slot](), dict[str, Slot]()
    for slot in slots:
        if by_offset.setdefault(slot.offset, slot) is not slot:
            raise ValueError(f"{bank.name}: two registers at {slot.offset:#x}")
        for name in slot.names:
            if by_name.setdefault(name.upper(), slot) is not slot:
                raise ValueError(f"{bank.name}: two registers named {name}")


def _already(register: Register) -> Callable[[Slot], Register]:
    return lambda _: register


class RegisterBlock:
    """All registers of a bank, found by offset, name or alias (upper or lower case).

    `registers` are the registers, or a function that returns their slots, called at the first use. Two registers with
    the same name or place then raise ValueError.
    """

    def __init__(self, bank: Bank, registers: Iterable[Register] | Callable[[], Iterable[Slot]]) -> None:
        self.bank = bank
        if callable(registers):
            self._slots = registers
        else:
            places = [
                Slot(one.offset, (one.name, *one.aliases), _already(one), one.reset, one.writable) for one in registers
            ]
            self._slots = lambda: places
            self._index  # noqa: B018

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """All of them, by offset."""
        by_offset, _ = self._index
        return tuple(by_offset[offset].register for offset in sorted(by_offset))

    @cached_property
    def _index(self) -> tuple[dict[int, Slot], dict[str, Slot]]:
        slots = list(self._slots())
        by_offset = {slot.offset: slot for slot in slots}
        by_name = {name.upper(): slot for slot in slots for name in slot.names}
        if len(by_offset) < len(slots) or len(by_name) < sum([len(slot.names) for slot in slots]):
            _check(self.bank, slots)
        return by_offset, by_name

    @property
    def places(self) -> Iterator[tuple[str, int]]:
        """Name and offset of all registers, in the order of the table. No register is made for this."""
        return ((slot.names[0], offset) for offset, slot in self._index[0].items())

    @property
    def resets(self) -> Iterator[tuple[int, int]]:
        """Offset and reset value of all registers. No register is made for this."""
        return ((offset, slot.reset) for offset, slot in self._index[0].items())

    @property
    def writables(self) -> Iterator[tuple[int, int]]:
        """Offset and writable bits of all registers. No register is made for this."""
        return ((offset, slot.writable) for offset, slot in self._index[0].items())

    def name_of(self, offset: int) -> str | None:
        """The name of the register with that offset, or None. The register is not made for this."""
        slot = self._index[0].get(offset)
        return None if slot is None else slot.names[0]

    def offset_of(self, name: str) -> int:
        """The offset of a register by name or alias. The register is not made for this. Raises KeyError."""
        slot = self._index[1].get(name.upper())
        return self[name].offset if slot is None else slot.offset

    def reset_of(self, name: str) -> int:
        """The reset value of a register by name or alias. The register is not made for this. Raises KeyError."""
        slot = self._index[1].get(name.upper())
        return self[name].reset if slot is None else slot.reset

    def address_of(self, name: str) -> int:
        """The physical address of a register by name or alias. The register is not made for this. Raises KeyError."""
        return self.bank.base + self.offset_of(name) * self.bank.stride

    @property
    def name(self) -> str:
        return self.bank.name

    @property
    def base(self) -> int:
        """Physical address of offset 0."""
        return self.bank.base

    @property
    def stride(self) -> int:
        """Bytes per step of an offset."""
        return self.bank.stride

    def __getitem__(self, key: int | str) -> Register:
        found = self.get(key)
        if found is None:
            shown = f"{key:#x}" if isinstance(key, int) else repr(key)
            raise KeyError(f"{self.name} has no register {shown}")
        return found

    def get(self, key: int | str) -> Register | None:
        """The register with that offset, name or alias, or None."""
        by_offset, by_name = self._index
        found = by_offset.get(key) if isinstance(key, int) else by_name.get(key.upper())
        return None if found is None else found.register

    def at(self, address: int) -> Register | None:
        """The register at a physical address, or None."""
        offset, rest = divmod(address - self.base, self.stride)
        return None if rest else self.get(offset)

    def field(self, path: str) -> BoundField:
        """The field named "REGISTER.field"."""
        register_name, _, field_name = path.partition(".")
        register = self[register_name]
        return BoundField(register, register[field_name])

    def search(self, text: str) -> list[Register]:
        """Registers with all words of `text` in their name, aliases, field names or description."""
        words = text.lower().split()
        return [register for register in self.registers if all(word in _haystack(register) for word in words)]

    def __contains__(self, key: object) -> bool:
        by_offset, by_name = self._index
        return key in by_offset if isinstance(key, int) else isinstance(key, str) and key.upper() in by_name

    def __iter__(self) -> Iterator[Register]:
        return iter(self.registers)

    def __len__(self) -> int:
        return len(self._index[0])


def _haystack(register: Register) -> str:
    parts = [register.name, *register.aliases, register.doc, f"{register.offset:#05x}", f"{register.address:#010x}"]
    for field in register.fields:
        parts += [field.name, field.doc]
    return " ".join(parts).lower()
