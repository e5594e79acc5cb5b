"""Structures of bits that a GPU or its system software reads from memory: headers, descriptors, commands.

A structure is a number of bits, counted from the lowest bit of its first word, with fields that may cross words:

    TIC["BL"]["WIDTH_MINUS_ONE"].raw(words)
    QMD["01_07"]["CONSTANT_BUFFER_VALID"](3).raw(words)
    TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})

`words` is the structure as bytes, as an array or list of 32-bit words, or as one number. The tables are in the dialect
of `facts/dialect/tables.py`: a head row for a structure (structure, bits), a row for each field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from pocketgpu.facts.dialect.registers import Field, Value
from pocketgpu.facts.dialect.tables import Tables, apart
from pocketgpu.late_dataclass import dataclass

Data = Any
"""A structure: int, bytes, bytearray, memoryview, or 32-bit words as an array or sequence."""


def as_number(data: Data) -> int:
    """The structure as one number, bit 0 the lowest bit of the first word."""
    if isinstance(data, int):
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return int.from_bytes(data, "little")
    if isinstance(data, Sequence):
        return sum((int(word) & 0xFFFFFFFF) << 32 * index for index, word in enumerate(data))
    return int.from_bytes(data.astype("<u4", copy=False).tobytes(), "little")


@dataclass(frozen=True, slots=True)
class BitField(Field):
    """A field of a structure; with `count`, an array of them, `stride` bits apart. `field(3)` is number 3."""

    size: ClassVar[int] = 2048

    count: int = 1
    stride: int = 0

    def __call__(self, index: int) -> BitField:
        if not 0 <= index < self.count or not self.stride:
            raise IndexError(f"{self.name} has no element {index}")
        name, lo = self._place(index)
        return replace(self, name=name, lo=lo, count=1, stride=0)

    def _place(self, index: int) -> tuple[str, int]:
        return f"{self.name}({index})", self.lo + index * self.stride

    def places(self) -> list[tuple[str, int]]:
        """Name and lowest bit of each element, or of the field itself if it is not an array."""
        return [self._place(index) for index in range(self.count)] if self.stride else [(self.name, self.lo)]

    def raw(self, word: Data) -> int:
        """The bits of the field, shifted down; `word` is the whole structure."""
        return Field.raw(self, as_number(word))

    def encode(self, value: Value, word: Data = 0) -> int:
        """The structure, as one number, with this field set to `value`. Raises ValueError when it does not fit."""
        return Field.encode(self, value, as_number(word))

    def text(self, word: Data) -> str:
        """The value as text; `word` is the whole structure."""
        return Field.text(self, as_number(word))

    def elements(self) -> Iterator[BitField]:
        """All elements, or the field itself if it is not an array."""
        return (self(index) for index in range(self.count)) if self.stride else iter((self,))


class BitStructure:
    """A structure in memory: `bits` long, its fields read from the table `file` at the first use."""

    def __init__(self, tables: Tables, file: str, name: str, bits: int, title: str) -> None:
        self._tables = tables
        self.file = file
        self.name = name
        self.bits = bits
        self.title = title

    def __repr__(self) -> str:
        return f"BitStructure({self.name}, {self.title})"

    @property
    def words(self) -> int:
        """Length in 32-bit words."""
        return self.bits // 32

    @cached_property
    def fields(self) -> tuple[BitField, ...]:
        """All fields, in table order."""
        tables = self._tables
        entry = next(one for one in tables.read(self.file.removesuffix(".tsv")) if one["structure"] == self.name)
        fields = [one for row in tables.fields(entry.rows) for one in (apart([row]) if "{" in row.name else [row])]
        if any(row["field"][0] == "@" for row in entry.rows):
            fields.sort(key=lambda one: one.lo)
        return tuple(BitField(*row) for row in fields)

    @cached_property
    def _by_name(self) -> dict[str, BitField]:
        return {field.name: field for field in self.fields}

    def __getitem__(self, name: str) -> BitField:
        """The field of that name; "FIELD(3)" is an element of an array."""
        plain, _, index = name.partition("(")
        found = self._by_name.get(plain)
        if found is None:
            raise KeyError(f"{self.name} ({self.title}) has no field {name!r}")
        return found(int(index.rstrip(")"))) if index else found

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[BitField]:
        return iter(self.fields)

    def elements(self) -> Iterator[BitField]:
        """All fields, arrays expanded."""
        return (element for field in self.fields for element in field.elements())

    def decode(self, data: Data) -> dict[str, Value]:
        """Field name to value; elements of arrays have names such as "CONSTANT_BUFFER_VALID(3)"."""
        number = as_number(data)
        return {field.name: field.decode(number) for field in self.elements()}

    def text(self, data: Data) -> list[str]:
        """One line per field, "NAME = value", without reserved fields."""
        number = as_number(data)
        return [f"{field.name} = {field.text(number)}" for field in self.elements() if "RESERVED" not in field.name]

    def pack(self, values: Mapping[str, Value], base: Data = 0) -> list[int]:
        """32-bit words of the structure with the named fields set, all other bits as in `base`.

        Raises KeyError for unknown names and ValueError for values that do not fit.
        """
        number = as_number(base)
        for name, value in values.items():
            number = self[name].encode(value, number)
        return [number >> 32 * index & 0xFFFFFFFF for index in range(self.words)]
