"""The flow of a program: its blocks, where lanes can come back to, and which registers matter there.

Blocks are cut wherever control can arrive or leave.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.program.agreement import HALF_ROW, Agreement
from pocketgpu.maxwell.sass.program.control import ENDS, PUSHES, STOPS, divides
from pocketgpu.maxwell.sass.program.early import behind_barriers, early
from pocketgpu.maxwell.sass.program.parts import cuts_of
from pocketgpu.maxwell.sass.program.registers import reads, reads_words, registers_from, surely_writes, writes
from pocketgpu.maxwell.sass.program.steps import Step


def likely_functions(steps: tuple[Step, ...]) -> set[int]:
    """Instructions to which an indirect jump may go: starts of functions whose addresses are numbers in the program.

    A jump may go elsewhere, too; then the interpreter goes on.
    """
    if not any(step.op in ("BRX", "JMX") for step in steps):
        return set()
    starts = {step.target for step in steps if step.op == "CAL" and step.target is not None}
    closed = {"RET", "EXIT", "NOP", "BRA"}
    starts |= {i + 1 for i, step in enumerate(steps[:-1]) if step.op in closed and not divides(step)}
    numbers = {source.bits for step in steps for source in step.sources if source.kind == "imm"}
    return {i for i in starts if steps[i].address in numbers}


@dataclass(frozen=True)
class CodeBlock:
    """Instructions that are executed in a row, from `first` to `last` in the program.

    body: their numbers in the order in which they are executed. Some of them may be done before the barrier that leads
    to this block (`early.py`), and the same of the block after a barrier at its end.
    """

    number: int
    first: int
    last: int
    body: tuple[int, ...]


class Flow:
    """The blocks of a program from instruction `start` on.

    indirect: instructions that indirect branches are known to reach. outputs: registers that matter at the end.
    as_written: no instruction is done before its turn, and each register has its value all the time, for observers.
    Long programs are cut into parts (`parts.py`).
    """

    def __init__(
        self,
        steps: tuple[Step, ...],
        start: int = 0,
        indirect: tuple[int, ...] = (),
        outputs: Iterable[int] = (),
        as_written: bool = False,
    ) -> None:
        self.steps, self.start = steps, start
        self.outputs = sum(registers_from(n) for n in set(outputs))
        self.indirect = tuple(i for i in indirect if 0 <= i < len(steps))
        self.reached, leaders = self._walk()
        self.cuts = () if as_written else cuts_of(steps, self.reached, self._loops)
        """The first instruction of each part in which its code is made; empty: all of it is one piece."""
        leaders |= {*self.cuts}
        self.blocks: list[CodeBlock] = []
        self.block_at: dict[int, int] = {}
        for first in sorted(leaders):
            last = first
            while not self._ends(last) and last + 1 < len(steps) and last + 1 not in leaders:
                last += 1
            self.block_at[first] = len(self.blocks)
            self.blocks.append(CodeBlock(len(self.blocks), first, last, tuple(range(first, last + 1))))
        self.as_written = as_written
        self.early = {} if as_written or self.cuts else early(self)
        """For the first instruction of a block: instructions of it that are done before that barrier."""
        if self.early:
            self.blocks = [self._reordered(b) for b in self.blocks]
            del self.live_in  # it was that of the blocks as written

    def __repr__(self) -> str:
        return f"<flow of {len(self.steps)} instructions in {len(self.blocks)} blocks>"

    @cached_property
    def behind_barriers(self) -> frozenset[int]:
        """First instructions of blocks that only a barrier leads to."""
        return behind_barriers(self)

    def _reordered(self, block: CodeBlock) -> CodeBlock:
        gone, more = self.early.get(block.first, ()), self.early.get(block.last + 1, ())
        own = tuple(i for i in block.body if i not in gone)
        if self.steps[block.last].op == "BAR":
            own = (*own[:-1], *more, block.last)
        return replace(block, body=own)

    def _ends(self, index: int) -> bool:
        return self.steps[index].op in ENDS

    def after(self, index: int) -> list[int]:
        """Instructions that can come directly after one. Those that the stack names are not among them."""
        step, found = self.steps[index], []
        if step.op in ("BRA", "CAL"):
            found += [] if step.target is None else [step.target]
            found += list(self.indirect) if step.indirect is not None else []
        elif step.op in ("BRX", "JMX"):
            found += self.indirect
        falls = step.op not in ENDS or divides(step) or step.op == "BAR"
        if falls and index + 1 < len(self.steps):
            found.append(index + 1)
        return found

    def comebacks(self, index: int) -> list[int]:
        """Instructions to which lanes can come back because of what an instruction pushes."""
        step = self.steps[index]
        if step.op in PUSHES:
            return [] if step.target is None else [step.target]
        if step.op == "CAL":
            return [index + 1] if index + 1 < len(self.steps) else []
        if step.op in ("BRX", "JMX"):
            return [index, *self.indirect]
        if step.op == "BRA" and self.divides(step):
            return [] if step.target is None else [step.target]
        return []

    @cached_property
    def agreement(self) -> Agreement:
        """Where the lanes of a warp agree."""
        return Agreement(self)

    @cached_property
    def agreement_of_halves(self) -> Agreement:
        """Where the halves of a warp agree, if a row of a block's threads is half a warp."""
        return Agreement(self, HALF_ROW)

    def divides(self, step: Step) -> bool:
        """Whether an instruction of control flow can hold for some of the active lanes only."""
        return divides(step) and step.index not in self.agreement.together

    @cached_property
    def steady(self) -> bool:
        """Whether the lanes of a warp stay active from its beginning to its end, and none ever waits."""
        changing = {*ENDS, *PUSHES, "SAM", "RAM", "KIL"} - {"BAR"}
        control = [self.steps[i] for i in self.reached if self.steps[i].op in changing]
        plain = {"BRA", "EXIT"}
        return all(step.op in plain and step.indirect is None and not self.divides(step) for step in control)

    def _walk(self) -> tuple[set[int], set[int]]:
        reached: set[int] = set()
        leaders = {self.start}
        todo = [self.start]
        while todo:
            index = todo.pop()
            if index in reached:
                continue
            reached.add(index)
            after = self.after(index)
            back = [] if self.steps[index].op == "BRA" else self.comebacks(index)  # what is after it holds its target
            if self._ends(index):
                leaders.update(after)
            leaders.update(back)
            todo += [i for i in (*after, *back) if i not in reached]
        return reached, leaders & reached

    @cached_property
    def returns(self) -> tuple[int, ...]:
        """All instructions where lanes can go on: by the stack, after a barrier, or in the next turn."""
        found = {i for index in self.reached for i in self.comebacks(index)}
        for block in self.blocks:
            step = self.steps[block.last]
            after = self.after(block.last)
            found.update(i for i in after if i <= block.last or step.op == "BAR")
        return tuple(sorted(found & self.block_at.keys()))

    @cached_property
    def _loops(self) -> list[tuple[int, int]]:
        """First and last instruction of each loop: between a branch backwards, or a CONT, and its target."""
        steps, pairs = self.steps, []
        last_continue = max((i for i in self.reached if steps[i].op == "CONT"), default=-1)
        for index in self.reached:
            step = steps[index]
            if step.target is not None and step.target <= index and step.op == "BRA":
                pairs.append((step.target, index))
            elif step.target is not None and step.op == "PCNT":
                pairs.append((step.target, last_continue))
        return pairs

    @cached_property
    def repeated(self) -> set[int]:
        """Numbers of blocks that may run more than once in a thread, so that longer code can pay."""
        pairs = self._loops
        return {b.number for b in self.blocks if any(first <= b.last and b.first <= last for first, last in pairs)}

    def part_of(self, index: int) -> int:
        """The part that an instruction belongs to; 0 if all of it is one piece."""
        return max(bisect_right(self.cuts, index) - 1, 0)

    # -- which parts matter -----------------------------------------------------------------------------------------
    def _effects(self, read: Callable[[Step], int]) -> list[tuple[int, int]]:
        """For each block what it reads before writing it, and what it surely writes."""
        found = []
        for block in self.blocks:
            needed = killed = 0
            for index in block.body:
                step = self.steps[index]
                needed |= (read(step) | (self.outputs if step.op == "EXIT" else 0)) & ~killed
                killed |= surely_writes(step)
            found.append((needed, killed))
        return found

    @cached_property
    def _successors(self) -> list[list[int]]:
        """For each block those that can come directly after it; where it stops, those that an entry was pushed for."""
        # Lanes that stop go on where an entry was pushed for them; lanes that end need nothing more.
        pushed = {i for index in self.reached if self.steps[index].op in PUSHES or self.steps[index].op == "CAL"
                  for i in self.comebacks(index)}  # fmt: skip
        back = [i for i in pushed if i in self.block_at]
        found = []
        for b in self.blocks:
            after = self.after(b.last) if self._ends(b.last) else [b.last + 1]
            after = [*after, *(back if self.steps[b.last].op in STOPS - {"EXIT"} else [])]
            found.append([self.block_at[i] for i in {*after} if i in self.block_at])
        return found

    def _live(self, read: Callable[[Step], int]) -> list[int]:
        """For each block the registers of which something is read before they are written, from its beginning on."""
        effects = self._effects(read)
        live = [needed for needed, _ in effects]
        changed = True
        while changed:
            changed = False
            for n in reversed(range(len(self.blocks))):
                needed, killed = effects[n]
                new = needed | (self._after(n, live) & ~killed)
                if new != live[n]:
                    live[n], changed = new, True
        return live

    def _after(self, number: int, live: list[int]) -> int:
        found = 0
        for n in self._successors[number]:
            found |= live[n]
        return found

    @cached_property
    def live_in(self) -> list[int]:
        """For each block the registers whose value matters at its beginning."""
        return self._live(reads)

    @cached_property
    def _words_in(self) -> list[int]:
        return self._live(reads_words)

    def live_after(self, number: int) -> int:
        """The registers whose value matters at the end of a block."""
        return self._after(number, self.live_in)

    def words_after(self, number: int) -> int:
        """Those whose bits matter there, even if they are a NaN."""
        return self._after(number, self._words_in)

    @cached_property
    def kept(self) -> int:
        """Registers that waiting lanes may need when they come back: writes must leave them alone in those lanes."""
        found = 0
        for index in {i for one in self.reached for i in self.comebacks(one)}:
            if index in self.block_at:
                found |= self.live_in[self.block_at[index]]
        return found

    @cached_property
    def written(self) -> int:
        """Registers that the program can write."""
        found = 0
        for index in self.reached:
            found |= writes(self.steps[index])
        return found
