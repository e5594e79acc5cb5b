"""Programs from ELF files, and the symbols of an ELF for a program of another format. Both consoles' loaders use it.

    RULES = ElfRules("3DS", Machine.ARM, 32, "A 3DS has a 32-bit ARM.", low, high, largest)
    program = read_elf_program(data, "app.elf", RULES)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pocketgpu.errors import CaptureError
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.symbols.debug import DebugInfo
from pocketgpu.guests.symbols.elf import (
    Elf,
    ElfError,
    FileType,
    Function,
    Machine,
    SectionType,
    SegmentFlag,
    SegmentType,
    read_elf,
)
from pocketgpu.guests.symbols.places import Symbols

_RIGHTS: Final = (
    (SegmentFlag.READ, Permission.READ), (SegmentFlag.WRITE, Permission.WRITE),
    (SegmentFlag.EXECUTE, Permission.EXECUTE),
)  # fmt: skip
_ENTRY_AT: Final = 0x18


class ProgramError(CaptureError):
    """A file is no program that can be run."""


class ElfRules(NamedTuple):
    """What an ELF of a console is like. processor: a word on it. low, high: where programs lie; those that are position
    independent go to `low`. largest: bytes of all segments. skip: bytes at the start of the code that another file of
    the same program may have different. thumb: whether bit 0 of the entry is no part of its address."""

    console: str
    machine: Machine
    bits: int
    processor: str
    low: int
    high: int
    largest: int
    skip: int = 0
    thumb: bool = False


def damaged(message: str, name: str, at: int) -> ProgramError:
    """An error for a file with a wrong byte."""
    return ProgramError(message, file=name, offset=at, hint="Copy or build the file again.")


def pages_up(size: int) -> int:
    """A size rounded up to whole pages."""
    return -(-size // PAGE) * PAGE


def _opened(data: bytes, name: str, rules: ElfRules) -> Elf:
    elf = read_elf(data)
    if elf.machine != rules.machine or elf.bits != rules.bits:
        raise ProgramError("an ELF of another processor", file=name, hint=rules.processor)
    return elf


def _base(elf: Elf, rules: ElfRules) -> int:
    """Where the file's address 0 is in memory."""
    return rules.low if elf.type == FileType.POSITION_INDEPENDENT else 0


def read_elf_program(data: bytes, name: str, rules: ElfRules) -> Program:
    """An ELF as a program.

    :raises ProgramError: it is damaged, or of another processor.
    """
    try:
        elf = _opened(data, name, rules)
        base = _base(elf, rules)
        segments = _pages(elf, name, rules, base)
    except ElfError as error:
        raise ProgramError(f"damaged ELF: {error.message}", file=name, offset=error.offset) from None
    entry = base + elf.entry
    first = entry & ~1 if rules.thumb else entry
    if not any(one.address <= first < one.address + one.size and one.permission & Permission.EXECUTE
               for one in segments):  # fmt: skip
        raise ProgramError(f"it starts at {entry:#010x}, where it has no code", file=name, offset=_ENTRY_AT)
    return _described(Program(name, segments, entry, data), elf, base)


def _pages(elf: Elf, name: str, rules: ElfRules, base: int) -> list[Segment]:
    """The segments in memory. Two that share a page become one with the rights of both."""
    found: list[Segment] = []
    total = 0
    for number, part in enumerate(one for one in elf.segments if one.type == SegmentType.LOAD and one.size):
        total += part.size
        start = base + part.address
        if total > rules.largest or not rules.low <= start <= start + part.size <= rules.high:
            raise ProgramError(
                f"{part.size:#x} bytes at {start:#010x} are not where a {rules.console} has programs", file=name,
                location=f"segment {number}",
                hint=f"Link it at {rules.low:#010x}, with at most {rules.largest >> 20} MiB.",
            )  # fmt: skip
        rights = Permission.NONE
        for flag, right in _RIGHTS:
            rights |= right if part.flags & flag else Permission.NONE
        found.append(Segment(f"segment {number}", start, part.data, part.size, rights))
    if not found:
        raise ProgramError("an ELF without segments to load", file=name, hint="Link it to a program.")
    found.sort(key=lambda one: one.address)
    merged = found[:1]
    for one in found[1:]:
        last = merged[-1]
        if one.address < last.address + last.size:
            raise ProgramError("two segments are at the same place", file=name, location=one.name)
        if one.address // PAGE == (last.address + last.size - 1) // PAGE:
            merged[-1] = _joined(last, one)
        else:
            merged.append(one)
    return merged


def _joined(low: Segment, high: Segment) -> Segment:
    data = low.data.ljust(high.address - low.address, b"\0") + high.data
    size = high.address + high.size - low.address
    return Segment(f"{low.name} and {high.name}", low.address, data, size, low.permission | high.permission)


class _Moved:
    """The functions of an ELF that is not at its own addresses."""

    def __init__(self, elf: Elf, base: int) -> None:
        self._elf, self._base = elf, base

    def __repr__(self) -> str:
        return f"<functions of {self._elf!r} from {self._base:#x}>"

    def __call__(self) -> Sequence[Function]:
        return [replace(one, address=one.address + self._base) for one in self._elf.functions()]


def _described(program: Program, elf: Elf, base: int) -> Program:
    """A program with the symbols of an ELF; without, if they are damaged."""
    try:
        sections = elf.sections  # damaged ones are noticed here, and symbols are read when they are wanted
        debug = DebugInfo(elf, base)
        index = next((one for one in elf.segments if one.type == SegmentType.ARM_EXIDX), None)
        place = (index.address, index.size) if index is not None else None
        if place is None:
            section = next((one for one in sections if one.type == SectionType.ARM_EXIDX), None)
            place = (section.address, section.size) if section is not None else None
        functions = elf.functions if base == 0 else _Moved(elf, base)
        return replace(program, symbols=Symbols(functions, debug), debug=debug, index=place)
    except ElfError as error:
        return replace(program, warnings=(*program.warnings, f"no symbols, as the ELF is damaged: {error.message}"))


def with_symbols(program: Program, data: bytes, name: str, rules: ElfRules) -> Program:
    """A program with the symbols of the ELF that it was made of; its `warnings` say so if it is another one."""
    code = program.segments[0]
    base = 0
    try:
        elf = _opened(data, name, rules)
        base = _base(elf, rules)
        part = next((one for one in elf.segments if one.type == SegmentType.LOAD and one.data), None)
        same = (
            part is not None and base + part.address == code.address
            and code.data[rules.skip :].startswith(part.data[rules.skip :])
        )  # fmt: skip
        problem = "" if same else "it is of another build, as its code differs"
    except ElfError as error:
        problem = f"it is damaged: {error.message}"
    except ProgramError as error:
        problem = error.message
    if problem:
        return replace(program, warnings=(*program.warnings, f"no symbols of {name}: {problem}"))
    return _described(program, elf, base)
