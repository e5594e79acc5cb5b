"""The extension for VS Code that comes with the package."""

from __future__ import annotations

import os
from pathlib import Path

from pocketgpu.errors import UsageError

EXTENSION = Path(__file__).parent / "vsix" / "pocketgpu.vsix"
"""Made by `make vsix`, and not kept in the repository."""


def extension_bytes() -> bytes:
    """The package that VS Code installs.

    :raises UsageError: this installation was made without Node.js and has none.
    """
    try:
        return EXTENSION.read_bytes()
    except OSError:
        hint = "In the source tree, 'make vsix' makes it; it needs Node.js."
        raise UsageError("this installation has no extension for VS Code", hint=hint) from None


def write_extension(path: str) -> int:
    """Write it into a file, and return its bytes.

    :raises UsageError: there is none, or the file cannot be written.
    """
    data = extension_bytes()
    beside = f"{path}.{os.getpid()}.part"
    try:
        Path(beside).write_bytes(data)
        os.replace(beside, path)
    except (OSError, ValueError) as error:
        Path(beside).unlink(missing_ok=True)
        raise UsageError(f"cannot write: {getattr(error, 'strerror', None) or error}", location=path) from None
    return len(data)
