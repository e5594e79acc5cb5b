"""The command line: a thin client of the Python interface.

Nothing here computes a picture. `commands/` has one module for each command, `parts/` what they share. They parse
arguments into typed values, make the same calls as a Python program, and print the results for people or, with --json,
for programs. NumPy, the compiler and Rich are imported inside the commands, so that --help is fast.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Final

_GARBAGE: Final = 200_000
"""New objects after which garbage is collected: a command makes many at its start, and hardly any is garbage."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with `arguments` (default: those of the process) and return the exit code."""
    from pocketgpu.cli import app

    return app.main(arguments)


def run() -> int:
    """The command line as a process of its own, which ends with the exit code that this returns."""
    gc.set_threshold(_GARBAGE)  # before modules are loaded
    from pocketgpu.call_room import with_room
    from pocketgpu.cli import app

    return with_room(app.run)


__all__ = ["main", "run"]
