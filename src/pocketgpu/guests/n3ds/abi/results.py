"""Result codes of the kernel and of services: bits 31-27 level, 26-21 summary, 17-10 module, 9-0 description.

A code with bit 31 is a failure. Source: 3dbrew Error codes; libctru's result.h for the parts.
"""

from __future__ import annotations

from enum import IntEnum

from pocketgpu.facts.n3ds.structures import RESULT_CODE


class Result(IntEnum):
    """Codes that programs are given here."""

    OK = 0
    TIMEOUT = 0x09401BFE
    INVALID_HANDLE = 0xD8E007F7
    NOT_FOUND_PORT = 0xD88007FA
    ACCESS_DENIED = 0xD8E06406
    NOT_OWNER = 0xD8E0041F
    OUT_OF_RANGE = 0xE0E01BFD
    OUT_OF_RANGE_KERNEL = 0xD8E007FD
    MISALIGNED_ADDRESS = 0xE0E01BF1
    MISALIGNED_SIZE = 0xE0E01BF2
    INVALID_COMBINATION = 0xE0E01BEE
    INVALID_ADDRESS = 0xE0E01BF5
    INVALID_POINTER = 0xD8E007F6
    OUT_OF_MEMORY = 0xD86007F3
    OUT_OF_HANDLES = 0xD8600413
    OUT_OF_THREADS = 0xC860180C
    NOT_IMPLEMENTED = 0xD9001BF7
    INVALID_COMMAND = 0xD900182F
    NO_PARAMETER = 0xC880CFFA
    FILE_NOT_FOUND = 0xC8804478
    PATH_NOT_FOUND = 0xC8804471
    ARCHIVE_NOT_FOUND = 0xC8804465
    FILE_EXISTS = 0xC82044BE
    NO_SPACE = 0xC86044D2
    FOLDER_NOT_EMPTY = 0xC92044F0
    WRITE_PROTECTED = 0xC8A04490
    NOT_FORMATTED = 0xC8A04554
    SESSION_CLOSED = 0xC920181A
    SETTING_NOT_FOUND = 0xD8E103FA
    FIRST_REGISTRATION = 0x00002A07


def result_text(code: int) -> str:
    """A result code with what its parts mean: "0xd8e007f7 (kernel: invalid handle; invalid argument, permanent)"."""
    parts = []
    for name in ("module", "description", "summary", "level"):
        field = RESULT_CODE[name]
        number = field.raw(code)
        parts.append(field.values.get(number, f"{name} {number}"))
    module, description, summary, level = parts
    return f"{code:#010x} ({module}: {description}; {summary}, {level})"
