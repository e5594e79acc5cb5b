"""Requests `findings` and `costs`: what a tree of events shows beside its rows, asked for frame by frame."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.costs import COLUMNS
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.rules.marks import marks_of
from pocketgpu.view.questions.arrays import Arrays
from pocketgpu.view.questions.asking import Asked, Buffer, Json, Question
from pocketgpu.view.questions.parameters import Parameters


def _findings(given: Parameters) -> Question:
    frame = given.number("frame")

    def question(run: Inspection) -> Json:
        return {"frame": frame, "findings": [mark.to_json() for mark in marks_of(run, frame)]}

    return question


def _costs(given: Parameters) -> Question:
    frame = given.number("frame")

    def question(run: Inspection) -> Buffer:
        found, arrays = run.costs(frame), Arrays()
        arrays.add("draws", "event", found.events)
        for name in COLUMNS:
            arrays.add("draws", name, getattr(found, name))
        return arrays.answer(found.to_json())

    return question


ASKED: Final = {"findings": Asked(_findings, slow=True), "costs": Asked(_costs, slow=True)}
