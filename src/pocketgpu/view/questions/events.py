"""Requests `events` and `event`: the tree of a frame, and one event."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters

COLUMNS: Final = ("event", "draw", "pass", "kind", "title")
"""Of the rows of `events`."""


def _events(given: Parameters) -> Question:
    frame = given.number("frame")

    def question(run: Inspection) -> Json:
        rows = [[one.number, one.draw, one.pass_, one.kind, one.title] for one in run.events(frame)]
        passes = [{"address": str(one.address), "target": one.target} for one in run.passes(frame)]
        return {"frame": frame, "passes": passes, "columns": COLUMNS, "rows": rows}

    return question


def _event(given: Parameters) -> Question:
    at = given.at()
    return lambda run: run.event(at).to_json(words=True)


ASKED: Final = {"events": Asked(_events), "event": Asked(_event)}
