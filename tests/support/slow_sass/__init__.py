"""A slow Maxwell: what one instruction does to one thread, in plain Python numbers, read from the fields of its word.

It knows the arithmetic of the instruction set, written from its description and apart from the lanes code that it
checks: integers are Python's, floats are exact fractions that are rounded once.
"""

from __future__ import annotations

from . import conversions, floats, integers, video
from .one import M32, RZ, SEMANTICS, Change, Thread, constant_of, execute
from .warp import WARP, execute_warp

__all__ = [
    "M32", "RZ", "SEMANTICS", "WARP", "Change", "Thread", "constant_of", "conversions", "execute", "execute_warp",
    "floats", "integers", "video",
]  # fmt: skip
