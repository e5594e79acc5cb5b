"""Rows and times: what they say, and that they come back from their JSON."""

from __future__ import annotations

import json

from pocketgpu.sweeps.model.rows import STATES, Picture, Row, Times


def test_a_row_comes_back_from_its_json() -> None:
    row = Row(
        "a", "k", "render", "done", "3DS", 2, pictures=(Picture(0, "top", 4, 5, "ab" * 32),),
        events=({"id": "x", "message": "m", "at": "f0", "count": 1},), counts={"draws": 3}, features=("a: b",),
        detail={"kind": "k"},
    )  # fmt: skip
    assert Row.from_json(json.loads(json.dumps(row.to_json()))) == row
    assert Row.from_json(row.to_json() | {"of a later version": 1}) == row
    assert row.pictures[0].file == f"pictures/ab/{'ab' * 32}.png" and row.pictures[0].address == "f0/top"
    assert str(row) == "a: 2 frames, 0 findings, 1 event"
    times = Times("a", "k", 1.5, (2.0, 3.0), "host/1", 2, True, "2026-01-01")
    assert Times.from_json(json.loads(json.dumps(times.to_json()))) == times


def test_what_failed() -> None:
    assert [state for state in STATES if not Row("a", "k", "w", state).failed] == ["done"]
    finding = {"rule": "r", "severity": "warning", "message": "", "at": "", "count": 1}
    assert not Row("a", "k", "w", "done", findings=(finding,)).failed
    assert Row("a", "k", "w", "done", findings=(finding | {"severity": "error"},)).failed
    assert Row("a", "k", "w", "done", detail={"different": ["f0/top"]}).failed
    assert str(Row("a", "k", "w", "lost", message="gone")) == "a: lost: gone"
