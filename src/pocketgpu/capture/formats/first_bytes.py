"""How the files of each format begin. A file is recognised by its first bytes, not by its name.

This module imports no reader, so that opening a file imports the reader of its own format only.
"""

from __future__ import annotations

import os
from typing import Final

PGC: Final = b"\x89PGC\r\n\x1a\n"
ZIP: Final = b"PK\x03\x04"
CITRACE: Final = b"CiTr"
BOM: Final = b"\xef\xbb\xbf"
"""The bytes that some editors put at the start of a text."""

_JSON_WITHIN = 64
_3DSX: Final = b"3DSX"
_NRO, _NRO_AT = b"NRO0", 16
_ELF, _ELF_MACHINE, _ARM, _AARCH64 = b"\x7fELF", slice(18, 20), b"\x28\x00", b"\xb7\x00"
PROGRAM_BYTES: Final = 20
"""How many bytes `of_program` looks at."""


def of_pgc(data: bytes) -> bool:
    """Whether a file's bytes begin like a `.pgc`, or like one that was cut or converted as text."""
    return data.startswith(PGC[:4]) or (0 < len(data) < 4 and PGC.startswith(data))


def of_zip(data: bytes) -> bool:
    """Whether a file's plain bytes begin like a zip archive."""
    return data.startswith(ZIP)


def of_json(data: bytes) -> bool:
    """Whether a file's plain bytes begin like a JSON object."""
    return data[:_JSON_WITHIN].removeprefix(BOM).lstrip(b" \t\r\n").startswith(b"{")


def of_citrace(data: bytes) -> bool:
    """Whether a file's plain bytes begin like a CiTrace recording, which may be cut after any byte."""
    return data.startswith(CITRACE[: len(data)])


def of_3ds_program(data: bytes) -> bool:
    """Whether a file's bytes begin like a program of a 3DS: a 3DSX, or an ELF for its processor."""
    return data.startswith(_3DSX) or (data.startswith(_ELF) and data[_ELF_MACHINE] == _ARM)


def of_switch_program(data: bytes) -> bool:
    """Whether a file's bytes begin like a program of a Switch: an NRO, or an ELF for its processor."""
    return data.startswith(_NRO, _NRO_AT) or (data.startswith(_ELF) and data[_ELF_MACHINE] == _AARCH64)


def of_program(data: bytes) -> bool:
    """Whether a file's bytes begin like a program of a console."""
    return of_3ds_program(data) or of_switch_program(data)


def is_program(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a program, by its first bytes; False for what cannot be read."""
    try:
        with open(path, "rb") as file:
            return of_program(file.read(PROGRAM_BYTES))
    except (OSError, ValueError):
        return False


__all__ = [
    "BOM", "CITRACE", "PGC", "ZIP", "of_3ds_program", "of_citrace", "of_json", "of_pgc", "of_program",
    "of_switch_program", "of_zip",
]  # fmt: skip
