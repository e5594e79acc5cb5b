"""Maxwell shader code: decoded, shown, assembled, and found in the files that hold it."""

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
