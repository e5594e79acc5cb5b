"""Reads ELF files of both consoles, 32 or 64 bits: segments, sections, functions.

    elf = read_elf(data)
    elf.segments[0].address, elf.segments[0].data
    elf.functions()

Every offset and count of the file is checked, so a damaged file gives an ElfError and never takes long or much memory.
Source: the ELF specification, "Tool Interface Standard"; ELF for the ARM Architecture.
"""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag
from functools import cached_property
from typing import Final, NamedTuple

from pocketgpu.late_dataclass import dataclass

MAGIC: Final = b"\x7fELF"
MOST_BYTES: Final = 1 << 29
"""Bytes that sections of one file may have together when they are unpacked."""


class Machine(IntEnum):
    """Processors."""

    ARM = 40
    AARCH64 = 183


class FileType(IntEnum):
    """Types of files that matter here."""

    POSITION_INDEPENDENT = 3


class SegmentType(IntEnum):
    """Types of segments that matter here."""

    LOAD = 1
    ARM_EXIDX = 0x70000001


class SegmentFlag(IntFlag):
    """What a program may do with a segment."""

    EXECUTE = 1
    WRITE = 2
    READ = 4


class SectionType(IntEnum):
    """Types of sections that matter here."""

    SYMTAB = 2
    NOBITS = 8
    ARM_EXIDX = 0x70000001


class _SectionFlag(IntFlag):
    EXECUTE = 4
    COMPRESSED = 0x800


class SymbolType(IntEnum):
    """Types of symbols that name code."""

    NONE = 0
    FUNCTION = 2


