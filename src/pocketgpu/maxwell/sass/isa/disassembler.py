"""Instructions to NVIDIA's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell.sass import Modifier
from pocketgpu.maxwell.sass.isa.kind import Naming, predicate_name
from pocketgpu.maxwell.sass.isa.operand import UNGUARDED
from pocketgpu.maxwell.sass.isa.operand_kinds import KINDS, omitted

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.isa.instruction import Instruction


def plain_address(target: int) -> str:
    """A code address as a number."""
    return f"{target:#x}"


def guard_text(instruction: Instruction) -> str:
    """The predicate in front of an instruction; empty if it is always executed."""
    guard = instruction.guard
    return "" if guard == UNGUARDED else f"@{'!' * guard.negated}{predicate_name(guard.n)}"


def instruction_text(instruction: Instruction, name: Naming = plain_address) -> str:
    """Text of one instruction without the semicolon. name: gives the text of code addresses."""
    return f"{guard_text(instruction)} {bare_text(instruction, name)}".lstrip()


def bare_text(instruction: Instruction, name: Naming = plain_address) -> str:
    """The same without the guard."""
    word = instruction.bits
    form = instruction.row
    mnemonic = form.op + "".join(modifier_text(one, word) for one in form.modifiers)
    operands = []
    for field in form.operands:
        if not omitted(field, word):
            kind = KINDS[field.kind]
            operand = instruction.roles.get(field.role)
            operands.append(kind.text(field, operand, word, name))
    space = "" if form.operands and form.operands[0].attribute("joined") else " "
    return f"{mnemonic}{space}{', '.join(operands)}" if operands else mnemonic


def modifier_text(modifier: Modifier, word: int) -> str:
    """A suffix of the mnemonic with its dot; empty if it is not printed."""
    text = modifier.text(int(modifier.bits.get(word)) if modifier.bits is not None else 0)
    return f".{text}" if text else ""
