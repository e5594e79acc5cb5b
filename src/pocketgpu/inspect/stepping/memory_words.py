"""Words of memory by name: global[0x100000040], shared[0x10], local[0x8], and constants as listings write them,
c[0x0][0x140]."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

BANK_SHIFT: Final = 16
"""Constant bank n begins at address n << BANK_SHIFT of the space "constant"."""
_NAME = re.compile(r"(global|shared|local|constant)\[0x([0-9a-f]{1,10})\]|c\[0x([0-9a-f]{1,2})\]\[0x([0-9a-f]{1,4})\]")
WORD: Final = 4


class MemoryWord(NamedTuple):
    """A word of memory: its space and its address there."""

    space: str
    address: int


def memory_word(name: str) -> MemoryWord | None:
    """The word that a name is of; None if it is no such name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    if match[1]:
        return MemoryWord(match[1], int(match[2], 16))
    return MemoryWord("constant", int(match[3], 16) << BANK_SHIFT | int(match[4], 16))


def name_of(space: str, address: int) -> str:
    """The name of a word."""
    if space == "constant":
        return f"c[{address >> BANK_SHIFT:#x}][{address & (1 << BANK_SHIFT) - 1:#x}]"
    return f"{space}[{address:#x}]"


__all__ = ["BANK_SHIFT", "WORD", "MemoryWord", "memory_word", "name_of"]
