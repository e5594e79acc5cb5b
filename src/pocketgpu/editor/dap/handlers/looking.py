"""Requests that look at the place where a lane stands: frames, variables, expressions, instructions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pocketgpu.editor.dap.debuggee.documents import address_of
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.memory import reference_of
from pocketgpu.editor.dap.debuggee.session import FRAMES, Session, failed
from pocketgpu.editor.dap.debuggee.variables import Variable, scopes_of, text_of, variables_of
from pocketgpu.editor.dap.expressions import Expression, parse, shown
from pocketgpu.editor.dap.expressions.nodes import FUNCTIONS, Typed
from pocketgpu.editor.dap.protocol.messages import Arguments, Json, short
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.stepping.calls import calls_among
from pocketgpu.inspect.stepping.memory_words import WORD, memory_word

MOST_INSTRUCTIONS: Final = 4096
"""Of a `disassemble`."""
MOST_COMPLETIONS: Final = 200


# -- frames -----------------------------------------------------------------------------------------------------------
def stack_trace(session: Session, given: Arguments) -> Json:
    thread = given.number("threadId")
    lane = session.lane(thread)
    try:
        frames = _frames(session, thread, lane)
    except PocketGPUError as error:
        frames = [{"id": thread * FRAMES, "name": f"nothing ran here: {failed(error)}", "line": 0, "column": 0,
                   "presentationHint": "label"}]  # fmt: skip
    first = max(given.number("startFrame", 0), 0)
    levels = given.number("levels", 0)
    part = frames[first : first + levels if levels > 0 else None]
    return {"stackFrames": part, "totalFrames": len(frames)}


def _frames(session: Session, thread: int, lane: Lane) -> list[Json]:
    """The frames of a lane. One that nobody has looked at is not traced for that: what its warp ran says enough."""
    group, place = session.debuggee.group, lane.place
    numbers, shown = group.instructions(lane), lane if lane.is_traced else group.leader
    if place >= len(numbers) and not lane.is_traced:
        shown, numbers = lane, lane.ways.numbers
        place = lane.place
    if not len(numbers):
        raise UsageError("this lane takes no part in the warp")
    documents, ended = shown.documents, place >= len(numbers)
    calls = (
        lane.ways.calls[place] if lane.is_traced
        else calls_among(documents.listing, numbers[: place + 2].tolist())[place]
    )  # fmt: skip
    around = [int(numbers[min(place, len(numbers) - 1)]), *(int(numbers[step]) for step in reversed(calls))]
    of = f" of {len(numbers)}" if lane.is_traced else ""
    inactive = group.is_inactive(lane) and not ended
    found = []
    for depth, number in enumerate(around):
        outer = len(around) - 1 - depth
        entry = documents.listing.address_of(int(numbers[calls[outer - 1] + 1])) if outer else 0
        name = documents.routine(entry) if outer else shown.trace.name
        where = "end" if ended else f"step {place}" if depth == 0 else f"step {calls[outer]}"
        where += of + ", inactive here" * (inactive and depth == 0)
        source, line = documents.place(number)
        found.append({
            "id": thread * FRAMES + depth, "name": f"{name} ({where})", "source": source,
            "line": session.line_out(line), "column": session.line_out(1), "moduleId": 1, "canRestart": True,
            "instructionPointerReference": f"{documents.listing.address_of(number):#x}",
            **({"presentationHint": "subtle"} if inactive else {}),
        })  # fmt: skip
    return found


def scopes(session: Session, given: Arguments) -> Json:
    given.number("frameId")
    _, lane = session.lane_of(given)
    found = []
    for one in scopes_of(lane):
        shown: Json = {"name": one.name, "variablesReference": session.references.add(one.contents, lane),
                       "expensive": one.expensive}  # fmt: skip
        if one.count is not None:
            shown["namedVariables"] = one.count
        found.append(shown)
    return {"scopes": found}


def _hexadecimal(given: Arguments) -> bool:
    return given.part("format").flag("hex", False)


def variables(session: Session, given: Arguments) -> Json:
    which = given.text("filter", "")
    if which not in ("", "named", "indexed"):
        raise UsageError(f"{short(which)} is no kind of variables", location="filter")
    found, lane = session.references.some(
        given.number("variablesReference"), _hexadecimal(given), which, max(given.number("start", 0), 0),
        max(given.number("count", 0), 0),
    )  # fmt: skip
    return {"variables": [session.references.to_json(one, lane) for one in found]}


# -- expressions ------------------------------------------------------------------------------------------------------
def evaluate(session: Session, given: Arguments) -> Json:
    text = given.text("expression")
    _, lane = session.lane_of(given)
    name, equals, value = _assignment(text)
    if equals and given.text("context", "") == "repl":
        one = _set(session, lane, parse(name), value)
    else:
        one = _evaluated(lane, text, _hexadecimal(given))
    found = session.references.to_json(one, lane)
    more: Json = {name: found[name] for name in ("memoryReference", "indexedVariables") if name in found}
    return {"result": found["value"], "type": one.kind, "variablesReference": found["variablesReference"], **more}


def _assignment(text: str) -> tuple[str, str, str]:
    """ "r0.x = 1" in parts; comparisons are none."""
    name, equals, value = text.partition("=")
    if not equals or value.startswith("=") or name.rstrip()[-1:] in ("=", "!", "<", ">"):
        return text, "", ""
    return name, equals, value


def _evaluated(lane: Lane, text: str, hexadecimal: bool) -> Variable:
    """An expression as a variable, with its value at the place of a lane.

    :raises UsageError: it is no expression, or has no value.
    """
    expression, registers = parse(text), lane.registers()
    try:
        value = expression.value(registers)
        names = [] if expression.is_raw else expression.names(registers)
        if names:
            values = [one for name in names if (one := registers.find(name)) is not None]
            found = variables_of(values, hexadecimal, not lane.at_end)
            if len(found) == 1 and len(values) == 1:
                word = memory_word(names[0])
                if word is not None:  # its bytes can be shown, too
                    return replace(found[0], reference=reference_of(*word, lane.number), size=WORD)
                return found[0]
            shown_text = "(" + ", ".join(text_of(one, hexadecimal) for one in values) + ")"
            return Variable(text, shown_text, values[0].kind, text, lambda _: found)
        return Variable(text, shown(value, hexadecimal))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise UsageError(f"this has no value: {error}") from None


def set_variable(session: Session, given: Arguments) -> Json:
    name = given.text("name")
    one, lane = session.references.named(given.number("variablesReference"), name)
    if one is None or not one.settable or not one.expression:
        raise UsageError(
            f"{short(name)} cannot be set", hint="Registers, constants and whole words of memory can, before the end.",
        )  # fmt: skip
    return _answer(session, lane, _set(session, lane, parse(one.expression), given.text("value")))


def set_expression(session: Session, given: Arguments) -> Json:
    _, lane = session.lane_of(given)
    return _answer(session, lane, _set(session, lane, parse(given.text("expression")), given.text("value")))


def _answer(session: Session, lane: Lane, one: Variable) -> Json:
    found = session.references.to_json(one, lane)
    return {"value": found["value"], "type": one.kind, "variablesReference": found["variablesReference"]}


def _set(session: Session, lane: Lane, target: Expression, text: str) -> Variable:
    """What-if: a register or a word of memory has another value from here on."""
    try:
        names = lane.set(target, parse(text))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise UsageError(f"this has no value: {error}") from None
    session.changed(lane, ", ".join(names))
    registers = lane.registers()
    values = [one for name in names if (one := registers.find(name)) is not None]
    found = variables_of(values, False, True)
    if isinstance(target, Typed):
        return Variable(found[0].name, shown(target.value(registers)), target.kind, found[0].expression)
    return found[0]


def completions(session: Session, given: Arguments) -> Json:
    column = max(session.line_in(given.number("column")) - 1, 0)
    before = given.text("text")[:column]
    word = before[len(before.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")) :]
    _, lane = session.lane_of(given)
    stems = dict.fromkeys(name.rpartition(".")[0] or name for name in (*lane.trace.start, *lane.trace.constants))
    named = lane.documents.listing.variables
    names = [name for name in (*stems, *named, *lane.trace.start, *FUNCTIONS) if name.startswith(word)]
    rows = [*dict.fromkeys(names)][:MOST_COMPLETIONS]
    start = session.line_out(column - len(word) + 1)
    return {"targets": [{"label": one, "start": start, "length": len(word)} for one in rows]}


# -- instructions -----------------------------------------------------------------------------------------------------
def disassemble(session: Session, given: Arguments) -> Json:
    documents = session.debuggee.main.documents
    address = address_of(given.text("memoryReference")) + given.number("offset", 0)
    count = given.number("instructionCount")
    if not 0 <= count <= MOST_INSTRUCTIONS:
        raise UsageError(f"{short(count)} instructions; {MOST_INSTRUCTIONS} are the most", location="instructionCount")
    number = documents.number_at(address)
    first = (len(documents.listing) if number is None else number) + given.number("instructionOffset", 0)
    rows = [documents.instruction(n) for n in range(first, first + count)]
    for row in rows:
        if "line" in row:
            row["line"] = session.line_out(row["line"])
    return {"instructions": rows}


__all__ = [
    "completions", "disassemble", "evaluate", "scopes", "set_expression", "set_variable", "stack_trace", "variables",
]  # fmt: skip
