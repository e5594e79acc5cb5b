"""Reads programs of the 3DS: 3DSX, ELF and AXF.

    program = read_program(data, "app.3dsx", elf=Path("app.elf").read_bytes())

A 3DSX has three segments, each rounded up to pages, and lists of words to patch: absolute ones become addresses,
relative ones distances. It has no symbols: they come from the ELF that it was made of, if its code is the same. Source:
3dstools' 3dsx.h and 3dsxtool.cpp; libctru's 3dsx_crt0.s.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import CaptureError
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.smdh import Smdh, read_smdh
from pocketgpu.guests.n3ds.strangers import refusal
from pocketgpu.guests.symbols.debug import DebugInfo
from pocketgpu.guests.symbols.elf import MAGIC, Elf, ElfError, Machine, SectionType, SegmentFlag, SegmentType, read_elf
from pocketgpu.guests.symbols.places import Symbols

_MAGIC: Final = b"3DSX"
_HEADER: Final = struct.Struct("<4sHHIIIIII")
_EXTENDED: Final = struct.Struct("<III")
"""Offset and size of the SMDH, offset of the RomFS."""
_LARGEST: Final = 64 << 20
"""Bytes of all segments: what a program can have."""
_RELOCATION: Final = struct.Struct("<HH")
_ABSOLUTE, _RELATIVE = 0, 1
_OFFSET: Final = np.uint32(0x0FFFFFFF)
_KIND_AT: Final = np.uint32(28)
_SHORT: Final = np.uint32(0x7FFFFFFF)
"""A distance of 31 bits, as in .ARM.exidx."""
_PERMISSIONS: Final = (
    ("code", Permission.READ | Permission.EXECUTE), ("rodata", Permission.READ),
    ("data", Permission.READ | Permission.WRITE),
)  # fmt: skip
_RIGHTS: Final = (
    (SegmentFlag.READ, Permission.READ), (SegmentFlag.WRITE, Permission.WRITE),
    (SegmentFlag.EXECUTE, Permission.EXECUTE),
)  # fmt: skip


class ProgramError(CaptureError):
    """A file is no program that can be run."""


def read_program(data: bytes, name: str, *, elf: bytes | None = None, elf_name: str = "") -> Program:
    """A program from the bytes of its file.

    :param elf: the ELF that a 3DSX was made of, for functions and lines. If it is another one, the program's `warnings`
        say so.
    :raises ProgramError: it is damaged, of another kind, or encrypted.
    """
    if data[:4] == _MAGIC:
        program = _read_3dsx(data, name)
        return program if elf is None else _with_symbols(program, elf, elf_name or "the ELF")
    if data[:4] == MAGIC:
        return _read_elf(data, name)
    message, hint = refusal(data)
    raise ProgramError(message, file=name, hint=hint)


def _up(size: int) -> int:
    return -(-size // PAGE) * PAGE


# -- 3DSX -------------------------------------------------------------------------------------------------------------
def _read_3dsx(data: bytes, name: str) -> Program:
    if len(data) < _HEADER.size:
        raise _damaged("cut in the header", name, len(data))
    _, header, entry_size, version, _, *sizes = _HEADER.unpack_from(data)
    code, rodata, initialised, bss = sizes
    if version != 0 or header < _HEADER.size or entry_size < 8 or entry_size % 4:
        raise _damaged("the header has values that no 3DSX has", name, 4)
    if max(sizes) > _LARGEST or bss > initialised or code + rodata + initialised > _LARGEST:
        raise _damaged("segments are larger than the memory of a 3DS", name, 16)
    if not code:
        raise _damaged("a program without code", name, 16)
    counts = []
    at = header
    for _ in range(3):
        if at + entry_size > len(data):
            raise _damaged("cut in the headers of relocations", name, at)
        counts.append(struct.unpack_from(f"<{entry_size // 4}I", data, at))
        at += entry_size
    stored = (code, rodata, initialised - bss)
    starts = (0, _up(code), _up(code) + _up(rodata))
    image = np.zeros((starts[2] + _up(stored[2])) // 4, np.uint32)
    memory = image.view(np.uint8)
    for start, size in zip(starts, stored, strict=True):
        if at + size > len(data):
            raise _damaged("cut in a segment", name, at)
        memory[start : start + size] = np.frombuffer(data, np.uint8, size, at)
        at += size
    for start, size, entries in zip(starts, stored, counts, strict=True):
        for kind, count in enumerate(entries):
            end = at + count * _RELOCATION.size
            if end > len(data):
                raise _damaged("cut in the relocations", name, at)
            if kind in (_ABSOLUTE, _RELATIVE):
                _patch(image, start // 4, _up(size) // 4, data[at:end], kind, name)
            at = end
    segments = [
        Segment(label, layout.CODE + start, memory[start : start + _up(size)].tobytes(), _up(whole), permission)
        for start, size, whole, (label, permission)
        in zip(starts, stored, (code, rodata, initialised), _PERMISSIONS, strict=True) if whole
    ]  # fmt: skip
    about, romfs, warnings = _extended(data, header, name)
    return Program(
        name, segments, layout.CODE, data, homebrew=True, about=about, romfs=romfs, warnings=warnings
    )  # fmt: skip


def _damaged(message: str, name: str, at: int) -> ProgramError:
    return ProgramError(message, file=name, offset=at, hint="Copy or build the file again.")


def _patch(image: NDArray[np.uint32], start: int, size: int, entries: bytes, kind: int, name: str) -> None:
    """Patch words of a segment, whose place and size are in words."""
    steps = np.frombuffer(entries, "<u2").reshape(-1, 2).astype(np.int64)
    ends = np.cumsum(steps.sum(1))
    if len(ends) == 0:
        return
    if ends[-1] > size:
        raise ProgramError("a relocation is outside its segment", file=name, location=f"image byte {4 * start:#x}")
    counts = steps[:, 1]
    firsts = ends - counts
    places = start + np.repeat(firsts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    words = image[places]
    kinds = words >> _KIND_AT
    wrong = np.flatnonzero(kinds > (kind == _RELATIVE))
    if len(wrong):
        where = f"image byte {4 * int(places[wrong[0]]):#x}"
        raise ProgramError(f"no relocation has the kind {int(kinds[wrong[0]])}", file=name, location=where)
    values = (words & _OFFSET) + np.uint32(layout.CODE)
    if kind == _RELATIVE:
        values = values - (places * 4 + layout.CODE).astype(np.uint32)
        values = np.where(kinds == 1, values & _SHORT, values)
    image[places] = values


def _extended(data: bytes, header: int, name: str) -> tuple[Smdh | None, int | None, tuple[str, ...]]:
    """What the longer header names: title and icon, where the read-only files are, and what is wrong with that."""
    if header < _HEADER.size + _EXTENDED.size:
        return None, None, ()
    smdh_at, smdh_size, romfs = _EXTENDED.unpack_from(data, _HEADER.size)
    warnings = []
    about = None
    if smdh_size:
        about = read_smdh(data[smdh_at : smdh_at + smdh_size])
        if about is None:
            warnings.append(f"{name}: title and icon cannot be read")
    if romfs > len(data):
        warnings.append(f"{name}: the RomFS is outside of the file")
    return about, romfs if 0 < romfs < len(data) else None, tuple(warnings)


# -- ELF --------------------------------------------------------------------------------------------------------------
def _opened(data: bytes, name: str) -> Elf:
    elf = read_elf(data)
    if elf.machine != Machine.ARM or elf.bits != 32:
        raise ProgramError("an ELF of another processor", file=name, hint="A 3DS has a 32-bit ARM.")
    return elf


def _read_elf(data: bytes, name: str) -> Program:
    try:
        elf = _opened(data, name)
        segments = _pages(elf, name)
    except ElfError as error:
        raise ProgramError(f"damaged ELF: {error.message}", file=name, offset=error.offset) from None
    entry = elf.entry & ~1
    if not any(one.address <= entry < one.address + one.size and one.permission & Permission.EXECUTE
               for one in segments):  # fmt: skip
        raise ProgramError(f"it starts at {elf.entry:#010x}, where it has no code", file=name, offset=_ENTRY_AT)
    return _described(Program(name, segments, elf.entry, data), elf)


_ENTRY_AT: Final = 0x18


def _pages(elf: Elf, name: str) -> list[Segment]:
    """The segments in memory. Two that share a page become one with the rights of both."""
    found: list[Segment] = []
    total = 0
    for number, part in enumerate(one for one in elf.segments if one.type == SegmentType.LOAD and one.size):
        total += part.size
        end = part.address + part.size
        if total > _LARGEST or not layout.CODE <= part.address <= end <= layout.HEAP:
            raise ProgramError(
                f"{part.size:#x} bytes at {part.address:#010x} are not where a 3DS has programs", file=name,
                location=f"segment {number}",
                hint=f"Link it at {layout.CODE:#010x}, with at most {_LARGEST >> 20} MiB.",
            )  # fmt: skip
        rights = Permission.NONE
        for flag, right in _RIGHTS:
            rights |= right if part.flags & flag else Permission.NONE
        found.append(Segment(f"segment {number}", part.address, part.data, part.size, rights))
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


def _described(program: Program, elf: Elf) -> Program:
    """A program with the symbols of an ELF; without, if they are damaged."""
    try:
        sections = elf.sections  # damaged ones are noticed here, and symbols are read when they are wanted
        debug = DebugInfo(elf)
        index = next((one for one in elf.segments if one.type == SegmentType.ARM_EXIDX), None)
        place = (index.address, index.size) if index is not None else None
        if place is None:
            section = next((one for one in sections if one.type == SectionType.ARM_EXIDX), None)
            place = (section.address, section.size) if section is not None else None
        return replace(program, symbols=Symbols(elf.functions, debug), debug=debug, index=place)
    except ElfError as error:
        return replace(program, warnings=(*program.warnings, f"no symbols, as the ELF is damaged: {error.message}"))


def _with_symbols(program: Program, data: bytes, name: str) -> Program:
    """A 3DSX with the symbols of the ELF that it was made of."""
    code = program.segments[0]
    try:
        elf = _opened(data, name)
        part = next((one for one in elf.segments if one.type == SegmentType.LOAD and one.data), None)
        same = part is not None and part.address == code.address and code.data.startswith(part.data)
        problem = "" if same else "it is of another build, as its code differs"
    except ElfError as error:
        problem = f"it is damaged: {error.message}"
    except ProgramError as error:
        problem = error.message
    if problem:
        return replace(program, warnings=(*program.warnings, f"no symbols of {name}: {problem}"))
    return _described(program, elf)
