"""Requests that move through the trace, forward and back."""

from __future__ import annotations

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.session import FRAMES, Session
from pocketgpu.editor.dap.protocol.messages import Arguments, Json, short
from pocketgpu.errors import UsageError

_GRANULARITIES = {"statement": True, "line": True, "instruction": False}
"""Whether a step of it is one of lines."""


def _taken(session: Session, given: Arguments) -> tuple[int, Lane, bool]:
    """Thread, lane, and whether steps are of lines."""
    thread = given.number("threadId")
    granularity = given.text("granularity", "statement")
    if granularity not in _GRANULARITIES:
        raise UsageError(f"{short(granularity)} is no granularity")
    return thread, session.lane(thread), _GRANULARITIES[granularity]


def _alone(given: Arguments) -> bool:
    """Whether only this thread is to move: the others of its warp stay."""
    return given.flag("singleThread", False)


def _forward(session: Session, given: Arguments, thread: int, lane: Lane, target: int) -> None:
    """Move on; a step from the end ends the session."""
    alone = _alone(given)
    if lane.at_end:
        session.terminate()
    else:
        session.go(thread, target, "step", alone=alone)


def continue_(session: Session, given: Arguments) -> Json:
    thread, lane, _ = _taken(session, given)
    _forward(session, given, thread, lane, len(lane.trace))
    return {"allThreadsContinued": not _alone(given)}


def _step(session: Session, given: Arguments, into: bool) -> None:
    """A step forward, into calls or over them."""
    thread, lane, lines = _taken(session, given)
    place = lane.place
    target = place if lane.at_end else lane.ways.step(place, forward=True, into=into, lines=lines)
    _forward(session, given, thread, lane, target)


def next_(session: Session, given: Arguments) -> None:
    _step(session, given, into=False)


def step_in(session: Session, given: Arguments) -> None:
    _step(session, given, into=True)


def step_out(session: Session, given: Arguments) -> None:
    thread, lane, _ = _taken(session, given)
    _forward(session, given, thread, lane, lane.place if lane.at_end else lane.ways.out(lane.place))


def step_back(session: Session, given: Arguments) -> None:
    thread, lane, lines = _taken(session, given)
    _back(session, given, thread, lane, lane.ways.step(lane.place, forward=False, into=False, lines=lines))


def reverse_continue(session: Session, given: Arguments) -> None:
    thread, lane, _ = _taken(session, given)
    _back(session, given, thread, lane, 0)


def _back(session: Session, given: Arguments, thread: int, lane: Lane, target: int) -> None:
    alone = _alone(given)
    if lane.place == 0:
        session.stopped(thread, [], "entry", "the beginning of the program")
    else:
        session.go(thread, target, "step", alone=alone)


def pause(session: Session, given: Arguments) -> None:
    thread, _, _ = _taken(session, given)
    session.stopped(thread, [], "pause")


def restart_frame(session: Session, given: Arguments) -> None:
    frame = given.number("frameId")
    thread, lane = session.lane_of(given)
    calls = lane.ways.calls[lane.place]
    depth = len(calls) - frame % FRAMES
    if depth < 0:
        raise UsageError(f"there is no frame {frame}")
    session.go(thread, lane.ways.at_call(lane.place, depth), "restart", stopping=False)


def goto_targets(session: Session, given: Arguments) -> Json:
    """The steps at which control comes to a line: up to one before and one after the place."""
    lane = session.lane(session.focus)
    lines = lane.documents.lines(given.part("source"))
    numbers = (lines or {}).get(session.line_in(given.number("line")), [])
    found = [lane.trace.visits.find(numbers, lane.place, forward) for forward in (True, False)] if numbers else []
    line = given.number("line")
    return {
        "targets": [{"id": step + 1, "label": f"step {step}", "line": line} for step in found if step is not None]
    }  # fmt: skip


def goto(session: Session, given: Arguments) -> None:
    thread, lane, _ = _taken(session, given)
    target = given.number("targetId") - 1
    if not 0 <= target <= len(lane.trace):
        raise UsageError(f"there is no step {target}", hint=f"The trace has steps 0 to {len(lane.trace) - 1}.")
    session.go(thread, target, "goto", stopping=False)


__all__ = [
    "continue_", "goto", "goto_targets", "next_", "pause", "restart_frame", "reverse_continue", "step_back", "step_in",
    "step_out",
]  # fmt: skip
