"""Requests `state` and `flow`: what is in effect after an event, what has changed, and how a draw makes its colours."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters

EVERY: Final = "nothing"
"""What registers are compared with if all of them are wanted, not only those that differ."""


def _state(given: Parameters) -> Question:
    at, since = given.at(), given.text("since", "previous")

    def question(run: Inspection) -> Json:
        moment = run.seek(at.place)
        changes = moment.every_register() if since == EVERY else moment.changes(since)
        return {
            "summary": [{"name": name, "text": text} for name, text in moment.summary.to_json().items()],
            "changes": [one.to_json() for one in changes],
            "missing": moment.missing,
        }

    return question


def _flow(given: Parameters) -> Question:
    at = given.at()
    return lambda run: {"stages": [one.to_json() for one in run.colour_flow(at)]}


ASKED: Final = {"state": Asked(_state, slow=True), "flow": Asked(_flow, slow=True)}
