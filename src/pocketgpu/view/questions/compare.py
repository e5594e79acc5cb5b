"""Requests `sides`, `aligned`, `differences`, `unlike` and `unlike_registers`: two captures side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pocketgpu.inspect.model.event import Event
from pocketgpu.view.questions.asking import AskedOfDesk, DeskQuestion, Json
from pocketgpu.view.questions.desk import MAIN, OTHER, Desk
from pocketgpu.view.questions.parameters import Parameters

if TYPE_CHECKING:
    from pocketgpu.inspect.diff.comparison import Comparison, Row
    from pocketgpu.inspect.diff.report import Difference

COLUMNS: Final = ("a", "draw_a", "b", "draw_b", "verdict", "kind", "title_a", "title_b")
"""Of the rows of `aligned`: numbers of the events and of their draws, or null."""
MOST_ROWS: Final = 20_000
"""Most events of a frame in an answer."""
MOST_DIFFERENCES: Final = 500
"""Most differences of a frame in an answer."""
MOST_CHANGES: Final = 2000
"""Most registers in an answer."""
MOST_FRAMES: Final = 4
"""Frames that one request compares; then other questions come."""


def _sides(given: Parameters) -> DeskQuestion:
    return sides_on


def sides_on(desk: Desk) -> Json:
    """The sides of a desk that have something."""
    return {"sides": [_side(desk, name) for name in desk.sides]}


def _side(desk: Desk, name: str) -> Json:
    run = desk.side(name)
    return {"name": name, "title": desk.title(name), "console": run.capture.console, "frames": run.frame_count}


def _both(desk: Desk) -> Comparison:
    from pocketgpu.inspect.diff.comparison import Comparison

    return desk.between(Comparison)


def _aligned(given: Parameters) -> DeskQuestion:
    number = given.number("frame")

    def question(desk: Desk) -> Json:
        frame = _both(desk).frame(number)
        return {
            "frame": number, "columns": COLUMNS, "rows": [_row(one) for one in frame.rows[:MOST_ROWS]],
            "differences": [_difference(one) for one in frame.differences[:MOST_DIFFERENCES]],
            "left_out": {
                "rows": max(len(frame.rows) - MOST_ROWS, 0),
                "differences": max(len(frame.differences) - MOST_DIFFERENCES, 0),
            },
        }  # fmt: skip

    return question


def _row(row: Row) -> list[Any]:
    some = row.a or row.b
    assert some is not None
    return [*_event(row.a), *_event(row.b), row.verdict, some.kind, _title(row.a), _title(row.b)]


def _event(event: Event | None) -> list[int | None]:
    return [None, None] if event is None else [event.number, event.draw]


def _title(event: Event | None) -> str | None:
    return None if event is None else event.title


def _difference(one: Difference | None) -> Json | None:
    """Without its detail, which may be as large as a capture wants."""
    if one is None:
        return None
    places = {side: None if place is None else str(place) for side, place in (("a", one.a), ("b", one.b))}
    return {"level": one.level, **places, "text": one.text}


def _differences(given: Parameters) -> DeskQuestion:
    number = given.number("frame")

    def question(desk: Desk) -> Json:
        from pocketgpu.inspect.diff.report import LEVELS

        frame = _both(desk).frame(number)
        missed = frame.vertex[1]
        first = [{"name": level, "first": _difference(frame.first(level))} for level in LEVELS]
        return {"frame": number, "levels": first, "notes": [missed] if missed else []}

    return question


def _unlike(given: Parameters) -> DeskQuestion:
    start = given.number("from")

    def question(desk: Desk) -> Json:
        both = _both(desk)
        frame, following = both.unlike(start, MOST_FRAMES)
        return {"frame": frame, "next": following if frame is None and following < both.frame_count else None}

    return question


def _registers(given: Parameters) -> DeskQuestion:
    a, b = given.at("a").place, given.at("b").place

    def question(desk: Desk) -> Json:
        found = desk.side(OTHER).seek(b).unlike(desk.side(MAIN).seek(a))
        shown = [one.to_json() for one in found[:MOST_CHANGES]]
        return {"a": str(a), "b": str(b), "changes": shown, "left_out": len(found) - len(shown)}

    return question


ASKED: Final = {
    "sides": AskedOfDesk(_sides),
    "aligned": AskedOfDesk(_aligned, slow=True),
    "differences": AskedOfDesk(_differences, slow=True),
    "unlike": AskedOfDesk(_unlike, slow=True),
    "unlike_registers": AskedOfDesk(_registers, slow=True),
}
