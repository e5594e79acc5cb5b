"""What is known of the text that a program of the 3DS was assembled from: lines, labels, and names of registers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final, Protocol

from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.names import COMPONENTS
from pocketgpu.pica.shader.symbols import REGISTERS, Symbol, named_register

_NAME: Final = re.compile(r"([A-Za-z_$][\w$.]*?)(?:\[(\d{1,3})\])?(?:\.([A-Za-z]))?")
_REGISTER: Final = re.compile(r"\b([vrocbi])(\d{1,2})\b(?!\[)")


@dataclass(frozen=True)
class ProgramText:
    """places: by address, the file and the line of the text that a word comes from. labels: names of addresses.
    symbols: names of registers. note: where the program is not that of the text, "" if it is. texts: the lines of each
    file."""

    places: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    symbols: tuple[Symbol, ...] = ()
    note: str = ""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def row(self, address: int) -> str:
        """The line of the text that a word comes from, as it is written there; "" if it is not known."""
        file, line = self.places.get(address, ("", 0))
        rows = self.texts.get(file, ())
        return rows[line - 1].strip() if 0 < line <= len(rows) else ""

    @cached_property
    def _by_name(self) -> dict[str, Symbol]:
        return {one.name: one for one in self.symbols}

    def register(self, name: str) -> str | None:
        """The register, or component, that a name stands for: "projection[1].x" is "c1.x"; None if it is no name."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        stem, index, letter = match[1], int(match[2] or 0), match[3]
        symbol = self._by_name.get(stem)
        if symbol is None:
            if not re.fullmatch(r"[vrocbi]\d{1,2}", stem) or match[2] is None:
                return None
            file, first = stem[0], int(stem[1:])
        else:
            file, first = symbol.file, symbol.first
        if first + index >= REGISTERS[file][0]:
            return None
        register = f"{file}{first + index}"
        if letter is None:
            return register
        if symbol is not None and symbol.letters and letter in COMPONENTS:
            letter = symbol.letters[COMPONENTS.index(letter)]
        return f"{register}.{letter}"

    def names_in(self, text: str) -> str:
        """What registers in an instruction's text are called: "projection[1], outpos"."""
        if not self.symbols:
            return ""
        found = (named_register(self.symbols, match[0]) for match in _REGISTER.finditer(text))
        return ", ".join(dict.fromkeys(name for name in found if name))


class ProgramTexts(Protocol):
    """Finds the text of a program."""

    def of(self, code: Sequence[int], descriptors: Sequence[int], entry: int) -> ProgramText | None:
        """The text of a program that starts at `entry`; None if none of the texts is like it."""
        ...


__all__ = ["ProgramText", "ProgramTexts"]
