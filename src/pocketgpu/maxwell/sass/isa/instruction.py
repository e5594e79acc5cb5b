"""Instructions as objects: what the decoder makes of a word, with every operand named by its role.

    instruction.op                      # "FFMA"
    instruction.form                    # "FFMA.C", the row of the table
    instruction.modifiers["rounding"]   # "RN"
    instruction.modifiers["sat"]        # 0 or 1
    instruction["b"]                    # Const(bank=0, offset=0x140, ...)
    str(instruction)                    # NVIDIA's text

Operands and modifiers are made on first use, so decoding a program is cheap as long as only its forms are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell.sass import GUARD, Form
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.bundles import Control, index_of
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.operand import UNGUARDED, Label, Operand, Pred
from pocketgpu.maxwell.sass.isa.operand_kinds import decode_operand

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Instruction:
    """An instruction. `address`: in bytes from the start of the code; `raw_control`: its 21 bits, None if not known."""

    address: int
    word: int
    row: Form
    raw_control: int | None = None

    @property
    def op(self) -> str:
        """The mnemonic without modifiers."""
        return self.row.op

    @property
    def form(self) -> str:
        """Name of the row of the table."""
        return self.row.name

    @cached_property
    def bits(self) -> int:
        """The word with the scheduling bits above it, as the fields of the table count them."""
        return self.word | (self.raw_control or 0) << 64

    @cached_property
    def control(self) -> Control | None:
        """How it is scheduled, None if that is not known."""
        return None if self.raw_control is None else Control.of(self.raw_control)

    @cached_property
    def guard(self) -> Pred:
        """The predicate it is executed under; PT where there is none."""
        if not self.row.guarded:
            return UNGUARDED
        raw = GUARD.get(self.word)
        return Pred(raw & 7, bool(raw >> 3))

    @cached_property
    def modifiers(self) -> dict[str, str | int]:
        """Every modifier of the form by name: flags are 0 or 1, others the name of a member.

        Suffixes and signs of operands are with the operands, but for `cc` (the condition code is written).
        """
        found: dict[str, str | int] = {}
        for one in self.row.modifiers:
            if one.bits is None:
                continue
            raw = one.bits.get(self.bits)
            if one.enum is None:
                found[one.name] = raw ^ int(one.inverted)
            else:
                member = one.enum.member(raw)
                found[one.name] = str(raw) if member is None else member.name
        for operand in self.row.operands:
            if operand.enum is not None and operand.bits is not None:
                member = operand.enum.member(operand.bits.get(self.bits))
                found[operand.role] = "" if member is None else member.name
            cc = operand.attribute("cc")
            if cc is not None and cc.bits is not None:
                found["cc"] = cc.bits.get(self.bits)
        return found

    @cached_property
    def roles(self) -> dict[str, Operand]:
        """Operands by role, in the order of the text: "d", "a", "b", "c", "addr", "data", "target" and others.

        Also those that the text leaves out because they have their usual value.
        """
        bits = self.bits
        pairs = ((one.role, decode_operand(one, bits, self.address)) for one in self.row.operands)
        return {role: operand for role, operand in pairs if operand is not None}

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Operands in the order of the text."""
        return tuple(self.roles.values())

    def __getitem__(self, role: str) -> Operand:
        return self.roles[role]

    def get(self, role: str) -> Operand | None:
        """The operand of a role, None if the form has none."""
        return self.roles.get(role)

    @property
    def target(self) -> int | None:
        """Code address that it names, None if it names none."""
        found = self.roles.get("target")
        return found.target if isinstance(found, Label) else None

    def __str__(self) -> str:
        return instruction_text(self)


@dataclass(frozen=True, eq=False)
class Program:
    """Decoded code: its instructions, without control words, and where each is.

    base: address of its first control word. forms: for each instruction its row (`Form.index`). words, controls: what
    they were decoded from. labels: addresses that instructions name, each that of an instruction, in ascending order.
    """

    base: int
    size: int
    instructions: tuple[Instruction, ...]
    words: npt.NDArray[np.uint64]
    controls: npt.NDArray[np.uint32]
    forms: npt.NDArray[np.int16]

    def __repr__(self) -> str:
        return f"<program of {len(self)} instructions at {self.base:#x}>"

    def __len__(self) -> int:
        return len(self.instructions)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions)

    def __getitem__(self, index: int) -> Instruction:
        return self.instructions[index]

    def index_of(self, address: int) -> int | None:
        """Number of the instruction at an address; that of a control word means the one after it."""
        return index_of(address - self.base, len(self.instructions))

    @cached_property
    def labels(self) -> dict[int, int]:
        """Addresses that instructions name, ascending, to the number of the instruction there."""
        found = {}
        for instruction in self.instructions:
            target = instruction.target
            if target is not None and (index := self.index_of(target)) is not None:
                found[target] = index
        return dict(sorted(found.items()))
