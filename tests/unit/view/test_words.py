"""Requests about words: windows, places and searches of the stream, as `inspect` has them, in bounded slices."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.view_desk import ask, refused

from pocketgpu.inspect.decode.rows import ISSUED
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.stream import Sift
from pocketgpu.inspect.stream.sifting import Sifted
from pocketgpu.view.questions import words

Sides = tuple[TestClient, Inspection]


def opened(client: TestClient) -> Any:
    """What the stream has, as soon as it is read."""
    while not (found := ask(client, "stream_open"))["ready"]:
        pass
    return found


def sifted(client: TestClient, **view: Any) -> Any:
    """How many rows a view has, as soon as all were looked at."""
    while not (found := ask(client, "stream_sift", **view))["done"]:
        pass
    return found


def test_the_stream_is_read_in_slices(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    client, run = sides
    monkeypatch.setattr(words, "_PATIENCE", -1)
    steps = 0
    while not (found := ask(client, "stream_open"))["ready"]:
        steps += 1
    assert found == {"ready": True, "rows": len(run.stream), "words": run.stream.words, "issued": run.stream.issued}
    # Another test may have had it read.
    assert steps == 0 or steps >= run.frame_count


def test_windows_are_rows_of_the_stream(sides: Sides) -> None:
    client, run = sides
    count = opened(client)["rows"]
    lines = [json.loads(line) for line in run.stream.lines(0, count)]
    for first in (0, 777, count - 5, count, 10**8):
        answer = ask(client, "stream", first=first, count=10)
        numbers = list(range(first, min(first + 10, count)))
        assert answer["columns"] == ["row", "hit", "line"]
        assert answer["rows"] == [[row, False, lines[row]] for row in numbers]
    assert len(ask(client, "stream", count=10**6)["rows"]) == words.MOST_LINES
    # Those that match, and what is marked as a hit.
    sifted(client, changed=1)
    changed = ask(client, "stream", first=3, count=50, changed=1, find="draw")["rows"]
    wanted = [row for row in range(count) if lines[row].get("changed")]
    assert [row for row, _, _ in changed] == wanted[3:53]
    hits = [row for row in range(count) if "draw" in lines[row].get("effects", ())]
    assert all(hit for row, hit, _ in changed if row in hits)


def test_the_words_of_an_event_are_a_window(sides: Sides) -> None:
    client, _ = sides
    opened(client)
    for at in ("f0/d3", "f0/e4", "f1/d0"):
        lines = ask(client, "words", at=at)["lines"]
        view = {"within": at, "issued": 0}
        assert sifted(client, **view)["found"] == len(lines)
        assert [line for _, _, line in ask(client, "stream", **view)["rows"]] == lines[: words.MOST_LINES]


def test_places_and_their_words(sides: Sides) -> None:
    client, run = sides
    opened(client)
    extent = run.stream.range_of(run.event("f0/d3"))
    assert extent is not None
    first, end = extent
    found = ask(client, "stream_place", at="f0/d3", line=2, row=first + 5)
    row = run.stream.row_of(2, extent)
    assert found == {"first": first, "end": end, "row": row, "index": row, "kept": first + 5}
    within = ask(client, "stream_place", at="f0/d3/px4,4", row=first + 5, within="f0/d3")
    assert within == {"first": first, "end": end, "row": first, "index": 0, "kept": 5}
    frame = ask(client, "stream_place", at="f1")
    assert (frame["first"], frame["end"]) == run.stream.frame_range(1)
    events = run.pass_of("f0/p0").events
    rows = [extent for event in events if (extent := run.stream.range_of(event))]
    of_pass = ask(client, "stream_place", at="f0/p0")
    assert (of_pass["first"], of_pass["end"]) == (min(one for one, _ in rows), max(one for _, one in rows))
    load = next(event for event in run.events(1) if event.kind == "load")
    nothing = ask(client, "stream_place", at=str(load.address))
    assert nothing["first"] == nothing["end"] == run.stream.row_after(load)
    for row in (first, end - 1, end, frame["first"]):
        at = ask(client, "stream_event", row=row)
        assert at["at"] == str(run.stream.event_at(row))
        assert ask(client, "stream_place", **at)["row"] == row or run.stream.rows["what"][row] == ISSUED


def test_hits_come_one_after_the_other_and_slice_by_slice(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    client, run = sides
    opened(client)
    text = "vertex" if run.capture.console == "3DS" else "vertex_array"
    hits = run.stream.sifted(Sift(text, changed=True))
    while not hits.done:
        hits.go_on()
    rows = hits.rows(0, 10**6).tolist()
    assert len(rows) > 10
    monkeypatch.setattr(words, "_PATIENCE", -1)
    monkeypatch.setattr("pocketgpu.inspect.stream.sifting.SLICE", 1000)
    looked: list[int] = []
    real = Sifted.go_on
    monkeypatch.setattr(Sifted, "go_on", lambda self: (looked.append(self.scanned), real(self))[1])
    find = {"find": text, "changed": 1}
    asked, last = 0, {"known": False}
    while not last["known"]:
        last = ask(client, "stream_find", way="previous", **find)
        asked += 1
        assert len(looked) <= 2 * asked
    assert last["row"] == rows[-1] and last["hit"] == len(rows) - 1 and last["done"]
    assert asked >= len(run.stream) // 1000 // 2
    sifted(client, changed=1)
    following = ask(client, "stream_find", **{**find, "from": rows[3]})
    assert (following["row"], following["hit"]) == (rows[4], 4)
    changed = run.stream.sifted(Sift(changed=True))
    while not changed.done:
        changed.go_on()
    assert following["index"] == changed.index(rows[4])
    assert ask(client, "stream_find", **{**find, "from": rows[-1]})["row"] is None
    nothing = {"known": False}
    while not nothing["known"]:
        nothing = ask(client, "stream_find", find="nothing_has_this_name")
    assert nothing["row"] is None and nothing["found"] == 0


def test_bad_requests_are_refused(sides: Sides) -> None:
    client, run = sides
    opened(client)
    assert "there is no row" in refused(client, "stream_event", row=len(run.stream))["message"]
    assert "more than 8 words" in refused(client, "stream_sift", find="a b c d e f g h i")["message"]
    assert "letters" in refused(client, "stream", text="x" * 300)["message"]
    assert "no way" in refused(client, "stream_find", find="a", way="up")["message"]
    assert "whole number" in refused(client, "stream", first="-1")["message"]
    assert "has no frame" in refused(client, "stream_place", at="f99")["message"]
    assert "has no draw" in refused(client, "stream_sift", within="f0/d999")["message"]
    assert ask(client, "stream_place", at="f0/d0", line=999_999_999)["row"] < len(run.stream)
