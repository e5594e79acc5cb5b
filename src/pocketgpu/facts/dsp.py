"""Memory that programs of the 3DS share with the sound processor.

    ADDRESSES  # of the 15 structures, in words of 16 bits
    read(view, 0, "channel", "rate"), write(view, 0, "status", "sequence", 3)

The rows are in n3ds/dsp.tsv.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.n3ds import TABLES

_ADDRESS, _END = "at", "end"
_FORMATS: Final = {"u8": "<B", "u16": "<H", "u32": "<I", "u32r": "<I", "f32": "<f"}
_ROTATED: Final = "u32r"


def _read() -> tuple[tuple[int, ...], Mapping[str, int], Mapping[tuple[str, str], tuple[int, str]]]:
    addresses: list[int] = []
    sizes: dict[str, int] = {}
    fields: dict[tuple[str, str], tuple[int, str]] = {}
    for row in TABLES.read("dsp"):
        name, field, offset = row["structure"], row["field"], int(row["offset"], 0)
        if field == _ADDRESS:
            addresses.append(offset)
        elif row["type"] == _END:
            sizes[name] = offset
        else:
            fields[name, field] = offset, row["type"]
    return tuple(addresses), MappingProxyType(sizes), MappingProxyType(fields)


ADDRESSES, SIZES, _FIELDS = _read()
FRAME, CHANNEL, STATUS = range(3)
"""Places of structures among the addresses."""


def _rotated(value: int) -> int:
    return (value << 16 | value >> 16) & 0xFFFFFFFF


def read(view: memoryview, base: int, structure: str, field: str) -> float:
    """A field of a structure at a place."""
    offset, kind = _FIELDS[structure, field]
    value: float = struct.unpack_from(_FORMATS[kind], view, base + offset)[0]
    return _rotated(int(value)) if kind == _ROTATED else value


def write(view: memoryview, base: int, structure: str, field: str, value: int) -> None:
    """Store a field of a structure at a place."""
    offset, kind = _FIELDS[structure, field]
    struct.pack_into(_FORMATS[kind], view, base + offset, _rotated(value) if kind == _ROTATED else value)
