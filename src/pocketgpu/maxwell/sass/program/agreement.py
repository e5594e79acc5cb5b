"""Where the lanes of a warp agree: registers that are the same in all active lanes, and branches that do not divide.

A value is the same in all lanes if it is computed from constants and from values that are. A branch on such a value
takes all active lanes one way. So no lanes wait for others there, and nobody needs the old values of registers.

What is written while lanes are apart is taken to differ afterwards. Lanes are together again where they were when the
entry of the stack was pushed that brought them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell.sass import SPECIAL_REGISTERS
from pocketgpu.maxwell.sass.program.control import ENDS, LEAVES, PUSHES, STOPS, divides
from pocketgpu.maxwell.sass.program.registers import ALL, reads, writes
from pocketgpu.maxwell.sass.program.steps import WHOLE_QUAD, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.flow import Flow

_OF_BLOCK = {
    "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_NTID", "SR_SWINLO", "SR_SWINSZ", "SR_SMEMSZ", "SR_LWINLO",
    "SR_LWINSZ", "SR_LMEMLOSZ", "SR_REGALLOC", "SR_VIRTCFG", "SR_VIRTID",
}  # fmt: skip
_SAME_NUMBERS = frozenset(number for number, name in SPECIAL_REGISTERS.items() if name in _OF_BLOCK)
"""Special registers that are the same in all lanes."""
HALF_ROW = frozenset(number for number, name in SPECIAL_REGISTERS.items() if name == "SR_TID.X")
"""Special registers that are the same in both halves of a warp besides, where a row of a block is half a warp."""
_OF_QUAD = {"FSWZADD"}
"""Operations that do not do the same in each lane."""
_LOADS = {"LDC", "LDS"}
"""Loads that give the same for the same address, in all lanes at once."""

_OWN_WAY = {"PBK": {"BRK"}, "CAL": {"RET"}, "PRET": {"RET"}}
"""Instructions that leave an entry of their own kind, and none below it."""


def _depends(step: Step, special: frozenset[int]) -> bool:
    """Whether what an instruction writes depends on nothing but the registers that it reads, and special registers."""
    if step.texture is not None or step.op in _OF_QUAD:
        return False
    if step.op in OPERATIONS:
        return step.op != "MOV" or step.mods["mask"] == WHOLE_QUAD
    return step.op in _LOADS or (step.op == "S2R" and step.mods["sr"] in special)


class Agreement:
    """The agreement of a program's lanes.

    together: conditional instructions of control flow that hold for all active lanes or for none. same: for each block
    the registers that are the same in all active lanes at its beginning, as a set. always: those that are the same
    everywhere.

    more: special registers that are taken to be the same besides. With HALF_ROW all this holds between the two lanes at
    the same place of each half of a warp.
    """

    def __init__(self, flow: Flow, more: frozenset[int] = frozenset()) -> None:
        self.flow, self._special = flow, _SAME_NUMBERS | more
        self.same = [0] * len(flow.blocks)
        self.always = 0
        self.together: frozenset[int] = frozenset()
        self.apart = {b.number for b in flow.blocks}
        """Blocks in which some lanes may wait for others."""
        if any(flow.steps[i].indirect is not None or flow.steps[i].op in ("SAM", "RAM") for i in flow.reached):
            return  # lanes can come from anywhere
        self._last = [flow.steps[b.last] for b in flow.blocks]
        self._next = [self._directly(b.number) for b in flow.blocks]
        self._pushes = [
            (block.number, flow.steps[i].op, flow.block_at[target])
            for block in flow.blocks for i in block.body
            for target in self._pushed(flow.steps[i]) if target in flow.block_at
        ]  # fmt: skip
        self.same = [ALL] * len(flow.blocks)
        apart, before = set[int](), None
        while apart != before:
            self._follow(apart)
            apart, before = self._apart(apart), apart
        self.apart = apart
        dividing = self._dividing(apart)
        self.together = frozenset(
            last.index for n, last in enumerate(self._last) if last.op in ENDS and divides(last) and n not in dividing
        )
        self.always = ALL
        for block in flow.blocks:
            for index, same in self.within(block.number):
                step = flow.steps[index]
                self.always &= ~(writes(step) & ~self._step(step, same, block.number in apart))

    @staticmethod
    def _pushed(step: Step) -> list[int]:
        """Instructions where lanes come back to by an entry of the stack that an instruction pushes."""
        if step.op == "CAL":
            return [step.index + 1]
        return [step.target] if step.op in PUSHES and step.target is not None else []

    def _directly(self, number: int) -> list[int]:
        """Blocks that come after a block without the stack."""
        last = self.flow.blocks[number].last
        after = self.flow.after(last) if self._last[number].op in ENDS else [last + 1]
        return [self.flow.block_at[i] for i in after if i in self.flow.block_at]

    def within(self, number: int) -> Iterator[tuple[int, int]]:
        """The instructions of a block, each with the registers that are the same in all active lanes before it."""
        same = self.same[number]
        for index in self.flow.blocks[number].body:
            yield index, same
            same = self._step(self.flow.steps[index], same, number in self.apart)

    def _step(self, step: Step, same: int, apart: bool) -> int:
        """The registers that are the same after an instruction. apart: whether lanes may be apart."""
        written = writes(step)
        alike = not apart and _depends(step, self._special) and not reads(step) & ~same
        # A conditional write leaves what was there.
        if alike and not (divides(step) and written & ~same):
            return same | written
        return same & ~written

    def _after(self, number: int, apart: set[int]) -> int:
        """The registers that are the same after a block. apart: blocks in which lanes may be apart."""
        same = self.same[number]
        for index in self.flow.blocks[number].body:
            same = self._step(self.flow.steps[index], same, number in apart)
        return same

    def _follow(self, apart: set[int]) -> None:
        """Find what is the same in each block."""
        back = {target for _, _, target in self._pushes}
        changed = True
        while changed:
            changed = False
            for number, last in enumerate(self._last):
                after = self._after(number, apart)
                for target in (*self._next[number], *(back if last.op in STOPS else ())):
                    if self.same[target] & ~after:
                        self.same[target] &= after
                        changed = True

    def _dividing(self, apart: set[int]) -> set[int]:
        """Blocks whose last instruction may hold for some of the active lanes only."""
        return {
            n for n, last in enumerate(self._last)
            if last.op in ENDS and divides(last) and reads(last) & ~self._after(n, apart)
        }  # fmt: skip

    def _apart(self, before: set[int]) -> set[int]:
        """The blocks in which lanes may be apart: after branches that divide, until they come back together."""
        dividing = self._dividing(before)
        todo = [target for n in dividing if self._last[n].op not in ("BAR", "EXIT") for target in self._next[n]]
        # Where some lanes leave several entries at once, the others come back without them.
        left = {last.op for n, last in enumerate(self._last) if last.op in LEAVES and n in dividing | before}
        for number, op, target in self._pushes:
            if number in before or left - _OWN_WAY.get(op, set()):
                todo.append(target)
        found = set(before)
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo += self._next[number]
        return found


__all__ = ["Agreement"]
