"""Cubins: the ELF files of CUDA's compiler, as far as they matter for running and showing kernels.

    cubin = read_cubin(data)
    kernel = cubin.kernels["sgemm"]
    kernel.code, kernel.parameters, kernel.registers, kernel.shared_size
    cubin.constants("sgemm")            # bank to bytes

Source: the ELF-64 format; names of sections and attributes are those that NVIDIA's own tools print.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field
from enum import IntEnum
from functools import cached_property

from pocketgpu.errors import CaptureError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.files.line_table import LineTable

MAGIC = b"\x7fELF"
MACHINE_CUDA = 190
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REL, _RELA = struct.Struct("<QQ"), struct.Struct("<QQq")
_MOST_SECTIONS = 1 << 16
PARAMETER_BASE = 0x140
"""Where parameters of kernels begin in constant bank 0, by CUDA's compiler for SM 5.x."""


class SectionType(IntEnum):
    """Types of sections that matter here."""

    NULL = 0
    SYMTAB = 2
    STRTAB = 3
    RELA = 4
    NOBITS = 8
    REL = 9


class Attribute(IntEnum):
    """Attributes of `.nv.info` sections that matter here, by NVIDIA's names."""

    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    REQNTID = 0x10
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    EXIT_INSTR_OFFSETS = 0x1C
    CRS_STACK_SIZE = 0x1E
    INDIRECT_BRANCH_TARGETS = 0x34


@dataclass(frozen=True, slots=True)
class Section:
    """A section; `data`, at byte `offset` of the file, is empty for one that takes no room there."""

    index: int
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol; `section` is the number of its section, kind 2 a function, binding 1 a global one."""

    name: str
    value: int
    size: int
    section: int
    kind: int
    binding: int
    other: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """Place `offset` in section `section` wants the value of a symbol."""

    section: int
    offset: int
    type: int
    symbol: Symbol
    addend: int = 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: bytes from the start of the parameters, which are in bank 0.

    name, type: of a kernel that was written as text (`isa/header.py`); "" if they are not known.
    """

    ordinal: int
    offset: int
    size: int
    name: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class IndirectBranch:
    """Where an instruction without a target of its own can go, as the compiler says. `kind`: 0 a branch, 1 a call."""

    address: int
    kind: int
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: what its launch needs to know.

    parameter_base: where in bank 0 the parameters begin. shared_size: static shared memory in bytes. local_size: stack
    of a thread in bytes. functions: symbols of its code, in the order of the file. block: threads of a block in x, y,
    z if the code was made for one size only. lines: for each instruction its line in the text, if the kernel was
    written as text. loose: nothing says where parameters are; they lie in the order of the arguments.
    """

    name: str
    section: Section = field(repr=False)
    code: bytes = field(repr=False)
    registers: int
    barriers: int
    parameters: tuple[Parameter, ...]
    parameter_base: int
    parameter_size: int
    shared_size: int
    local_size: int
    functions: tuple[Symbol, ...] = ()
    exits: tuple[int, ...] = ()
    indirect: tuple[IndirectBranch, ...] = ()
    max_threads: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    call_stack: int = 0
    lines: tuple[int, ...] = ()
    loose: bool = False


@dataclass(frozen=True)
class Cubin:
    """A cubin. `arch`: 53 for "sm_53"."""

    arch: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]
    kernels: dict[str, Kernel] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<cubin for sm_{self.arch}: {', '.join(self.kernels) or 'no kernels'}>"

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """Sections by name; the first of each name."""
        found: dict[str, Section] = {}
        for section in self.sections:
            found.setdefault(section.name, section)
        return found

    def constants(self, kernel: str) -> dict[int, bytes]:
        """Constant banks that the file fills, for a kernel: banks of its own and those that all kernels share."""
        found: dict[int, bytes] = {}
        for section in self.sections:
            bank, _, owner = section.name.removeprefix(".nv.constant").partition(".")
            if section.name.startswith(".nv.constant") and bank.isdigit() and owner in ("", kernel):
                found[int(bank)] = section.data
        return found

    @cached_property
    def line_table(self) -> LineTable:
        """Which line of the source text each instruction comes from."""
        return LineTable(self.sections, self.symbols)

    @property
    def texts(self) -> list[Section]:
        """Sections of code, in the order of the file."""
        return [section for section in self.sections if section.name.startswith(".text.")]


class _File:
    """Bytes of a file with checked access."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name

    def error(self, message: str, offset: int | None = None) -> CaptureError:
        return CaptureError(message, file=self.name or "cubin", offset=offset)

    def part(self, offset: int, size: int) -> bytes:
        if offset < 0 or size < 0 or offset + size > len(self.data):
            raise self.error(f"{size} bytes are missing: the file ends at {len(self.data):#x}", offset)
        return self.data[offset : offset + size]

    def unpack(self, layout: struct.Struct, offset: int) -> tuple[int, ...]:
        return layout.unpack(self.part(offset, layout.size))

    def table(self, layout: struct.Struct, data: bytes, where: str) -> Iterator[tuple[int, ...]]:
        if len(data) % layout.size:
            raise self.error(f"{where} has {len(data)} bytes, no whole number of {layout.size}")
        return layout.iter_unpack(data)


