"""A program as a loader understands it: segments with permissions, where it starts, its functions and lines.

    program.place(0x00100234)        # Place: function, offset, file, line
    print(program.place(0x00100234)) # draw+0x1c (main.c:42)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar, Protocol

from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.symbols.debug import DebugInfo
from pocketgpu.guests.symbols.elf import Function
from pocketgpu.guests.symbols.frames import FrameSource
from pocketgpu.guests.symbols.places import Place, Symbols
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted


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


class About(Protocol):
    """What a program's file says of itself."""

    @property
    def title(self) -> str:
        """Its short title."""
        ...

    @property
    def publisher(self) -> str:
        """Who made it."""
        ...


@dataclass(frozen=True)
class Program:
    """What is to be run.

    data: the whole file, which the program finds on its card. homebrew: whether it has the start block of homebrew
    loaders. debug: lines and frames of its ELF. index: address and size of ARM's table for leaving functions; frames:
    who knows how to leave them without the ELF. about:
    title and icon. romfs: offset of the read-only files in `data`. warnings: what is odd about the file.
    """

    fixed_state: ClassVar = True

    name: str
    segments: Sequence[Segment]
    entry: int
    data: bytes
    homebrew: bool = False
    symbols: Symbols = field(default_factory=Symbols)
    debug: DebugInfo | None = None
    index: tuple[int, int] | None = None
    frames: FrameSource | None = None
    about: About | None = None
    romfs: int | None = None
    warnings: Sequence[str] = ()

    def __repr__(self) -> str:
        segments, functions = counted(len(self.segments), "segment"), counted(len(self.symbols), "function")
        return f"<Program {self.name}: {segments}, {functions}>"

    def __deepcopy__(self, memo: dict[int, object]) -> Program:
        """Itself: nothing changes it, so copies of a kernel share it."""
        return self

    def function(self, address: int) -> Function | None:
        """The function that an address is in."""
        return self.symbols.function(address)

    def place(self, address: int) -> Place:
        """Where an address is: function, offset, file and line, as far as the program has symbols."""
        return self.symbols.place(address)
