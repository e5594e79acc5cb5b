"""The exceptions of this package: each has a short message, a place, and a hint what to do next.

A bad file, a bad argument or a bad address always raises one of them.
"""

from __future__ import annotations

from pocketgpu.displayed import line_of
from pocketgpu.wording import counted


class PocketGPUError(Exception):
    """Base class of all exceptions that this package raises on purpose.

    `location` says where (a file offset, a register, an option), `hint` what to do next; both may be None.
    """

    def __init__(self, message: str, *, location: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __repr__(self) -> str:
        return line_of(self, self.message)

    def __str__(self) -> str:
        text = self.message
        if self.location:
            text += f" (at {self.location})"
        if self.hint:
            text = text.rstrip(".") + f". {self.hint}"
        return text


class UsageError(PocketGPUError):
    """The caller asked for something that does not exist or does not fit together (command line: exit 2)."""


class CaptureError(PocketGPUError):
    """A capture file is damaged, cut short or of an unknown kind (command line: exit 3).

    `file` is the name as given, `offset` the byte where reading failed, None if it was no single byte.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        offset: int | None = None,
        location: str | None = None,
        hint: str | None = None,
    ) -> None:
        if location is None and file:
            location = file if offset is None else f"{file}, byte {offset:#x}"
        super().__init__(message, location=location, hint=hint)
        self.file = file
        self.offset = offset


class NoPictureError(PocketGPUError):
    """A picture was asked for that does not exist, such as a frame past the end (command line: exit 4)."""


class ProgramFault(PocketGPUError):
    """A program that runs has failed, and was started with `raises=True`. The message is the report that `App.end`
    prints."""


class GuestMemoryError(PocketGPUError):
    """The host accessed guest addresses without memory. `address` and `size` are in bytes."""

    def __init__(self, address: int, size: int, *, hint: str | None = None) -> None:
        super().__init__(f"no guest memory holds {counted(size, 'byte')} there", location=f"{address:#010x}", hint=hint)
        self.address = address
        self.size = size


__all__ = ["CaptureError", "GuestMemoryError", "NoPictureError", "PocketGPUError", "UsageError"]


def __dir__() -> list[str]:
    return [*__all__]
