"""Files of programs: what can be read as one, and the ELF beside a program that has no symbols."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from pocketgpu.errors import CaptureError
from pocketgpu.guests.symbols.elf import MAGIC

_3DSX: Final = b"3DSX"
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
    return _neighbour(path, ".elf", MAGIC)


def package(path: Path) -> Path:
    """The file that a program finds as its own on the card. An ELF has no read-only files; the .3dsx of the same name
    beside it, if there is one, has them."""
    return _neighbour(path, ".3dsx", _3DSX) or path if _begins(path, MAGIC) else path


def shown_name(path: Path) -> str:
    """A file's name as a program can read it: bytes that are no UTF-8 become question marks."""
    return path.name.encode("utf-8", "replace").decode("utf-8")


def _neighbour(path: Path, suffix: str, magic: bytes) -> Path | None:
    found = path.with_suffix(suffix) if path.name else path
    return found if found != path and _begins(found, magic) else None


def _begins(path: Path, magic: bytes) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except (OSError, ValueError):
        return False
