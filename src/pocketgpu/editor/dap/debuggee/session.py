"""The state of a session: what is stepped through, where it stops, and which events follow a response."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, Literal, get_args

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.launching import Configuration, Debuggee, Working
from pocketgpu.editor.dap.debuggee.stops import Stop, move
from pocketgpu.editor.dap.debuggee.variables import References
from pocketgpu.editor.dap.protocol.messages import Arguments, Json
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.wording import counted

State = Literal["new", "waiting for a launch", "being configured", "stopped", "at its end", "over"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""new: before `initialize`. being configured: launched, before `configurationDone`. at its end: terminated."""
MOST_ASKED: Final = 50_000
"""Steps of other lanes that are traced, for the conditions of breakpoints: they take two seconds."""
FRAMES: Final = 1 << 12
"""Numbers of frames of a thread."""


class Breakpoint:
    """A breakpoint that an editor set.

    number: by which the editor knows it. given: what it was set with. stop: None if it has no place.
    """

    def __init__(self, number: int, kind: str, source: Arguments | None, given: Arguments) -> None:
        self.number, self.kind, self.source, self.given = number, kind, source, given
        self.stop: Stop | None = None
        self.shown: Json = {}


class Session:
    """Everything of a session. `say` sends an event at once; `later` after the response. working: around long work."""

    def __init__(self, say: Callable[[str, Json], None], working: Working = lambda title: nullcontext()) -> None:
        self.say, self.working = say, working
        self.state: State = "new"
        self.events_later: list[tuple[str, Json]] = []
        self.client = Arguments({})
        self.configuration: Configuration | None = None
        self.configured = False
        self.breakpoints: dict[str, list[Breakpoint]] = {}
        """By kind, and by text for breakpoints of lines."""
        self.filters: list[Stop] = []
        self.references = References()
        self._debuggee: Debuggee | None = None
        self._numbers = 0
        self.focus = 0
        """The thread that moved last."""
        self.reasons: dict[int, list[str]] = {}
        """Why each thread stands where it stands, if an exception says so."""

    # -- events -------------------------------------------------------------------------------------------------------
    def later(self, event: str, **content: Any) -> None:
        self.events_later.append((event, content))

    def take_events(self) -> list[tuple[str, Json]]:
        found, self.events_later = self.events_later, []
        return found

    def output(self, text: str, category: str = "console", lane: Lane | None = None, place: int | None = None) -> None:
        """A line in the editor's console, with its place in the program."""
        content: Json = {"category": category, "output": text + "\n"}
        if lane is not None and place is not None and place < len(lane.trace):
            source, line = lane.documents.place(lane.trace[place].number)
            content |= {"source": source, "line": self.line_out(line), "column": self.line_out(1)}
        self.later("output", **content)

    # -- numbers of lines ---------------------------------------------------------------------------------------------
    def line_out(self, line: int) -> int:
        """Lines count from 1 here; an editor may count from 0."""
        return line if self.client.flag("linesStartAt1", True) else line - 1

    def line_in(self, line: int) -> int:
        return line if self.client.flag("linesStartAt1", True) else line + 1

    # -- lanes --------------------------------------------------------------------------------------------------------
    @property
    def debuggee(self) -> Debuggee:
        """What is stepped through.

        :raises UsageError: nothing was launched.
        """
        if self._debuggee is None:
            raise UsageError("nothing was launched")
        return self._debuggee

    @debuggee.setter
    def debuggee(self, one: Debuggee) -> None:
        self._debuggee, self.focus = one, one.first + 1

    @property
    def launched(self) -> bool:
        return self._debuggee is not None

    @property
    def thread(self) -> int:
        """The number of the thread that was asked for."""
        return self.debuggee.first + 1

    def lane(self, thread: int) -> Lane:
        """The lane that is a thread for the editor.

        :raises UsageError: there is no such thread.
        """
        lanes = self.debuggee.lanes
        if not 1 <= thread <= len(lanes):
            raise UsageError(f"there is no thread {thread}", hint=f"There are 1 to {len(lanes)}.")
        return lanes[thread - 1]

    def lane_of(self, given: Arguments) -> tuple[int, Lane]:
        """Number and lane of the thread, or of the frame, that a request names; without one, the first."""
        framed = "frameId" in given
        thread = given.number("frameId") // FRAMES if framed else given.number("threadId", self.thread)
        return thread, self.lane(thread)

    # -- stopping -----------------------------------------------------------------------------------------------------
    def new_number(self) -> int:
        self._numbers += 1
        return self._numbers

    @property
    def stops(self) -> list[Stop]:
        found = [one.stop for ones in self.breakpoints.values() for one in ones if one.stop is not None]
        return [*found, *self.filters]

    def go(self, thread: int, target: int, reason: str, *, stopping: bool = True, alone: bool = False) -> None:
        """Move a lane, and the others along with it; the editor hears where they stopped, and why.

        stopping: whether breakpoints stop it on the way. alone: the others stay where they are.
        """
        moved, group = self.lane(thread), self.debuggee.group
        stops = self.stops if stopping else []
        with self.working("looking for the next stop"):
            passed = move(moved, stops, target)
        other = None if alone else self._other(moved, stops, passed.place, passed.stops)
        if other is None:
            group.go(moved, passed.place, alone=alone)
        else:
            lane, place, passed.stops = other
            group.go(lane, place)
            thread = lane.number + 1
        for place, text in passed.logged:
            if place <= moved.place:
                self.output(text, "stdout", moved, place)
        if passed.left_out:
            self.output(f"{counted(passed.left_out, 'line')} of log points left out")
        self.stopped(thread, passed.stops, reason)

    def _other(
        self, moved: Lane, stops: list[Stop], target: int, own: list[Stop]
    ) -> tuple[Lane, int, list[Stop]] | None:
        """The first other lane that comes to a breakpoint of an instruction, or of memory, while a lane goes to a
        place. own: what stops the lane there."""
        if len(self.debuggee.lanes) == 1:
            return None
        group, forward = self.debuggee.group, target > moved.place
        able = [stop for stop in stops if stop.stops_any_lane]
        if any(stop.needs_trace for stop in able) and (steps := group.untraced_steps) > MOST_ASKED:
            able = [stop for stop in able if not stop.needs_trace]
            self.output(f"conditions of breakpoints were asked of one thread: the others ran {counted(steps, 'step')}")
        found: list[tuple[int, int, int, Stop]] = []
        for stop in able:
            if stop.data is not None:
                ways = group.others_touched(moved, stop.data.is_touched, target, any(one.data for one in own))
            else:
                ways = group.others_passed(moved, stop.instructions, target)
            found += [(when if forward else -when, lane.number, place, stop) for when, lane, place in ways]
        found.sort(key=lambda one: one[:3])
        for _, number, place, stop in found:
            lane = self.debuggee.lanes[number]
            if stop.acts(lane, place):
                return lane, place, [stop]
        return None

    def stopped(self, thread: int, stops: list[Stop], reason: str, text: str = "") -> None:
        """Tell the editor that a thread stands."""
        lane = self.lane(thread)
        self.references.forget()
        self.state, self.focus = "stopped", thread
        texts = [found for stop in stops if (found := stop.text(lane.place))]
        self.reasons = {thread: texts}
        numbers = [stop.number for stop in stops if stop.number]
        content: Json = {
            "reason": stops[0].reason if stops else reason, "threadId": thread, "allThreadsStopped": True,
        }  # fmt: skip
        if numbers:
            content["hitBreakpointIds"] = numbers
        if lane.at_end and not stops:
            text = text or "the end of the program" + (f": {lane.trace.cut}" if lane.trace.cut else "")
        if text or texts:
            content["description"] = content["text"] = text or "; ".join(texts)
        self.later("stopped", **content)

    def changed(self, lane: Lane, names: str) -> None:
        """Tell the editor that a what-if has changed what follows."""
        self.references.forget()
        if self.client.flag("supportsInvalidatedEvent", False):
            self.later("invalidated", areas=["variables", "stacks"])
        self.output(f"what-if at step {lane.place}: {names}; {lane.trace.title}")

    def begin(self) -> None:
        """Begin, as soon as it is launched and configured."""
        if self.configuration is None or not self.configured or not self.launched:
            return
        self.state = "stopped"
        thread, lane = self.thread, self.debuggee.main
        here = [stop for stop in self.stops if 0 in stop.at(lane) and stop.acts(lane, 0)]
        for stop in here:
            if stop.log is not None:
                self.output(stop.log.text(lane.registers(0)), "stdout", lane, 0)
        ending = [stop for stop in here if stop.log is None]
        if self.configuration.stop_on_entry or ending:
            self.stopped(thread, [] if self.configuration.stop_on_entry else ending, "entry")
        else:
            self.go(thread, len(lane.trace), "step")

    def terminate(self) -> None:
        self.state = "at its end"
        self.later("terminated")
        self.later("exited", exitCode=0)


def failed(error: PocketGPUError) -> str:
    """An error as a line."""
    return f"{error.location}: {error.message}" if error.location else error.message


__all__ = ["FRAMES", "STATES", "Breakpoint", "Session", "State", "failed"]
