"""Request `words`: the words of the command stream that belong to an event."""

from __future__ import annotations

import json
from typing import Final

from pocketgpu.view.questions.asking import Asked, Question
from pocketgpu.view.questions.parameters import Parameters


def _words(given: Parameters) -> Question:
    at = given.at()
    return lambda run: {"lines": [json.loads(line) for line in run.words_of(run.event(at))]}


ASKED: Final = {"words": Asked(_words, slow=True)}
