"""An instruction for the makers of steps: fields, modifiers and operands by the names of the table of forms.

So only the table knows where bits are in an instruction word.
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.maxwell.sass.isa.instruction import Instruction
from pocketgpu.maxwell.sass.isa.operand import PT, RZ, Const, Imm, Mem, Operand, Pred, Reg
from pocketgpu.maxwell.sass.program.steps import ZERO, OperandSource, Predicate

_NO_NAMES: Mapping[str, str] = {}


class Reader:
    """One instruction, field by field, by the names of the table."""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction, self.row = instruction, instruction.row
        self.roles = instruction.roles

    def raw(self, name: str) -> int:
        """The number in a field of the word; 0 if the form has no field of that name."""
        bits = self.row.fields.get(name)
        return 0 if bits is None else int(bits.get(self.instruction.word))

    def has(self, text: str) -> bool:
        """Whether the form always has a piece of text, such as ".HI"."""
        return any(one.bits is None and one.name in (text, text[1:]) for one in self.row.modifiers)

    def source(self, role: str) -> OperandSource:
        found = self.roles.get(role)
        return ZERO if found is None else self._source(found)

    @staticmethod
    def _source(found: Operand) -> OperandSource:
        if isinstance(found, Reg):
            return OperandSource("reg", found.n, negated=found.negated or found.inverted, absolute=found.absolute)
        if isinstance(found, Imm):
            signs = found.negated or found.inverted
            return OperandSource("imm", bits=found.bits & (1 << 64) - 1, negated=signs, absolute=found.absolute)
        if isinstance(found, Const):
            signs = found.negated or found.inverted
            return OperandSource("const", found.bank, offset=found.offset, negated=signs, absolute=found.absolute)
        raise TypeError(f"{found!r} is no source")

    def predicate(self, role: str) -> Predicate:
        found = self.roles.get(role)
        return Predicate(found.n, found.negated) if isinstance(found, Pred) else Predicate()

    def result(self, role: str) -> int:
        found = self.roles.get(role)
        return found.n if isinstance(found, Pred) else PT

    @property
    def form(self) -> str:
        return self.instruction.form

    def register(self, role: str) -> int:
        found = self.roles.get("addr" if role == "base" else role)
        if isinstance(found, Mem):
            return RZ if found.register is None else found.register
        return found.n if isinstance(found, Reg) else RZ

    def number(self, role: str) -> int | None:
        """The value of an immediate operand, None if there is none."""
        found = self.roles.get(role)
        return found.bits if isinstance(found, Imm) else None

    def modifiers(self, names: Mapping[str, str] = _NO_NAMES) -> dict[str, int]:
        """All modifiers as numbers. names: what some are called in steps."""
        mods = {}
        for one in self.row.modifiers:
            if one.bits is not None:
                mods[names.get(one.name, one.name)] = self.raw(one.name) ^ int(one.inverted)
        return mods
