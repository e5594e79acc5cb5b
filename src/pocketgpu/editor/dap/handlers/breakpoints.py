"""Requests that set breakpoints. Those that come before the launch get their places with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pocketgpu.editor.dap.debuggee.documents import address_of
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.memory import Place, place_of, reference_of
from pocketgpu.editor.dap.debuggee.session import Breakpoint, Session
from pocketgpu.editor.dap.debuggee.stops import FILTERS, Data, stop_at, stop_at_data, stop_of_filter
from pocketgpu.editor.dap.expressions import parse
from pocketgpu.editor.dap.protocol.messages import Arguments, Json, short
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.stepping.memory_words import WORD, memory_word
from pocketgpu.wording import counted

_SEPARATOR = " "
"""Between registers in the id of data."""
_MEMORY = "@"
"""How the id of memory begins."""
_WAYS = ["read", "write", "readWrite"]
MOST_WATCHED: Final = 1 << 16
"""Bytes of memory of a data breakpoint."""


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
    one.stop = stop_at(one.given, "breakpoint", one.number, numbers)
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
    one.stop = stop_at(one.given, "instruction breakpoint", one.number, [number])
    source, line = documents.place(number)
    return {"instructionReference": f"{address:#x}", "source": source, "line": session.line_out(line)}


# -- data -------------------------------------------------------------------------------------------------------------
def data_breakpoint_info(session: Session, given: Arguments) -> Json:
    name = given.text("name")
    _, lane = session.lane_of(given)
    size = given.number("bytes", WORD)
    if not 1 <= size <= MOST_WATCHED:
        raise UsageError(f"{short(size)} bytes; 1 to {MOST_WATCHED} can be watched", location="bytes")
    if given.flag("asAddress", False):
        return _info_of_memory(lane, place_of(name, "name"), size)
    text = name
    if "variablesReference" in given and given.number("variablesReference"):
        one, lane = session.references.named(given.number("variablesReference"), name)
        if one is not None and one.reference and not one.expression:
            return _info_of_memory(lane, place_of(one.reference), min(max(one.size, 1), MOST_WATCHED))
        text = one.expression if one is not None and one.expression else name
    try:
        registers = lane.registers()
        names = parse(text).names(registers)
        found = [registers.find(one) for one in names]
    except UsageError as error:
        return {"dataId": None, "description": error.message}
    if not names or None in found:
        return {"dataId": None, "description": f"{short(name)} is no register, constant or word of memory"}
    word = memory_word(names[0]) if len(names) == 1 else None
    if word is not None:
        return _info_of_memory(lane, Place(*word), size)
    ways = _WAYS if all(one in lane.trace.start for one in names) else ["read"]
    return {"dataId": _SEPARATOR.join(names), "description": text, "accessTypes": ways, "canPersist": True}


def _info_of_memory(lane: Lane, place: Place, size: int) -> Json:
    space, address = place.space, place.address
    data, _ = lane.memory.read(space, address, size, lane.time.tick(lane))
    if len(data) < size:
        return {"dataId": None, "description": f"nothing is at {reference_of(space, address + len(data))}"}
    words = {lane.memory.name(space, at) for at in range(address & -WORD, address + size, WORD)}
    if words <= lane.trace.constants.keys():  # constants that instructions name
        return {"dataId": _SEPARATOR.join(sorted(words)), "accessTypes": ["read"], "canPersist": True,
                "description": f"constants at {address:#x}"}  # fmt: skip
    ways = ["read"] if space == "constant" else _WAYS
    return {
        "dataId": f"{_MEMORY}{reference_of(space, address)}{_SEPARATOR}{size}", "accessTypes": ways,
        "description": f"{counted(size, 'byte')} of {space} memory at {address:#x}", "canPersist": True,
    }  # fmt: skip


def set_data_breakpoints(session: Session, given: Arguments) -> Json:
    return _set(session, "data", "data", None, given.parts("breakpoints"))


def _resolve_data(session: Session, one: Breakpoint) -> Json:
    parts = one.given.text("dataId").split(_SEPARATOR)
    trace = session.debuggee.main.trace
    if parts[0].startswith(_MEMORY):
        size = int(parts[1]) if len(parts) == 2 and parts[1].isdigit() and len(parts[1]) < 8 else 0
        if not 1 <= size <= MOST_WATCHED:
            raise UsageError("this is no range of memory")
        space, address, _ = place_of(parts[0].removeprefix(_MEMORY), "dataId")
        data, readonly = Data(space=space, address=address, size=size), space == "constant"
    elif all(name in trace.start or name in trace.constants for name in parts):
        data, readonly = Data(frozenset(parts)), any(name not in trace.start for name in parts)
    else:
        raise UsageError("these are no registers of the program")
    way = one.given.text("accessType", "read" if readonly else "write")
    if way not in _WAYS:
        raise UsageError(f"{short(way)} is no way to access data")
    if readonly and way != "read":
        raise UsageError("no instruction writes constants", hint='"accessType": "read" stops before what reads them.')
    one.stop = stop_at_data(one.given, one.number, replace(data, read=way != "write", write=way != "read"))
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
