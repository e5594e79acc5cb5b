"""Files of programs: what can be read as one, and the ELF beside a program that has no symbols."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from pocketgpu.errors import CaptureError
from pocketgpu.guests.symbols.elf import MAGIC

LARGEST: Final = 1 << 30
"""Bytes of a program's file, with its read-only files."""


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    :raises CaptureError: it is absent, a folder, no plain file, too large, or cannot be read.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            hint = "Name the .3dsx or .elf in it."
            raise CaptureError("cannot be read: it is a folder, not a program", file=str(path), hint=hint)
        if not stat.S_ISREG(status.st_mode):
            raise CaptureError("cannot be read: it is no plain file", file=str(path), hint="Copy it to a file first.")
        if status.st_size > LARGEST:
            message = f"cannot be read: it is larger than {LARGEST >> 30} GiB"
            raise CaptureError(message, file=str(path), hint="No program of a 3DS is as large as that.")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        advice = "Check its name." if isinstance(error, FileNotFoundError) else None
        raise CaptureError(f"cannot be read: {reason}", file=str(path), hint=advice) from None


def beside(path: Path) -> Path | None:
    """The ELF of the same name beside a program, if there is one and the program is none itself."""
    found = path.with_suffix(".elf")
    try:
        if found == path or not found.is_file():
            return None
        with found.open("rb") as file:
            return found if file.read(len(MAGIC)) == MAGIC else None
    except (OSError, ValueError):
        return None
