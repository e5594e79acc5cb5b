"""Shader code of Maxwell (SM 5.3). What is here decodes it; `assembler.py` makes it.

Folders, in the order in which a program is run: `files/`, `isa/` (words, instructions, text), `program/` (steps,
control flow), `semantics/` (what operations compute), `thread_memory/`, `stages/`, `warp/` (the two executors),
`launch/`.
"""

from __future__ import annotations

from pocketgpu.maxwell.sass.isa.bundles import Control
from pocketgpu.maxwell.sass.isa.decoder import SassError, decode, decode_program
from pocketgpu.maxwell.sass.isa.instruction import Instruction, Program
from pocketgpu.maxwell.sass.isa.operand import (
    PT,
    RZ,
    Attr,
    Const,
    Imm,
    Indirect,
    Label,
    Mem,
    Name,
    Operand,
    Pred,
    Reg,
    Set,
    Special,
    Swap,
)

__all__ = [
    "PT", "RZ", "Attr", "Const", "Control", "Imm", "Indirect", "Instruction", "Label", "Mem", "Name", "Operand", "Pred",
    "Program", "Reg", "SassError", "Set", "Special", "Swap", "decode", "decode_program",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, *(name for name in ("assembler",) if name in globals())]
