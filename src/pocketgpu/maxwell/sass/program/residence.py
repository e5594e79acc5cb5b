"""Where a warp's registers are while specialised code runs it: in variables, or in its record.

A barrier ends a run of the warp. Registers that the code between two barriers does not touch can stay in the record.
`local` has the registers that must be in variables at the beginning of each block: those that a loop without a barrier
needs. Other registers that matter must be in the record there, and a block loads what it needs of them; `edge`, `back`
and `barrier` say what has to be stored for that on the way. In programs without barriers all of them are in variables.
Sets of registers are numbers with a bit for each (`registers.py`).
"""

from __future__ import annotations

from functools import cached_property

from pocketgpu.maxwell.sass.program.control import ENDS, STOPS, divides
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.registers import ALL, reads, surely_writes, writes


class Residence:
    """The places of the registers of a program.

    whole: all registers are in variables all the time, and a barrier stores what matters after it. That is so in
    programs with jumps whose targets are known only at run time, in those that are cut into parts, and for observers,
    to whom each register matters.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        parted = flow.as_written or bool(flow.cuts)
        self.whole = parted or any(flow.steps[i].indirect is not None for i in flow.reached)
        self.come_back = sorted({i for one in flow.reached for i in flow.comebacks(one)} & flow.block_at.keys())
        """Instructions that lanes can come back to by the stack."""
        self._last = [flow.steps[b.last] for b in flow.blocks]
        self._next = [self._directly(n) for n in range(len(flow.blocks))]
        self._to_stack = [self._stops(n) for n in range(len(flow.blocks))]

    def _directly(self, number: int) -> list[int]:
        flow, block, last = self.flow, self.flow.blocks[number], self._last[number]
        after = flow.after(block.last) if last.op in ENDS else [block.last + 1]
        if last.op == "BAR" and not last.guarded:
            return []
        return [flow.block_at[i] for i in dict.fromkeys(after) if i in flow.block_at]

    def _stops(self, number: int) -> bool:
        return self._last[number].op in STOPS or self.goes_astray(number)

    def goes_astray(self, number: int) -> bool:
        """Whether control can go from a block to a place where no instruction is."""
        last, known = self._last[number], self.flow.block_at
        if last.op in ("BRA", "CAL") and last.indirect is None and last.target not in known:
            return True
        falls = last.op not in ENDS or divides(last) or last.op == "BAR"
        return falls and self.flow.blocks[number].last + 1 not in known

    def directly(self, number: int) -> list[int]:
        """Blocks that a block goes on to without waiting."""
        return self._next[number]

    def may_stop(self, number: int) -> bool:
        """Whether the stack may say what comes after a block."""
        return self._to_stack[number]

    @cached_property
    def local(self) -> list[int]:
        """For each block the registers that are in variables at its beginning."""
        flow = self.flow
        if self.whole:
            return [ALL] * len(flow.blocks)
        effects = []
        for block in flow.blocks:
            needed = killed = 0
            for index in block.body:
                step = flow.steps[index]
                whole = surely_writes(step) & ~flow.kept
                read = reads(step) | (flow.outputs if step.op == "EXIT" else 0)
                needed |= (
                    read | writes(step) & ~whole
                ) & ~killed  # a write that leaves some lanes alone needs what they have
                killed |= whole
            effects.append((needed, killed))
        looped = self._looped
        found = [needed if n in looped else 0 for n, (needed, _) in enumerate(effects)]
        changed = True
        while changed:
            changed = False
            back = self._back(found)
            for n in sorted(looped, reverse=True):
                after = back if self._to_stack[n] else 0
                for m in self._next[n]:
                    after |= found[m]
                needed, killed = effects[n]
                new = needed | after & ~killed
                if new != found[n]:
                    found[n], changed = new, True
        return found

    @cached_property
    def _looped(self) -> set[int]:
        """Blocks whose registers are in variables: those that can come again before a barrier, and the first one."""
        flow, count = self.flow, len(self.flow.blocks)
        if not any(last.op == "BAR" for last in self._last):
            return set(range(count))
        back = [flow.block_at[index] for index in self.come_back]
        edges = [[*self._next[n], *(back if self._to_stack[n] else ())] for n in range(count)]
        found = {flow.block_at[flow.start]}
        for n in range(count):
            seen, todo = set[int](), [*edges[n]]
            while todo and n not in seen:
                m = todo.pop()
                if m not in seen:
                    seen.add(m)
                    todo += edges[m]
            if n in seen:
                found.add(n)
        return found

    def recorded(self, number: int) -> bool:
        """Whether the registers that a block needs are in the record at its beginning."""
        return not self.whole and number not in self._looped

    def _back(self, local: list[int]) -> int:
        found = 0
        for index in self.come_back:
            found |= local[self.flow.block_at[index]]
        return found

    @cached_property
    def stack_local(self) -> int:
        """Registers in variables where the stack says what comes next."""
        return ALL if self.whole else self._back(self.local)

    @cached_property
    def _changed(self) -> tuple[list[int], int]:
        """Registers whose value may not be in the record: at the end of each block, and where the stack decides."""
        flow, local = self.flow, self.local
        own = []
        for block in flow.blocks:
            written = 0
            for index in block.body:
                written |= writes(flow.steps[index])
            own.append(written)
        before = [0] * len(own)
        before[flow.block_at[flow.start]] = ALL
        stack, changed = 0, True
        while changed:
            changed = False
            for n, written in enumerate(own):
                after = before[n] | written
                targets = list(self._next[n])
                if self._to_stack[n] and (after & self.stack_local) | stack != stack:
                    stack, changed = stack | after & self.stack_local, True
                for m in targets:
                    new = before[m] | after & local[m]
                    if new != before[m]:
                        before[m], changed = new, True
            for index in self.come_back:
                m = flow.block_at[index]
                new = before[m] | stack & local[m]
                if new != before[m]:
                    before[m], changed = new, True
        return [b | w for b, w in zip(before, own, strict=True)], stack

    def _matters(self, number: int) -> int:
        """Registers that matter at the beginning of a block, those of waiting lanes as well."""
        return ALL if self.flow.as_written else self.flow.live_in[number] | self.flow.kept

    def edge(self, number: int, target: int) -> int:
        """What to store between the end of a block and the beginning of another."""
        return 0 if self.whole else self._changed[0][number] & self._matters(target) & ~self.local[target]

    def to_stack(self, number: int) -> int:
        """What to store between the end of a block and where the stack says what comes next."""
        if self.whole:
            return 0
        matters = 0
        for index in self.come_back:
            matters |= self._matters(self.flow.block_at[index])
        return self._changed[0][number] & matters & ~self.stack_local

    def back(self, target: int) -> int:
        """What to store before a block that lanes come back to by the stack."""
        return 0 if self.whole else self._changed[1] & self._matters(target) & ~self.local[target]

    def barrier(self, number: int, target: int) -> int:
        """What a block that ends with a barrier stores there; block `target` comes after it."""
        return self._matters(target) if self.whole else self._changed[0][number] & self._matters(target)

    def resumed(self, target: int) -> int:
        """What to load at the beginning of a block after a barrier."""
        return self._matters(target) if self.whole else self.local[target]


__all__ = ["Residence"]
