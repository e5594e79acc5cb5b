"""Control flow of SM 5.3 as facts: which instructions push, branch, leave and stop.

A warp has a mask of lanes at work and a stack of entries (kind, target, mask). What each instruction does to them is
in `warp/divergence.py`; what follows from it for a program as a whole is in `flow.py`, `graph.py` and `gather.py`.
"""

from __future__ import annotations

from enum import IntEnum

from pocketgpu.maxwell.sass.isa.instruction import Instruction
from pocketgpu.maxwell.sass.isa.operand import UNGUARDED, Name
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step


class Entry(IntEnum):
    """Kinds of entries of the stack.

    DIVERGED: lanes that wait for others of a branch. CALLED: lanes that have called a function. The others are named
    after the instructions that push them.
    """

    DIVERGED = 0
    SSY = 1
    PBK = 2
    PCNT = 3
    CALLED = 4
    PLONGJMP = 5
    PEXIT = 6


class Leave(IntEnum):
    """Ways to leave, beside leaving the entries of a kind: numbers that no `Entry` has."""

    EXIT = 7
    SYNC = 8


PUSHES = {
    "SSY": Entry.SSY, "PBK": Entry.PBK, "PCNT": Entry.PCNT, "PRET": Entry.CALLED, "PLONGJMP": Entry.PLONGJMP,
    "PEXIT": Entry.PEXIT,
}  # fmt: skip
"""Instructions that push an entry, and its kind."""
LEAVES = {"BRK": Entry.PBK, "CONT": Entry.PCNT, "RET": Entry.CALLED, "LONGJMP": Entry.PLONGJMP}
"""Instructions by which lanes leave all entries above the nearest of a kind, and go on at the target of that one."""
BRANCHES = {"BRA", "BRX", "JMX", "CAL"}
STOPS = {"SYNC", "EXIT", *LEAVES}
"""Instructions after which the stack says what comes next."""
ENDS = BRANCHES | STOPS | {"BAR"}
"""Instructions that end a block."""
NOTHING = {
    "NOP", "DEPBAR", "MEMBAR", "CCTL", "CCTLL", "CCTLT", "IDE", "BPT", "RTT", "STP", "R2B", "SETCRSPTR",
    "SETLMEMBASE",
}  # fmt: skip
"""Instructions that change nothing that a program can see."""


def divides(step: Step) -> bool:
    """Whether an instruction of control flow can hold for some lanes only."""
    return step.guarded or step.test != ALWAYS


def conditional(instruction: Instruction) -> bool:
    """The same of a decoded instruction."""
    test = instruction.get("cc")
    return instruction.guard != UNGUARDED or (isinstance(test, Name) and test.value != ALWAYS)
