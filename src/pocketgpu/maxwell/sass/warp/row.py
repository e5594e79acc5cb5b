"""The warps of a block in a row: one after the other up to the same barrier, without leaving the code.

The driver of the block (`launch/block_runner.py`) knows all that can happen at a barrier. Nearly always the same does: all
warps come to the same plain barrier, which then opens. Here the code goes on from one warp to the next by itself. Where
the warps do not meet it stops, and leaves their records as single calls would have left them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.lanes import I32, Jump, Lang, Next, Value, kernel
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import (
    BLOCK,
    DONE,
    LAUNCH,
    READY,
    ROW_GOES_ON,
    WAITING,
    WARP,
    WARPS,
    Barrier,
)
from pocketgpu.maxwell.sass.warp.specialise import Specialised, flow_of

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.observer import Observer

_BEGINNING, _ENDED, _APART = -1, -2, -3
"""Places of a warp besides numbers of instructions: before the program, after it, and where others do not meet it."""


class Row(Specialised):
    """A program as a graph that runs the warps of a block in a row, if BLOCK.ROW says so, or else one warp.

    stride: bytes of a warp's record.
    """

    def __init__(self, place: tuple[Value, Value, Value], flow: Flow, count: bool, stride: int) -> None:
        launch, slot, warp = place
        k = launch.k
        self.warp, self.stride = k.var(warp), stride
        self.first_record = slot + WARPS
        self.record = k.var(self.first_record + warp * stride)
        super().__init__(WarpPlace(k, launch, slot, self.warp, self.record), flow, count)
        self.warps = k.var(0)
        """How many warps run in a row; 0: one by itself."""
        self.begun_at, self.meeting, self.arrived = k.var(_BEGINNING), k.var(_APART), k.var(_APART)
        """Where all warps went on last; where this one is; where the first one is."""
        self.spent = k.var(0)
        """Steps of this call."""

    def _enter(self) -> Next:
        k, p = self.k, self.place
        self.warps.value = p.of_block(BLOCK.ROW)
        p.put_of_block(BLOCK.ROW, k.i32(0))
        way = super()._enter()
        self.begun_at.value = k.select(k.load(I32, p.word(WARP.STARTED)) == 0, _BEGINNING, self.resume.value)
        return way

    def _take_up(self) -> None:
        super()._take_up()
        self.state.value = READY
        self.stack.overflow.value = 0
        self.lane_steps.value = self.k.i64(0)

    def _leave_counts(self) -> None:
        super()._leave_counts()
        self.spent.value = self.spent.value + (self.place.of_launch(LAUNCH.SLICE) - self.left.value)

    def _end(self) -> Next:
        super()._end()
        return (self.warps.value == 0, -1, self.met)

    def _barrier(self, step: Step, mask: Value, block: CodeBlock) -> Next:
        mods = step.mods
        plain = mods["kind"] == Barrier.SYNC and not mods.get("count") and not step.guarded
        plain = plain and not (mods.get("barrier_register") or mods.get("count_register"))
        known = plain and block.last + 1 in self.after_barrier
        self.meeting.value = block.last + 1 if known else _APART
        return super()._barrier(step, mask, block)

    def _add_ways_out(self) -> None:
        super()._add_ways_out()
        add = self._add
        self.met, self.following = add(self._met), add(self._following)
        self.released, self.on = add(self._released), add(self._on)
        self.paused, self.parted = add(self._paused), add(self._parted)

    def _met(self) -> Next:
        """A warp has ended its turn: whether it is where the others are."""
        k, state, warp = self.k, self.state.value, self.warp.value
        here = k.select(state == DONE, _ENDED, k.select(state == WAITING, self.meeting.value, _APART))
        first = k.select(warp == 0, here, self.arrived.value)
        self.arrived.value = first
        all_here = (here == _ENDED, -1, self.released)
        way = (warp + 1 < self.warps.value, self.following, all_here)
        return ((here == first) & (here != _APART), way, self.parted)

    def _following(self) -> Next:
        """The next warp, from where the one before it began."""
        self.warp.value = self.warp.value + 1
        self.record.value = self.record.value + self.stride
        return self.on

    def _released(self) -> Next:
        """All warps are at the barrier: it opens."""
        self.begun_at.value = self.arrived.value
        self.warp.value = 0
        self.record.value = self.first_record
        return (self.spent.value > self.place.of_launch(LAUNCH.SLICE), self.paused, self.on)

    def _on(self) -> Next:
        self._take_up()
        points = tuple(self.after_barrier)
        nodes = (*(self.after_barrier[i] for i in points), self.number[self.flow.start])
        return Jump(self.begun_at.value, nodes, points)

    def _paused(self) -> Next:
        """The row has had its turn; it can go on."""
        self._ready(self.k.i32(0))
        self.place.put_of_block(BLOCK.ROW, self.k.i32(ROW_GOES_ON))
        return -1

    def _parted(self) -> Next:
        """Warps do not meet: those after this one are where the barrier before has left them."""
        self._ready(self.warp.value + 1)
        return -1

    def _ready(self, first: Value) -> None:
        for warp in self.k.range(first, self.warps.value):
            self.k.store(I32, self.first_record + warp * self.stride + WARP.STATE, READY)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stride: int, count: bool, observer: Observer | None = None,
) -> None:  # fmt: skip
    """Run a warp until it ends, waits or has had its turn; or all warps of a block in a row, if BLOCK.ROW says so.

    stride: bytes of a warp's record.
    """
    flow = flow_of(code, start, indirect, as_written=observer is not None)
    if observer is None and not Residence(flow).whole:
        Row((launch, slot, warp), flow, count, stride).run()
        return
    place = WarpPlace(k, launch, slot, warp, slot + WARPS + warp * stride)
    Specialised(place, flow, count, observer=observer).run()


__all__ = ["Row", "run_warp"]
