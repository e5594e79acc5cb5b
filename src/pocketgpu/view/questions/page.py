"""Request `page`: the page of an address as one file, to send."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.pages.selection import page_of
from pocketgpu.view.questions.asking import Asked, Download, Question
from pocketgpu.view.questions.parameters import Parameters


def _page(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Download:
        name = Path(run.capture.path).name
        return Download(page_of(run, at).encode(), "text/html; charset=utf-8", f"{name} {at}.html")

    return question


ASKED: Final = {"page": Asked(_page, slow=True)}
