"""Directives of a kernel's text: what a launch needs to know besides the instructions.

    .kernel scale                // begins a kernel; so does NVIDIA's  .section .text.scale
    .registers 8                 // of a thread; without it as many as the code uses
    .shared 256                  // bytes of shared memory of a block, 0 without it
    .local 16                    // bytes of local memory of a thread, 0 without it
    .param data ptr              // parameters in their order: a name and a type
    .param count u32
    .param place 12 0x150        // or a number of bytes; then perhaps where it is in bank 0
    .constant 2 0x3f800000 7     // words of another constant bank; further lines go on

Instructions name parameters as `c[0x0][data]` and `c[0x0][data+4]`. They begin at 0x140 of constant bank 0, each at a
multiple of its size. Types are `ptr`, `u8` to `u64`, `s8` to `s64`, `f16`, `f32` and `f64`. NVIDIA's directives that
say nothing about a launch are ignored.
"""

from __future__ import annotations

import difflib
import re
import struct
from collections.abc import Callable
from dataclasses import field
from typing import ClassVar

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.files.elf import PARAMETER_BASE, Cubin, Kernel
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.wording import counted

TYPES = {
    "ptr": 8, "u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8,
    "f16": 2, "f32": 4, "f64": 8,
}  # fmt: skip
"""Types of parameters and their bytes."""
MOST_REGISTERS = 255
MOST_SHARED = 96 << 10
MOST_LOCAL = 512 << 10
PARAMETER_ROOM = 4096
"""Bytes of bank 0 that parameters may have."""
CONSTANT_BANKS = range(1, 18)
BANK_WORDS = 1 << 14
_WORD = 4

