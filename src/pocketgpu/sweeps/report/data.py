"""The data of a page. `summary` has what the list, its filters and the plots need of all rows, as columns; `parts` has
what is shown of one row, in files of PART rows, which the page loads when it needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pocketgpu.sweeps.baseline.changes import Change, NoteChange
from pocketgpu.sweeps.model.rows import STATES, Row
from pocketgpu.sweeps.report.commands import file_word, is_address, joined
from pocketgpu.sweeps.report.contents import FILE, Contents
from pocketgpu.sweeps.report.shown import Pictures, entries, thumbnail_of, thumbnail_place

PART: Final = 50
"""Rows in a file of details."""
KINDS: Final = ("worse", "state", "pictures", "findings", "events", "values", "time", "new")
"""What may have changed; a row has a bit for each. New: the baseline has no such capture."""
MOST_TEXT: Final = 2000
"""Most letters of a text."""
MOST_SEARCHED: Final = 400
"""Most letters of a row's message in the list."""
MOST_NOTES, MOST_VALUES, MOST_TIMES, MOST_FEATURES, MOST_MISSING = 200, 100, 2000, 60, 200
"""Most findings and events, counts and details, frames' times, and features of a row; most missing captures."""
RULE, EVENT = "rule", "event"


class Data:
    """Collects the data of all rows, and the pictures that they need."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.pictures = Pictures(contents)
        self._notes: dict[tuple[str, str], int] = {}
        self._severities: list[str] = []
        self._messages: list[str] = []
        self.parts: list[list[dict[str, Any]]] = []
        self.summary = self._collected()

    # -- the list -----------------------------------------------------------------------------------------------------
    def _collected(self) -> dict[str, Any]:
        contents = self._contents
        columns: dict[str, list[Any]] = {
            name: [] for name in (
                "capture", "state", "console", "work", "frames", "ms", "before", "ratio", "band", "notes", "message", "kinds",
                "thumbnail", "features",
            )
        }  # fmt: skip
        consoles: dict[str, int] = {}
        works: dict[str, int] = {}
        features: dict[str, int] = {}
        new = set(contents.new)
        for index, row in enumerate(contents.rows):
            change = (contents.changes or {}).get(row.capture)
            if index % PART == 0:
                self.parts.append([])
            shown, left = self.pictures.of(row, change)
            self.parts[-1].append(self._details(row, change) | {"pictures": [*entries(shown)], "left": left})
            picture = thumbnail_of(shown)
            place = "" if picture is None else thumbnail_place(picture.sha256)
            time = None if change is None else change.time
            times = contents.times.get(row.capture)
            for name, value in (
                ("capture", row.capture), ("state", _state(row)),
                ("console", consoles.setdefault(row.console or "unknown", len(consoles))),
                ("work", works.setdefault(row.work, len(works))), ("frames", row.frames),
                ("ms", round(sum(times.frames), 4) if times is not None and times.frames else None),
                ("before", None if time is None else round(time.before, 4)),
                ("ratio", None if time is None else round(time.ratio, 4)),
                ("band", None if time is None or time.band is None else round(time.band, 4)),
                ("notes", self._numbers(row)), ("message", _cut(_message(row), MOST_SEARCHED)),
                ("kinds", _kinds(change) | (1 << KINDS.index("new")) * (row.capture in new)),
                ("thumbnail", place if place in self.pictures.files else ""),
                ("features", [features.setdefault(_cut(one), len(features)) for one in row.features]),
            ):  # fmt: skip
                columns[name].append(value)
        return {
            "noun": contents.noun, "part": PART, "states": STATES, "kinds": KINDS, "consoles": [*consoles],
            "works": [*works],
            "features": [*features], "rules": self._rules(), "rows": columns, "compared": contents.changes is not None,
            "labels": [contents.before_label, contents.after_label],
            "missing": [_cut(one) for one in contents.missing[:MOST_MISSING]], "missing_count": len(contents.missing),
            "versions": [[name, [round(one, 4) for one in values]] for name, values in contents.versions],
        }  # fmt: skip

    def _numbers(self, row: Row) -> list[list[int]]:
        """Pairs (number of a rule or event, how many the row has of it)."""
        found: Counter[int] = Counter()
        for what, notes, key in ((RULE, row.findings, "rule"), (EVENT, row.events, "id")):
            for note in notes:
                found[self._number(what, key, note)] += 1
        return [[number, count] for number, count in sorted(found.items())]

    def _number(self, what: str, key: str, note: Mapping[str, Any]) -> int:
        name = _cut(str(note.get(key, "")))
        number = self._notes.setdefault((what, name), len(self._notes))
        if number == len(self._messages):
            self._messages.append(_cut(str(note.get("message", "")), MOST_SEARCHED))
            self._severities.append(str(note.get("severity", "")) if what == RULE else "warning")
        return number

    def _rules(self) -> list[dict[str, str]]:
        return [
            {"kind": what, "name": name, "severity": severity, "message": message}
            for (what, name), severity, message in zip(self._notes, self._severities, self._messages, strict=True)
        ]

    # -- one row ------------------------------------------------------------------------------------------------------
    def _details(self, row: Row, change: Change | None) -> dict[str, Any]:
        row = row if change is None else change.row  # changes know the findings of this one
        file = str(row.detail.get(FILE, row.capture))
        times = self._contents.times.get(row.capture)
        found: dict[str, Any] = {
            "file": file_word(file), "options": joined(self._contents.options),
            "state": [row.message, row.location, row.hint],
            "findings": _notes(row.findings, "rule", () if change is None else change.findings),
            "events": _notes(row.events, "id", () if change is None else change.events),
            "counts": _pairs(row.counts), "details": _pairs(row.detail, FILE),
            "features": [_cut(one) for one in row.features[:MOST_FEATURES]],
            "values": [], "times": [],
        }  # fmt: skip
        found["state"] = [_cut(text) for text in found["state"]]
        if times is not None:
            found["times"] = [round(one, 4) for one in times.frames[:MOST_TIMES]]
            found["ran"] = _ran(times.seconds, times.tries, times.worker)
        if change is not None:
            found["values"] = [[name, _short(a), _short(b)] for name, a, b in change.values[:MOST_VALUES]]
            found["was"] = [_cut(change.before.state), _cut(change.before.message)] if _was(change) else None
            found["time"] = None if change.time is None else str(change.time)
        return found


def _state(row: Row) -> int:
    return STATES.index(row.state) if row.state in STATES else STATES.index("failed")


def _message(row: Row) -> str:
    """What the list says: why the work was not done, else the first finding."""
    if row.message:
        return row.message
    first = next(iter(row.findings), None)
    return "" if first is None else str(first.get("message", ""))


def _kinds(change: Change | None) -> int:
    return 0 if change is None else sum(1 << KINDS.index(kind) for kind in change.kinds)


def _was(change: Change) -> bool:
    return change.state is not None or change.message is not None


def _ran(seconds: float, tries: int, worker: str) -> list[list[str]]:
    found = [["work", f"{seconds:.3f} s"], ["worker", _cut(worker)]]
    return found + ([["tries", str(tries)]] if tries > 1 else [])


def _notes(notes: Sequence[Mapping[str, Any]], key: str, changes: Iterable[NoteChange]) -> dict[str, Any]:
    """Findings or events, those that changed first; those that are gone are among them."""
    kinds = {id(one.note): one.kind for one in changes}
    gone = [one.note for one in changes if one.kind == "gone"]
    every = sorted([*gone, *notes], key=lambda note: id(note) not in kinds)
    shown = [
        [
            _cut(str(note.get(key, ""))), str(note.get("severity", "")), _cut(str(note.get("message", ""))),
            _cut(str(note.get("at", ""))), is_address(note.get("at")), _cut(str(note.get("count", 1)), 20),
            kinds.get(id(note), ""),
        ]
        for note in every[:MOST_NOTES]
    ]  # fmt: skip
    return {"shown": shown, "left": len(every) - len(shown)}


def _pairs(values: Mapping[str, Any], without: str = "") -> list[list[str]]:
    return [[_cut(str(name)), _short(value)] for name, value in [*values.items()][:MOST_VALUES] if name != without]


def _short(value: object) -> str:
    """A value as text."""
    if isinstance(value, list | tuple):
        return _cut("\n".join(map(str, value)))
    return _cut(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def _cut(text: str, most: int = MOST_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


__all__ = ["KINDS", "PART", "Data"]


def __dir__() -> list[str]:
    return [*__all__]
