"""The exceptions that callers may see.

All other modules may import this one. A bad file, a bad argument or a bad address ends in one short sentence with a
place and a hint, never in a traceback from internal code.
"""

from __future__ import annotations


class PocketGPUError(Exception):
    """Base of every exception that this package raises on purpose.

    `location` is the place (a file offset, a register, an option), `hint` what to do next; both may be None.
    """

    def __init__(self, message: str, *, location: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        text = self.message
        if self.location:
            text += f" (at {self.location})"
        if self.hint:
            text = text.rstrip(".") + f". {self.hint}"
        return text


class UsageError(PocketGPUError):
    """An argument does not exist or does not fit the others (command line: exit 2)."""


class CaptureError(PocketGPUError):
    """A capture file is damaged, truncated or of an unknown kind (command line: exit 3).

    `file` is the name as given, `offset` the byte where reading failed, None if it is not known.
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
    """The requested picture does not exist, such as a frame after the last one (command line: exit 4)."""


class GuestMemoryError(PocketGPUError):
    """The host accessed unmapped guest addresses. `address` and `size` are in bytes."""

    def __init__(self, address: int, size: int, *, hint: str | None = None) -> None:
        super().__init__(f"no guest memory holds {size} bytes there", location=f"{address:#010x}", hint=hint)
        self.address = address
        self.size = size
