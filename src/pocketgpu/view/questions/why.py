"""Requests `why` and `register-word`: the answer about a pixel, a draw, a primitive, a thread or a frame; and the word
that gave a register its value."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters

MOST_LINKS: Final = 4096
"""Most links of an answer: there are some for each fragment."""


def _why(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        answer = run.answered(at)
        programs = [one.to_json() for one in answer.programs]
        links = [one.to_json() for one in answer.links()[:MOST_LINKS]]
        return {**answer.to_json(), "text": answer.text(), "programs": programs, "links": links}

    return question


def _register_word(given: Parameters) -> Question:
    at, register = given.at(), given.text("register")

    def question(run: Inspection) -> Json:
        found = run.word_of(register, at.place)
        return {"word": None if found is None else found.to_json()}

    return question


def _is_long(given: Parameters) -> bool:
    """A pixel has been clicked, and its answer is what the user waits for; that about a draw counts its fragments."""
    return given.at().pixel is None


ASKED: Final = {"why": Asked(_why, slow=_is_long), "register-word": Asked(_register_word, slow=True)}
