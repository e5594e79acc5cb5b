"""Operands of instructions as objects, one class for each way to name a value."""

from __future__ import annotations

from pocketgpu.late_dataclass import dataclass

RZ = 255
"""The register that reads as 0 and keeps nothing."""
PT = 7
"""The predicate that is always true."""


@dataclass(frozen=True, slots=True)
class Reg:
    """A 32-bit register, or the first of several. `part`: which part of it counts, by the names of its enumeration."""

    n: int
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""
    reuse: bool = False


@dataclass(frozen=True, slots=True)
class Pred:
    """A predicate register."""

    n: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Imm:
    """A number in the instruction.

    bits: as the operation reads it, in `width` bits (32, 64, or 16 for halves); signs that the form applies to its
    operand are not yet in it. value: the same as a number of Python.
    """

    bits: int
    value: int | float
    width: int = 32
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""

    @property
    def is_float(self) -> bool:
        """Whether the text shows it as a float."""
        return isinstance(self.value, float)


@dataclass(frozen=True, slots=True)
class Const:
    """A word of constant buffer `bank` at byte `offset`, plus a register if there is one."""

    bank: int
    offset: int
    register: int | None = None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Mem:
    """An address: register (or pair) plus offset in bytes. `register` is None for RZ."""

    register: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class Attr:
    """A vertex or fragment attribute at a byte address."""

    register: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class Label:
    """A code address, from the start of the section; it may be outside of it."""

    target: int


@dataclass(frozen=True, slots=True)
class Indirect:
    """A code address: register plus offset. BRX counts from the next instruction, JMX from 0."""

    register: int
    offset: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special register."""

    n: int
    name: str


@dataclass(frozen=True, slots=True)
class Name:
    """A member of an enumeration in the place of an operand; `Instruction.modifiers` has it too."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Swap:
    """Registers of a compare-and-swap: what to compare with and what to store."""

    compare: int
    store: int


@dataclass(frozen=True, slots=True)
class Set:
    """A set of small numbers, such as the barriers that DEPBAR waits for."""

    members: tuple[int, ...]


Operand = Reg | Pred | Imm | Const | Mem | Attr | Label | Indirect | Special | Name | Swap | Set

UNGUARDED = Pred(PT)
"""The guard of an instruction that is always executed."""
