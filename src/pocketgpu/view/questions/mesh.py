"""Requests `mesh`: the vertices and triangles of a draw, before and after its programs, as arrays of numbers; and
`primitive`: the primitive that an address names."""

from __future__ import annotations

from typing import Final

import numpy as np

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.pictures import TargetPart
from pocketgpu.inspect.model.vertices import Vertices
from pocketgpu.view.questions.arrays import Arrays
from pocketgpu.view.questions.asking import Asked, Buffer, Json, Question
from pocketgpu.view.questions.parameters import Parameters

MOST_VERTICES: Final = 1 << 18
"""Most vertices that are sent, and most triangles."""


def mesh_answer(moment: Moment, most: int = MOST_VERTICES) -> Buffer:
    """The answer about the draw of a moment. most: vertices and triangles that are sent.

    :raises UsageError: the moment is not that of a draw.
    """
    vertices, arrays = moment.vertices, Arrays()
    count = min(len(vertices), most)
    arrays.add("vertices", "number", vertices.numbers[:count])
    arrays.add_fields("inputs", vertices.inputs[:count])
    arrays.add_fields("outputs", vertices.outputs[:count])
    shaded = len(vertices.shaded)
    if vertices.emitted is not None:
        arrays.add_fields("emitted", vertices.emitted[:most])
    inside = (vertices.triangles < min(shaded, most)).all(axis=1) if len(vertices.triangles) else np.zeros(0, bool)
    kept = np.flatnonzero(inside)[:most]
    arrays.add("triangles", "corners", vertices.triangles[kept].astype(np.uint32))
    fates = vertices.fates
    if fates is not None:
        arrays.add("triangles", "fate", fates.which[kept].astype(np.uint32))
        arrays.add("triangles", "primitive", fates.numbers[kept].astype(np.int32))
    return arrays.answer(_header(moment, vertices, count, len(kept), most))


def _header(moment: Moment, vertices: Vertices, count: int, triangles: int, most: int) -> Json:
    emitted, fates = vertices.emitted, vertices.fates
    counts = [] if fates is None else np.bincount(fates.which, minlength=len(fates.kinds)).tolist()
    kinds = () if fates is None else fates.kinds
    return {
        "address": str(moment.address), "title": "" if moment.event is None else moment.event.title,
        "topology": vertices.primitives,
        "vertices": {"count": count, "all": len(vertices) + vertices.cut},
        "triangles": {"count": triangles, "all": len(vertices.triangles)},
        "emitted": None if emitted is None else {
            "count": min(len(emitted), most), "all": len(emitted), "by": vertices.emitted_by,
        },
        "inputs": [one.to_json() for one in vertices.attributes],
        "fates": [{**kind.to_json(), "count": number} for kind, number in zip(kinds, counts, strict=True)],
        "targets": _targets(moment, vertices), "depths": list(vertices.depths),
    }  # fmt: skip


def _targets(moment: Moment, vertices: Vertices) -> list[Json]:
    """For each picture of a target: the matrix from clip space to its pixels, three rows of four."""
    if vertices.window is None:
        return []
    found: list[Json] = []
    for name, picture in moment.pictures.items():
        if isinstance(picture, TargetPart):
            turn, window = picture.from_viewport, vertices.window
            matrix = np.concatenate([turn @ window, window[2:]])
            if np.isfinite(matrix).all():
                size = {"width": picture.width, "height": picture.height}
                found.append({"name": name, **size, "matrix": matrix.ravel().tolist()})
    return found


def _mesh(given: Parameters) -> Question:
    at = given.at()
    return lambda run: mesh_answer(run.seek(at.place))


def _primitive(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        found = run.primitive(at.at(step=None))
        return {"primitive": None if found is None else found.to_json()}

    return question


ASKED: Final = {"mesh": Asked(_mesh, slow=True), "primitive": Asked(_primitive, slow=True)}


__all__ = ["ASKED", "MOST_VERTICES", "mesh_answer"]
