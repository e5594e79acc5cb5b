"""What the kernel reports about pages: their kind and what they are used for. Source: libnx's svc.h (MemoryType)."""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag
from typing import Final

from pocketgpu.guests.kernel.memory import PAGE
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.results import Result


class Kind(IntEnum):
    """What memory is."""

    FREE = 0x00
    STATIC = 0x02
    CODE = 0x03
    CODE_DATA = 0x04
    HEAP = 0x05
    SHARED = 0x06
    MODULE_CODE = 0x08
    MODULE_DATA = 0x09
    STACK = 0x0B
    THREAD_LOCAL = 0x0C
    TRANSFERRED_ALONE = 0x0D
    """The program cannot reach it meanwhile."""
    TRANSFERRED = 0x0E
    OF_PROCESS = 0x0F
    """Code that is mapped a second time, to be written."""
    OUTSIDE = 0x10
    """Beyond the address space."""
    CODE_RUN = 0x14
    CODE_WRITTEN = 0x15
    """The two sides of code memory."""


class Use(IntFlag):
    """What pages are used for."""

    NONE = 0
    LENT = 1
    DEVICE = 4
    UNCACHED = 8
    FIXED = 0x10
    """Their permission does not change any more."""


OWN: Final = (Kind.CODE_DATA, Kind.HEAP, Kind.MODULE_DATA)
"""Memory that a program may lend and protect."""
_INFO: Final = struct.Struct("<QQIIIIII")


def information(base: int, size: int, kind: int = Kind.FREE, use: int = 0, permission: int = 0) -> bytes:
    """The 40 bytes of QueryMemory."""
    return _INFO.pack(base, size, kind, use, permission, 0, 0, 0)


def wrong_range(address: int, size: int) -> Result | None:
    """What is wrong with a range of pages, if anything is."""
    if address % PAGE:
        return Result.INVALID_ADDRESS
    if size % PAGE or not size:
        return Result.INVALID_SIZE
    return Result.INVALID_MEMORY_STATE if address + size > layout.LIMIT else None
