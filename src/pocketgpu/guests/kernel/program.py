"""A program as a loader understands it: segments with permissions, where it starts, its symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pocketgpu.guests.kernel.memory import Permission


@dataclass(frozen=True)
class Segment:
    """Bytes at an address. size: with the zeros that follow them."""

    name: str
    address: int
    data: bytes
    size: int
    permission: Permission

    def __repr__(self) -> str:
        return f"<Segment {self.name} {self.address:#010x}+{self.size:#x} {self.permission!r}>"


@dataclass(frozen=True)
class Symbol:
    """A function. size: 0 if nobody says."""

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class Program:
    """What is to be run. data: the whole file, which the program finds on its card. homebrew: whether it has the start
    block of homebrew loaders."""

    name: str
    segments: Sequence[Segment]
    entry: int
    data: bytes
    homebrew: bool = False
    symbols: Sequence[Symbol] = field(default=())

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.segments)} segments, {len(self.symbols)} functions>"

    def function(self, address: int) -> Symbol | None:
        """The function that an address is in."""
        before = [one for one in self.symbols if one.address <= address]
        found = max(before, key=lambda one: one.address, default=None)
        return found if found is not None and (not found.size or address < found.address + found.size) else None
