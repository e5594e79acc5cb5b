"""Requests about the command stream: the words of an event, and the whole stream as a table that is read in windows.

What may take long is done in slices: `stream_open`, `stream_sift` and `stream_find` are asked again until they say that
all is done, and each time hold the machine's thread for a moment only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters

if TYPE_CHECKING:
    from pocketgpu.inspect.stream import Sifted

MOST_LINES: Final = 1000
"""Most rows of an answer."""
_PATIENCE: Final = 0.03
"""Seconds after which a request does no further step."""
_WAYS: Final = ("next", "previous")
Extent = tuple[int, int]


def _words(given: Parameters) -> Question:
    at = given.at()
    return lambda run: {"lines": [json.loads(line) for line in run.words_of(run.event(at))]}


def _until_late(step: Callable[[], bool]) -> bool:
    """Do steps until one says that all is done, or some time is over; returns whether all is done."""
    end = time.monotonic() + _PATIENCE
    while not step():
        if time.monotonic() > end:
            return False
    return True


def _open(given: Parameters) -> Question:
    del given

    def question(run: Inspection) -> Json:
        if not _until_late(run.open_stream):
            return {"ready": False}
        stream = run.stream
        return {"ready": True, "rows": len(stream), "words": stream.words, "issued": stream.issued}

    return question


# -- which rows -------------------------------------------------------------------------------------------------------
def _sift_of(given: Parameters) -> Callable[[Inspection], Sifted]:
    """The rows that a request is about."""
    text, changed, issued = given.text("text", ""), given.number("changed", 0), given.number("issued", 1)
    within = Address.parse(given.text("within")) if given.text("within", "") else None

    def sifted(run: Inspection) -> Sifted:
        from pocketgpu.inspect.stream import Sift

        stream = run.stream
        rows = None if within is None else _extent(run, within)
        return stream.sifted(Sift(text, bool(changed), bool(issued), rows))

    return sifted


def _extent(run: Inspection, place: Address) -> Extent:
    """The rows of an event, a pass or a frame; none at the row where an event happens that has none."""
    stream = run.stream
    if place.pass_ is not None:
        found = [extent for event in run.pass_of(place).events if (extent := stream.range_of(event)) is not None]
        if found:
            return min(first for first, _ in found), max(end for _, end in found)
    if not place.names_event:
        run.events(place.frame)  # a missing frame is reported
        return stream.frame_range(place.frame)
    event = run.event(place)
    extent = stream.range_of(event)
    return (stream.row_after(event),) * 2 if extent is None else extent


def _progress(sifted: Sifted) -> dict[str, Any]:
    return {"found": sifted.found, "scanned": sifted.scanned, "of": sifted.of, "done": sifted.done}


def _step(sifted: Sifted) -> bool:
    sifted.go_on()
    return sifted.done


def _sift(given: Parameters) -> Question:
    wanted = _sift_of(given)

    def question(run: Inspection) -> Json:
        sifted = wanted(run)
        _until_late(lambda: _step(sifted))
        return _progress(sifted)

    return question


# -- windows and places -----------------------------------------------------------------------------------------------
def _stream(given: Parameters) -> Question:
    wanted = _sift_of(given)
    first, count = given.number("first", 0), min(given.number("count", MOST_LINES), MOST_LINES)

    def question(run: Inspection) -> Json:
        numbers = wanted(run).rows(first, count)
        lines = [json.loads(line) for line in run.stream.lines_at(numbers)]
        return {"first": first, "rows": [list(row) for row in zip(numbers.tolist(), lines, strict=True)]}

    return question


def _place(given: Parameters) -> Question:
    wanted, at = _sift_of(given), given.at().place
    line = given.number("line") if given.text("line", "") else None

    def question(run: Inspection) -> Json:
        stream, sifted = run.stream, wanted(run)
        extent = _extent(run, at)
        row = extent[0] if line is None else stream.row_of(line, extent)
        return {
            "first": extent[0], "end": extent[1], "row": row,
            "index": sifted.index(row), "count": sifted.index(extent[1]) - sifted.index(extent[0]),
        }  # fmt: skip

    return question


def _find(given: Parameters) -> Question:
    wanted, start = _sift_of(given), given.number("from") if given.text("from", "") else None
    forward = given.choice("way", _WAYS, "next") == "next"

    def question(run: Inspection) -> Json:
        sifted = wanted(run)
        row = start if start is not None else -1 if forward else len(run.stream)
        known = _until_late(lambda: sifted.knows(row, forward) or _step(sifted))
        found = sifted.near(row, forward) if known else None
        return {"row": found, "index": None if found is None else sifted.index(found), **_progress(sifted)}

    return question


def _event(given: Parameters) -> Question:
    row = given.number("row")

    def question(run: Inspection) -> Json:
        stream = run.stream
        if row >= len(stream):
            raise UsageError(f"there is no row {row}", location="row", hint=f"There are {len(stream):,}.")
        at = stream.event_at(row)
        return {"at": str(at), "line": stream.line_of(row, _extent(run, at))}

    return question


ASKED: Final = {
    "words": Asked(_words, slow=True), "stream_open": Asked(_open, slow=True), "stream_sift": Asked(_sift, slow=True),
    "stream": Asked(_stream), "stream_place": Asked(_place, slow=True), "stream_find": Asked(_find, slow=True),
    "stream_event": Asked(_event, slow=True),
}  # fmt: skip
