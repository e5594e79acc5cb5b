"""Two warps of a row at once, between two barriers (`row.py`).

A chain of additions keeps a warp waiting for each result. Two chains take no longer than one. So a stretch of a program
from one barrier to the next one gets a form for two warps, if that is a straight way but for branches that both take.
Accesses of memory must be simple for all warps of the row. That is checked before (`row_table.py`). If a branch goes
another way, the warps that are left run the stretch each by itself. So what two warps store is what one after the other
would have stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.program.control import ENDS, Action, action_of
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.registers import ALL, reads_words, registers_from, writes
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import ROW_WORD
from pocketgpu.maxwell.sass.warp.functions import called
from pocketgpu.maxwell.sass.warp.inline_access import (
    GLOBAL_ROW,
    TWIN_ROW,
    InlineAccess,
    RowPlaces,
)
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.residence import Residence
    from pocketgpu.maxwell.sass.warp.row import Row
    from pocketgpu.maxwell.sass.warp.row_table import RowTable

MOST_BLOCKS = 3
"""Blocks of a stretch."""
_STORES = ("STS", "ST")


@dataclass(frozen=True)
class Stretch:
    """Blocks from a barrier to the next one. branches: ends of blocks, and whether they are taken.

    inline: the accesses of memory. early: how many steps come before the first one that stores.
    """

    blocks: tuple[CodeBlock, ...]
    steps: tuple[Step, ...]
    branches: dict[int, bool]
    inline: dict[int, InlineAccess]
    early: int

    @property
    def first(self) -> int:
        """The number of its first instruction."""
        return self.blocks[0].first

    @property
    def following(self) -> int:
        """The number of the instruction after the barrier at its end."""
        return self.blocks[-1].last + 1

    @property
    def count(self) -> int:
        """How many instructions a warp executes."""
        return sum(b.last - b.first + 1 for b in self.blocks)

    def kept(self, places: Residence) -> int:
        """The registers that warps store at its end."""
        last = self.blocks[-1]
        found = places.barrier(last.number, places.flow.block_at[self.following])
        for block, after in pairwise(self.blocks):
            found |= places.edge(block.number, after.number)
        return found

    def accesses(self) -> Iterator[tuple[int, Step, InlineAccess, bool]]:
        """(place among the steps, step, access, whether the address is computed in the stretch)."""
        written = 0
        for place, step in enumerate(self.steps):
            access = self.inline.get(step.index)
            if access is not None:
                base = registers_from(step.base, 2 if access.kind == GLOBAL_ROW else 1)
                yield place, step, access, bool(written & base)
            written |= writes(step)


def stretches(row: Row) -> list[Stretch]:
    """The stretches of a program that get a form for two warps."""
    flow = row.flow
    found = [
        _stretch(row, b) for b in flow.blocks
        if b.first in row.after_barrier and b.number in flow.repeated and row.residence.recorded(b.number)
    ]  # fmt: skip
    return [one for one in found if one is not None and _simple(row, one)]


def _stretch(row: Row, block: CodeBlock) -> Stretch | None:
    """The blocks from one on, up to a plain barrier. Of a branch the way backwards is taken to be the usual one."""
    flow, blocks, branches = row.flow, [block], dict[int, bool]()
    while (last := flow.steps[blocks[-1].last]).op != "BAR":
        following = last.index + 1
        if last.op == "BRA" and last.target is not None and last.indirect is None and not flow.divides(last):
            if last.guarded and (last.guard.n not in row.machine.shared or last.test != ALWAYS):
                return None
            branches[last.index] = not last.guarded or last.target <= last.index
            following = last.target if branches[last.index] else following
        elif last.op in ENDS:
            return None
        number = flow.block_at.get(following)
        if number is None or len(blocks) == MOST_BLOCKS or flow.blocks[number] in blocks:
            return None
        blocks.append(flow.blocks[number])
    if last.index + 1 not in row.barriers:
        return None
    steps = tuple(flow.steps[i] for b in blocks for i in b.body if i != last.index)
    inline = {i: access for b in blocks for i, access in row.inline[b.number].items()}
    early = next((n for n, step in enumerate(steps) if step.op in _STORES), len(steps))
    # Loads of the second warp come before stores of the first one only if these are in another memory.
    spaces = [{step.op[-1:] == "S" for step in part if step.index in inline} for part in (steps[:early], steps[early:])]
    apart = early == len(steps) or (len(spaces[0]) == len(spaces[1]) == 1 and spaces[0] != spaces[1])
    return Stretch(tuple(blocks), steps, branches, inline, early if apart else 0)


def _simple(row: Row, stretch: Stretch) -> bool:
    """Whether a stretch has some accesses of memory that can be checked, and else only arithmetic and branches."""
    functions = called(row.flow)
    for step in stretch.steps:
        if step.index in stretch.inline or step.index in stretch.branches or action_of(step) is Action.NOTHING:
            continue
        if step.op not in OPERATIONS or step.test != ALWAYS or step.index in functions:
            return False
    late = [n for n, step in enumerate(stretch.steps) if stretch.branches.get(step.index) is not None and step.guarded]
    for place, step, access, computed in stretch.accesses():
        if step.guarded or (access.asks and not _known(row, step, access)):
            return False
        late += [place] if computed else []
    return bool(stretch.inline) and all(place < stretch.early for place in late)


def _known(row: Row, step: Step, access: InlineAccess) -> bool:
    """Whether it is remembered that an access is simple."""
    known = row.machine.known
    noted = access.kind != GLOBAL_ROW or known.pages(row.place, step).number is not None
    return noted and known.bit(step, access) != 0


class PairedMachine(VariableMachine):
    """One of two warps: its accesses of memory were checked before, and the table of the row has their addresses.

    second: 0 for the first of the two warps, 1 for the other. twin: the other warp. same: instructions that load the
    same rows.
    """

    def __init__(self, k: Lang, place: WarpPlace, flow: Flow, table: RowTable, second: int) -> None:
        super().__init__(k, place, flow)
        self.table, self.second = table, second
        self.places: dict[int, int] = {}
        self.twin: PairedMachine | None = None
        self.same: frozenset[int] = frozenset()
        self._loaded: dict[int, list[Value]] = {}

    def ask_shared(self, step: Step, access: InlineAccess, mask: Value) -> None:
        """Nothing is left to ask."""

    def global_row(self, step: Step, access: InlineAccess, mask: Value) -> RowPlaces:
        return RowPlaces(self.k, list(self.table.first_lanes(self.second, self.places[step.index])))

    def firsts(self, n: int) -> tuple[Value, Value]:
        place = self.table.place.get(n)
        return super().firsts(n) if place is None else self.table.first_lanes(self.second, place)

    def shared_words(self, step: Step, access: InlineAccess) -> list[Value]:
        if self.twin is not None and step.index in self.same:
            return self.twin._loaded[step.index]
        found = self._loaded[step.index] = super().shared_words(step, access)
        return found

    def take_up(self, stretch: Stretch, twin: PairedMachine | None) -> None:
        """A stretch begins. twin: a warp that loads the same rows where the halves of a warp share them."""
        self.begin(stretch.inline, {}, (), ALL)
        rows = [step.index for _, step, access, _ in stretch.accesses() if access.kind == GLOBAL_ROW]
        self.places = {index: self.table.rows + ROW_WORD * n for n, index in enumerate(rows)}
        self._loaded, self.twin = {}, twin
        self.same = frozenset(step.index for _, step, access, _ in stretch.accesses() if access.kind == TWIN_ROW)

    def execute(self, step: Step) -> None:
        """An instruction, for all lanes."""
        mask = self.guard(step, self.everyone)
        if step.op in OPERATIONS:
            self.arithmetic(step, mask)
        else:
            self.other(step, self.everyone, mask)


class WarpPair:
    """The form of stretches for two warps of a row."""

    def __init__(self, row: Row, table: RowTable) -> None:
        k = row.k
        self.row, self.table, self.record = row, table, k.var(row.first_record)
        """record: of the second warp."""
        second = WarpPlace(k, row.place.launch, row.place.slot, row.warp, self.record)
        places = (row.place, second)
        self.machines = [PairedMachine(k, place, row.flow, table, n) for n, place in enumerate(places)]
        for machine in self.machines:
            machine.active = lambda: k.i32(-1)

    def run(self, stretch: Stretch) -> None:
        """A stretch for both warps, and what they leave in their records at the barrier."""
        row, flow = self.row, self.row.flow
        self.record.value = row.record.value + row.stride
        one, other = self.machines
        one.take_up(stretch, None)
        other.take_up(stretch, one if stretch.early == len(stretch.steps) else None)
        for step in stretch.steps[: stretch.early]:
            for machine in self.machines:
                self._step(machine, step, stretch)
        for machine in self.machines:
            for step in stretch.steps[stretch.early :]:
                self._step(machine, step, stretch)
        words, kept = reads_words(flow.steps[stretch.blocks[-1].last]), stretch.kept(row.residence)
        for block in stretch.blocks:
            words |= flow.words_after(block.number)
        for machine in self.machines:
            machine.settle_all(words)
            machine.put_away(kept, row.k.i32(-1))

    def _step(self, machine: PairedMachine, step: Step, stretch: Stretch) -> None:
        if step.index in self.table.plans[stretch.first].skipped:
            return
        if step.index not in stretch.branches:
            if action_of(step) is not Action.NOTHING:
                machine.execute(step)
        elif step.guarded:
            taken = machine.shared_guard(step)
            assert taken is not None
            # Nothing has been stored: this warp can go on alone from the beginning of the stretch.
            self.row.k.escape(~taken if stretch.branches[step.index] else taken, self.row.leaving)


__all__ = ["PairedMachine", "Stretch", "WarpPair", "stretches"]
