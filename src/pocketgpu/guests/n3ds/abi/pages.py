"""The pages that a kernel and a loader fill for a program. Source: libctru's os.h and 3dsx_crt0.s; 3dbrew Configuration
Memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.timeline import START_DATE
from pocketgpu.guests.n3ds.abi import layout

KERNEL_VERSION: Final = 0x02370000
"""2.55, the kernel of system 11."""
_NORMAL_SYSTEM: Final = 2
_APPLICATION, _SYSTEM, _BASE = 0x04000000, 0x02C00000, 0x01400000
"""Sizes of the three regions of memory in the mode that homebrew has."""
_FROM_1900: Final = 2_208_988_800
"""Seconds from 1900 to 1970."""
DATE: Final = (START_DATE + _FROM_1900) * 1000
"""Milliseconds from 1900 to when every run begins."""
YEAR_2000: Final = 3_155_673_600_000
"""Milliseconds from 1900 to the beginning of 2000, from which other clocks count."""
SLIDER: Final = 0.75
_SLIDER_AT, _HEADPHONES_AT = 0x80, 0xC0
_PRM: Final = b"_prm"
_PRM_AT: Final = 4
_SERVICES_AT, _ARGUMENTS_AT = 0, 0x100
_START_BLOCK: Final = struct.Struct("<6I")
_APP_ID: Final = 0x300
_HEAP, _LINEAR_HEAP = 24 << 20, 32 << 20


def fill_kernel_page(page: memoryview) -> None:
    """What the kernel says of itself and of memory."""
    struct.pack_into("<I", page, 0x00, KERNEL_VERSION)
    struct.pack_into("<II", page, 0x10, _NORMAL_SYSTEM, 1)
    struct.pack_into("<III", page, 0x40, _APPLICATION, _SYSTEM, _BASE)
    struct.pack_into("<II", page, 0x60, KERNEL_VERSION, _NORMAL_SYSTEM)


def fill_shared_page(page: memoryview) -> None:
    """Date, 3D slider and the like. Both references of time are there, as programs divide by their clock."""
    struct.pack_into("<I", page, 0x04, 1)
    for at in (0x20, 0x40):
        struct.pack_into("<QQqq", page, at, DATE, 0, layout.CLOCK, 0)
    set_slider(page, SLIDER)


def set_slider(page: memoryview, position: float) -> None:
    """The 3D slider: 0 to 1. The LED beside it is lit where it is not at 0."""
    struct.pack_into("<fB", page, _SLIDER_AT, position, int(position == 0))


def set_headphones(page: memoryview, headphones: bool) -> None:
    """Whether headphones are plugged in."""
    page[_HEADPHONES_AT] = int(headphones)


def fill_loader_page(page: memoryview, code: memoryview, arguments: Sequence[str]) -> None:
    """What a homebrew loader leaves: no handles, and the arguments. code: the code segment, whose start block gets
    their address; a program without that block gets nothing.

    :raises UsageError: the arguments do not fit.
    """
    if len(code) < _PRM_AT + 4 + _START_BLOCK.size or bytes(code[_PRM_AT : _PRM_AT + 4]) != _PRM:
        return
    data = struct.pack("<I", len(arguments)) + b"".join(one.encode("utf-8", "replace") + b"\0" for one in arguments)
    if _ARGUMENTS_AT + len(data) > len(page):
        room = len(page) - _ARGUMENTS_AT
        raise UsageError(f"the arguments of the program take {len(data)} bytes", hint=f"There is room for {room}.")
    page[_ARGUMENTS_AT : _ARGUMENTS_AT + len(data)] = data
    _START_BLOCK.pack_into(
        code, _PRM_AT + 4, layout.LOADER_PAGE + _SERVICES_AT, _APP_ID, _HEAP, _LINEAR_HEAP,
        layout.LOADER_PAGE + _ARGUMENTS_AT, 0,
    )  # fmt: skip
