"""Watching the Switch's interpreter while it runs warps: records one lane's steps into a trace.

The interpreter keeps the whole state of a warp in a record in the arena, and the launch record has the length of a
warp's turn. So many turns of one instruction are the same as one turn of many, and everything can be read between two
instructions. The handle of a `LaneWatch` replaces the interpreter's handle. Blocks, barriers, other warps and other
lanes run as always. One thing happens earlier: a warp whose divergence stack overflows is stopped at the end of its
turn, and here that is the same instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.company import ALONE, Company
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.lane_record import LaneRecord, Listing
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.interruption import Interrupted, look
from pocketgpu.lanes import I32, Engine
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import DONE, ENTRY, LAUNCH, READY, WARP, WARPS
from pocketgpu.maxwell.sass.warp.interpreter import interpret_warp

MOST = 1 << 16
"""How many steps are kept by default."""

Choose = Callable[[int, int, int], int | None]
"""From (launch record, slot, warp), arena offsets and a number, to the lane to watch in a warp that begins, or None.

Lanes that the warp does not begin with are not watched."""


class _WarpRelay:
    """The callback of an engine's kernels: it finds the watch of a launch record. One for each engine, as callbacks are
    never removed."""

    def __init__(self, engine: Engine) -> None:
        self.watches: dict[int, LaneWatch] = {}
        self._engine = ref(engine)  # weak, as the engine keeps this object
        self.handle = engine.callback(self._call, I32, I32, I32)

    def _call(self, launch: int, slot: int, warp: int) -> None:
        watch, engine = self.watches.get(launch), self._engine()
        if watch is not None:
            watch.turn(launch, slot, warp)
        elif engine is not None:
            engine.get(interpret_warp)(launch, slot, warp)


_relays: WeakKeyDictionary[Engine, _WarpRelay] = WeakKeyDictionary()


class LaneWatch:
    """Watches lanes of a program, run by run.

    :param engine, arena: of the machine that runs it.
    :param listing: the program; it may be set later. Without one nothing is recorded.
    :param choose: called when a warp begins.
    :param name, lane: for the traces: name of the program, and of what runs in the lane.
    :param most: most steps of a trace; later ones are not recorded.
    :param runs: how many traces are kept; a pixel's lane runs once for each primitive on it.
    :param overrides: what-if, words for registers right before steps of every run.
    :param company: which lane is recorded, from the one that `choose` gives, and what else is changed and kept.
    :param memory: of the machine; without it no word of memory can be changed or kept.
    :param named: gives pieces of memory that are kept if any are, (address, bytes, title).
    """

    def __init__(
        self, engine: Engine, arena: np.ndarray[Any, Any], listing: Listing | None, choose: Choose, *, name: str,
        lane: str, most: int = MOST, runs: int = 1, overrides: Forced | None = None, company: Company = ALONE,
        memory: GpuMemory | None = None, named: Callable[[], Sequence[tuple[int, int, str]]] = tuple,
    ) -> None:  # fmt: skip
        if most < 1 or runs < 1:
            raise UsageError(f"a watch keeps at least one step of one run, not {most} of {runs}")
        self.engine, self.listing, self.choose, self.name, self.lane = engine, listing, choose, name, lane
        self.words = arena.view(np.uint32)
        self.most, self.runs, self.overrides = most, runs, dict(overrides or {})
        self.company, self._memory, self._named = company, memory, named
        self.traces: list[Trace] = []
        self._records: dict[tuple[int, int], LaneRecord] = {}
        self._all: list[LaneRecord] = []
        self._error: BaseException | None = None

    # -- attaching it -------------------------------------------------------------------------------------------------
    @contextmanager
    def on(self, launch: int) -> Iterator[int]:
        """Watch a launch record within this context; yields the handle that has to run its warps.

        :raises BaseException: an error of a call from a kernel, which could not raise it.
        """
        relay = _relays.get(self.engine)
        if relay is None:
            relay = _relays[self.engine] = _WarpRelay(self.engine)
        if launch in relay.watches:
            raise UsageError("this launch is being watched already")
        relay.watches[launch] = self
        try:
            yield relay.handle
        finally:
            del relay.watches[launch]
            for record in reversed(self._all):
                record.close()
            self._all.clear()
        error, self._error = self._error, None
        if error is not None:
            raise error

    @contextmanager
    def on_stage(self, launch: int) -> Iterator[None]:
        """Watch a stage of graphics that is set up and bound with tier="interpreter", on one thread of the host.

        launch: arena offset of its launch record (`StageLaunch.record`).

        :raises UsageError: the stage is not set up for the interpreter.
        """
        at = (launch + LAUNCH.RUN) // 4
        run = self.words[at : at + 2].view(np.int64)
        before = int(run[0])
        if before != self.engine.handle(interpret_warp):
            raise UsageError("only a stage that runs on the interpreter can be watched", hint='tier="interpreter"')
        with self.on(launch) as handle:
            run[0] = handle
            try:
                yield
            finally:
                run[0] = before

    # -- turns --------------------------------------------------------------------------------------------------------
    def turn(self, launch: int, slot: int, warp: int) -> None:
        """Run a turn of a warp, as the interpreter does; called from kernels, so it does not raise."""
        go = self.engine.get(interpret_warp)
        record = None
        try:
            if self._error is None:
                look()
                record = self._record(launch, slot, warp)
        except Exception as error:
            self._error = error
        if isinstance(self._error, Interrupted):
            self._end(launch, slot, warp)
            return
        if record is None or record.over:
            go(launch, slot, warp)
            return
        self._single_steps(record, lambda: go(launch, slot, warp))

    def _end(self, launch: int, slot: int, warp: int) -> None:
        """End a warp, as nobody waits for its results any more."""
        at = slot + WARPS + warp * int(self.words[(launch + LAUNCH.WARP_STRIDE) // 4])
        self.words[(at + WARP.STATE) // 4], self.words[(at + WARP.ALIVE) // 4] = DONE, 0

    def _record(self, launch: int, slot: int, warp: int) -> LaneRecord | None:
        """The record of a warp's run; a new one if the warp begins and `choose` wants it."""
        at = slot + WARPS + warp * int(self.words[(launch + LAUNCH.WARP_STRIDE) // 4])
        if not self.words[(at + WARP.STARTED) // 4]:
            self._records.pop((slot, warp), None)
            listing = self.listing
            lane = self.choose(launch, slot, warp) if len(self.traces) < self.runs else None
            lane = None if lane is None else lane + self.company.near
            if lane is not None and listing is not None and self.words[(at + WARP.ACTIVE) // 4] >> lane & 1:
                trace = Trace("switch", self.name, self.lane, {}, listing=listing, overrides=self.overrides)
                self.traces.append(trace)
                record = self._records[slot, warp] = LaneRecord(
                    self.words, listing, trace, (launch, slot, warp, lane), self.most, self.company, self._memory,
                    self._named() if self.company.keep is not None else (),
                )  # fmt: skip
                self._all.append(record)
        return self._records.get((slot, warp))

    def _single_steps(self, record: LaneRecord, go: Callable[[], None]) -> None:
        """Run a turn, one instruction at a time while the lane is recorded, then the rest at once.

        The counter of steps does not change within a turn, as usual: programs can read it as their clock.
        """
        words, launch = self.words, record.launch
        length = int(words[(launch + LAUNCH.SLICE) // 4])
        steps = words[(record.at + WARP.STEPS) // 4 :][:2].view(np.int64)
        first, ran = int(steps[0]), 0
        record.turn()

        def part(turn: int) -> None:
            nonlocal ran
            words[(launch + LAUNCH.SLICE) // 4] = turn
            try:
                go()
            finally:
                words[(launch + LAUNCH.SLICE) // 4] = length
            ran += int(steps[0]) - first
            steps[0] = first

        while ran <= length and not record.over and record.state == READY:
            try:
                look()
                record.before(*self._next(record))
            except Interrupted as error:
                self._error, record.over = error, True
                self._end(launch, record.slot, record.warp)
                return
            except Exception as error:
                self._error, record.over = error, True
            part(0)
            try:
                record.after()
            except Exception as error:
                self._error, record.over = error, True
        if ran <= length and record.state == READY:
            part(length - ran)
        steps[0] = first + ran

    def _next(self, record: LaneRecord) -> tuple[int, int]:
        """The next instruction and the mask of its lanes; the mask is 0 if all lanes have ended.

        If control has reached no instruction, the interpreter drops the lanes and continues with its stack.
        """
        words = self.words
        pc, active = record.signed(WARP.RESUME), record.word(WARP.ACTIVE)
        if not record.word(WARP.STARTED):
            pc = int(words[(record.launch + LAUNCH.START) // 4].view(np.int32))
        depth, lost = record.word(WARP.DEPTH), 0
        while not 0 <= pc < len(record.listing):
            lost |= active
            active = 0
            while depth and not active:
                depth -= 1
                at = WARP.STACK + depth * ENTRY.size
                pc, active = record.signed(at + ENTRY.TARGET), record.word(at + ENTRY.MASK) & ~lost
            if not active:
                return 0, 0
        return pc, active


def only(traces: Sequence[Trace], what: str) -> Trace:
    """The one trace of a watch.

    :raises UsageError: `what` never ran.
    """
    if not traces:
        raise UsageError(f"{what} never ran")
    return traces[0]


__all__ = ["MOST", "Choose", "LaneWatch", "only"]
