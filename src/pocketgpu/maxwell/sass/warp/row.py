"""The warps of a block in a row: one after the other up to the same barrier, without leaving the code.

The driver of the block (`launch/block_runner.py`) knows all that can happen at a barrier. Nearly always the same does:
all warps come to the same plain barrier, which then opens. Here the code goes on from one warp to the next by itself.
Where the warps do not meet it stops, and leaves their records as single calls would have left them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pocketgpu.lanes import I32, I64, Jump, Lang, Next, Value, kernel
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import (
    AT_BARRIER,
    BARRIERS,
    BLOCK,
    DONE,
    LANES,
    LAUNCH,
    NOTED,
    READY,
    ROW_GOES_ON,
    ROW_WARP,
    WAITING,
    WARP,
    WARPS,
    Barrier,
)
from pocketgpu.maxwell.sass.warp.known_addresses import PAGES
from pocketgpu.maxwell.sass.warp.pairs import Stretch, WarpPair, stretches
from pocketgpu.maxwell.sass.warp.row_table import RowTable
from pocketgpu.maxwell.sass.warp.specialise import Specialised
from pocketgpu.maxwell.sass.warp.warp_machine import barrier_value

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.observer import Observer

_BEGINNING, _ENDED, _APART = -1, -2, -3
"""Places of a warp besides numbers of instructions: before the program, after it, and where others do not meet it."""


def _plain(step: Step) -> bool:
    """Whether an instruction is a barrier at which all warps of a block wait for each other."""
    if step.op != "BAR" or step.guarded or step.mods["kind"] != Barrier.SYNC:
        return False
    return not any(step.mods.get(name) for name in ("count", "count_register", "barrier_register"))


class Row(Specialised):
    """A program as a graph that runs the warps of a block in a row, if BLOCK.ROW says so, or else one warp.

    stride: bytes of a warp's record.
    """

    def __init__(
        self, place: tuple[Value, Value, Value], flow: Flow, count: bool, stride: int, half_rows: bool
    ) -> None:
        launch, slot, warp = place
        k = launch.k
        self.warp, self.stride = k.var(warp), stride
        self.first_record = slot + WARPS
        self.record = k.var(self.first_record + warp * stride)
        super().__init__(WarpPlace(k, launch, slot, self.warp, self.record), flow, count, half_rows=half_rows)
        self.warps = k.var(0)
        """How many warps run in a row; 0: one by itself."""
        self.paired = k.var(False)
        """Whether they may run two at a time."""
        self.pair_steps = k.var(k.i64(0))
        """Steps of those since the row was released last; the record of the first warp has them afterwards."""
        self.begun_at, self.here, self.arrived = k.var(_BEGINNING), k.var(_APART), k.var(_APART)
        """Where all warps went on last; where this one is; where the first one is."""
        self.barriers: dict[int, int] = {}
        """Numbers of barriers, by the instruction after a BAR, where warps can meet."""
        self.pairs: dict[int, int] = {}
        self.prepared: dict[int, int] = {}
        """For the first instruction of a stretch after a barrier: its form for two warps, and what comes before it for
        all of them."""
        self.passed = k.var(0)
        """The pages that the warp before this one has noted."""
        self.spent = k.var(0)
        """Steps of this call."""

    def run(self) -> None:
        self.k.take_turns()
        super().run()

    def _enter(self) -> Next:
        k, p = self.k, self.place
        self.warps.value = p.of_block(BLOCK.ROW)
        p.put_of_block(BLOCK.ROW, k.i32(0))
        if self.pairs:
            self.paired.value = (p.of_launch(LAUNCH.THREADS) & (2 * LANES - 1)) == 0
        way = super()._enter()
        self.begun_at.value = k.select(k.load(I32, p.word(WARP.STARTED)) == 0, _BEGINNING, self.resume.value)
        return way

    def _take_up(self) -> None:
        self.passed.value = self.machine.known.bits.value & PAGES
        super()._take_up()
        self.state.value = READY
        self.stack.overflow.value = 0
        self.lane_steps.value = self.k.i64(0)

    def _count_steps(self) -> Value:
        spent = super()._count_steps()
        self.spent.value = self.spent.value + spent
        return spent

    # -- where a warp stops -----------------------------------------------------------------------------------------
    def _end(self) -> Next:
        super()._end()
        self.here.value = self.k.select(self.state.value == DONE, _ENDED, _APART)
        return (self.warps.value == 0, -1, (self.state.value == DONE, self.met, self.parted))

    def _barrier(self, step: Step, mask: Value, block: CodeBlock) -> Next:
        following = block.last + 1
        if following not in self.barriers:
            return super()._barrier(step, mask, block)
        places = self.residence
        self.machine.put_away(places.barrier(block.number, self.flow.block_at[following]), self.alive.value)
        self._keep_lanes()
        self.here.value = following
        alone = (self.warps.value == 0) | (self.stack.overflow.value != 0)
        return (alone, self.alone[following], self.counted, False)

    def _alone(self, following: int) -> Next:
        """A barrier at which this warp does not meet others of a row."""
        self._mark(self.place.record, self.k.i32(following))
        self.state.value = WAITING
        return self.end

    def _counted(self) -> Next:
        if not self.flow.steady:
            self.k.store(I32, self.place.word(WARP.ALIVE), self.alive.value)
        self._count_steps()
        return self.met

    def _add_ways_out(self) -> None:
        super()._add_ways_out()
        add = self._add
        self.met, self.following, self.counted = add(self._met), add(self._following), add(self._counted)
        self.released, self.on = add(self._released), add(self._on)
        self.fresh = add(self._fresh)
        self.paused, self.parted = add(self._paused), add(self._parted)
        self.barriers = {
            b.last + 1: self.flow.steps[b.last].mods.get("barrier", 0) & (BARRIERS - 1)
            for b in self.flow.blocks if _plain(self.flow.steps[b.last]) and b.last + 1 in self.after_barrier
        }  # fmt: skip
        self.alone = {index: add(partial(self._alone, index)) for index in self.barriers}
        found = stretches(self) if self.flow.steady and not self.count else []
        if found:
            self._add_together(RowTable(self, found))

    def _add_together(self, table: RowTable) -> None:
        """Nodes for all warps at once."""
        add, pair = self._add, WarpPair(self, table)
        self.table = table
        self.leaving, self.surveyed, self.filled = add(self._leave_row), add(self._surveyed), add(self._filled)
        self.finished = add(self._finish)
        for first, one in table.stretches.items():
            self.prepared[first] = add(partial(self._prepare, one))
            self.pairs[first] = add(partial(self._pair, pair, one))

    # -- the row ----------------------------------------------------------------------------------------------------
    def _met(self) -> Next:
        """A warp has come to a barrier, or to the end: whether it is where the others are."""
        here, warp = self.here.value, self.warp.value
        first = self.k.select(warp == 0, here, self.arrived.value)
        self.arrived.value = first
        way = (warp + 1 < self.warps.value, self.following, (here == _ENDED, -1, self.released))
        return (here == first, way, self.parted, True)

    def _following(self) -> Next:
        """The next warp, from where the one before it began."""
        self.warp.value = self.warp.value + 1
        self.record.value = self.record.value + self.stride
        return self.on

    def _released(self) -> Next:
        """All warps are at the barrier: it opens."""
        self._count_pairs()
        self.begun_at.value = self.arrived.value
        self.warp.value = 0
        self.record.value = self.first_record
        return (self.spent.value > self.place.of_launch(LAUNCH.SLICE), self.paused, self.on, False)

    def _on(self) -> Next:
        self._take_up()
        if not self.pairs:
            return self._by_itself()
        used = (self.table.filled.value != 0, self._together(), self.surveyed)
        return ((self.warp.value == 0) & self.paired.value, used, self._by_itself())

    def _by_itself(self) -> Jump:
        """A warp goes on by itself."""
        points = tuple(self.after_barrier)
        return Jump(self.begun_at.value, (*self.after_barrier.values(), self.fresh), points)

    def _together(self) -> Jump:
        """All warps go on, two at a time if they can."""
        points = tuple(self.prepared)
        return Jump(self.begun_at.value, (*self.prepared.values(), self.leaving), points)

    def _surveyed(self) -> Next:
        self.table.survey()
        return self._together()

    def _filled(self) -> Next:
        self.table.fill()
        return self._together()

    def _leave_row(self) -> Next:
        """The warps from this one on go on by themselves."""
        self.table.leave(self.warp.value)
        self._take_up()
        return self._by_itself()

    def _prepare(self, stretch: Stretch) -> Next:
        """Before the first warps run a stretch."""
        k, table = self.k, self.table
        k.escape(~table.ready(stretch), self.leaving)
        k.escape(table.filled.value == 0, self.filled)
        k.escape(~table.prepare(stretch), self.leaving)
        self.arrived.value = k.i32(stretch.following)
        return self.pairs[stretch.first]

    def _pair(self, pair: WarpPair, stretch: Stretch) -> Next:
        """A stretch for this warp and the next one."""
        k, table = self.k, self.table
        pair.run(stretch)
        self.pair_steps.value = self.pair_steps.value + k.i64(2 * stretch.count)
        self.warp.value = warp = self.warp.value + 2
        self.record.value = self.record.value + 2 * self.stride
        table.entry.value = table.entry.value + 2 * ROW_WARP
        return (warp < self.warps.value, self.pairs[stretch.first], self.finished, True)

    def _finish(self) -> Next:
        """After the last warps have run a stretch."""
        self.table.done()
        return self.released

    def _count_pairs(self) -> None:
        """Count the steps of pairs, which were not counted yet."""
        if self.pairs:
            k, at, steps = self.k, self.first_record + WARP.STEPS, self.pair_steps.value
            k.store(I64, at, k.load(I64, at) + steps)
            self.spent.value = self.spent.value + k.low32(steps)
            self.pair_steps.value = k.i64(0)

    def _fresh(self) -> Next:
        """The beginning of the program, for another warp than the first one."""
        self.machine.clear(self.flow.live_in[self.flow.block_at[self.flow.start]])
        self._pass_pages()
        return self.number[self.flow.start]

    def _pass_pages(self) -> None:
        """Let this warp have the pages that the one before it has noted: they are the same arrays."""
        k, at = self.k, self.record.value + WARP.PAGES
        words = 2 * self.machine.known.page_count * NOTED.size // 4
        for word in range(0, 4 * words, 32):
            k.store(I32, at + word, k.load(I32, at - self.stride + word, 8))
        if words:
            self.machine.known.bits.value = self.passed.value

    def _paused(self) -> Next:
        """The row has had its turn; it can go on."""
        if self.pairs:
            self.table.leave(self.k.i32(0))
        self._ready(self.k.i32(0))
        self.place.put_of_block(BLOCK.ROW, self.k.i32(ROW_GOES_ON))
        return -1

    def _parted(self) -> Next:
        """Warps do not meet. Those before this one wait; those after it are ready where they were left."""
        k = self.k
        self._count_pairs()
        for _ in k.when(self.arrived.value >= 0):
            for warp in k.range(0, self.warp.value):
                self._mark(self.first_record + warp * self.stride, self.arrived.value)
        for _ in k.when(self.here.value >= 0):
            self._mark(self.place.record, self.here.value)
        self._ready(self.warp.value + 1)
        return -1

    # -- records, as single calls leave them ------------------------------------------------------------------------
    def _mark(self, record: Value, following: Value) -> None:
        """Have a warp wait at a plain barrier. Its registers and lanes are in its record."""
        k = self.k
        number = k.var(0)
        for index, barrier in self.barriers.items():
            number.value = k.select(following == index, barrier, number.value)
        active = k.load(I32, record + WARP.ACTIVE)
        words = {
            WARP.STATE: WAITING, WARP.BARRIER_COUNT: 0, WARP.BARRIER_KIND: Barrier.SYNC, WARP.BARRIER: number.value,
            WARP.BARRIER_VALUE: barrier_value(k, active, active),
        }  # fmt: skip
        for word, v in words.items():
            k.store(I32, record + word, v)
        self._came_to(record, following)

    def _came_to(self, record: Value, following: Value) -> None:
        self.k.store(I32, record + WARP.STARTED, AT_BARRIER)
        self.k.store(I32, record + WARP.RESUME, following)

    def _ready(self, first: Value) -> None:
        """Have the warps from `first` on be ready where all warps went on last."""
        k = self.k
        for warp in k.range(first, self.warps.value):
            record = self.first_record + warp * self.stride
            k.store(I32, record + WARP.STATE, READY)
            for _ in k.when(self.begun_at.value >= 0):
                self._came_to(record, self.begun_at.value)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stride: int, count: bool, half_rows: bool = False, part: int = 0, observer: Observer | None = None,
) -> None:  # fmt: skip
    """Run a warp until it ends, waits or has had its turn; or all warps of a block in a row, if BLOCK.ROW says so.

    stride: bytes of a warp's record. half_rows, part: see `Specialised`.
    """
    flow = flow_of(code, start, indirect, as_written=observer is not None)
    if observer is None and not Residence(flow).whole:
        Row((launch, slot, warp), flow, count, stride, half_rows).run()
        return
    place = WarpPlace(k, launch, slot, warp, slot + WARPS + warp * stride)
    Specialised(place, flow, count, observer=observer, part=part).run()


__all__ = ["Row", "run_warp"]
