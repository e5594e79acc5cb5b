"""Files of programs: which console one is for, and the files beside it.

    kind = kind_of(data, "app.nro")
    kind.console, kind.place("app.nro")  # "Switch", "/switch/app.nro"
    kind.provider.read_program(data, "app.nro")
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from pocketgpu.capture.formats import first_bytes
from pocketgpu.errors import CaptureError
from pocketgpu.guests.kernel.console import Console, RunOptions
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.symbols.elf import MAGIC, ElfError, read_elf
from pocketgpu.late_dataclass import dataclass

LARGEST: Final = 1 << 30
"""Bytes of a program's file, with its read-only files."""


class Provider(Protocol):
    """What a console's module `provider` has."""

    def read_program(self, data: bytes, name: str, *, elf: bytes | None = None, elf_name: str = "") -> Program:
        """A program from the bytes of its file. elf: the ELF that it was made of.

        :raises ProgramError: it is damaged, or of another kind.
        """
        ...

    def prepare(
        self, program: Program, arguments: Sequence[str], options: RunOptions
    ) -> Callable[[Files], Console[Any, Any, Any]]:
        """What starts a program with some files on the card. arguments: the first is the program's place there.

        :raises UsageError: an option is not valid.
        """
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A console's programs. suffix: of their files. begins: whether bytes are one of them. folder: where they lie on
    the card. load: imports the console's module, which takes time that the other console's programs need not wait."""

    console: str
    suffix: str
    begins: Callable[[bytes], bool]
    folder: str
    load: Callable[[], Provider]

    def place(self, name: str) -> str:
        """Where a program of this name lies on the card."""
        return f"{self.folder}/{name}"

    @property
    def provider(self) -> Provider:
        """Its functions."""
        return self.load()


def _n3ds() -> Provider:
    from pocketgpu.guests.n3ds import provider

    return provider


def _switch() -> Provider:
    from pocketgpu.guests.switch import provider

    return provider


KINDS: Final = (
    Kind("3DS", ".3dsx", first_bytes.of_3ds_program, "/3ds", _n3ds),
    Kind("Switch", ".nro", first_bytes.of_switch_program, "/switch", _switch),
)


def kind_of(data: bytes, name: str) -> Kind:
    """Which console a program is for, by its first bytes.

    :raises ProgramError: for none.
    """
    for one in KINDS:
        if one.begins(data):
            return one
    from pocketgpu.guests.kernel.elf_program import ProgramError
    from pocketgpu.guests.kernel.strangers import refusal

    if data.startswith(MAGIC):
        try:
            read_elf(data)
        except ElfError as error:
            raise ProgramError(f"damaged ELF: {error.message}", file=name, offset=error.offset) from None
        message = "an ELF of another processor"
        hint = "A 3DS has a 32-bit ARM, a Switch a 64-bit ARM."
    else:
        message, hint = refusal(data)
    raise ProgramError(message, file=name, hint=hint)


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    :raises CaptureError: it is absent, a folder, no plain file, too large, or cannot be read.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            hint = "Name the .3dsx, .nro or .elf in it."
            raise CaptureError("cannot be read: it is a folder, not a program", file=str(path), hint=hint)
        if not stat.S_ISREG(status.st_mode):
            raise CaptureError("cannot be read: it is no plain file", file=str(path), hint="Copy it to a file first.")
        if status.st_size > LARGEST:
            message = f"cannot be read: it is larger than {LARGEST >> 30} GiB"
            raise CaptureError(message, file=str(path), hint="No program is as large as that.")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        advice = "Check its name." if isinstance(error, FileNotFoundError) else None
        raise CaptureError(f"cannot be read: {reason}", file=str(path), hint=advice) from None


def beside(path: Path) -> Path | None:
    """The ELF of the same name beside a program, if there is one and the program is none itself."""
    found = _neighbour(path, ".elf")
    return found if found is not None and _head(found).startswith(MAGIC) else None


def package(path: Path) -> Path:
    """The file that a program finds as its own on the card. An ELF has no read-only files; the file of the same name
    beside it that its console's loaders start, if there is one, has them."""
    head = _head(path)
    if head.startswith(MAGIC):
        for one in KINDS:
            found = _neighbour(path, one.suffix) if one.begins(head) else None
            if found is not None and one.begins(_head(found)):
                return found
    return path


def shown_name(path: Path) -> str:
    """A file's name as a program can read it: bytes that are no UTF-8 become question marks."""
    return path.name.encode("utf-8", "replace").decode("utf-8")


def _neighbour(path: Path, suffix: str) -> Path | None:
    found = path.with_suffix(suffix) if path.name else path
    return None if found == path else found


def _head(path: Path) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(first_bytes.PROGRAM_BYTES)
    except (OSError, ValueError):
        return b""
