"""Tables of commands that are cut when they get long, with data that is made here; and merged warnings."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pocketgpu.cli.parts import info_3ds, info_tables
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.terminal import MAX_ROWS, format_table, format_warnings
from pocketgpu.events import Event

COUNTS = ("writes", "loads", "lists", "draws", "vertices", "fills", "transfers", "texture_copies")


def outcome(frames: int = 1, features: int = 0, load_bytes: int = 5, programs: int = 0) -> Outcome:
    """What `info` would have found: each frame has as many draws as its number, and 1,000 vertices."""
    rows = [{"index": n, **dict.fromkeys(COUNTS, 0), "draws": n, "vertices": 1000} for n in range(frames)]
    totals = {name: sum(row[name] for row in rows) for name in COUNTS}
    texture = {"id": "texture", "count": 1234, "first": "f0"}
    extra: dict[str, Any] = {
        "capture": {"path": "a.pgc", "kind": "a capture", "frames": frames}, "doubts": [],
        "totals": {**totals, "load_bytes": load_bytes, "list_words": 1234},
        "features": [{**texture, "text": f"kind {n}"} for n in range(features)] + [{**texture, "id": "z", "text": ""}],
        "programs": [{"unit": "vertex", "words": n, "entry": 2, "draws": 3, "first": "f0"} for n in range(programs)],
    }  # fmt: skip
    return Outcome(frames=rows, extra=extra)


@pytest.mark.parametrize("count", [1, 2, MAX_ROWS, MAX_ROWS + 1, MAX_ROWS + 5])
def test_frames_are_counted_and_long_tables_are_cut(count: int) -> None:
    lines = [line.split() for line in info_tables.frames(outcome(count), COUNTS).splitlines()]
    # Without any draw in all frames its column is left out.
    names = ["draws", "vertices"] if count > 1 else ["vertices"]
    assert lines[0] == ["frame", *names]
    shown = min(count, MAX_ROWS)
    for n in range(shown):
        assert lines[1 + n] == [f"f{n}", *([str(n)] if count > 1 else []), "1,000"]
    rest = lines[1 + shown :]
    if count > MAX_ROWS:
        assert rest.pop(0) == ["...", str(count - MAX_ROWS), "more"]
    draws = count * (count - 1) // 2
    assert rest == ([["all", str(draws), f"{1000 * count:,}"]] if count > 1 else [])


@pytest.mark.parametrize("count", [MAX_ROWS - 1, MAX_ROWS, MAX_ROWS + 1, MAX_ROWS + 9])
def test_features_of_one_kind_are_cut(count: int) -> None:
    text = info_3ds.report(outcome(features=count, programs=count))
    kinds = [line.split()[2] for line in text.splitlines() if line.startswith("texture   kind")]
    assert kinds == [str(n) for n in range(min(count, MAX_ROWS))]
    assert text.count("... more, all of them with --json") == (count > MAX_ROWS)
    assert len(re.findall(r"\bwords?, entry 0x002", text)) == min(count, MAX_ROWS)


@pytest.mark.parametrize(
    ("size", "text"),
    [(5, "5 bytes"), (1048575, "1,048,575 bytes"), (1 << 20, "1.0 MiB"), (5 << 19, "2.5 MiB")],
)
def test_sizes_of_loads(size: int, text: str) -> None:
    first = info_3ds.report(outcome(load_bytes=size)).splitlines()[0]
    assert first == f"a.pgc: a capture, 1 frame, {text} of memory loads, 1,234 words of command lists"


def warned(count: int) -> Outcome:
    found = Outcome()
    found.add_events(Event("fault", f"some.{n}", f"message {n}", f"f0/e{n}", n + 1) for n in range(count))
    return found


@pytest.mark.parametrize("count", [0, 1, 2, MAX_ROWS, MAX_ROWS + 3])
def test_warnings_are_cut(count: int) -> None:
    lines = format_warnings(warned(count).warnings).splitlines()
    if not count:
        assert lines == ["no warnings"]
        return
    assert lines[0] == ("1 warning" if count == 1 else f"{count} warnings")
    rows = [line.split() for line in lines[2 : 2 + MAX_ROWS]]
    assert rows == [[f"f0/e{n}", f"{n + 1}x", f"some.{n}", "message", str(n)] for n in range(min(count, MAX_ROWS))]
    more = [f"... {count - MAX_ROWS} more, all of them with --json"] if count > MAX_ROWS else []
    assert lines[2 + MAX_ROWS :] == more


def test_equal_warnings_are_one_with_the_first_place() -> None:
    found = Outcome()
    events = [("a", "x", "f0", 2), ("a", "y", "f1", 1), ("b", "x", "f2", 1), ("a", "x", "f3", 5)]
    found.add_events(Event("fault", id, message, at, count) for id, message, at, count in events)
    rows = [(one["id"], one["message"], one["at"], one["count"]) for one in found.warnings]
    assert rows == [("a", "x", "f0", 7), ("a", "y", "f1", 1), ("b", "x", "f2", 1)]
    document = json.loads(found.to_json())
    assert document == {"frames": [], "warnings": found.warnings}
    found.error = {"code": 2}
    assert json.loads(found.to_json())["error"] == {"code": 2}


def test_numbers_are_flush_right() -> None:
    columns = [("name", False), ("count", True)]
    text = format_table(columns, [("a", "5"), ("[b]", "1,000")], ("all", "1,005"))
    assert text.splitlines() == ["name   count", "a          5", "[b]    1,000", "all    1,005"]
