"""Machine code without a compiler: objects of LLVM become images, which are copied into memory and run.

    image = from_object(compile_object(text))     # bytes, to be kept
    address = load([image])[0]                    # of its function, as long as the process lives

An image is position-independent code with its constants. Loading it needs nothing of LLVM, whose import takes about
half as long as NumPy's. The cache and the package hold images on Linux with x86-64; on other systems LLVM loads objects
(`machine_code.py`).

Code of LLVM may call a few functions of the C library. An image has a jump for each of them, after the code, and its
address is filled in when it is loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

_HEAD: Final = struct.Struct("<8sII4I")
"""Magic, bytes of code, where the function begins, where each address of a jump is (0: not called)."""
_MAGIC: Final = b"pgpuimg1"
_CALLED: Final = ("memcpy", "memset", "memmove", "memcmp")
_JUMP: Final = b"\xff\x25\x02\x00\x00\x00\x90\x90"  # jmp [rip + 2], then two bytes so that the address is aligned
_ADDRESS: Final = struct.Struct("<Q")
_ALIGN: Final = 64

# The parts of an ELF object that LLVM writes for x86-64 (System V ABI, AMD64 supplement).
_SECTIONS_AT, _SECTION_COUNT_AT = 0x28, 0x3C
_SECTION: Final = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")]
)  # fmt: skip
_SYMBOL: Final = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_RELOCATION: Final = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMTAB, _RELA = 2, 4
_ALLOCATED = 2
_UNDEFINED = 0
_GLOBAL_FUNCTION = 0x12  # binding 1, type 2
_PC32, _PLT32 = 2, 4
_PROTECTION: Final = 1 | 4  # PROT_READ | PROT_EXEC
_kept: list[mmap.mmap] = []  # code that was loaded is never freed


class UnloadableError(Exception):
    """An object has something that an image can't hold."""


def _table(data: bytes, section: np.void, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(data, kind, int(section["size"]) // kind.itemsize, int(section["offset"]))


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("ascii")


def from_object(data: bytes) -> bytes:
    """The image of an ELF object with one global function, made with relocations that are position-independent.

    :raises UnloadableError: another kind of relocation, or a call of a function that images don't know.
    """
    (start,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    sections = np.frombuffer(data, _SECTION, count, start)
    code, places = bytearray(), {}
    for number, section in enumerate(sections):
        if section["flags"] & _ALLOCATED and section["size"]:
            code += bytes(-len(code) % max(int(section["align"]), 1))
            places[number] = len(code)
            code += data[int(section["offset"]) : int(section["offset"] + section["size"])]
    table = next(one for one in sections if one["type"] == _SYMTAB)
    names = int(sections[int(table["link"])]["offset"])
    symbols = _table(data, table, _SYMBOL)
    entry = next(places[int(one["section"])] + int(one["value"]) for one in symbols if one["info"] == _GLOBAL_FUNCTION)
    jumps: dict[str, int] = {}
    for section in sections:
        if section["type"] != _RELA or int(section["info"]) not in places:
            continue
        for one in _table(data, section, _RELOCATION):
            if one["type"] not in (_PC32, _PLT32):
                raise UnloadableError(f"relocation {one['type']}")
            symbol = symbols[int(one["symbol"])]
            if symbol["section"] == _UNDEFINED:
                place = _jump(code, jumps, _text(data, names + int(symbol["name"])))
            else:
                place = places[int(symbol["section"])] + int(symbol["value"])
            at = places[int(section["info"])] + int(one["offset"])
            struct.pack_into("<i", code, at, place + int(one["addend"]) - at)
    slots = [jumps[name] + len(_JUMP) if name in jumps else 0 for name in _CALLED]
    return _HEAD.pack(_MAGIC, len(code), entry, *slots) + code


def _jump(code: bytearray, jumps: dict[str, int], name: str) -> int:
    """Where the jump to a function of the C library is; the first use makes it."""
    if name not in _CALLED:
        raise UnloadableError(f"call of {name}")
    if name not in jumps:
        code += bytes(-len(code) % 16)
        jumps[name] = len(code)
        code += _JUMP + bytes(_ADDRESS.size)
    return jumps[name]


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def load(images: Sequence[bytes | memoryview]) -> list[int]:
    """Put images into the memory of this process, and give the addresses of their functions. They stay there.

    :raises UnloadableError: something is no image. :raises OSError: the system allows no memory for code.
    """
    parts, size = [], 0
    for image in images:
        if len(image) < _HEAD.size or image[: len(_MAGIC)] != _MAGIC:
            raise UnloadableError("no image")
        _, length, entry, *slots = _HEAD.unpack_from(image)
        last = max(slots) and max(slots) + _ADDRESS.size
        if length != len(image) - _HEAD.size or entry >= length or last > length:
            raise UnloadableError("an image that is cut short")
        parts.append((image, size, entry, slots))
        size += length + -length % _ALIGN
    memory = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for image, at, _, slots in parts:
        memory[at : at + len(image) - _HEAD.size] = image[_HEAD.size :]
        for name, slot in zip(_CALLED, slots, strict=True):
            if slot:
                function = ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value
                _ADDRESS.pack_into(memory, at + slot, function)
    if _library().mprotect(ctypes.c_void_p(base), ctypes.c_size_t(len(memory)), _PROTECTION):
        raise OSError(ctypes.get_errno(), "no memory for machine code")
    _kept.append(memory)
    return [base + at + entry for _, at, entry, _ in parts]
