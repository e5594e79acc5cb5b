"""Where a lane stops on its way: breakpoints, data breakpoints and exceptions, all as places of its trace.

The trace is known, so every kind of stop is a list of places. A condition is asked only at its places.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Final

import numpy as np

from pocketgpu.editor.dap.debuggee.group import arrivals
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.expressions import Expression, parse, parse_log
from pocketgpu.editor.dap.expressions.parser import Log, holds
from pocketgpu.editor.dap.protocol.messages import Arguments, Json
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.births import Birth
from pocketgpu.inspect.stepping.memory_words import WORD, memory_word
from pocketgpu.inspect.stepping.step import Step
from pocketgpu.inspect.stepping.strange import outside, unwritten
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.trace_memory import Touched
from pocketgpu.interruption import look
from pocketgpu.late_dataclass import dataclass

MOST_LOGGED: Final = 500
"""Lines of log points that one move writes."""
_HITS = re.compile(r"\s*(>=|<=|==|=|>|<|%)?\s*(\d{1,9})\s*")
_COMPARED: Final[dict[str, Callable[[int, int], bool]]] = {
    "": lambda count, wanted: count == wanted, "=": lambda count, wanted: count == wanted,
    "==": lambda count, wanted: count == wanted, ">=": lambda count, wanted: count >= wanted,
    "<=": lambda count, wanted: count <= wanted, ">": lambda count, wanted: count > wanted,
    "<": lambda count, wanted: count < wanted, "%": lambda count, wanted: wanted > 0 and count % wanted == 0,
}  # fmt: skip

Places = Callable[[Lane], list[int]]


@dataclass
class Stop:
    """A reason to stop at some places.

    reason: of the protocol's stopped event. places: in ascending order. text: for people, by place. condition, hits,
    log: of breakpoints. number: of the breakpoint, 0 for what is none. instructions: at which it stops any lane; data:
    in memory, at whose accesses it does. Others only stop the lane that is moved.
    """

    reason: str
    places: Places
    text: Callable[[int], str] = lambda place: ""
    condition: Expression | None = None
    hits: tuple[str, int] | None = None
    log: Log | None = None
    number: int = 0
    instructions: frozenset[int] = frozenset()
    data: Data | None = None
    _known: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    _counts: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    @property
    def stops_any_lane(self) -> bool:
        """Whether it also stops when another lane comes to it."""
        shared = self.data is not None and self.data.space in ("global", "shared")
        return self.log is None and (bool(self.instructions) or shared)

    @property
    def needs_trace(self) -> bool:
        """Whether it takes the trace of a lane to say if it stops there."""
        return self.condition is not None or self.hits is not None

    def at(self, lane: Lane) -> list[int]:
        """Its places in a lane, whatever its condition says."""
        key = id(lane), lane.version
        if key not in self._known:
            self._known[key] = self.places(lane)
        return self._known[key]

    def acts(self, lane: Lane, place: int) -> bool:
        """Whether it stops, or logs, at one of its places. A condition without a value stops."""
        if not self._true(lane, place):
            return False
        if self.hits is None:
            return True
        sign, wanted = self.hits
        return _COMPARED[sign](self._count(lane, bisect_right(self.at(lane), place)), wanted)

    def _count(self, lane: Lane, many: int) -> int:
        """At how many of the first places the condition is true."""
        if self.condition is None:
            return many
        counts = self._counts.setdefault((id(lane), lane.version), [0])
        known = self.at(lane)
        while len(counts) <= many:
            counts.append(counts[-1] + self._true(lane, known[len(counts) - 1]))
        return counts[many]

    def _true(self, lane: Lane, place: int) -> bool:
        look()
        try:
            return self.condition is None or holds(self.condition, lane.registers(place))
        except (UsageError, ArithmeticError, ValueError):
            return True


def stop_of(
    given: Arguments, reason: str, number: int, places: Places, instructions: frozenset[int] = frozenset()
) -> Stop:
    """A breakpoint with the conditions that an editor gives it.

    :raises UsageError: a condition is no expression.
    """
    condition, hits, log = (given.text(name, "") for name in ("condition", "hitCondition", "logMessage"))
    match = _HITS.fullmatch(hits)
    if hits.strip() and match is None:
        raise UsageError(f"{hits[:20]!r} counts no hits", hint="Such as 3, >= 3 or % 2.")
    return Stop(
        reason, places, condition=parse(condition) if condition.strip() else None,
        hits=(match[1] or "", int(match[2])) if match is not None else None,
        log=parse_log(log) if log else None, number=number, instructions=instructions,
    )  # fmt: skip


def stop_at(given: Arguments, reason: str, number: int, numbers: Sequence[int]) -> Stop:
    """A breakpoint where control comes to one of some instructions, which belong to one line.

    :raises UsageError: a condition is no expression.
    """
    wanted = np.array(numbers, np.int64)

    def places(lane: Lane) -> list[int]:
        found: list[int] = arrivals(lane.ways.numbers, wanted).tolist()
        return found

    return stop_of(given, reason, number, places, frozenset(numbers))


@dataclass(frozen=True)
class Data:
    """What a data breakpoint watches: registers and constants by name, and bytes of a space of memory. read, write:
    which accesses it stops at."""

    names: frozenset[str] = frozenset()
    space: str = ""
    address: int = 0
    size: int = 0
    read: bool = False
    write: bool = True

    def is_touched(self, one: Touched) -> bool:
        """Whether an access of some lane is one that it stops at."""
        wanted = ("store" if self.write else "", "load" if self.read else "", "atomic")
        return one.kind in wanted and self._overlaps(one.space, one.address, one.size)

    def is_read(self, step: Step) -> bool:
        """Whether a step reads any of it."""
        if any(name in self.names for value in step.reads for name in value.names):
            return True
        words = (memory_word(name) for value in step.reads for name in value.names) if self.space else ()
        return self._in_accesses(step, "load") or any(
            word is not None and self._overlaps(word.space, word.address, WORD) for word in words
        )

    def is_written(self, step: Step) -> bool:
        """Whether a step writes any of it, perhaps with the same value."""
        return any(name in self.names for change in step.writes for name in change.names) or self._in_accesses(
            step, "store"
        )

    def _in_accesses(self, step: Step, kind: str) -> bool:
        return any(
            one.kind in (kind, "atomic") and self._overlaps(one.space, one.address, one.size) for one in step.accesses
        )

    def _overlaps(self, space: str, address: int, size: int) -> bool:
        return space == self.space and address < self.address + self.size and self.address < address + size


def stop_at_data(given: Arguments, number: int, data: Data) -> Stop:
    """A data breakpoint: the places of reads, and those right after writes.

    :raises UsageError: a condition is no expression.
    """

    def places(lane: Lane) -> list[int]:
        found = set()
        for step in lane.trace.steps:
            if data.read and data.is_read(step):
                found.add(step.index)
            if data.write and data.is_written(step):
                found.add(step.index + 1)
        return sorted(found)

    return replace(stop_of(given, "data breakpoint", number, places), data=data)


# -- exceptions -------------------------------------------------------------------------------------------------------
def _births(found: Iterable[Birth]) -> dict[int, str]:
    return {one.step.index: str(one) for one in reversed([*found])}


def _nans(trace: Trace) -> dict[int, str]:
    return _births(trace.nans)


def _infinities(trace: Trace) -> dict[int, str]:
    return _births(trace.infinities)


def _unwritten(trace: Trace) -> dict[int, str]:
    return {step.index: f"{what} is read, and nothing has written it" for step, what in unwritten(trace)}


def _stores(trace: Trace) -> dict[int, str]:
    return {step.index: text for step, text in outside(trace, stores=True)}


def _loads(trace: Trace) -> dict[int, str]:
    return {step.index: text for step, text in outside(trace, stores=False)}


@dataclass(frozen=True)
class Filter:
    """A kind of exception. find: texts by place."""

    name: str
    label: str
    description: str
    find: Callable[[Trace], dict[int, str]]
    default: bool = False

    def to_json(self) -> Json:
        return {"filter": self.name, "label": self.label, "description": self.description, "default": self.default,
                "supportsCondition": True}  # fmt: skip


FILTERS: Final = (
    Filter("nan", "NaN born", "An instruction makes the first NaN of a chain, or reads it from outside.", _nans, True),
    Filter("infinity", "Infinity born", "The same for infinities.", _infinities),
    Filter("unwritten", "Read of what nobody wrote", "A register or local memory is read before it is written.",
           _unwritten),
    Filter("store", "Store outside", "A store or an atomic is outside of memory.", _stores, True),
    Filter("load", "Load outside", "A load is outside of memory.", _loads),
)  # fmt: skip


def stop_of_filter(name: str, condition: str = "") -> Stop:
    """What stops a lane by a filter of exceptions.

    :raises UsageError: there is no such filter, or the condition is no expression.
    """
    one = next((one for one in FILTERS if one.name == name), None)
    if one is None:
        raise UsageError(f"there is no filter {name[:40]!r}", hint=f"There are {', '.join(f.name for f in FILTERS)}.")
    texts: dict[int, str] = {}

    def places(lane: Lane) -> list[int]:
        found = one.find(lane.trace)
        texts.update(found)
        return sorted(found)

    return Stop(
        "exception", places, lambda place: f"{one.label}: {texts.get(place, '')}",
        parse(condition) if condition.strip() else None,
    )  # fmt: skip


# -- on the way -------------------------------------------------------------------------------------------------------
@dataclass
class Passed:
    """A move: where it ended, the stops that ended it (none if it went as far as it was to), and what was logged.

    left_out: how many lines of log points are not in `logged`.
    """

    place: int
    stops: list[Stop]
    logged: list[tuple[int, str]]
    left_out: int = 0


def move(lane: Lane, stops: Sequence[Stop], target: int, most_logged: int = MOST_LOGGED) -> Passed:
    """Go from a lane's place to another one; the first stop on the way ends it. Log points write on the way forward."""
    start, forward = lane.place, target > lane.place
    ways: dict[int, list[Stop]] = {}
    for stop in stops:
        known = stop.at(lane)
        inside = (
            known[bisect_right(known, start) : bisect_right(known, target)] if forward
            else known[bisect_left(known, target) : bisect_left(known, start)]
        )  # fmt: skip
        for place in inside:
            ways.setdefault(place, []).append(stop)
    passed = Passed(target, [], [])
    for place in sorted(ways, reverse=not forward):
        acting = [stop for stop in ways[place] if stop.acts(lane, place)]
        for stop in acting if forward else ():
            if stop.log is not None and len(passed.logged) < most_logged:
                passed.logged.append((place, stop.log.text(lane.registers(place))))
            elif stop.log is not None:
                passed.left_out += 1
        ending = [stop for stop in acting if stop.log is None]
        if ending:
            passed.place, passed.stops = place, ending
            break
    return passed


__all__ = [
    "FILTERS", "Data", "Passed", "Stop", "move", "stop_at", "stop_at_data", "stop_of", "stop_of_filter",
]  # fmt: skip
