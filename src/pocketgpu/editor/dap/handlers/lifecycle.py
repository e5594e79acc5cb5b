"""Requests that begin and end a session."""

from __future__ import annotations

from typing import Final

from pocketgpu.editor.dap.debuggee.launching import launched, read_configuration
from pocketgpu.editor.dap.debuggee.session import Session
from pocketgpu.editor.dap.debuggee.stops import FILTERS
from pocketgpu.editor.dap.handlers.breakpoints import resolve_all
from pocketgpu.editor.dap.protocol.messages import Arguments, Json
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

ALWAYS: Final = {
    "supportsConditionalBreakpoints": True, "supportsHitConditionalBreakpoints": True, "supportsLogPoints": True,
    "supportsSteppingGranularity": True, "supportsValueFormattingOptions": True, "supportsEvaluateForHovers": True,
    "supportsExceptionFilterOptions": True, "supportsExceptionOptions": False, "supportsDelayedStackTraceLoading": True,
    "supportsSingleThreadExecutionRequests": True, "supportTerminateDebuggee": False,
    "supportsDataBreakpointBytes": True,
}  # fmt: skip
"""Capabilities that no request of the table stands for."""


def initialize(session: Session, given: Arguments, capabilities: Json) -> Json:
    for name in ("linesStartAt1", "columnsStartAt1", "supportsInvalidatedEvent"):
        given.flag(name, True)
    session.client = given
    session.state = "waiting for a launch"
    return {**capabilities, **ALWAYS, "exceptionBreakpointFilters": [one.to_json() for one in FILTERS]}


def launch(session: Session, given: Arguments) -> None:
    configuration = read_configuration(given)
    session.debuggee = launched(configuration, session.working)
    session.configuration = configuration
    session.state = "being configured"
    lane = session.debuggee.main
    session.output(lane.trace.title)
    if lane.trace.cut:
        session.output(f"the trace is not complete: {lane.trace.cut}", "important")
    if note := lane.documents.listing.note:
        session.output(note, "important")
    session.later("process", name=lane.trace.name, startMethod="launch", isLocalProcess=True)
    session.later("module", reason="new", module={"id": 1, "name": lane.trace.name})
    for source in lane.documents.sources:
        session.later("loadedSource", reason="new", source=source)
    resolve_all(session)
    session.later("initialized")
    session.begin()


def configuration_done(session: Session, given: Arguments) -> None:
    session.configured = True
    session.begin()


def restart(session: Session, given: Arguments) -> None:
    arguments = given.part("arguments")
    again = session.configuration
    if any(True for _ in arguments.items()):
        again = read_configuration(arguments)
    if again is None:
        raise UsageError("nothing was launched")
    session.debuggee = launched(again, session.working)
    session.configuration = again
    resolve_all(session)
    session.begin()


def terminate(session: Session, given: Arguments) -> None:
    session.terminate()


def disconnect(session: Session, given: Arguments) -> None:
    session.state = "over"


def cancel(session: Session, given: Arguments) -> None:
    """The adapter has heard of it (`Adapter.hear`): what it names has ended."""


def threads(session: Session, given: Arguments) -> Json:
    if not session.launched:
        return {"threads": []}
    lanes = session.debuggee.lanes
    names = [one.trace.lane if one.is_traced else one.name for one in lanes]
    return {"threads": [{"id": n + 1, "name": name} for n, name in enumerate(names)]}


def modules(session: Session, given: Arguments) -> Json:
    lane = session.debuggee.main
    size = counted(len(lane.documents.listing), "instruction")
    one = {"id": 1, "name": lane.trace.name, "version": lane.trace.console, "symbolStatus": size}
    paths = [source["path"] for source in lane.documents.sources if "path" in source]
    if paths:
        one["path"] = paths[0]
    return {"modules": [one], "totalModules": 1}


def loaded_sources(session: Session, given: Arguments) -> Json:
    return {"sources": session.debuggee.main.documents.sources}


def source(session: Session, given: Arguments) -> Json:
    reference = given.part("source").number("sourceReference", 0) or given.number("sourceReference", 0)
    return {"content": session.debuggee.main.documents.text(reference), "mimeType": "text/x-shader-listing"}


__all__ = [
    "cancel", "configuration_done", "disconnect", "initialize", "launch", "loaded_sources", "modules",
    "restart", "source", "terminate", "threads",
]  # fmt: skip
