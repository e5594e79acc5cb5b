"""Requests that set breakpoints. Those that come before the launch get their places with it."""

from __future__ import annotations

from typing import Any

from pocketgpu.editor.dap.debuggee.documents import address_of
from pocketgpu.editor.dap.debuggee.session import Breakpoint, Session
from pocketgpu.editor.dap.debuggee.stops import FILTERS, places_of, places_of_data, stop_of, stop_of_filter
from pocketgpu.editor.dap.expressions import parse
from pocketgpu.editor.dap.protocol.messages import Arguments, Json, short
from pocketgpu.errors import PocketGPUError, UsageError

_SEPARATOR = " "
"""Between registers in the id of data."""


def resolve(session: Session, one: Breakpoint) -> Json:
    """Give a breakpoint its places; how the editor shows it."""
    one.stop, one.shown = None, {"id": one.number, "verified": False}
    try:
        if session.launched:
            one.shown |= _KINDS[one.kind](session, one)
            one.shown["verified"] = True
        else:
            one.shown |= {"message": "known when the program is", "reason": "pending"}
    except PocketGPUError as error:
        one.shown |= {"message": error.message, "reason": "failed"}
    return one.shown


def resolve_all(session: Session) -> None:
    """After a launch: breakpoints that were set before it get their places."""
    for ones in session.breakpoints.values():
        for one in ones:
            session.later("breakpoint", reason="changed", breakpoint=resolve(session, one))


def _set(session: Session, key: str, kind: str, source: Arguments | None, given: list[Arguments]) -> Json:
    ones = [Breakpoint(session.new_number(), kind, source, one) for one in given]
    session.breakpoints[key] = ones
    return {"breakpoints": [resolve(session, one) for one in ones]}


# -- lines ------------------------------------------------------------------------------------------------------------
def set_breakpoints(session: Session, given: Arguments) -> Json:
    source = given.part("source")
    key = source.text("path", "") or f"{source.number('sourceReference', 0)} {source.text('name', '')}"
    wanted = given.parts("breakpoints")
    if "breakpoints" not in given and "lines" in given:
        lines = given.value("lines")
        wanted = [Arguments({"line": line}) for line in lines] if isinstance(lines, list) else []
    for one in wanted:
        one.number("line")
    return _set(session, f"line {key}", "line", source, wanted)


def _lines(session: Session, source: Arguments) -> Any:
    lines = session.debuggee.main.documents.lines(source)
    if lines is None:
        raise UsageError("the program was not made from this text")
    return lines


def _resolve_line(session: Session, one: Breakpoint) -> Json:
    assert one.source is not None
    lines = _lines(session, one.source)
    wanted = session.line_in(one.given.number("line"))
    line = min((found for found in lines if found >= wanted), default=None)
    if line is None:
        raise UsageError("no instruction comes from this line or a later one")
    numbers = lines[line]
    one.stop = stop_of(one.given, "breakpoint", one.number, places_of(numbers))
    documents = session.debuggee.main.documents
    source, line = documents.place(numbers[0]) if "path" in one.source else (documents.source(""), line)
    return {"line": session.line_out(line), "source": source,
            "instructionReference": f"{documents.listing.address_of(numbers[0]):#x}"}  # fmt: skip


def breakpoint_locations(session: Session, given: Arguments) -> Json:
    lines = _lines(session, given.part("source"))
    first = session.line_in(given.number("line"))
    last = session.line_in(given.number("endLine", given.number("line")))
    return {"breakpoints": [{"line": session.line_out(line)} for line in sorted(lines) if first <= line <= last]}


# -- instructions -----------------------------------------------------------------------------------------------------
def set_instruction_breakpoints(session: Session, given: Arguments) -> Json:
    return _set(session, "instruction", "instruction", None, given.parts("breakpoints"))


def _resolve_instruction(session: Session, one: Breakpoint) -> Json:
    documents = session.debuggee.main.documents
    address = address_of(one.given.text("instructionReference")) + one.given.number("offset", 0)
    number = documents.number_at(address)
    if number is None or documents.listing.address_of(number) != address:
        raise UsageError(f"no instruction is at {address:#x}")
    one.stop = stop_of(one.given, "instruction breakpoint", one.number, places_of([number]))
    source, line = documents.place(number)
    return {"instructionReference": f"{address:#x}", "source": source, "line": session.line_out(line)}


# -- data -------------------------------------------------------------------------------------------------------------
def data_breakpoint_info(session: Session, given: Arguments) -> Json:
    name = given.text("name")
    _, lane = session.lane_of(given)
    text = name
    if "variablesReference" in given and given.number("variablesReference"):
        parts, lane = session.references.parts(given.number("variablesReference"), False)
        text = next((one.expression for one in parts if one.name == name and one.expression), name)
    try:
        names = parse(text).names(lane.registers())
    except UsageError as error:
        return {"dataId": None, "description": error.message}
    if not names or any(one not in lane.trace.start for one in names):
        return {"dataId": None, "description": f"{short(name)} is no register"}
    return {"dataId": _SEPARATOR.join(names), "description": text, "accessTypes": ["read", "write", "readWrite"],
            "canPersist": True}  # fmt: skip


def set_data_breakpoints(session: Session, given: Arguments) -> Json:
    return _set(session, "data", "data", None, given.parts("breakpoints"))


def _resolve_data(session: Session, one: Breakpoint) -> Json:
    names = one.given.text("dataId").split(_SEPARATOR)
    known = session.debuggee.main.trace.start
    if any(name not in known for name in names):
        raise UsageError("these are no registers of the program")
    way = one.given.text("accessType", "write")
    if way not in ("read", "write", "readWrite"):
        raise UsageError(f"{short(way)} is no way to access data")
    places = places_of_data(frozenset(names), way != "write", way != "read")
    one.stop = stop_of(one.given, "data breakpoint", one.number, places)
    return {}


# -- exceptions -------------------------------------------------------------------------------------------------------
def set_exception_breakpoints(session: Session, given: Arguments) -> Json:
    names = given.texts("filters")
    options = given.parts("filterOptions")
    session.filters = [
        *(stop_of_filter(name) for name in dict.fromkeys(names)),
        *(stop_of_filter(one.text("filterId"), one.text("condition", "")) for one in options),
    ][: 4 * len(FILTERS)]
    return {"breakpoints": [{"verified": True} for _ in (*names, *options)]}


def exception_info(session: Session, given: Arguments) -> Json:
    thread = given.number("threadId")
    session.lane(thread)
    texts = session.reasons.get(thread, [])
    if not texts:
        raise UsageError("this thread stands at no exception")
    return {"exceptionId": texts[0].partition(":")[0], "description": "\n".join(texts), "breakMode": "always"}


_KINDS = {"line": _resolve_line, "instruction": _resolve_instruction, "data": _resolve_data}
"""What gives a breakpoint of a kind its places."""

__all__ = [
    "breakpoint_locations", "data_breakpoint_info", "exception_info", "resolve_all", "set_breakpoints",
    "set_data_breakpoints", "set_exception_breakpoints", "set_instruction_breakpoints",
]  # fmt: skip
