"""What a homebrew loader leaves for a program: entries with a key and two values, and texts that they point to.

Source: libnx's env.h, nx-hbloader's main.c; switchbrew Homebrew ABI.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel import emulator
from pocketgpu.guests.switch.abi import layout

_ENTRY: Final = struct.Struct("<IIQQ")
_MANDATORY: Final = 1
_ARGUMENTS_AT, _NEXT_PATH_AT, _NEXT_ARGUMENTS_AT, _LOADER_TEXT_AT = 0x800, 0xA00, 0xC00, 0xE00
_LOADER_ROOM: Final = 0x1000 - _LOADER_TEXT_AT
_ARGUMENTS_ROOM: Final = _NEXT_PATH_AT - _ARGUMENTS_AT
SIZE: Final = 0x1000
NEXT_PATH: Final = layout.START_BLOCK + _NEXT_PATH_AT
NEXT_PATH_ROOM: Final = _NEXT_ARGUMENTS_AT - _NEXT_PATH_AT
"""Where a program leaves the path of another one that is to be started after it."""
_APPLICATION, _AS_APPLICATION = 4, 1
"""The applet type of an application, and that the loader was started as one."""
_EVERY_CALL: Final = (1 << 64) - 1
_RANDOM: Final = (0x1234567890ABCDEF, 0xFEDCBA0987654321)
"""Constant, so that every run is the same."""
VERSION: Final = (17, 0, 0)
"""Of the system."""


class Key(IntEnum):
    """What an entry is about."""

    END = 0
    MAIN_THREAD = 1
    NEXT_LOAD = 2
    HEAP = 3
    ARGUMENTS = 5
    CALLS = 6
    APPLET = 7
    PROCESS = 10
    RANDOM = 14
    VERSION = 16
    MORE_CALLS = 17


def start_block(arguments: Sequence[str], main_thread: int, process: int, heap: tuple[int, int]) -> bytes:
    """The bytes at `layout.START_BLOCK`.

    :param arguments: the first is the program's own place.
    :param main_thread, process: handles.
    :param heap: address and size.
    :raises UsageError: the arguments do not fit.
    """
    text = " ".join(_quoted(one) for one in arguments).encode("utf-8", "replace") + b"\0"
    if len(text) > _ARGUMENTS_ROOM:
        raise UsageError(
            f"the arguments of the program take {len(text)} bytes", hint=f"There is room for {_ARGUMENTS_ROOM}."
        )
    at = layout.START_BLOCK
    major, minor, micro = VERSION
    entries = (
        (Key.MAIN_THREAD, 0, main_thread, 0), (Key.PROCESS, 0, process, 0),
        (Key.APPLET, 0, _APPLICATION, _AS_APPLICATION), (Key.HEAP, _MANDATORY, *heap),
        (Key.ARGUMENTS, 0, 0, at + _ARGUMENTS_AT), (Key.NEXT_LOAD, 0, at + _NEXT_PATH_AT, at + _NEXT_ARGUMENTS_AT),
        (Key.CALLS, 0, _EVERY_CALL, _EVERY_CALL), (Key.MORE_CALLS, 0, _EVERY_CALL, 0), (Key.RANDOM, 0, *_RANDOM),
        (Key.VERSION, 0, major << 16 | minor << 8 | micro, 0), (Key.END, 0, at + _LOADER_TEXT_AT, len(emulator.name())),
    )  # fmt: skip
    block = bytearray(SIZE)
    for number, entry in enumerate(entries):
        _ENTRY.pack_into(block, number * _ENTRY.size, *entry)
    loader = emulator.name().encode()
    assert len(loader) < _LOADER_ROOM, "its end is a zero"
    block[_LOADER_TEXT_AT : _LOADER_TEXT_AT + len(loader)] = loader
    block[_ARGUMENTS_AT : _ARGUMENTS_AT + len(text)] = text
    return bytes(block)


def _quoted(argument: str) -> str:
    """An argument as programs cut the command line: at spaces, except between quotes."""
    return f'"{argument}"' if " " in argument or not argument else argument
