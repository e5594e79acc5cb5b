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
COLUMNS: Final = ("row", "hit", "line")
"""Of the rows of `stream`: its number, whether `find` is found in it, and its line (docs/formats/decode.md)."""
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
class _View:
    """The rows that a request is about. `find` is looked for among them.

    :raises UsageError: a parameter is bad.
    """

    def __init__(self, given: Parameters) -> None:
        self._text, self.find = given.text("text", ""), given.text("find", "")
        self._changed, self._issued = bool(given.number("changed", 0)), bool(given.number("issued", 1))
        self._within = Address.parse(given.text("within")) if given.text("within", "") else None

    def of(self, run: Inspection) -> Sifted:
        """The rows."""
        return self._sifted(run, self._text)

    def hits(self, run: Inspection) -> Sifted:
        """Those in which `find` is found."""
        return self._sifted(run, f"{self._text} {self.find}")

    def _sifted(self, run: Inspection, text: str) -> Sifted:
        from pocketgpu.inspect.stream import Sift
        from pocketgpu.inspect.stream.last_write import extent_of

        stream = run.stream
        rows = None if self._within is None else extent_of(run, self._within)
        return stream.sifted(Sift(text.strip(), self._changed, self._issued, rows))


def _progress(sifted: Sifted) -> dict[str, Any]:
    return {"found": sifted.found, "scanned": sifted.scanned, "of": sifted.of, "done": sifted.done}


def _step(sifted: Sifted) -> bool:
    sifted.go_on()
    return sifted.done


def _sift(given: Parameters) -> Question:
    view = _View(given)

    def question(run: Inspection) -> Json:
        sifted = view.hits(run)
        _until_late(lambda: _step(sifted))
        return _progress(sifted)

    return question


# -- windows and places -----------------------------------------------------------------------------------------------
def _stream(given: Parameters) -> Question:
    view = _View(given)
    first, count = given.number("first", 0), min(given.number("count", MOST_LINES), MOST_LINES)

    def question(run: Inspection) -> Json:
        numbers = view.of(run).rows(first, count)
        lines = [json.loads(line) for line in run.stream.lines_at(numbers)]
        hits = view.hits(run).matches(numbers).tolist() if view.find else [False] * len(lines)
        return {"columns": COLUMNS, "rows": list(zip(numbers.tolist(), hits, lines, strict=True))}

    return question


def _place(given: Parameters) -> Question:
    view, at = _View(given), given.at().place
    line, kept = _number(given, "line"), _number(given, "row")

    def question(run: Inspection) -> Json:
        from pocketgpu.inspect.stream.last_write import extent_of

        stream, sifted = run.stream, view.of(run)
        first, end = extent_of(run, at)
        row = first if line is None else stream.row_of(line, (first, end))
        return {
            "first": first, "end": end, "row": row, "index": sifted.index(row),
            "kept": None if kept is None else sifted.index(kept),
        }  # fmt: skip

    return question


def _find(given: Parameters) -> Question:
    view, start = _View(given), _number(given, "from")
    forward = given.choice("way", _WAYS, "next") == "next"

    def question(run: Inspection) -> Json:
        hits = view.hits(run)
        row = start if start is not None else -1 if forward else len(run.stream)
        known = _until_late(lambda: hits.knows(row, forward) or _step(hits))
        found = hits.near(row, forward) if known else None
        place = {"row": found, "index": None, "hit": None}
        if found is not None:
            place |= {"index": view.of(run).index(found), "hit": hits.index(found)}
        return place | {"known": known} | _progress(hits)

    return question


def _number(given: Parameters, name: str) -> int | None:
    """A number, or None where it is not given."""
    return given.number(name) if given.text(name, "") else None


def _event(given: Parameters) -> Question:
    row = given.number("row")

    def question(run: Inspection) -> Json:
        from pocketgpu.inspect.stream.last_write import extent_of

        stream = run.stream
        if row >= len(stream):
            raise UsageError(f"there is no row {row}", location="row", hint=f"There are {len(stream):,}.")
        at = stream.event_at(row)
        return {"at": str(at), "line": stream.line_of(row, extent_of(run, at))}

    return question


ASKED: Final = {
    "words": Asked(_words, slow=True), "stream_open": Asked(_open, slow=True), "stream_sift": Asked(_sift, slow=True),
    "stream": Asked(_stream), "stream_place": Asked(_place, slow=True), "stream_find": Asked(_find, slow=True),
    "stream_event": Asked(_event, slow=True),
}  # fmt: skip
