"""The first lanes of all warps of a row, side by side in the block's slot: what a row checks and adds once.

Between two barriers the warps of a row access memory by addresses that were found to be simple: then the address of the
first lane of each half says all. The table has such registers for all halves of all warps, as vectors. So one addition
and one check do for a whole row. The registers in the warps' records come up to date when the row is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.lanes import I32, I64, Value, Var
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.program.registers import words_of, writes
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import (
    LANES,
    NOTED,
    REGISTERS,
    ROW_TABLE,
    ROW_WARP,
    ROW_WORD,
    ROW_WORDS,
    VECTOR,
    WARP,
)
from pocketgpu.maxwell.sass.warp.inline_access import GLOBAL_ROW, HALF, TWIN_ROW, SharedRows
from pocketgpu.maxwell.sass.warp.known_addresses import PAGES, Sum, SureAddresses, addend, sums_of
from pocketgpu.maxwell.sass.warp.row_plans import Plan, addends, plans

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.pairs import Stretch
    from pocketgpu.maxwell.sass.warp.row import Row

GROUP = HALF
"""Halves of warps that are worked on at once."""


class RowTable:
    """The table of a row, and what is known of its addresses.

    filled: whether the row uses it: then records may be out of date. known: what is known of the addresses of all
    warps. late: pairs of registers that only the table has, a bit for each. next_known, next_late, moved: the same
    after the stretch under way, and the pairs that it changes.
    """

    def __init__(self, row: Row, found: list[Stretch]) -> None:
        k = row.k
        self.row, self.k = row, k
        self.sure = SureAddresses(k, row.flow.steps, row.inline.values())
        self.at = row.place.slot + ROW_TABLE
        self.filled, self.entry = k.var(0), k.var(row.place.slot)
        """entry: the arena offset of what the table has of the first of two warps."""
        self.asked = k.var(0)
        self.known, self.next_known, self.pages = k.var(0), k.var(0), k.var(0)
        self.late, self.next_late, self.moved = k.var(0), k.var(0), k.var(0)
        self.plans: dict[int, Plan] = plans(found, self._sums, self._kept)
        self.stretches = {one.first: one for one in found if one.first in self.plans}
        self._lay_out()

    def _sums(self, stretch: Stretch) -> list[Sum]:
        """The sums of a stretch whose results are addresses with noted pages."""
        found = [one for block in stretch.blocks for one in sums_of(self.row.flow, block)]
        number = self.sure.page_number
        return [s for s in self.sure.passes(found) if number(s.base) is not None and number(s.dest) is not None]

    def _kept(self, stretch: Stretch) -> int:
        """Registers that matter after a stretch."""
        return stretch.kept(self.row.residence)

    def _lay_out(self) -> None:
        """Give each word of the table its place."""
        bases, fixed, most = set[int](), set[int](), 0
        self.origins: list[tuple[int, int]] = []
        """Sums (base, result) that may be in the same pages."""
        for first, one in self.stretches.items():
            plan = self.plans[first]
            accesses = [(step, access) for _, step, access, _ in one.accesses()]
            rows = [step.base for step, access in accesses if access.kind == GLOBAL_ROW]
            most = max(most, len(rows))
            bases.update(rows, *((s.base, s.dest) for s in plan.sums.values()))
            fixed.update(step.base for step, access in accesses if access.kind != GLOBAL_ROW)
            fixed |= addends(one, plan.sums.values())
            self.origins += [(s.base, s.dest) for s in plan.sums.values() if s.base != s.dest]
        self.bases = sorted(bases)
        words = [n + i for n in self.bases for i in range(2)]
        fixed -= {RZ, *words}
        self.words = [*words, *sorted(fixed)]
        """Registers of the table."""
        sums = [s.dest for plan in self.plans.values() for s in plan.sums.values()]
        self.sums = sorted(set(sums))
        self.place = {n: ROW_WORD * i for i, n in enumerate(self.words)}
        before = [n + i for n in self.sums for i in range(2)]
        self.before = {n: ROW_WORD * (len(self.words) + i) for i, n in enumerate(before)}
        """Where sums have what they were before the stretch under way."""
        self.rows = ROW_WORD * (len(self.words) + len(before))
        """Where the places of rows in global memory are, in the order of a stretch's accesses."""
        if len(self.words) + len(before) + most > ROW_WORDS:
            self.stretches, self.plans = {}, {}

    def _bit(self, n: int) -> int:
        """The bit of a pair of registers."""
        return 1 << self.sums.index(n)

    def first_lanes(self, second: int, place: int) -> tuple[Value, Value]:
        """A word of both halves of a warp. second: 0 for the first of two warps, 1 for the other."""
        k, at = self.k, self.k.to_i64(self.entry.value)
        first, other = (k.load(I32, at + (place + ROW_WARP * second + 4 * half)) for half in range(2))
        return first, other

    # -- into the table ---------------------------------------------------------------------------------------------
    def _ask(self) -> None:
        """Find out about addresses in shared memory, for all warps."""
        k, row = self.k, self.row
        wanted = {
            self.sure.bit(step, access): (step, access)
            for one in self.stretches.values() for _, step, access, _ in one.accesses()
            if access.asks and access.kind != GLOBAL_ROW
        }  # fmt: skip
        rows, everyone = SharedRows(row.place), k.iota() >= 0
        for warp in k.range(0, row.warps.value):
            record = k.to_i64(row.first_record + warp * row.stride)
            known = k.var(k.load(I32, record + WARP.KNOWN))
            for bit, (step, access) in wanted.items():
                for _ in k.when((known.value & bit) == 0):
                    at = record + (REGISTERS + VECTOR * step.base)
                    base = k.splat(0) if step.base == RZ else k.load(I32, at, LANES)
                    bytes = 4 * words_of(step.mods.get("size", 4))
                    good = rows.good(access.kind, base, everyone, access.low, access.high, bytes)
                    known.value = known.value | k.select(good, bit, 0)
            k.store(I32, record + WARP.KNOWN, known.value)

    def survey(self) -> None:
        """Find what is known of the addresses of all warps, from their records."""
        k, row = self.k, self.row
        for _ in k.when(self.asked.value == 0):
            self.asked.value = 1
            self._ask()
        known = k.var(-1)
        for warp in k.range(0, row.warps.value):
            known.value = known.value & k.load(I32, row.first_record + warp * row.stride + WARP.KNOWN)
        self.known.value = known.value & ~PAGES
        first = row.first_record
        self.pages.value = k.load(I32, first + WARP.KNOWN) & PAGES
        number = self.sure.page_number
        for base, dest in self.origins:
            there, wanted = number(base), number(dest)
            assert there is not None and wanted is not None
            bits, bit, own = self.pages.value, self._page(there), self._page(wanted)
            for _ in k.when((bits & (bit | own)) == bit):
                for half in range(2):
                    at, to = (first + WARP.PAGES + (2 * n + half) * NOTED.size for n in (there, wanted))
                    for word in range(0, NOTED.size, 8):
                        k.store(I64, to + word, k.load(I64, at + word))
                self.pages.value = self.pages.value | own
                k.store(I32, first + WARP.KNOWN, k.load(I32, first + WARP.KNOWN) | own)

    def _page(self, number: int) -> int:
        """The bit of noted pages with a number."""
        return (PAGES & -PAGES) << number

    def fill(self) -> None:
        """Take the registers out of the records."""
        k, row = self.k, self.row
        for warp in k.range(0, row.warps.value):
            record, at = k.to_i64(row.first_record + warp * row.stride), k.to_i64(self.at + ROW_WARP * warp)
            for n in self.words:
                for half in range(2):
                    v = k.load(I32, record + (REGISTERS + VECTOR * n + 4 * HALF * half))
                    k.store(I32, at + (self.place[n] + 4 * half), v)
        self.filled.value = 1
        self.late.value = 0
        self.moved.value = 0

    # -- a stretch --------------------------------------------------------------------------------------------------
    def ready(self, stretch: Stretch) -> Value:
        """Whether enough is known for all warps to run a stretch (a scalar). Finds what is known after it as well."""
        k, sure, plan = self.k, self.sure, self.plans[stretch.first]
        ends = {one.high: one for one in plan.sums.values()}
        sure.begin(self.known.value)
        good, pages = k.i32(0) == 0, 0
        for step in stretch.steps:
            access = stretch.inline.get(step.index)
            if access is not None:
                good = good & sure.need(sure.bit(step, access) if access.asks else 0)
                if access.kind == GLOBAL_ROW:
                    number = sure.page_number(step.base)
                    assert number is not None
                    pages |= self._page(number)
            if step.index in plan.sums:
                good = good & sure.need_base(plan.sums[step.index])
                sure.before_sum(plan.sums[step.index])
            written = writes(step) & ((1 << RZ) - 1)
            while written:
                sure.write((written & -written).bit_length() - 1)
                written &= written - 1
            if step.index in ends:
                sure.after_sum(ends[step.index])
        now = sure.now()
        self.next_known.value = self.known.value if now is None else now
        gone, late = (sum(self._bit(n) for n in pairs) for pairs in (plan.gone & set(self.sums), plan.late))
        self.next_late.value = self.late.value & ~gone | late
        return good & ((self.pages.value & pages) == pages)

    def prepare(self, stretch: Stretch) -> Value:
        """Add what a stretch adds to addresses, and find the places of its rows; returns whether they are good."""
        k, plan = self.k, self.plans[stretch.first]
        good = k.var(k.i32(-1))
        for group in k.range(0, self.row.warps.value << 3, 4 * GROUP):
            left = (self.row.warps.value << 1) - (group >> 2)
            used = k.select(left >= GROUP, (1 << GROUP) - 1, (1 << left) - 1)
            _Group(self, k.to_i64(self.at + group), used, good).run(stretch, plan)
        moved = sum(self._bit(n) for n in {one.dest for one in plan.sums.values()})
        if moved:
            self.moved.value = k.i32(moved)
        self.entry.value = self.at
        return good.value == -1

    def done(self) -> None:
        """All warps have run the stretch."""
        self.known.value, self.late.value = self.next_known.value, self.next_late.value
        self.moved.value = self.k.i32(0)

    # -- out of the table -------------------------------------------------------------------------------------------
    def leave(self, done: Value) -> None:
        """Bring the records up to date. done: how many warps have run the stretch under way."""
        k, row = self.k, self.row
        for _ in k.when(self.filled.value != 0):
            for warp in k.range(0, row.warps.value):
                record, at = k.to_i64(row.first_record + warp * row.stride), k.to_i64(self.at + ROW_WARP * warp)
                after = warp < done
                known = k.select(after, self.next_known.value, self.known.value)
                k.store(I32, record + WARP.KNOWN, k.load(I32, record + WARP.KNOWN) & PAGES | known)
                late = k.select(after, self.next_late.value, self.late.value)
                for n in self.sums:
                    for _ in k.when((late & self._bit(n)) != 0):
                        before = ((self.moved.value & self._bit(n)) != 0) & ~after
                        self._put_back(n, record, at, before)
            self.filled.value = 0
            self.late.value = 0
            self.moved.value = 0

    def _put_back(self, n: int, record: Value, at: Value, before: Value) -> None:
        """The addresses of all lanes of a warp. before: whether those before the stretch under way."""
        k = self.k
        pattern = k.pattern_of([4 * i for i in range(HALF)])
        for half in range(2):
            low, high = (
                k.select(before, *(k.load(I32, at + (places[word] + 4 * half)) for places in (self.before, self.place)))
                for word in (n, n + 1)
            )
            lows = k.splat(low, HALF) + pattern
            highs = k.splat(high, HALF) + k.select(lows.below(k.splat(low, HALF)), k.splat(1, HALF), 0)
            for word, v in ((n, lows), (n + 1, highs)):
                k.store(I32, record + (REGISTERS + VECTOR * word + 4 * HALF * half), v)


