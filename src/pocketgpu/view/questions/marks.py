"""Requests `findings` and `costs`: what a tree of events shows beside its rows, asked for frame by frame.

`findings` is asked again until it says that all is done: each time it holds the machine's thread for a moment only.
"""

from __future__ import annotations

import time
from typing import Final

from pocketgpu.inspect.model.costs import COLUMNS
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.rules.marks import Marks
from pocketgpu.view.questions.arrays import Arrays
from pocketgpu.view.questions.asking import Asked, AskedOfDesk, Buffer, DeskQuestion, Json, Question
from pocketgpu.view.questions.desk import MAIN, Desk
from pocketgpu.view.questions.parameters import Parameters

PATIENCE: Final = 0.03
"""Seconds after which a request does no further step."""


def _findings(given: Parameters) -> DeskQuestion:
    side, frame = given.text("side", MAIN), given.number("frame")

    def question(desk: Desk) -> Json:
        marks, end = desk.kept(side, Marks), time.monotonic() + PATIENCE
        while True:
            found = marks.step(frame)
            if found is not None:
                return {"frame": frame, "ready": True, "findings": [mark.to_json() for mark in found]}
            if time.monotonic() > end:
                return {"frame": frame, "ready": False}

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


ASKED: Final = {"findings": AskedOfDesk(_findings, slow=True), "costs": Asked(_costs, slow=True)}
