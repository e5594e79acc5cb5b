"""The flow of a program: its blocks, where lanes can come back to, and which registers matter there.

Control flow is per warp: a mask of lanes at work and a stack of (kind, target, mask). Blocks are cut wherever control
can arrive or leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pocketgpu.maxwell.sass.isa import PT, RZ
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.steps import ALWAYS, Step

PUSHES = {"SSY": 1, "PBK": 2, "PCNT": 3, "PRET": 4, "PLONGJMP": 5, "PEXIT": 6}
"""Instructions that push an entry, and the kind of entry."""
DIVERGED, CALLED = 0, 4
LEAVES = {"BRK": 2, "CONT": 3, "RET": 4, "LONGJMP": 5}
"""Instructions by which lanes leave all entries above the nearest of a kind."""
BRANCHES = {"BRA", "BRX", "JMX", "CAL"}
STOPS = {"SYNC", "EXIT", *LEAVES}
ENDS = BRANCHES | STOPS | {"BAR"}
NOTHING = {
    "NOP", "DEPBAR", "MEMBAR", "CCTL", "CCTLL", "CCTLT", "IDE", "BPT", "RTT", "STP", "R2B", "SETCRSPTR",
    "SETLMEMBASE",
}  # fmt: skip
"""Instructions that change nothing that a program can see."""

PREDICATE_BIT, FLAGS_BIT = 256, 264
"""Where predicates and the condition code stand in a set of registers, which is a number with a bit for each."""
_WORDS = (1, 1, 1, 1, 1, 2, 4, 4)
ALL = (1 << 265) - 1


def words_of(size: int) -> int:
    """Registers of a memory access of a size."""
    return _WORDS[size & 7]


def _registers(n: int, count: int = 1) -> int:
    return 0 if n == RZ else sum(1 << (n + i) for i in range(count) if n + i < RZ)


def _predicates(numbers: object) -> int:
    return sum(1 << (PREDICATE_BIT + n) for n in set(numbers) if n != PT)  # type: ignore[call-overload]


_PAIRS = "dqw"
_SINGLE = {
    "SHFL", "VOTE", "BAR", "B2R", "S2R", "R2B", "BRX", "JMX", "ALD", "IPA", "AL2P", "OUT", "ISBERD", "PIXLD",
}  # fmt: skip


def _source_words(step: Step) -> int:
    """Registers that a source of an instruction outside of OPERATIONS can have."""
    if step.op in ("ST", "STL", "STS"):
        return words_of(step.mods.get("size", 4))
    if step.op in ("ATOM", "ATOMS", "RED"):
        return 2
    if step.op == "AST":
        return step.mods["size"] + 1
    return 1 if step.op in _SINGLE else 4


def reads(step: Step) -> int:
    """Registers that an instruction reads, as a set."""
    found = _predicates([step.guard.n, *(p.n for p in step.predicates)])
    if step.test != ALWAYS or step.mods.get("x") or step.op in ("CSET", "CSETP", "P2R", "R2P", "IMNMX"):
        found |= 1 << FLAGS_BIT
    if step.texture is not None:
        return found | sum(_registers(n) for n in set(step.texture.sources))
    operation = OPERATIONS.get(step.op)
    if operation is not None:
        for source, letter in zip(step.sources, operation.sources, strict=False):
            if source.kind == "reg":
                found |= _registers(source.n, 2 if letter in _PAIRS else 1)
        if step.op == "MOV" and step.mods.get("mask", 15) != 15:
            found |= _registers(step.dest)
        return found
    found |= _registers(step.base, 2 if step.mods.get("e") else 1)
    for source in step.sources:
        if source.kind == "reg":
            found |= _registers(source.n, _source_words(step))
    if step.indirect is not None:
        register = getattr(step.indirect, "register", None)
        found |= 0 if register is None else _registers(register)
    return found


def writes(step: Step) -> int:
    """Registers that an instruction can write."""
    found = _predicates(step.results)
    if step.texture is not None:
        return found | sum(_registers(n) for n in set(step.texture.results))
    operation = OPERATIONS.get(step.op)
    if operation is not None:
        wide = any(letter in _PAIRS for letter in operation.dest)
        if step.op in ("F2I", "I2F", "F2F"):
            wide = step.mods["to"] in ((3, 7) if step.op == "F2I" else (3,))
        found |= _registers(step.dest, 2 if wide else 1)
        if step.cc or step.op == "R2P":
            found |= 1 << FLAGS_BIT
        return found
    return found | _registers(step.dest, written_words(step))


def written_words(step: Step) -> int:
    """Registers from the destination on that an instruction outside of OPERATIONS writes."""
    if step.op == "LDC":
        return 2 if step.mods.get("size") == 5 else 1
    if step.op in ("LD", "LDL", "LDS"):
        return words_of(step.mods.get("size", 4))
    if step.op in ("ATOM", "ATOMS"):
        if step.mods.get("cas"):
            return 1 + step.mods.get("size", 0)
        return 2 if step.mods.get("type", 0) in ((2, 5) if step.op == "ATOM" else (2, 3)) else 1
    if step.op == "CS2R":
        return 2
    if step.op == "ALD":
        return step.mods["size"] + 1
    return 1


def likely_functions(steps: tuple[Step, ...]) -> set[int]:
    """Instructions that an indirect jump may go to: where a function begins whose address the program has as a number.

    Others are right as well; code for them is made by the interpreter.
    """
    if not any(step.op in ("BRX", "JMX") for step in steps):
        return set()
    starts = {step.target for step in steps if step.op == "CAL" and step.target is not None}
    closed = {"RET", "EXIT", "NOP", "BRA"}
    starts |= {i + 1 for i, step in enumerate(steps[:-1]) if step.op in closed and not divides(step)}
    numbers = {source.bits for step in steps for source in step.sources if source.kind == "imm"}
    return {i for i in starts if steps[i].address in numbers}


def divides(step: Step) -> bool:
    """Whether a flow instruction can hold for some lanes only."""
    return step.guarded or step.test != ALWAYS


@dataclass(frozen=True)
class CodeBlock:
    """Instructions that are executed in a row: `first` to `last`."""

    number: int
    first: int
    last: int


class Flow:
    """The blocks of a program from instruction `start` on.

    indirect: instructions that indirect branches are known to reach. outputs: registers that matter at the end.
    """

    def __init__(
        self, steps: tuple[Step, ...], start: int = 0, indirect: tuple[int, ...] = (), outputs: Iterable[int] = ()
    ) -> None:
        self.steps, self.start = steps, start
        self.outputs = sum(_registers(n) for n in set(outputs))
        self.indirect = tuple(i for i in indirect if 0 <= i < len(steps))
        self.reached, leaders = self._walk()
        self.blocks: list[CodeBlock] = []
        self.block_at: dict[int, int] = {}
        for first in sorted(leaders):
            last = first
            while not self._ends(last) and last + 1 < len(steps) and last + 1 not in leaders:
                last += 1
            self.block_at[first] = len(self.blocks)
            self.blocks.append(CodeBlock(len(self.blocks), first, last))

    def _ends(self, index: int) -> bool:
        return self.steps[index].op in ENDS

    def after(self, index: int) -> list[int]:
        """Instructions that control can come to directly after one, those it jumps to by the stack not counted."""
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
        """Instructions that lanes can come back to by the stack because of one."""
        step = self.steps[index]
        if step.op in PUSHES:
            return [] if step.target is None else [step.target]
        if step.op == "CAL":
            return [index + 1] if index + 1 < len(self.steps) else []
        if step.op in ("BRX", "JMX"):
            return [index, *self.indirect]
        if step.op == "BRA" and divides(step):
            return [] if step.target is None else [step.target]
        return []

    def _walk(self) -> tuple[set[int], set[int]]:
        reached: set[int] = set()
        leaders = {self.start}
        todo = [self.start]
        while todo:
            index = todo.pop()
            if index in reached:
                continue
            reached.add(index)
            after, back = self.after(index), self.comebacks(index)
            if self._ends(index):
                leaders.update(after)
            leaders.update(back)
            todo += [i for i in (*after, *back) if i not in reached]
        return reached, leaders & reached

    @cached_property
    def returns(self) -> tuple[int, ...]:
        """All instructions that lanes can come back to by the stack, or a warp after a barrier or its turn."""
        found = {i for index in self.reached for i in self.comebacks(index)}
        for block in self.blocks:
            step = self.steps[block.last]
            after = self.after(block.last)
            found.update(i for i in after if i <= block.last or step.op == "BAR")
        return tuple(sorted(found & self.block_at.keys()))

    # -- what matters where -----------------------------------------------------------------------------------------
    @cached_property
    def _effects(self) -> list[tuple[int, int]]:
        """For each block what it reads before writing it, and what it surely writes."""
        found = []
        for block in self.blocks:
            needed = killed = 0
            for index in range(block.first, block.last + 1):
                step = self.steps[index]
                needed |= (reads(step) | (self.outputs if step.op == "EXIT" else 0)) & ~killed
                if not step.guarded and not step.results and not (step.op == "MOV" and step.mods["mask"] != 15):
                    killed |= writes(step)
            found.append((needed, killed))
        return found

    @cached_property
    def live_in(self) -> list[int]:
        """For each block the registers whose value matters at its beginning."""
        successors = [
            [self.block_at[i] for i in {*self.after(b.last)} if i in self.block_at]
            if self._ends(b.last)
            else [self.block_at[b.last + 1]]
            if b.last + 1 in self.block_at
            else []
            for b in self.blocks
        ]
        # Lanes that stop go on where an entry was pushed for them; lanes that end need nothing more.
        pushed = {i for index in self.reached if self.steps[index].op in PUSHES or self.steps[index].op == "CAL"
                  for i in self.comebacks(index)}  # fmt: skip
        back = [self.block_at[i] for i in pushed if i in self.block_at]
        stops = [self.steps[b.last].op in STOPS - {"EXIT"} for b in self.blocks]
        live = [needed for needed, _ in self._effects]
        changed = True
        while changed:
            changed = False
            resumed = 0
            for n in back:
                resumed |= live[n]
            for n in reversed(range(len(self.blocks))):
                after = resumed if stops[n] else 0
                for s in successors[n]:
                    after |= live[s]
                needed, killed = self._effects[n]
                new = needed | (after & ~killed)
                if new != live[n]:
                    live[n], changed = new, True
        return live

    @cached_property
    def kept(self) -> int:
        """Registers that matter somewhere a lane that does not work now may come back to: writes must spare them."""
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
