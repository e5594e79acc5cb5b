"""Control flow of SM 5.3 as facts: which instructions push, branch, leave and stop.

A warp has a mask of active lanes and a stack of entries (kind, target, mask). What each instruction does to them is
in `warp/divergence.py`; what follows from it for a program as a whole is in `flow.py`, `graph.py` and `gather.py`.
"""

from __future__ import annotations

from enum import IntEnum

from pocketgpu.maxwell.sass.isa.instruction import Instruction
from pocketgpu.maxwell.sass.isa.operand import UNGUARDED, Name
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step


class StackEntry(IntEnum):
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


class Action(IntEnum):
    """What an executor does with an instruction, by its control flow.

    EXECUTE: its operation, for the lanes that it holds for. NOTHING: it changes nothing that a program can see. PUSH,
    BRANCH, JUMP, LEAVE: the methods of `Divergence`. BARRIER: the warp waits. REFUSE: a fault, and a result of zero.
    ALL_LANES and OWN_LANES: SAM and RAM.
    """

    EXECUTE = 0
    NOTHING = 1
    PUSH = 2
    BRANCH = 3
    JUMP = 4
    LEAVE = 5
    BARRIER = 6
    REFUSE = 7
    ALL_LANES = 8
    OWN_LANES = 9


PUSHES = {
    "SSY": StackEntry.SSY, "PBK": StackEntry.PBK, "PCNT": StackEntry.PCNT, "PRET": StackEntry.CALLED,
    "PLONGJMP": StackEntry.PLONGJMP, "PEXIT": StackEntry.PEXIT,
}  # fmt: skip
"""Instructions that push an entry, and its kind."""
LEAVES = {"BRK": StackEntry.PBK, "CONT": StackEntry.PCNT, "RET": StackEntry.CALLED, "LONGJMP": StackEntry.PLONGJMP}
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


OF_PIXELS = {"KIL": Action.EXECUTE, "SAM": Action.ALL_LANES, "RAM": Action.OWN_LANES}
"""Instructions that do nothing in any stage but that of pixels."""


def action_of(step: Step, pixels: bool = False) -> Action:
    """What an executor does with an instruction. pixels: in a program of pixels."""
    op = step.op
    if op in NOTHING or (op == "VOTE" and "mask" in step.mods):  # VTG tells the graphics front end something
        return Action.NOTHING
    if op in OF_PIXELS:
        return OF_PIXELS[op] if pixels else Action.NOTHING
    if op in PUSHES:
        return Action.PUSH
    if op == "BRA" and step.indirect is None:
        return Action.BRANCH
    if op in BRANCHES:
        return Action.JUMP
    if op in STOPS:
        return Action.LEAVE
    return Action.BARRIER if op == "BAR" else Action.EXECUTE


def divides(step: Step) -> bool:
    """Whether an instruction of control flow can hold for some lanes only."""
    return step.guarded or step.test != ALWAYS


def conditional(instruction: Instruction) -> bool:
    """The same of a decoded instruction."""
    test = instruction.get("cc")
    return instruction.guard != UNGUARDED or (isinstance(test, Name) and test.value != ALWAYS)
