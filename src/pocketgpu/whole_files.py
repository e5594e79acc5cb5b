"""Reading of whole files with a size limit."""

from __future__ import annotations

import sys

from pocketgpu.errors import CaptureError
from pocketgpu.wording import counted


def read(path: str, limit: int, which: str = "") -> bytes:
    """The bytes of a file; "-" is the standard input.

    limit: how many it may have; which: text after that number in the error.

    :raises CaptureError: the file cannot be read, or has more bytes.
    """
    try:
        if path == "-":
            data = sys.stdin.buffer.read(limit + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CaptureError(f"cannot read the file: {reason}", file=path, hint="Check the path.") from error
    if len(data) > limit:
        raise CaptureError(f"the file has more than {counted(limit, 'byte')}{which}", file=path)
    return data