def _text(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    return (
        strings[offset : end if end >= 0 else len(strings)].decode("utf-8", "replace") if offset < len(strings) else ""
    )


def read_cubin(data: bytes, file: str = "") -> Cubin:
    """A cubin from its bytes.

    :raises CaptureError: it is not a cubin, or it is damaged; the error names the byte.
    """
    source = _File(data, file)
    if data[:4] != MAGIC:
        raise source.error("this is no ELF file", 0)
    header = source.unpack(_HEADER, 0)
    ident = data[:16]
    if ident[4] != 2 or ident[5] != 1 or header[2] != MACHINE_CUDA:
        raise source.error("this ELF file holds no code of NVIDIA GPUs", 4)
    arch = header[7] & 0xFF
    sections = tuple(_sections(source, header))
    symbols = tuple(_symbols(source, sections))
    relocations = tuple(_relocations(source, sections, symbols))
    cubin = Cubin(arch, sections, symbols, relocations)
    if not 50 <= arch <= 53:
        raise source.error(f"this code is for sm_{arch}", 48)
    for symbol in symbols:
        if symbol.kind == 2 and symbol.binding == 1 and 0 < symbol.section < len(sections):
            section = sections[symbol.section]
            if section.name.startswith(".text."):
                cubin.kernels[symbol.name] = _kernel(source, cubin, symbol, section)
    return cubin


def _sections(source: _File, header: tuple[int, ...]) -> Iterator[Section]:
    offset, size, count, names = header[6], header[11], header[12], header[13]
    if count > _MOST_SECTIONS or (count and size != _SECTION.size):
        raise source.error(f"{count} section headers of {size} bytes", 0x3A)
    rows = [source.unpack(_SECTION, offset + index * _SECTION.size) for index in range(count)]
    strings = b""
    if names < count and rows[names][1] == SectionType.STRTAB:
        strings = source.part(rows[names][4], rows[names][5])
    for index, (name, kind, flags, _, start, length, link, info, _, _) in enumerate(rows):
        held = b"" if kind in (SectionType.NULL, SectionType.NOBITS) else source.part(start, length)
        yield Section(index, _text(strings, name), kind, flags, start, length, link, info, held)


def _symbols(source: _File, sections: tuple[Section, ...]) -> Iterator[Symbol]:
    for section in sections:
        if section.type != SectionType.SYMTAB:
            continue
        strings = sections[section.link].data if section.link < len(sections) else b""
        for name, info, other, place, value, size in source.table(_SYMBOL, section.data, section.name):
            yield Symbol(_text(strings, name), value, size, place, info & 15, info >> 4, other)
        return


def _relocations(source: _File, sections: tuple[Section, ...], symbols: tuple[Symbol, ...]) -> Iterator[Relocation]:
    for section in sections:
        if section.type not in (SectionType.REL, SectionType.RELA) or section.name.startswith(".rel.debug"):
            continue
        layout = _REL if section.type == SectionType.REL else _RELA
        for offset, info, *addend in source.table(layout, section.data, section.name):
            number = info >> 32
            if number >= len(symbols):
                raise source.error(f"{section.name} names symbol {number} of {len(symbols)}")
            yield Relocation(section.info, offset, info & 0xFFFFFFFF, symbols[number], *addend)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, its bytes) of an `.nv.info` section; a cut one ends early."""
    place = 0
    while place + 4 <= len(data):
        form, attribute, value = data[place], data[place + 1], int.from_bytes(data[place + 2 : place + 4], "little")
        if form == 4:  # sized: the value is a number of bytes that follow
            yield attribute, data[place + 4 : place + 4 + value]
            place += value
        else:
            yield attribute, data[place + 2 : place + 4]
        place += 4


def _words(data: bytes) -> tuple[int, ...]:
    return tuple(word for (word,) in struct.iter_unpack("<I", data[: len(data) & ~3]))


def _of_symbol(cubin: Cubin, attribute: int, symbol: Symbol) -> int | None:
    """A number that the common `.nv.info` has for a function."""
    common = cubin.by_name.get(".nv.info")
    for found, data in attributes(common.data) if common is not None else ():
        words = _words(data)
        if found == attribute and len(words) >= 2 and words[0] < len(cubin.symbols):
            named = cubin.symbols[words[0]]
            if named.name == symbol.name:
                return words[1]
    return None


def _indirect(data: bytes) -> Iterator[IndirectBranch]:
    place = 0
    while place + 12 <= len(data):
        address, kind, _, count = struct.unpack_from("<IHHI", data, place)
        place += 12
        count = min(count, (len(data) - place) // 4)
        yield IndirectBranch(address, kind, struct.unpack_from(f"<{count}I", data, place))
        place += 4 * count


def _kernel(source: _File, cubin: Cubin, symbol: Symbol, section: Section) -> Kernel:
    if symbol.value + symbol.size > len(section.data):
        raise source.error(f"kernel {symbol.name} ends after its section {section.name}")
    own = cubin.by_name.get(f".nv.info.{symbol.name}")
    parameters: list[Parameter] = []
    base, size, call_stack = PARAMETER_BASE, 0, 0
    exits: tuple[int, ...] = ()
    indirect: tuple[IndirectBranch, ...] = ()
    max_threads = block = None
    for attribute, data in attributes(own.data) if own is not None else ():
        words = _words(data)
        if attribute == Attribute.KPARAM_INFO and len(data) >= 12:
            _, ordinal, offset, packed = struct.unpack_from("<IHHI", data)
            parameters.append(Parameter(ordinal, offset, packed >> 18))
        elif attribute == Attribute.PARAM_CBANK and len(data) >= 8:
            base, size = struct.unpack_from("<HH", data, 4)
        elif attribute == Attribute.EXIT_INSTR_OFFSETS:
            exits = words
        elif attribute == Attribute.INDIRECT_BRANCH_TARGETS:
            indirect = tuple(_indirect(data))
        elif attribute == Attribute.CRS_STACK_SIZE and words:
            call_stack = words[0]
        elif attribute == Attribute.MAX_THREADS and len(words) >= 3:
            max_threads = words[:3]
        elif attribute == Attribute.REQNTID and len(words) >= 3:
            block = words[:3]
    shared = cubin.by_name.get(f".nv.shared.{symbol.name}")
    return Kernel(
        symbol.name,
        section,
        section.data,
        section.info >> 24,
        section.flags >> 20 & 0x7F,
        tuple(sorted(parameters, key=lambda one: one.ordinal)),
        base,
        size,
        shared.size if shared is not None else 0,
        _of_symbol(cubin, Attribute.MIN_STACK_SIZE, symbol) or 0,
        tuple(s for s in cubin.symbols if s.section == section.index and s.kind == 2),
        exits,
        indirect,
        max_threads,
        block,
        call_stack,
    )
