"""Lanes that go on together, as a warp does: one of them leads, and the others stand where they were at its time.

On a Switch the recording of one lane tells what the whole warp ran, so the place of every lane is known without a trace
of it. Vertices of a 3DS run one by one; they are put together as if they had been a warp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.stepping.calls import calls_of
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.schedule import MOST_LANES, Schedule, merged
from pocketgpu.inspect.stepping.trace_memory import Touched

MOST_STEPS: Final = 1 << 19
"""Steps of all traces that are kept: half a GiB."""


class Group:
    """The lanes of a session, and their time.

    :param lanes: in the order of the warp. first: the number of the one that was asked for.

    working: makes the context of long work, which has a title for people.
    """

    def __init__(self, lanes: list[Lane], first: int) -> None:
        self.lanes, self.first = lanes, first
        self.leader, self._place = lanes[first], 0
        self.working: Callable[[str], AbstractContextManager[None]] = lambda title: nullcontext()
        self._alone: dict[int, int] = {}
        self._recent: list[Lane] = []
        self._merged: tuple[tuple[int, ...], Schedule] | None = None
        for number, lane in enumerate(lanes):
            lane.join(self, number)

    # -- time ---------------------------------------------------------------------------------------------------------
    @property
    def schedule(self) -> Schedule | None:
        """What ran when, as far as the leader's trace tells; None for a lane without others.

        :raises PocketGPUError: the leader cannot be traced.
        """
        own = self.leader.trace.schedule
        if own is not None or len(self.lanes) == 1:
            return own
        versions = tuple(lane.version for lane in self.lanes)
        if self._merged is None or self._merged[0] != versions:
            programs, depths = [], []
            for lane in self.lanes:
                steps, around = _steps(lane)
                programs.append(steps)
                depths.append(around)
            self._merged = versions, merged(programs, depths)
        return self._merged[1]

    def bit(self, lane: Lane) -> int:
        """The number of a lane in the schedule."""
        own = self.leader.trace.schedule
        return lane.number if own is None else own.lane + lane.number - self.leader.number

    def tick(self, lane: Lane) -> int:
        """The time at which a lane stands."""
        schedule = self.leader.trace.schedule
        if lane.number in self._alone or schedule is None:
            return lane.trace.tick(self.place(lane))
        return schedule.tick(self.bit(self.leader), self._place)

    @property
    def _time(self) -> int:
        schedule = self.schedule
        return 0 if schedule is None else schedule.tick(self.bit(self.leader), self._place)

    def place(self, lane: Lane) -> int:
        """The number of the step that comes next in a lane."""
        if lane.number in self._alone:
            found = self._alone[lane.number]
        elif lane is self.leader:
            return self._place
        else:
            schedule = self.schedule
            found = 0 if schedule is None else schedule.place(self.bit(lane), self._time)
        return min(found, len(lane.trace)) if lane.is_traced else found

    def is_inactive(self, lane: Lane) -> bool:
        """Whether a lane waits while the leader runs its next instruction, in a branch that the lane is not in."""
        if lane is self.leader or lane.number in self._alone or self.leader.at_end:
            return False
        schedule = self.schedule
        return schedule is not None and not schedule.runs(self.bit(lane), self._time)

    def instructions(self, lane: Lane) -> NDArray[np.int64]:
        """The numbers of a lane's instructions, by step: at least as far as the leader's time."""
        schedule = None if lane.is_traced else self.schedule
        if schedule is None:
            return lane.ways.numbers
        return schedule.instructions(self.bit(lane))

    def traced(self, lane: Lane) -> None:
        """A lane was traced: traces that nobody has looked at for long are forgotten, where they are too many."""
        self._recent = [one for one in self._recent if one is not lane and one.is_traced]
        self._recent.append(lane)
        steps = sum(len(one.trace) for one in self._recent)
        for one in self._recent[:-1]:
            if steps > MOST_STEPS and one is not self.leader and one is not self.lanes[self.first]:
                steps -= len(one.trace)
                one.begin_again(one.overrides)

    @property
    def untraced_steps(self) -> int:
        """Steps of the lanes that are not traced, as far as the leader's trace tells."""
        schedule = self.schedule
        if schedule is None:
            return 0
        return sum(len(schedule.ticks(self.bit(lane))) for lane in self.lanes if not lane.is_traced)

    # -- moving -------------------------------------------------------------------------------------------------------
    def go(self, lane: Lane, place: int, *, alone: bool = False) -> None:
        """Move a lane to a place; the others come along, unless it goes alone."""
        if alone and len(self.lanes) > 1:
            self._alone[lane.number] = place
            return
        _ = lane.trace  # before anything changes: it may not be possible
        self.leader, self._place = lane, place
        self._alone.clear()

    def others_passed(self, lane: Lane, numbers: frozenset[int], target: int) -> Iterator[tuple[int, Lane, int]]:
        """Where other lanes come to instructions while a lane, which is about to lead, goes to a place: time, lane and
        place."""
        schedule = lane.trace.schedule if lane.trace.schedule is not None else self.schedule
        if schedule is None or lane.number in self._alone:
            return
        here = schedule.lane if lane.trace.schedule is not None else lane.number
        now, then = self._time, schedule.tick(here, target)
        forward = then > now
        wanted = np.fromiter(numbers, np.int64, len(numbers))
        for other in self.lanes:
            bit = here + other.number - lane.number
            if other is lane or not 0 <= bit < MOST_LANES:
                continue
            ticks = schedule.ticks(bit)
            places = arrivals(schedule.instructions(bit), wanted)
            when = ticks[places]
            inside = (when > now) & (when < then) if forward else (when < now) & (when > then)
            for place in places[inside].tolist():
                yield int(ticks[place]), other, place

    def others_touched(
        self, lane: Lane, wanted: Callable[[Touched], bool], target: int, stopped: bool
    ) -> Iterator[tuple[int, Lane, int]]:
        """Where other lanes access memory while a lane goes to a place: time, lane and place; that is before a load,
        and after what stores. stopped: whether the lane stops at its place for an access of its own."""
        schedule = lane.trace.schedule
        if schedule is None or lane.number in self._alone:
            return
        now, then = self._time, schedule.tick(schedule.lane, target)
        forward = then > now
        if stopped and forward and target:
            then = min(then, schedule.tick(schedule.lane, target - 1) + 1)
        for one in filter(wanted, lane.memory.touched):
            number = lane.number + one.lane - schedule.lane
            when = one.tick + (one.kind != "load")
            if one.lane != schedule.lane and 0 <= number < len(self.lanes) and (
                now < when < then if forward else then < when < now
            ):
                yield when, self.lanes[number], schedule.place(one.lane, when)

    # -- what-if ------------------------------------------------------------------------------------------------------
    def others(self, lane: Lane) -> Mapping[int, Forced]:
        """The what-ifs of the other lanes, by their number."""
        return {one.number: one.overrides for one in self.lanes if one is not lane and one.overrides}

    def overrides_now(self) -> dict[int, dict[int, Mapping[str, int]]]:
        """What-ifs of all lanes that are not later than now, by lane."""
        return {
            lane.number: {step: words for step, words in lane.overrides.items() if step <= lane.place}
            for lane in self.lanes if lane.overrides
        }  # fmt: skip

    def replace(self, lane: Lane, overrides: Mapping[int, Forced]) -> None:
        """Other what-ifs for all lanes: traces are made again, that of the lane and that of the leader at once.

        :raises PocketGPUError: a trace cannot be made; then everything is as it was.
        """
        before = [one.state for one in self.lanes]
        for one in self.lanes:
            one.begin_again(dict(overrides.get(one.number, {})))
        try:
            _, ends = lane.trace, len(self.leader.trace)
        except BaseException:
            for one, state in zip(self.lanes, before, strict=True):
                one.state = state
            raise
        self._place = min(self._place, ends)


def arrivals(instructions: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The steps at which control comes to one of some instructions, which belong together."""
    inside = np.isin(instructions, wanted)
    if len(instructions) > 1:
        goes_on = inside[1:] & inside[:-1] & (instructions[1:] > instructions[:-1])
        inside[1:] &= ~goes_on
    found: NDArray[np.int64] = np.flatnonzero(inside)
    return found


def _steps(lane: Lane) -> tuple[list[int], list[int]]:
    """Instructions of a lane and the calls around each; nothing for one that cannot be traced."""
    try:
        trace = lane.trace
    except PocketGPUError:
        return [], []
    return [step.number for step in trace.steps], [len(calls) for calls in calls_of(trace)]


__all__ = ["Group", "arrivals"]
