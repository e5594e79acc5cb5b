"""Opening what a sweep names: a capture, or a program, which is run and recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pocketgpu.capture import Capture


def opened(path: Path) -> Capture:
    """A capture, or the recording of a program.

    :raises CaptureError: the file is damaged, or cannot be read.
    """
    from pocketgpu import capture
    from pocketgpu.capture.formats.first_bytes import is_program

    if is_program(path):
        from pocketgpu.guests import recordings

        return recordings.opened(path)
    return capture.open(path)


__all__ = ["opened"]


def __dir__() -> list[str]:
    return [*__all__]
