"""The instruction set of the Maxwell shader processors (SM 5.3, the GM20B's) as one table.

    FORMS["FFMA.C"].modifiers, .operands      # a row of instructions.tsv
    ENUMS["rounding"].members[1].text         # ".RM"
    CONTROL["stall"]                          # a field of the 21 bits that schedule an instruction

Decoder, disassembler, assembler, executors and the reference page all derive from it; no opcode has its own code.
`table.py` explains the rows.

NVIDIA publishes no encoding of this instruction set. Sources: the fact sheet of the ISA, which is based on public
reverse engineering, and the output of NVIDIA's own disassembler for SM 5.3 for single words.
"""

from __future__ import annotations

from pocketgpu.facts.maxwell.sass.scheduling import CONTROL, CONTROL_BITS, SPECIAL_REGISTERS
from pocketgpu.facts.maxwell.sass.table import (
    ENUMS,
    FORMS,
    GUARD,
    Attribute,
    Bits,
    Enum,
    Form,
    Member,
    Modifier,
    OperandField,
)

__all__ = [
    "CONTROL",
    "CONTROL_BITS",
    "ENUMS",
    "FORMS",
    "GUARD",
    "SPECIAL_REGISTERS",
    "Attribute",
    "Bits",
    "Enum",
    "Form",
    "Member",
    "Modifier",
    "OperandField",
]