class ElfError(Exception):
    """A file is damaged. offset: the byte where that was seen."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


class _Layout(NamedTuple):
    """The structures of one class of files. The second part of a name tells the order of its fields."""

    header: struct.Struct
    segment: struct.Struct
    section: struct.Struct
    symbol: struct.Struct
    segment_fields: tuple[str, ...]
    symbol_fields: tuple[str, ...]
    unpacked_size_at: int


_LAYOUTS: Final = {
    1: _Layout(
        struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<IIIIIIII"), struct.Struct("<IIIIIIIIII"),
        struct.Struct("<IIIBBH"),
        ("type", "offset", "address", "physical", "file_size", "size", "flags", "align"),
        ("name", "value", "size", "info", "other", "section"), 4,
    ),
    2: _Layout(
        struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ"), struct.Struct("<IIQQQQIIQQ"),
        struct.Struct("<IBBHQQ"),
        ("type", "flags", "offset", "address", "physical", "file_size", "size", "align"),
        ("name", "info", "other", "section", "value", "size"), 8,
    ),
}  # fmt: skip
_LITTLE_ENDIAN: Final = 1
_CLASS_AT, _ENDIAN_AT = 4, 5
_TYPE_BITS: Final = 0xF


@dataclass(frozen=True, slots=True)
class ElfSegment:
    """A part of memory. data: what the file has of it; size: with the zeros that follow."""

    type: int
    address: int
    data: bytes
    size: int
    flags: SegmentFlag

    def __repr__(self) -> str:
        return f"<ElfSegment {self.address:#010x}+{self.size:#x} {self.flags!r}>"


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A part of the file. data: empty for one that takes no room there, or is packed."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    unpacked_size: int

    def __repr__(self) -> str:
        return f"<ElfSection {self.name} {self.size:#x} bytes>"

    @property
    def executable(self) -> bool:
        """Whether it holds code."""
        return bool(self.flags & _SectionFlag.EXECUTE)


@dataclass(frozen=True, slots=True)
class Function:
    """A function. size: 0 if nobody says."""

    name: str
    address: int
    size: int


class Elf:
    """A file that was read. machine: the number of its processor. bits: 32 or 64."""

    def __init__(self, data: bytes) -> None:
        if len(data) < _ENDIAN_AT + 1 or data[:4] != MAGIC:
            raise ElfError("not an ELF", 0)
        layout = _LAYOUTS.get(data[_CLASS_AT])
        if layout is None or data[_ENDIAN_AT] != _LITTLE_ENDIAN:
            raise ElfError("neither 32 nor 64 bits, or big-endian", _CLASS_AT)
        if len(data) < layout.header.size:
            raise ElfError("cut in the header", len(data))
        self.data, self._layout = data, layout
        self.bits = 32 * data[_CLASS_AT]
        fields = layout.header.unpack_from(data)[1:]
        self.type, self.machine, _, self.entry, self._segments_at, self._sections_at, _, _, *counts = fields
        self._segment_size, self._segment_count, self._section_size, self._section_count, self._names = counts

    def __repr__(self) -> str:
        return f"<Elf of {self.bits} bits: {len(self.segments)} segments, {len(self.sections)} sections>"

    def _table(self, at: int, count: int, size: int, layout: struct.Struct, what: str) -> list[tuple[int, ...]]:
        if not count:
            return []
        if size < layout.size:
            raise ElfError(f"entries of {what} are too short", at)
        if at + count * size > len(self.data):
            raise ElfError(f"cut in the table of {what}", min(at, len(self.data)))
        return [layout.unpack_from(self.data, at + size * n) for n in range(count)]

    @cached_property
    def segments(self) -> tuple[ElfSegment, ...]:
        """All segments. Raises ElfError."""
        made = []
        rows = self._table(self._segments_at, self._segment_count, self._segment_size, self._layout.segment, "segments")
        for row in rows:
            one = dict(zip(self._layout.segment_fields, row, strict=True))
            at, in_file, whole = one["offset"], one["file_size"], one["size"]
            data = b""
            if one["type"] == SegmentType.LOAD:
                if at + in_file > len(self.data):
                    raise ElfError("cut in a segment", min(at, len(self.data)))
                if in_file > whole:
                    raise ElfError("a segment is larger in the file than in memory", at)
                data = self.data[at : at + in_file]
            flags = SegmentFlag(one["flags"] & 7)
            made.append(ElfSegment(one["type"], one["address"], data, whole, flags))
        return tuple(made)

    @cached_property
    def sections(self) -> tuple[ElfSection, ...]:
        """All sections. Raises ElfError."""
        data = self.data
        rows = self._table(self._sections_at, self._section_count, self._section_size, self._layout.section, "sections")
        names = b""
        if self._names < len(rows):
            names_at, names_size = rows[self._names][4:6]
            names = data[names_at : names_at + names_size]
        made = []
        for name, type, flags, address, offset, size, link, *_ in rows:
            if type != SectionType.NOBITS and offset + size > len(data):
                raise ElfError("a section is outside of the file", offset)
            unpacked = size
            at = offset + self._layout.unpacked_size_at
            if flags & _SectionFlag.COMPRESSED and at + 8 <= len(data):
                unpacked = int.from_bytes(data[at : at + self.bits // 8], "little")
            made.append(ElfSection(_string(names, name), type, flags, address, offset, size, link, unpacked))
        return tuple(made)

    def section(self, name: str) -> ElfSection | None:
        """A section by its name."""
        return next((one for one in self.sections if one.name == name), None)

    def section_data(self, section: ElfSection) -> bytes:
        """Its bytes, as they are in the file."""
        return b"" if section.type == SectionType.NOBITS else self.data[section.offset :][: section.size]

    def functions(self) -> list[Function]:
        """Functions and other labels of code, by address; of several with one address, the one that says its size.

        :raises ElfError: the tables are damaged.
        """
        fields, layout = self._layout.symbol_fields, self._layout.symbol
        sections = self.sections
        found: dict[int, Function] = {}
        thumb = ~1 if self.machine == Machine.ARM else ~0
        for section in sections:
            if section.type != SectionType.SYMTAB or section.link >= len(sections):
                continue
            names = self.section_data(sections[section.link])
            data = self.section_data(section)
            for row in layout.iter_unpack(data[: len(data) // layout.size * layout.size]):
                one = dict(zip(fields, row, strict=True))
                kind, where = one["info"] & _TYPE_BITS, one["section"]
                if kind not in (SymbolType.FUNCTION, SymbolType.NONE) or not 0 < where < len(sections):
                    continue
                if not sections[where].executable:
                    continue
                name = _string(names, one["name"])
                if not name or name.startswith("$"):
                    continue  # marks where code and data begin
                address = one["value"] & thumb
                before = found.get(address)
                if before is None or (not before.size and one["size"]):
                    found[address] = Function(name, address, one["size"])
        return [found[address] for address in sorted(found)]

    @cached_property
    def debuggable(self) -> bool:
        """Whether its debugging sections can be read without much memory."""
        sections = self.sections
        return (
            all(one.type != SectionType.NOBITS or not one.name.startswith(".debug") for one in sections)
            and sum(one.unpacked_size for one in sections if one.type != SectionType.NOBITS) <= MOST_BYTES
        )


_LONGEST_NAME: Final = 4096


def _string(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + _LONGEST_NAME)
    return data[at : end if end >= 0 else at + _LONGEST_NAME].decode("utf-8", "backslashreplace")


def read_elf(data: bytes) -> Elf:
    """A file. Raises ElfError: it is none, or its header is damaged."""
    return Elf(data)
