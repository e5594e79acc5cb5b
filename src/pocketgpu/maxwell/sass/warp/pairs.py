"""Two warps of a row at once, between two barriers (`row.py`).

A chain of additions keeps a warp waiting for each result. Two chains take no longer than one. So a stretch of a program
from one barrier to the next one gets a form for two warps, if that is a straight way but for branches that both take.
Accesses of memory must be simple for both. That is checked before anything is stored: if it was not found out before
(`known_addresses.py`), or if a branch goes another way, each warp runs the stretch by itself. So what the two warps
store is what one after the other would have stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.program.control import ENDS, Action, action_of
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.registers import ALL, reads_words, registers_from, writes
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import WARP
from pocketgpu.maxwell.sass.warp.functions import called
from pocketgpu.maxwell.sass.warp.inline_access import (
    GLOBAL_ROW,
    TWIN_ROW,
    InlineAccess,
    RowPlaces,
    aligned,
    row_addresses,
)
from pocketgpu.maxwell.sass.warp.known_addresses import Sum, SureAddresses, sums_of
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.row import Row

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
    """One of two warps: its accesses of memory were checked before.

    places: of rows in global memory, by instruction. twin: the other warp. same: instructions that load the same rows.
    """

    def __init__(
        self, k: Lang, place: WarpPlace, flow: Flow, inline: Iterable[Mapping[int, InlineAccess]]
    ) -> None:  # fmt: skip
        super().__init__(k, place, flow)
        self.known = self.sure = SureAddresses(k, flow.steps, inline)
        self.places: dict[int, RowPlaces] = {}
        self.twin: PairedMachine | None = None
        self.same: set[int] = set()
        self._loaded: dict[int, list[Value]] = {}

    def ask_shared(self, step: Step, access: InlineAccess, mask: Value) -> None:
        """Nothing is left to ask."""

    def global_row(self, step: Step, access: InlineAccess, mask: Value) -> RowPlaces:
        return self.places[step.index]

    def shared_words(self, step: Step, access: InlineAccess) -> list[Value]:
        if self.twin is not None and step.index in self.same:
            return self.twin._loaded[step.index]
        found = self._loaded[step.index] = super().shared_words(step, access)
        return found

    def take_up(self, sums: Iterable[Sum]) -> None:
        """A stretch with some sums of addresses begins."""
        self.places, self._loaded, self.twin, self.same = {}, {}, None, set()
        self.sure.begin(self.k.load(I32, self.place.word(WARP.KNOWN)), self.sure.passes(sums))

    def check(self, accesses: list[tuple[Step, InlineAccess]]) -> Value:
        """Whether accesses are simple (a scalar)."""
        k, known = self.k, self.sure
        wanted, all_addresses, good = 0, list[Value](), k.i32(0) == 0
        for step, access in accesses:
            wanted |= known.bit(step, access) if access.asks else 0
            if access.kind == GLOBAL_ROW:
                addresses = row_addresses(k, self.firsts(step.base), self.firsts(step.base + 1), step.offset)
                pages = known.pages(self.place, step)
                wanted |= pages.bit
                found, places = pages.inside(addresses)
                good, all_addresses = good & found, [*all_addresses, *addresses]
                self.places[step.index] = RowPlaces(k, places)
        good = known.need(wanted) & good
        return good & aligned(k, all_addresses) if all_addresses else good

    def execute(self, step: Step) -> None:
        """An instruction, for all lanes."""
        mask = self.guard(step, self.everyone)
        if step.op in OPERATIONS:
            self.arithmetic(step, mask)
        else:
            self.other(step, self.everyone, mask)


class WarpPair:
    """The form of stretches for two warps of a row."""

    def __init__(self, row: Row) -> None:
        k = row.k
        self.row, self.record = row, k.var(row.first_record)
        """record: of the second warp."""
        second = WarpPlace(k, row.place.launch, row.place.slot, row.warp, self.record)
        self.machines = [PairedMachine(k, place, row.flow, row.inline.values()) for place in (row.place, second)]
        for machine in self.machines:
            machine.active = lambda: k.i32(-1)

    def run(self, stretch: Stretch) -> None:
        """A stretch for both warps, and what they leave in their records at the barrier."""
        row, flow = self.row, self.row.flow
        self._unless(self._begin(stretch), stretch)
        late = {place: (step, access) for place, step, access, computed in stretch.accesses() if computed}
        for n, step in enumerate(stretch.steps[: stretch.early]):
            if n in late:
                for machine in self.machines:
                    self._unless(machine.check([late[n]]), stretch)
            for machine in self.machines:
                self._step(machine, step, stretch)
        for machine in self.machines:
            for step in stretch.steps[stretch.early :]:
                self._step(machine, step, stretch)
        last = stretch.blocks[-1]
        words = reads_words(flow.steps[last.last])
        kept = row.residence.barrier(last.number, flow.block_at[stretch.following])
        for block, after in zip(stretch.blocks, (*stretch.blocks[1:], None), strict=True):
            words |= flow.words_after(block.number)
            kept |= 0 if after is None else row.residence.edge(block.number, after.number)
        for machine in self.machines:
            machine.settle_all(words)
            machine.put_away(kept, row.k.i32(-1))
            known = machine.sure.now()
            if known is not None:
                row.k.store(I32, machine.place.word(WARP.KNOWN), known)

    def _begin(self, stretch: Stretch) -> Value:
        """Begin a stretch; returns whether both warps can go on together (a scalar)."""
        row = self.row
        self.record.value = row.record.value + row.stride
        sums = [one for block in stretch.blocks for one in sums_of(row.flow, block)]
        first = [(step, access) for _, step, access, computed in stretch.accesses() if not computed]
        good = row.k.i32(0) == 0
        for machine in self.machines:
            machine.begin(stretch.inline, {}, sums, ALL)
            machine.take_up(sums)
            good = good & machine.sure.need_bases() & machine.check(first)
        return good & self._share(first) if stretch.early == len(stretch.steps) else good

    def _share(self, accesses: list[tuple[Step, InlineAccess]]) -> Value:
        """Let both warps load the rows once that the halves of a warp share; returns whether they are the same."""
        one, other = self.machines
        rows = [step for step, access in accesses if access.kind == TWIN_ROW]
        other.twin, other.same, good = one, {step.index for step in rows}, self.row.k.i32(0) == 0
        for n in sorted({step.base for step in rows}):
            good = good & (one.firsts(n)[0] == other.firsts(n)[0])
        return good

    def _step(self, machine: PairedMachine, step: Step, stretch: Stretch) -> None:
        if step.index not in stretch.branches:
            if action_of(step) is not Action.NOTHING:
                machine.execute(step)
        elif step.guarded:
            taken = machine.shared_guard(step)
            assert taken is not None
            self._unless(taken if stretch.branches[step.index] else ~taken, stretch)

    def _unless(self, good: Value, stretch: Stretch) -> None:
        """Go on with the first warp alone, from the beginning of the stretch: nothing has been stored."""
        self.row.k.escape(~good, self.row.after_barrier[stretch.first])


__all__ = ["PairedMachine", "Stretch", "WarpPair", "stretches"]
