"""Requests `graph`, `timeline` and `perfetto`: what depends on what in a frame, and which unit does what when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from pocketgpu.inspect.frames.frame_graph import frame_graph
from pocketgpu.inspect.frames.timeline import to_perfetto, tracks
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, Download, Json, Question
from pocketgpu.view.questions.parameters import Parameters


def _graph(given: Parameters) -> Question:
    frame = given.number("frame")
    return lambda run: frame_graph(run, frame).to_json()


def _timeline(given: Parameters) -> Question:
    frame = given.number("frame")

    def question(run: Inspection) -> Json:
        found = tracks(run, frame).items()
        return {"frame": frame, "tracks": [{"unit": unit, "events": numbers} for unit, numbers in found]}

    return question


def _perfetto(given: Parameters) -> Question:
    frame = given.number("frame")

    def question(run: Inspection) -> Download:
        data = json.dumps(to_perfetto(run, [frame]), separators=(",", ":"))
        return Download(data.encode(), "application/json", f"{Path(run.capture.path).name} f{frame}.trace.json")

    return question


ASKED: Final = {
    "graph": Asked(_graph, slow=True), "timeline": Asked(_timeline, slow=True), "perfetto": Asked(_perfetto, slow=True),
}  # fmt: skip
