"""Places in a program's code: the function an address is in, and the line of its source.

    symbols = Symbols(elf.functions, DebugInfo(elf))
    str(symbols.place(0x00100234))  # "draw+0x1c (main.c:42)"
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from pocketgpu.displayed import plain
from pocketgpu.guests.symbols.elf import Function
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """An address of code. function, file: empty if nobody knows. offset: bytes from the function's start. line: from 1,
    0 if nobody knows."""

    address: int
    function: str = ""
    offset: int = 0
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        where = self.name
        return f"{where} ({self.source})" if self.file else where

    @property
    def name(self) -> str:
        """The function and how far inside, or the address: "draw+0x1c"."""
        if not self.function:
            return f"{self.address:#010x}"
        return plain(f"{self.function}+{self.offset:#x}" if self.offset else self.function)

    @property
    def source(self) -> str:
        """The file without its folders, and the line: "main.c:42"; empty if nobody knows."""
        return plain(f"{PurePosixPath(self.file).name}:{self.line}") if self.file else ""


class Lines(Protocol):
    """Who knows the source lines of code."""

    def line(self, address: int) -> tuple[str, int] | None:
        """File and line of an address."""
        ...


class Symbols:
    """The functions of a program, and who knows the lines.

    functions: called for them, in order of address, when the first one is wanted: large programs have many, and most
    runs need none.
    """

    def __init__(self, functions: Callable[[], Sequence[Function]] = tuple, lines: Lines | None = None) -> None:
        self._read = functions
        self._lines = lines
        self._places: dict[int, Place] = {}

    def __repr__(self) -> str:
        return f"<Symbols: {len(self.functions)} functions>"

    def __len__(self) -> int:
        return len(self.functions)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions, by address."""
        return tuple(self._read())

    @cached_property
    def _starts(self) -> list[int]:
        return [one.address for one in self.functions]

    def function(self, address: int) -> Function | None:
        """The function that an address is in. One without a size reaches to the next one."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        found = self.functions[at]
        return found if not found.size or address < found.address + found.size else None

    def named(self, name: str) -> Function | None:
        """A function by its name."""
        return next((one for one in self.functions if one.name == name), None)

    def place(self, address: int) -> Place:
        """Where an address is; only the address if nobody knows more."""
        found = self._places.get(address)
        if found is None:
            function = self.function(address)
            file, line = (self._lines.line(address) if self._lines is not None else None) or ("", 0)
            name, offset = (function.name, address - function.address) if function else ("", 0)
            found = Place(address, name, offset, file, line)
            if len(self._places) < _MOST_PLACES:
                self._places[address] = found
        return found


_MOST_PLACES = 1 << 16
