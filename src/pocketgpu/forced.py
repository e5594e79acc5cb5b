"""Bits of registers that hold a value of somebody's choice, whatever the commands write: for what-if.

    word = ForcedWord(register, mask=0b111, value=0b001, start=(0, 3))
    driver = drive(trace, forced=(word,))

Each machine has a method `force` that takes them before it runs anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from pocketgpu.late_dataclass import dataclass

Start = tuple[int, ...]
"""A place in the order of commands, as the machine counts: on a 3DS the frame and the draw in it, on a Switch the
submission, its entry and the word in that."""


@dataclass(frozen=True)
class ForcedWord:
    """A part of a register. register: its number (of a Switch: the word in the file of the 3D class). mask: the bits;
    value: what they hold, in place. start: from where on."""

    register: int
    mask: int
    value: int
    start: Start

    def of(self, word: int) -> int:
        """The register's word, with these bits forced."""
        return (word & ~self.mask) | (self.value & self.mask)


def from_here(words: Iterable[ForcedWord], place: Start) -> list[ForcedWord]:
    """Those that hold at a place."""
    return [one for one in words if one.start <= place]


__all__ = ["ForcedWord", "Start", "from_here"]
