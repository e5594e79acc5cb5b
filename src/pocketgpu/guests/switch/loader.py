"""Reads programs of the Switch: NRO and ELF.

    program = read_program(data, "app.nro", elf=Path("app.elf").read_bytes())

An NRO has three segments of whole pages, one after the other; the program relocates itself. Icon, title and read-only
files follow the image. It has no symbols: they come from the ELF that it was made of, if its code is the same. Source:
libnx's nro.h, dynamic.c; switch-tools' elf2nro.c.
"""

from __future__ import annotations

import struct
from typing import Final

from pocketgpu.guests.kernel.elf_program import (
    ElfRules,
    ProgramError,
    damaged,
    pages_up,
    read_elf_program,
    with_symbols,
)
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.program import Program, Segment
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.nacp import Nacp, read_nacp
from pocketgpu.guests.symbols.elf import MAGIC, Machine
from pocketgpu.guests.symbols.frames import ImageFrames

__all__ = ["HEADER_SIZE", "NRO_MAGIC", "NRO_MAGIC_AT", "ProgramError", "read_program"]

HEADER_SIZE: Final = 0x80
NRO_MAGIC, NRO_MAGIC_AT = b"NRO0", 0x10
_HEADER: Final = struct.Struct("<4sIII")
"""From the magic on: version, bytes of the image, flags."""
_MODULE_AT: Final = 4
_MODULE_MAGIC: Final = b"MOD0"
_MODULE: Final = struct.Struct("<4s6i")
"""Distances from here to: .dynamic, start and end of bss, start and end of .eh_frame_hdr, module object."""
_FRAMES: Final = 4
_SEGMENT: Final = struct.Struct("<II")
_SEGMENTS_AT: Final = 0x20
_BSS_AT: Final = 0x38
_SIZE_AT: Final = 0x18
_LARGEST: Final = 192 << 20
"""Bytes of all segments, beside the heap."""
_PERMISSIONS: Final = (
    ("text", Permission.READ | Permission.EXECUTE), ("rodata", Permission.READ),
    ("data", Permission.READ | Permission.WRITE),
)  # fmt: skip
_ELF: Final = ElfRules(
    "Switch", Machine.AARCH64, 64, "A Switch has a 64-bit ARM.", layout.CODE, layout.CODE + _LARGEST, _LARGEST,
    HEADER_SIZE,
)  # fmt: skip
_ASSETS_MAGIC: Final = b"ASET"
_ASSETS: Final = struct.Struct("<4sI6Q")
"""Version; offset and size of icon, NACP and RomFS, from the start of this header."""


def read_program(data: bytes, name: str, *, elf: bytes | None = None, elf_name: str = "") -> Program:
    """A program from the bytes of its file.

    :param elf: the ELF that an NRO was made of, for functions and lines. If it is another one, the program's `warnings`
        say so.
    :raises ProgramError: it is damaged, or of another kind.
    """
    if data[NRO_MAGIC_AT : NRO_MAGIC_AT + len(NRO_MAGIC)] == NRO_MAGIC:
        program = _read_nro(data, name)
        return program if elf is None else with_symbols(program, elf, elf_name or "the ELF", _ELF)
    if data[: len(MAGIC)] == MAGIC:
        return read_elf_program(data, name, _ELF)
    raise ProgramError("not a program of the Switch", file=name, hint="Known are .nro and .elf.")


def _read_nro(data: bytes, name: str) -> Program:
    if len(data) < HEADER_SIZE:
        raise damaged("cut in the header", name, len(data))
    _, version, size, _ = _HEADER.unpack_from(data, NRO_MAGIC_AT)
    if version != 0:
        raise damaged(f"no NRO has the version {version}", name, NRO_MAGIC_AT + 4)
    if size % PAGE or size < PAGE:
        raise damaged("the image is not of whole pages", name, _SIZE_AT)
    if size > len(data):
        raise damaged("cut in the image", name, len(data))
    (bss,) = struct.unpack_from("<I", data, _BSS_AT)
    if size + pages_up(bss) > _LARGEST:
        raise damaged("the image is larger than the memory of a program", name, _BSS_AT)
    segments, end = [], 0
    for number, (label, permission) in enumerate(_PERMISSIONS):
        at = _SEGMENTS_AT + number * _SEGMENT.size
        offset, bytes_here = _SEGMENT.unpack_from(data, at)
        if offset % PAGE or bytes_here % PAGE:
            raise damaged(f"{label} is not of whole pages", name, at)
        if offset != end:
            raise damaged(f"{label} does not follow what is before it", name, at)
        end = offset + bytes_here
        if end > size:
            raise damaged(f"{label} is outside of the image", name, at)
        whole = bytes_here + (pages_up(bss) if permission & Permission.WRITE else 0)
        if whole:
            segments.append(Segment(label, layout.CODE + offset, data[offset:end], whole, permission))
    if not segments or not segments[0].permission & Permission.EXECUTE:
        raise damaged("a program without code", name, _SEGMENTS_AT)
    about, romfs, warnings = _assets(data, size, name)
    (module,) = struct.unpack_from("<I", data, _MODULE_AT)
    frames = None
    if module + _MODULE.size <= size and data[module : module + len(_MODULE_MAGIC)] == _MODULE_MAGIC:
        distance = _MODULE.unpack_from(data, module)[_FRAMES]
        frames = ImageFrames(data[:size], layout.CODE, module + distance)
    else:
        warnings += (f"{name}: no module header (MOD0) where the header names one",)
    return Program(
        name, segments, layout.CODE, data, homebrew=True, frames=frames, about=about, romfs=romfs, warnings=warnings
    )  # fmt: skip


def _assets(data: bytes, start: int, name: str) -> tuple[Nacp | None, int | None, tuple[str, ...]]:
    """What follows the image: title and icon, where the read-only files are, and what is wrong with that."""
    if data[start : start + len(_ASSETS_MAGIC)] != _ASSETS_MAGIC:
        return None, None, ()
    if start + _ASSETS.size > len(data):
        return None, None, (f"{name}: cut in the header of icon, title and files",)
    warnings, parts = [], []
    _, _, *pairs = _ASSETS.unpack_from(data, start)
    for label, offset, size in zip(("icon", "title", "RomFS"), pairs[::2], pairs[1::2], strict=True):
        inside = start + offset + size <= len(data)
        if not inside:
            warnings.append(f"{name}: the {label} is outside of the file")
        parts.append((start + offset, size) if size and inside else None)
    icon, nacp, romfs = parts
    about = None
    if nacp is not None:
        about = read_nacp(data[nacp[0] : sum(nacp)], data[icon[0] : sum(icon)] if icon is not None else b"")
        if about is None:
            warnings.append(f"{name}: the title cannot be read")
    return about, romfs[0] if romfs is not None else None, tuple(warnings)
