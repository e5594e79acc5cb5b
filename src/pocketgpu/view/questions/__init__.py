"""What the page asks: a module for each of its parts, and the table of all requests.

    asked = asked_of("scene.pgc", "1.0", Notes(folder, "scene.pgc"))["why"]
    question = asked.question(Parameters({"at": "f1/px8,9"}))
    question(desk)                               # on the machine's thread: plain data for JSON, or `Pixels`

Nothing here knows a console; what is missing belongs to `inspect`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions import (
    compare,
    events,
    graph,
    live,
    marks,
    memory,
    mesh,
    notes,
    page,
    pictures,
    resources,
    shader,
    state,
    whatif,
    why,
    words,
)  # fmt: skip
from pocketgpu.view.questions.asking import AnyAsked, Asked, Json
from pocketgpu.view.questions.notes_file import Notes

_PARTS = (
    events, pictures, why, state, words, shader, resources, memory, mesh, marks, graph, page, compare, whatif, live,
)  # fmt: skip


def asked_of(name: str, version: str, kept: Notes | None, is_live: bool = False) -> Mapping[str, AnyAsked]:
    """All requests by their names. name: of the capture's file, without folders. version: of this package. kept: the
    notes of the user; None: there are no requests about notes. is_live: whether it is a program that runs."""

    def capture(run: Inspection) -> Json:
        return {
            "name": name, "console": run.capture.console, "frames": run.frame_count, "rest": run.has_rest,
            "version": version, "live": is_live,
        }  # fmt: skip

    found: dict[str, AnyAsked] = {"capture": Asked(lambda given: capture)}
    if kept is not None:
        found |= notes.asked_of(kept)
    for part in _PARTS:
        found |= part.ASKED
    return found