_NAME = re.compile(r"[A-Za-z_$][\w.$]*")
_NO_NAME = re.compile(r"U?[RP](?:\d+|[ZT])")
"""Registers and predicates, which no parameter can be named as."""
_WORDS = re.compile(r"[^\s,]+")
_IN_BANK = re.compile(r"c\[0(?:x0+)?\]\[([A-Za-z_$][\w.$]*)(?:\+(0[xX][0-9a-fA-F]+|\d+))?\]")
_TEXT_SECTION = re.compile(r"\.text\.([^\s,]+)")
_NVIDIA_REGISTERS = re.compile(r'@"SHI_REGISTERS=(\d+)"')
_IGNORED = frozenset({
    ".align", ".elftype", ".global", ".headerflags", ".other", ".sectionflags", ".size", ".type", ".weak",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A parameter: its name, its type ("" for bytes), its offset in bank 0 and its size, both in bytes."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a directive's line, with its place: columns count from 1."""

    text: str
    line: int
    column: int

    def error(self, message: str, hint: str | None = None) -> SassError:
        """An error here."""
        return SassError(message, place=(self.line, self.column), hint=hint)


def words_of(text: str, line: int) -> list[Word]:
    """The words of a line; commas separate them as spaces do."""
    return [Word(found[0], line, found.start() + 1) for found in _WORDS.finditer(text)]


@dataclass
class Header:
    """What the directives of a kernel say. registers: None if they say nothing. constants: words by bank."""

    name: str = ""
    registers: int | None = None
    shared: int = 0
    local: int = 0
    parameters: list[NamedParameter] = field(default_factory=list)
    constants: dict[int, list[int]] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    def __repr__(self) -> str:
        return line_of(self, f"{self.name[:40] or 'code'}, {counted(len(self.parameters), 'parameter')}")

    # -- reading ----------------------------------------------------------------------------------------------------
    def take(self, words: list[Word], strict: bool = True) -> None:
        """Read one directive, which is no `.kernel` and no `.section`. strict: whether unknown ones are errors.

        :raises SassError: with line, column and what to do.
        """
        first = words[0]
        read = self._READ.get(first.text)
        if read is not None:
            read(self, words)
        elif strict and first.text not in _IGNORED:
            close = difflib.get_close_matches(first.text, [*self._READ, ".kernel"], 1, 0.5)
            hint = f"Did you mean {close[0]}?" if close else f"There are .kernel, {', '.join(self._SHOWN)}."
            raise first.error(f"there is no directive {first.text!r}", hint)

    def _once(self, first: Word) -> None:
        if first.text in self._said:
            raise first.error(f"there are two {first.text} for kernel {self.name or 'code'}", "Keep one of them.")
        self._said.add(first.text)

    def _one(self, words: list[Word], low: int, high: int, example: str) -> int:
        """The only number of a directive."""
        self._once(words[0])
        _counted_words(words, 1, 1, example)
        return number_of(words[1], low, high)

    def _registers(self, words: list[Word]) -> None:
        self.registers = self._one(words, 1, MOST_REGISTERS, ".registers 32")

    def _shared(self, words: list[Word]) -> None:
        self.shared = self._one(words, 0, MOST_SHARED, ".shared 2048")

    def _local(self, words: list[Word]) -> None:
        self.local = self._one(words, 0, MOST_LOCAL, ".local 64")

    def _section_info(self, words: list[Word]) -> None:
        for word in words[1:]:
            if found := _NVIDIA_REGISTERS.match(word.text):
                self.registers = number_of(Word(found[1], word.line, word.column + found.start(1)), 1, MOST_REGISTERS)

    def _param(self, words: list[Word]) -> None:
        _counted_words(words, 2, 3, ".param data ptr")
        name, kind = words[1], words[2]
        if not _NAME.fullmatch(name.text) or _NO_NAME.fullmatch(name.text):
            raise name.error(f"{name.text!r} is no name of a parameter", "Letters, digits and _, but no register.")
        if any(one.name == name.text for one in self.parameters):
            raise name.error(f"there are two parameters {name.text!r}", "Each has its own name.")
        if kind.text in TYPES:
            type, size = kind.text, TYPES[kind.text]
        elif kind.text[:1].isdigit():
            type, size = "", number_of(kind, 1, PARAMETER_ROOM)
        else:
            known = f"Types are {', '.join(TYPES)}, or a number of bytes such as 24."
            raise kind.error(f"there is no type {kind.text!r}", known)
        offset = self._offset(words[3] if len(words) > 3 else None, size)
        end = PARAMETER_BASE + PARAMETER_ROOM
        if offset + size > end:
            raise name.error(f"parameter {name.text} ends beyond {end:#x} of bank 0", "Parameters have 4096 bytes.")
        for other in self.parameters:
            if offset < other.offset + other.size and other.offset < offset + size:
                raise name.error(f"parameter {name.text} lies on {other.name}", f"That is at {other.offset:#x}.")
        self.parameters.append(NamedParameter(name.text, type, offset, size))

    def _offset(self, given: Word | None, size: int) -> int:
        """Where a parameter is: as given, or after the others at a multiple of its size."""
        if given is not None:
            return number_of(given, PARAMETER_BASE, PARAMETER_BASE + PARAMETER_ROOM)
        return aligned(max((one.offset + one.size for one in self.parameters), default=PARAMETER_BASE), size)

    def _constant(self, words: list[Word]) -> None:
        _counted_words(words, 2, BANK_WORDS, ".constant 2 0x3f800000")
        bank = number_of(words[1], CONSTANT_BANKS[0], CONSTANT_BANKS[-1])
        held = self.constants.setdefault(bank, [])
        held += [number_of(word, 0, 0xFFFFFFFF) for word in words[2:]]
        if len(held) > BANK_WORDS:
            raise words[1].error(f"bank {bank} has more than {BANK_WORDS} words", "A bank has 65536 bytes.")

    _READ: ClassVar[dict[str, Callable[[Header, list[Word]], None]]] = {
        ".registers": _registers, ".shared": _shared, ".local": _local, ".param": _param, ".constant": _constant,
        ".sectioninfo": _section_info,
    }  # fmt: skip
    _SHOWN: ClassVar[tuple[str, ...]] = (".registers", ".shared", ".local", ".param", ".constant")

    # -- names in instructions --------------------------------------------------------------------------------------
    def resolve(self, text: str, line: int, column: int) -> str:
        """An instruction with offsets in the place of names of parameters. column: where the text begins.

        :raises SassError: there is no such parameter, or it is shorter.
        """

        def offset(found: re.Match[str]) -> str:
            if _NO_NAME.fullmatch(found[1]):
                return found[0]
            name = Word(found[1], line, column + found.start(1))
            known = next((one for one in self.parameters if one.name == found[1]), None)
            if known is None:
                names = ", ".join(one.name for one in self.parameters)
                raise name.error(
                    f"there is no parameter {found[1]!r}", f"There are {names}." if names else "Write .param NAME TYPE."
                )
            digits = (found[2] or "0").lower()
            plus = int(digits, 16 if digits.startswith("0x") else 10) if len(digits) <= 20 else known.size
            if plus >= known.size:
                raise name.error(f"{known.name} has {counted(known.size, 'byte')}", "The offset after + is below that.")
            return f"c[0x0][{known.offset + plus:#x}]"

        return _IN_BANK.sub(offset, text) if "c[0" in text else text

    # -- writing ----------------------------------------------------------------------------------------------------
    def text(self) -> list[str]:
        """The directives as lines, without the one that begins the kernel."""
        lines = [f".registers {self.registers}"] if self.registers else []
        lines += [f".shared {self.shared}"] if self.shared else []
        lines += [f".local {self.local}"] if self.local else []
        lines += [f".param {one.name} {one.type or one.size} {one.offset:#x}" for one in self.parameters]
        for bank, held in self.constants.items():
            rows = (held[at : at + 8] for at in range(0, len(held), 8))
            lines += [f".constant {bank} {' '.join(f'{word:#010x}' for word in row)}" for row in rows]
        return lines


def header_of(cubin: Cubin, kernel: Kernel) -> Header:
    """What a cubin says about a kernel; parameters without names, which cubins do not have, are called p0, p1, ..."""
    header = Header(kernel.name, kernel.registers or None, kernel.shared_size, kernel.local_size)
    for number, one in enumerate(kernel.parameters):
        place = kernel.parameter_base + one.offset
        header.parameters.append(NamedParameter(one.name or f"p{number}", one.type, place, one.size))
    for bank, data in sorted(cubin.constants(kernel.name).items()):
        if bank in CONSTANT_BANKS and data:
            padded = data + bytes(-len(data) % _WORD)
            header.constants[bank] = [word for (word,) in struct.iter_unpack("<I", padded[: _WORD * BANK_WORDS])]
    return header


def not_in_text(cubin: Cubin) -> str:
    """What kernels of a cubin may need besides code and directives, "" if nothing."""
    named = sorted({one.symbol.name for one in cubin.relocations if one.symbol.name})
    variables = any(section.name.startswith(".nv.global") and section.size for section in cubin.sections)
    parts = [*(["variables"] if variables else []), *([f"addresses of {', '.join(named)}"] if named else [])]
    return " and ".join(parts)


def aligned(offset: int, size: int) -> int:
    """The next offset for a parameter of a size: a multiple of the largest power of two that divides it, at most 8."""
    step = min(size & -size, 8)
    return -(-offset // step) * step


def number_of(word: Word, low: int, high: int) -> int:
    """A word as a number.

    :raises SassError: it is none, or out of range.
    """
    try:
        number = int(word.text, 0) if len(word.text) <= 20 else high + 1
    except ValueError:
        raise word.error(f"{word.text!r} is not a number", "Such as 32 or 0x20.") from None
    if not low <= number <= high:
        raise word.error(f"{word.text[:24]} is out of range", f"{low} to {high}.")
    return number


def kernel_name(words: list[Word]) -> str | None:
    """The name of the kernel that a directive begins: "" for a section without instructions, None if it is another one.

    :raises SassError: it is no name.
    """
    first = words[0]
    if first.text == ".kernel":
        _counted_words(words, 1, 1, ".kernel scale")
        if not _NAME.fullmatch(words[1].text):
            raise words[1].error(f"{words[1].text!r} is no name of a kernel", "Letters, digits and _.")
        return words[1].text
    if first.text == ".section":
        found = _TEXT_SECTION.fullmatch(words[1].text) if len(words) > 1 else None
        return found[1] if found else ""
    return None


def _counted_words(words: list[Word], low: int, high: int, example: str) -> None:
    given = len(words) - 1
    if given < low:
        raise words[0].error(f"{words[0].text} needs {counted(low, 'word')} after it, not {given}", f"Write {example}.")
    if given > high:
        word = words[high + 1]
        raise word.error(f"{words[0].text} takes no {word.text[:24]!r}", f"Write {example}.")


__all__ = [
    "TYPES", "Header", "NamedParameter", "Word", "aligned", "header_of", "kernel_name", "not_in_text", "number_of",
    "words_of",
]  # fmt: skip
