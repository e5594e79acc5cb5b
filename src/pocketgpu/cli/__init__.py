"""The command line: a thin client of the Python interface.

Nothing here computes a picture. The rooms of this package parse words into typed values, run the same calls that a
Python program would make, and write the results down for people or, with --json, for programs. Everything heavy
(NumPy, the compiler, Rich) is imported inside the commands, so that --help answers at once.
"""

from __future__ import annotations

from pocketgpu.cli.app import main as main

__all__ = ["main"]
