"""Reads programs of the 3DS: 3DSX, ELF and AXF.

    program = read_program(data, "app.3dsx", elf=Path("app.elf").read_bytes())

A 3DSX has three segments, each rounded up to pages, and lists of words to patch: absolute ones become addresses,
relative ones distances. It has no symbols: they come from the ELF that it was made of, if its code is the same. Source:
3dstools' 3dsx.h and 3dsxtool.cpp; libctru's 3dsx_crt0.s.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.kernel.elf_program import (
    ElfRules,
    ProgramError,
    damaged,
    pages_up,
    read_elf_program,
    with_symbols,
)
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.smdh import Smdh, read_smdh
from pocketgpu.guests.symbols.elf import MAGIC, Machine

__all__ = ["ProgramError", "read_program"]

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
_ELF: Final = ElfRules(
    "3DS", Machine.ARM, 32, "A 3DS has a 32-bit ARM.", layout.CODE, layout.HEAP, _LARGEST, thumb=True
)  # fmt: skip


def read_program(data: bytes, name: str, *, elf: bytes | None = None, elf_name: str = "") -> Program:
    """A program from the bytes of its file.

    :param elf: the ELF that a 3DSX was made of, for functions and lines. If it is another one, the program's `warnings`
        say so.
    :raises ProgramError: it is damaged, or of another kind.
    """
    if data[:4] == _MAGIC:
        program = _read_3dsx(data, name)
        return program if elf is None else with_symbols(program, elf, elf_name or "the ELF", _ELF)
    if data[:4] == MAGIC:
        return read_elf_program(data, name, _ELF)
    raise ProgramError("not a program of the 3DS", file=name, hint="Known are .3dsx, .elf and .axf.")


# -- 3DSX -------------------------------------------------------------------------------------------------------------
def _read_3dsx(data: bytes, name: str) -> Program:
    if len(data) < _HEADER.size:
        raise damaged("cut in the header", name, len(data))
    _, header, entry_size, version, _, *sizes = _HEADER.unpack_from(data)
    code, rodata, initialised, bss = sizes
    if version != 0 or header < _HEADER.size or entry_size < 8 or entry_size % 4:
        raise damaged("the header has values that no 3DSX has", name, 4)
    if max(sizes) > _LARGEST or bss > initialised or code + rodata + initialised > _LARGEST:
        raise damaged("segments are larger than the memory of a 3DS", name, 16)
    if not code:
        raise damaged("a program without code", name, 16)
    counts = []
    at = header
    for _ in range(3):
        if at + entry_size > len(data):
            raise damaged("cut in the headers of relocations", name, at)
        counts.append(struct.unpack_from(f"<{entry_size // 4}I", data, at))
        at += entry_size
    stored = (code, rodata, initialised - bss)
    starts = (0, pages_up(code), pages_up(code) + pages_up(rodata))
    image = np.zeros((starts[2] + pages_up(stored[2])) // 4, np.uint32)
    memory = image.view(np.uint8)
    for start, size in zip(starts, stored, strict=True):
        if at + size > len(data):
            raise damaged("cut in a segment", name, at)
        memory[start : start + size] = np.frombuffer(data, np.uint8, size, at)
        at += size
    for start, size, entries in zip(starts, stored, counts, strict=True):
        for kind, count in enumerate(entries):
            end = at + count * _RELOCATION.size
            if end > len(data):
                raise damaged("cut in the relocations", name, at)
            if kind in (_ABSOLUTE, _RELATIVE):
                _patch(image, start // 4, pages_up(size) // 4, data[at:end], kind, name)
            at = end
    segments = [
        Segment(label, layout.CODE + start, memory[start : start + pages_up(size)].tobytes(), pages_up(all), permission)
        for start, size, all, (label, permission)
        in zip(starts, stored, (code, rodata, initialised), _PERMISSIONS, strict=True) if all
    ]  # fmt: skip
    about, romfs, warnings = _extended(data, header, name)
    return Program(
        name, segments, layout.CODE, data, homebrew=True, about=about, romfs=romfs, warnings=warnings
    )  # fmt: skip


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
