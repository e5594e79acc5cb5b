"""Request `why`: the answer about a pixel, a draw, a primitive, a thread or a frame."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters


def _why(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        answer = run.why(at)
        programs = [one.to_json() for one in answer.programs]
        return {**answer.to_json(), "text": answer.text(), "programs": programs}

    return question


ASKED: Final = {"why": Asked(_why, slow=True)}
