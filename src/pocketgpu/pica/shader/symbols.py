"""Names that a shader text, or the tables of a `.shbin`, give to registers: uniforms, constants, inputs, outputs.

    find_symbol(symbols, "projection", 2)       # ("c2", "")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from pocketgpu.facts.pica import (
    BOOLEAN_UNIFORMS,
    FLOAT_UNIFORMS,
    INTEGER_UNIFORMS,
    SHADER_REGISTERS,
    SHADER_TEMPORARIES,
)
from pocketgpu.late_dataclass import dataclass

REGISTERS: Mapping[str, tuple[int, str]] = {
    "v": (SHADER_REGISTERS, "input"), "r": (SHADER_TEMPORARIES, "temporary"), "o": (SHADER_REGISTERS, "output"),
    "c": (FLOAT_UNIFORMS, "float uniform"), "b": (BOOLEAN_UNIFORMS, "boolean uniform"),
    "i": (INTEGER_UNIFORMS, "integer uniform"),
}  # fmt: skip
"""Registers by the letter of their file: how many there are, and what they are."""


class Use(Enum):
    """What a named register is for."""

    UNIFORM = "uniform"
    CONSTANT = "constant"
    INPUT = "input"
    OUTPUT = "output"
    ALIAS = "alias"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for a register, or for `count` registers from it on.

    letters: the components that the name stands for, "" for all of them. line: where it is defined, 0 if not in a text.
    """

    name: str
    register: str
    use: Use
    count: int = 1
    letters: str = ""
    line: int = 0

    @property
    def file(self) -> str:
        return self.register[0]

    @property
    def first(self) -> int:
        return int(self.register[1:])

    def at(self, index: int) -> str:
        """The register with this index."""
        return f"{self.file}{self.first + index}"


def named_register(symbols: Iterable[Symbol], register: str) -> str:
    """What a register is called: "projection[2]"; "" if it has no name of its own. Aliases of components are none."""
    file, number = register[:1], int(register[1:])
    best = ""
    for one in symbols:
        if one.file == file and one.first <= number < one.first + one.count and not one.letters:
            name = f"{one.name}[{number - one.first}]" if one.count > 1 else one.name
            if one.use is not Use.ALIAS:
                return name
            best = best or name
    return best


__all__ = ["REGISTERS", "Symbol", "Use", "named_register"]
