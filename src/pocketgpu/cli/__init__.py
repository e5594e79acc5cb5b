"""The command line: a thin client of the Python interface.

Nothing here computes a picture. `commands/` has one module for each command, `parts/` what they share. They parse
arguments into typed values, make the same calls as a Python program, and print the results for people or, with --json,
for programs. NumPy, the compiler and Rich are imported inside the commands, so that --help is fast.
"""

from __future__ import annotations

from pocketgpu.cli.app import main as main
from pocketgpu.cli.app import run as run

__all__ = ["main", "run"]