class _Group:
    """What is done for some halves of warps at once.

    at: the arena offset of their part of the table. used: which of them there are. good: a variable whose bits are
    cleared where an address is not good.
    """

    def __init__(self, table: RowTable, at: Value, used: Value, good: Var) -> None:
        self.table, self.k, self.at, self.used, self.good = table, table.k, at, used, good
        self.values: dict[int, Value] = {}

    def run(self, stretch: Stretch, plan: Plan) -> None:
        table, count = self.table, 0
        for step in stretch.steps:
            access = stretch.inline.get(step.index)
            if access is not None and access.kind == GLOBAL_ROW:
                self._row(step, table.rows + ROW_WORD * count)
                count += 1
            if step.index in plan.sums:
                one = plan.sums[step.index]
                high = next(s for s in stretch.steps if s.index == one.high)
                self._sum(one, step, high)
        if stretch.early == len(stretch.steps):
            bases = {step.base for _, step, access, _ in stretch.accesses() if access.kind == TWIN_ROW}
            for n in sorted(bases):
                v = self._word(n)
                self._check(v == self.k.shuffle(v, [i // 4 * 4 for i in range(GROUP)]))
        for n in sorted({one.dest + i for one in plan.sums.values() for i in range(2)}):
            self.k.store(I32, self.at + table.before[n], self.k.load(I32, self.at + table.place[n], GROUP))
            self.k.store(I32, self.at + table.place[n], self.values[n])

    def _word(self, n: int) -> Value:
        """What a register holds in the first lane of each half."""
        if n == RZ:
            return self.k.splat(0, GROUP)
        if n not in self.values:
            self.values[n] = self.k.load(I32, self.at + self.table.place[n], GROUP)
        return self.values[n]

    def _check(self, good: Value) -> None:
        var = self.good
        var.value = var.value & (self.k.ballot(good) | ~self.used)

    def _row(self, step: Step, place: int) -> None:
        """Find the places of rows in global memory, and whether they are in the first warp's pages."""
        k, row = self.k, self.table.row
        number = self.table.sure.page_number(step.base)
        assert number is not None
        note = k.to_i64(row.first_record) + (WARP.PAGES + 2 * number * NOTED.size)
        low, high = self._word(step.base), self._word(step.base + 1)
        address = (k.to_i64(high) << 32) | k.to_i64(low, False)
        start = k.load(I64, note + NOTED.START) - step.offset
        inside = (address - start).below(k.splat(k.to_i64(k.load(I32, note + NOTED.BYTES)), GROUP))
        self._check(inside & (((low + step.offset) & 3) == 0))
        k.store(I32, self.at + place, low + (k.load(I32, note + NOTED.PLACE) - k.low32(start)))

    def _sum(self, one: Sum, low: Step, high: Step) -> None:
        k = self.k
        first, upper = self._word(one.base), self._word(one.base + 1)
        lower = first + self._addend(low, one.base)
        carry = k.select(lower.below(first), k.splat(1, GROUP), 0)
        self.values[one.dest], self.values[one.dest + 1] = lower, upper + self._addend(high, one.base + 1) + carry

    def _addend(self, step: Step, base: int) -> Value:
        k, source = self.k, addend(step, base)
        if source.kind == "reg":
            return self._word(source.n)
        return k.splat(k.lane(self.table.row.machine.word(source), 0), GROUP)


__all__ = ["RowTable"]
