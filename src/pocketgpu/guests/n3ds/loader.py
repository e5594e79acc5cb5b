"""Reads programs of the 3DS: 3DSX, ELF and AXF.

A 3DSX has three segments, each rounded up to pages, and lists of words to patch: absolute ones become addresses,
relative ones distances. Source: 3dstools' 3dsx.h and 3dsxtool.cpp; libctru's 3dsx_crt0.s.
"""

from __future__ import annotations

import io
import struct
from typing import Final

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.program import Program, Segment, Symbol
from pocketgpu.guests.n3ds.abi import layout

_HEADER: Final = struct.Struct("<4sHHIIIIII")
_LARGEST: Final = 64 << 20
"""Bytes of all segments: what a program can have."""
_RELOCATION: Final = struct.Struct("<HH")
_PERMISSIONS: Final = (
    ("code", Permission.READ | Permission.EXECUTE), ("rodata", Permission.READ),
    ("data", Permission.READ | Permission.WRITE),
)  # fmt: skip
_REFUSED: Final = {b"NCCH": "NCCH", b"NCSD": "CCI", b"PFS0": "NSP", b"HEAD": "XCI", b"NRO0": "NRO"}


class ProgramError(CaptureError):
    """A file is no program that can be run."""


def read_program(data: bytes, name: str) -> Program:
    """A program from the bytes of its file.

    :raises ProgramError: it is damaged, of another kind, or encrypted.
    """
    if data[:4] == b"3DSX":
        return _read_3dsx(data, name)
    if data[:4] == b"\x7fELF":
        return _read_elf(data, name)
    for at in (0, 0x100):
        if data[at : at + 4] in _REFUSED:
            kind = _REFUSED[data[at : at + 4]]
            raise ProgramError(f"{kind} files are not run", file=name, hint="Run a .3dsx or .elf of homebrew.")
    raise ProgramError("not a program of the 3DS", file=name, hint="Known are 3DSX, ELF and AXF.")


def _up(size: int) -> int:
    return -(-size // PAGE) * PAGE


def _read_3dsx(data: bytes, name: str) -> Program:
    if len(data) < _HEADER.size:
        raise ProgramError("cut in the header", file=name)
    _, header, entry_size, version, _, *sizes = _HEADER.unpack_from(data)
    code, rodata, initialised, bss = sizes
    if version != 0 or header < _HEADER.size or entry_size < 8 or entry_size % 4:
        raise ProgramError("the header has values that no 3DSX has", file=name, location="byte 4")
    if max(sizes) > _LARGEST or bss > initialised or code + rodata + initialised > _LARGEST:
        raise ProgramError("segments are larger than the memory of a 3DS", file=name, location="byte 16")
    counts = []
    at = header
    for _ in range(3):
        if at + entry_size > len(data):
            raise ProgramError("cut in the headers of relocations", file=name, location=f"byte {at}")
        counts.append(struct.unpack_from(f"<{entry_size // 4}I", data, at))
        at += entry_size
    parts = (code, rodata, initialised - bss)
    places, offset = [], 0
    image = bytearray(_up(code) + _up(rodata) + _up(initialised))
    for size, whole in zip(parts, (code, rodata, initialised), strict=True):
        if at + size > len(data):
            raise ProgramError("cut in a segment", file=name, location=f"byte {at}")
        image[offset : offset + size] = data[at : at + size]
        places.append((offset, whole))
        offset += _up(whole)
        at += size
    for (start, size), entries in zip(places, counts, strict=True):
        for kind, count in enumerate(entries):
            end = at + count * _RELOCATION.size
            if end > len(data):
                raise ProgramError("cut in the relocations", file=name, location=f"byte {at}")
            if kind < 2:
                _patch(image, start, _up(size), data[at:end], kind == 1, name)
            at = end
    segments = [
        Segment(label, layout.CODE + start, bytes(image[start : start + _up(size)]), _up(size), permission)
        for (start, size), (label, permission) in zip(places, _PERMISSIONS, strict=True) if size
    ]  # fmt: skip
    return Program(name, segments, layout.CODE, data, homebrew=True)


def _patch(image: bytearray, start: int, size: int, entries: bytes, relative: bool, name: str) -> None:
    at = start
    for skip, patches in _RELOCATION.iter_unpack(entries):
        at += 4 * skip
        if at + 4 * patches > start + size:
            raise ProgramError("a relocation is outside its segment", file=name, location=f"image byte {at:#x}")
        for _ in range(patches):
            (word,) = struct.unpack_from("<I", image, at)
            value, kind = layout.CODE + (word & 0x0FFFFFFF), word >> 28
            if relative and kind in (0, 1):
                value -= layout.CODE + at
                value &= 0x7FFFFFFF if kind == 1 else 0xFFFFFFFF
            elif kind:
                raise ProgramError(f"no relocation has the kind {kind}", file=name, location=f"image byte {at:#x}")
            struct.pack_into("<I", image, at, value)
            at += 4


def _read_elf(data: bytes, name: str) -> Program:
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
        from elftools.elf.sections import SymbolTableSection
    except ImportError:
        raise UsageError("ELF files need the extra 'guest'", hint="pip install 'pocketgpu[guest]'") from None
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf["e_machine"] != "EM_ARM" or elf.elfclass != 32 or not elf.little_endian:
            raise ProgramError("an ELF of another processor", file=name, hint="A 3DS has a 32-bit ARM.")
        segments, symbols = [], []
        for number, part in enumerate(one for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"):
            if not part["p_memsz"]:
                continue
            if part["p_memsz"] > _LARGEST or part["p_filesz"] > part["p_memsz"]:
                raise ProgramError("larger than the memory of a 3DS", file=name, location=f"segment {number}")
            flags = part["p_flags"]
            permission = Permission.NONE
            for bit, one in ((4, Permission.READ), (2, Permission.WRITE), (1, Permission.EXECUTE)):
                permission |= one if flags & bit else Permission.NONE
            segments.append(Segment(f"segment {number}", part["p_vaddr"], part.data(), part["p_memsz"], permission))
        for section in elf.iter_sections():
            if isinstance(section, SymbolTableSection):
                symbols += [
                    Symbol(one.name, one["st_value"] & ~1, one["st_size"]) for one in section.iter_symbols()
                    if one["st_info"]["type"] == "STT_FUNC"
                ]  # fmt: skip
        entry = int(elf["e_entry"])
    except (ELFError, struct.error, UnicodeDecodeError, ValueError, KeyError, IndexError, AssertionError) as error:
        raise ProgramError(f"damaged ELF: {error}", file=name) from None
    if not segments:
        raise ProgramError("an ELF without segments to load", file=name)
    return Program(name, segments, entry, data, symbols=tuple(sorted(symbols, key=lambda one: one.address)))
