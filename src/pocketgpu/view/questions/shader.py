"""Requests about stepping through a shader: the programs of a place, and a trace with its program, steps and graph.

The inspection keeps the last trace, so that each request after `trace` is quick and answers a small part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters

if TYPE_CHECKING:
    from pocketgpu.inspect.stepping import Birth, Trace, Value

CODE: Final = ("number", "address", "text", "hits", "nan", "infinite", "source")
"""Columns of `trace_code`; nan and infinite: the first step at which one appeared there, or null."""
STEPS: Final = ("step", "number", "address", "text", "happened")
"""Columns of `trace_steps`."""
REGISTERS: Final = ("register", "kind", "word", "shown", "written")
"""Columns of the registers of `trace_step`; written: by which step, or null."""
MOST_ROWS: Final = 1000
"""Most rows of an answer."""
_SEARCHES: Final = ("visit", "nan", "infinite", "special")
"""What `trace_find` looks for; special: a NaN or an infinity."""
_WAYS: Final = ("next", "previous")
_MOST_NUMBERS: Final = 512
"""Most instructions that `trace_find` looks for."""
_MOST_DIGITS: Final = 8
"""Of the number of an instruction."""


def _value(value: Value) -> Json:
    return {"register": value.name, "kind": value.kind, "word": value.hex, "shown": value.shown}


def _births(trace: Trace) -> dict[str, list[Birth]]:
    return {"nan": trace.nans, "infinite": trace.infinities}


def _programs(given: Parameters) -> Question:
    at = given.at()
    return lambda run: {"programs": [one.to_json() for one in run.programs_at(at)]}


def _trace(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        trace = run.traced(at)
        births = {kind: [one for one in found if one.computed] for kind, found in _births(trace).items()}
        note = trace.visits.listing.note
        return {
            "address": trace.address, "program": trace.name, "lane": trace.lane,
            "title": f"{trace.title}; {note}" if note else trace.title,
            "steps": len(trace), "instructions": len(trace.visits.listing), "cut": trace.cut, "hung": trace.hung,
            "touched": sorted(trace.touched),
            "births": {kind: len(found) for kind, found in _births(trace).items()},
            "first": {kind: {"step": found[0].step.index, "text": str(found[0])} for kind, found in births.items()
                      if found},
        }  # fmt: skip

    return question


def _first_steps(births: Iterable[Birth]) -> dict[int, int]:
    """For each instruction the first step at which one of its births is."""
    found: dict[int, int] = {}
    for one in births:
        found.setdefault(one.step.number, one.step.index)
    return found


def _window(given: Parameters) -> tuple[int, int]:
    return given.number("first", 0), min(given.number("count", MOST_ROWS), MOST_ROWS)


def _code(given: Parameters) -> Question:
    at, (first, count) = given.at(), _window(given)

    def question(run: Inspection) -> Json:
        trace = run.traced(at)
        visits = trace.visits
        listing, counts = visits.listing, visits.counts
        nan, infinite = (_first_steps(found) for found in _births(trace).values())
        rows: list[list[Any]] = []
        for number in range(first, min(first + count, len(listing))):
            source = listing.source(number)
            rows.append([
                number, f"{listing.address_of(number):#06x}", listing.text(number), int(counts[number]),
                nan.get(number), infinite.get(number), None if source is None else source.to_json(),
            ])  # fmt: skip
        return {"first": first, "instructions": len(listing), "columns": CODE, "rows": rows}

    return question


def _steps(given: Parameters) -> Question:
    at, (first, count) = given.at(), _window(given)

    def question(run: Inspection) -> Json:
        trace = run.traced(at)
        rows = [
            [one.index, one.number, f"{one.address:#06x}", one.text, one.happened]
            for one in trace.steps[first : first + count]
        ]
        return {"first": first, "steps": len(trace), "columns": STEPS, "rows": rows}

    return question


def _step(given: Parameters) -> Question:
    at, number = given.at(), given.number("step")

    def question(run: Inspection) -> Json:
        trace = run.traced(at)
        registers = trace.at(number)
        rows = [
            [one.name, one.kind, one.hex, one.shown, trace.origin(one.name, number)]
            for one in map(registers.value, registers)
        ]
        found: dict[str, Any] = {"step": number, "columns": REGISTERS, "registers": rows}
        if number == len(trace):  # the end
            return found
        step = trace[number]
        births = [
            {"kind": kind, "text": str(one)}
            for kind, all_of in _births(trace).items() for one in all_of if one.step.index == number
        ]  # fmt: skip
        return found | {
            "number": step.number, "address": f"{step.address:#06x}",
            "text": step.text, "line": step.line, "flow": step.flow, "skipped": step.skipped,
            "lanes": None if step.lanes is None else f"{step.lanes:#010x}", "notes": list(step.notes),
            "births": births,
            "reads": [{**_value(one), "written": trace.origin(one.names[0], number)} for one in step.reads],
            "writes": [{"before": _value(one.before), "after": _value(one.after)} for one in step.writes],
            "accesses": [{**one.to_json(), "text": str(one)} for one in step.accesses],
            "emitted": None if step.emitted is None else str(step.emitted),
        }  # fmt: skip

    return question


def _find(given: Parameters) -> Question:
    at, start, of = given.at(), given.number("step"), given.choice("of", _SEARCHES, "visit")
    forward = given.choice("way", _WAYS, "next") == "next"
    numbers = _numbers(given.text("numbers", ""))

    def question(run: Inspection) -> Json:
        from pocketgpu.inspect.stepping.visits import near

        trace = run.traced(at)
        if of == "visit":
            return {"step": trace.visits.find(numbers, start, forward)}
        births = [one for kind, found in _births(trace).items() if of in (kind, "special") for one in found]
        steps = np.unique([one.step.index for one in births]).astype(np.int64)
        return {"step": near(steps, start, forward)}

    return question


def _numbers(text: str) -> list[int]:
    parts = [part for part in text.split(",") if part]
    known = (part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts)
    if len(parts) > _MOST_NUMBERS or not all(known):
        raise UsageError(
            f"'{text[:40]}' names no instructions", location="numbers", hint=f"Up to {_MOST_NUMBERS}, such as 3,8."
        )
    return [int(part) for part in parts]


def _flow(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        from pocketgpu.inspect.stepping.visits import MOST_BLOCKS

        visits = run.traced(at).visits
        blocks, total = visits.blocks()
        listing = visits.listing
        return {
            "blocks": [
                {**one.to_json(), "address": f"{listing.address_of(one.first):#06x}",
                 "end": f"{listing.address_of(one.last):#06x}", "last_text": listing.text(one.last)}
                for one in blocks
            ],
            "total": total, "most": MOST_BLOCKS,
        }  # fmt: skip

    return question


ASKED: Final = {
    "programs": Asked(_programs, slow=True), "trace": Asked(_trace, slow=True), "trace_code": Asked(_code),
    "trace_steps": Asked(_steps), "trace_step": Asked(_step), "trace_find": Asked(_find), "trace_flow": Asked(_flow),
}  # fmt: skip
