"""What is done once for all warps of a row in a stretch of a program (`pairs.py`, `row_table.py`).

The addresses of a warp's half follow from the one of its first lane where lanes access words side by side. So sums of
such addresses need one addition for each half, and the registers themselves can wait until the row is left. A plan says
which sums of a stretch are done so. It is there only if nothing else in the stretch needs these registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, reads, registers_from, writes
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.warp.inline_access import GLOBAL_ROW
from pocketgpu.maxwell.sass.warp.known_addresses import Sum, addend

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.pairs import Stretch


@dataclass(frozen=True)
class Plan:
    """What is done once in a stretch.

    sums: by the number of their first instruction. skipped: instructions that are these sums. late: first registers of
    pairs that are sums at the end, and not in the records yet. gone: pairs that are written otherwise.
    """

    sums: Mapping[int, Sum]
    skipped: frozenset[int]
    late: frozenset[int]
    gone: frozenset[int]


def addends(stretch: Stretch, sums: Iterable[Sum]) -> set[int]:
    """Registers that sums of a stretch add."""
    steps = {step.index: step for step in stretch.steps}
    found = set()
    for one in sums:
        for number, base in ((one.low, one.base), (one.high, one.base + 1)):
            source = addend(steps[number], base)
            if source.kind == "reg" and source.n != RZ:
                found.add(source.n)
    return found


def plans(
    stretches: Iterable[Stretch], sums_in: Callable[[Stretch], list[Sum]], kept: Callable[[Stretch], int]
) -> dict[int, Plan]:
    """The plans of those stretches that can have one, by first instruction.

    sums_in: gives the sums that a stretch may do once. kept: gives registers that matter after it.
    """
    todo = {one.first: one for one in stretches}
    while True:
        found = _follow(todo, sums_in, kept)
        kept_plans = {first: plan for first, plan in found.items() if plan is not None}
        if len(kept_plans) == len(todo):
            return kept_plans
        todo = {first: todo[first] for first in kept_plans}


def _follow(
    stretches: Mapping[int, Stretch], sums_in: Callable[[Stretch], list[Sum]], kept: Callable[[Stretch], int]
) -> dict[int, Plan | None]:
    """A plan for each stretch or None, by what the stretches before it may leave out of the records."""
    written = added = 0
    sums = {first: sums_in(one) for first, one in stretches.items()}
    for first, one in stretches.items():
        for step in one.steps:
            written |= writes(step)
        for n in addends(one, sums[first]):
            added |= 1 << n
    before: dict[int, frozenset[int]] = {first: frozenset() for first in stretches}
    while True:
        found: dict[int, Plan | None] = {}
        after = dict(before)
        for first, one in stretches.items():
            usable = [] if added & written else sums[first]
            plan = found[first] = _Planner(one, usable, before[first]).plan(kept(one))
            if plan is not None and one.following in after:
                after[one.following] |= before[first] - plan.gone | plan.late
        if after == before:
            return found
        before = after


class _Planner:
    """Makes the plan of a stretch. late: pairs that may not be in the records when it begins."""

    def __init__(self, stretch: Stretch, sums: Iterable[Sum], late: frozenset[int]) -> None:
        self.stretch = stretch
        self.sums = {one.low: one for one in sums}
        self.late, self.gone = set(late), set[int]()
        self.plain = 0
        """Registers that were written otherwise than by sums."""
        self.stale = 0
        """Registers of late pairs whose other half was written otherwise: nothing may need them any more."""
        self.taken: dict[int, Sum] = {}
        self.open: dict[int, Sum] = {}
        """Sums of which the lower words are added, by their second instruction."""

    def plan(self, kept: int) -> Plan | None:
        """The plan; None if there is none. kept: registers that matter after the stretch."""
        flags = 1 << FLAGS_BIT
        for step in self.stretch.steps:
            if not self._step(step):
                return None
        read = 0
        skipped = frozenset(n for one in self.taken.values() for n in (one.low, one.high))
        for step in self.stretch.steps:
            read |= 0 if step.index in skipped else reads(step)
        if skipped and (read | kept) & flags:
            return None
        if self.stale & kept:
            return None
        gone = self.gone - self.late
        late = frozenset(one.dest for one in self.taken.values()) & self.late
        return Plan(self.taken, skipped, late, frozenset(gone))

    def _step(self, step: Step) -> bool:
        """Whether a step can be in a plan."""
        one = self.sums.get(step.index)
        if one is not None and self._take(one):
            return True
        if step.index in self.open:
            del self.open[step.index]
            return True
        read, access = reads(step), self.stretch.inline.get(step.index)
        if access is not None:
            base = registers_from(step.base, 2 if access.kind == GLOBAL_ROW else 1)
            if base & (self.plain | self.stale) or any(_pair(one.dest) & base for one in self.open.values()):
                return False
            if access.kind == GLOBAL_ROW:
                data = [s.n for s in step.sources if s.kind == "reg" and s.n != RZ] if step.op == "ST" else []
                read = read & ~base | sum(1 << n for n in set(data))
        if read & self.stale or any(_pair(n) & read for n in self.late):
            return False
        written = writes(step)
        hit = {n for n in self.late if _pair(n) & written}
        if hit and (step.guarded or any(one.dest in hit for one in self.open.values())):
            return False
        self.late -= hit
        self.gone |= hit
        self.stale = (self.stale | sum(_pair(n) for n in hit)) & ~written
        self.plain |= written
        return True

    def _take(self, one: Sum) -> bool:
        """Take a sum into the plan, if it can be."""
        even = not (one.base | one.dest) & 1
        opened = any(other.dest == one.base for other in self.open.values())
        if not even or opened or (self.plain | self.stale) & _pair(one.base):
            return False
        self.plain &= ~_pair(one.dest)
        self.stale &= ~_pair(one.dest)
        self.late.add(one.dest)
        self.taken[one.low] = self.open[one.high] = one
        return True


def _pair(n: int) -> int:
    return registers_from(n, 2)


__all__ = ["Plan", "addends", "plans"]
