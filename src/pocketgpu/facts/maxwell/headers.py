"""Structures that the Tegra X1's GPU reads from memory: texture and sampler headers, QMDs, shader headers, GPFIFO.

A structure is a number of bits, counted from the lowest bit of its first word, with fields that may cross words:

    TIC["BL"]["WIDTH_MINUS_ONE"].raw(words)
    QMD["01_07"]["CONSTANT_BUFFER_VALID"](3).raw(words)
    TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})

`words` is the structure as bytes, as an array or list of 32-bit words, or as one number.

Sources: NVIDIA's public headers for class B197 and A140 (textures, samplers), B1C0 (QMD), A06F (GPFIFO); the shader
program header is the Kepler one of the same vendor, the only public description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from pocketgpu.facts.maxwell.classes import parse_bits, parse_type, table
from pocketgpu.facts.registers import Field, Value

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
    """A field of a structure; with `count`, that many of them, `stride` bits apart. `field(3)` is number 3."""

    size: ClassVar[int] = 2048

    count: int = 1
    stride: int = 0

    def __call__(self, index: int) -> BitField:
        if not 0 <= index < self.count or not self.stride:
            raise IndexError(f"{self.name} has no element {index}")
        return replace(self, name=f"{self.name}({index})", lo=self.lo + index * self.stride, count=1, stride=0)

    def raw(self, word: Data) -> int:
        """The bits of the field, shifted down; `word` is the whole structure."""
        return Field.raw(self, as_number(word))

    def encode(self, value: Value, word: Data = 0) -> int:
        """The structure, as one number, with this field set to `value`. Raises ValueError when it does not fit."""
        return Field.encode(self, value, as_number(word))

    def text(self, word: Data) -> str:
        """The value for people; `word` is the whole structure."""
        return Field.text(self, as_number(word))

    def elements(self) -> Iterator[BitField]:
        """All elements, or the field itself if there is one only."""
        return (self(index) for index in range(self.count)) if self.stride else iter((self,))


class BitStructure:
    """A structure in memory: `bits` long, its fields read from a table beside this file when first asked for."""

    def __init__(self, file: str, name: str, bits: int, title: str) -> None:
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
        """All fields, in the order of the table."""
        return tuple(_read(self))

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
        """All fields, arrays taken apart."""
        return (element for field in self.fields for element in field.elements())

    def decode(self, data: Data) -> dict[str, Value]:
        """Field name to value; elements of arrays have names such as "CONSTANT_BUFFER_VALID(3)"."""
        number = as_number(data)
        return {field.name: field.decode(number) for field in self.elements()}

    def text(self, data: Data) -> list[str]:
        """One line per field that is no reserved one, "NAME = value", for people."""
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


def _read(structure: BitStructure) -> Iterator[BitField]:
    inside = False
    for row in table(structure.file)[2:]:
        if row[0]:
            inside = row[0] == structure.name
            continue
        if not inside:
            continue
        _, name, bits, kind, array, unit, doc = [*row, *[""] * (7 - len(row))]
        lo, width, view = parse_bits(bits)
        type_, enum = parse_type(kind)
        count, _, stride = array.partition("*")
        yield BitField(name, lo, width, type_, unit, enum, doc, view, int(count or 1), int(stride or 0))


def _set(file: str, bits: int, titles: Mapping[str, str]) -> dict[str, BitStructure]:
    return {name: BitStructure(file, name, bits, title) for name, title in titles.items()}


TIC: Final[Mapping[str, BitStructure]] = _set(
    "tic.tsv",
    256,
    {
        "1D": "texture header, buffer",
        "PITCHCK": "texture header, pitch with colour key",
        "PITCH": "texture header, pitch",
        "BL": "texture header, block-linear",
        "BLCK": "texture header, block-linear with colour key",
        "LEGACY_V1": "texture header before Maxwell",
        "LEGACY_V2": "texture header before Maxwell, second form",
        "LEGACY_V3": "texture header before Maxwell, third form",
    },
)
"""Texture headers by version. The legacy forms count where SET_SELECT_MAXWELL_TEXTURE_HEADERS is 0."""

TIC_BY_VERSION: Final[Mapping[int, BitStructure]] = dict(
    enumerate(TIC[name] for name in ("1D", "PITCHCK", "PITCH", "BL", "BLCK"))
)
"""HEADER_VERSION, which all Maxwell headers have at the same place, to the header that it selects."""

TSC: Final = BitStructure("tsc.tsv", "TSC", 256, "sampler")
"""The sampler."""

QMD: Final[Mapping[str, BitStructure]] = _set(
    "qmd.tsv", 2048, {"00_06": "compute launch, version 0.6", "01_07": "compute launch, version 1.7"}
)
"""Queue metadata, which describes one compute launch, by version. Drivers of the Switch write 1.7."""

SPH: Final[Mapping[str, BitStructure]] = _set(
    "sph.tsv", 640, {"VTG": "shader header, vertex to geometry", "PS": "shader header, pixel"}
)
"""Shader program headers, in front of the code of a graphics program."""

GPFIFO: Final[Mapping[str, BitStructure]] = {
    "ENTRY": BitStructure("gpfifo.tsv", "ENTRY", 64, "GPFIFO entry"),
    "HEADER": BitStructure("gpfifo.tsv", "HEADER", 32, "pushbuffer method header"),
    "USERD": BitStructure("gpfifo.tsv", "USERD", 1152, "user channel memory"),
}
"""What feeds a channel: entries of the ring, headers inside a pushbuffer, and the page with the ring's pointers."""

STRUCTURES: Final[tuple[BitStructure, ...]] = (*TIC.values(), TSC, *QMD.values(), *SPH.values(), *GPFIFO.values())
"""All of them."""


def tic_of(data: Data) -> BitStructure | None:
    """The structure of a Maxwell texture header, by the version it says it has; None for a version that is none."""
    return TIC_BY_VERSION.get(TIC["BL"]["HEADER_VERSION"].raw(data))
