"""Request `mesh`: the vertices and triangles of a draw, before and after its programs, as arrays of numbers.

The answer is a header in JSON and the arrays behind it: 4 bytes with the header's length, the header, and from the next
multiple of 4 on the arrays, little-endian, at the offsets that the header's `arrays` names.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.digests import blake2b
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.pictures import TargetPart
from pocketgpu.inspect.model.vertices import Vertices
from pocketgpu.view.questions.asking import Asked, Buffer, Json, Question
from pocketgpu.view.questions.parameters import Parameters

MOST_VERTICES: Final = 1 << 18
"""Most vertices that are sent, and most triangles."""
_TYPES: Final = {"f": "f32", "i": "i32", "u": "u32"}
_WORD: Final = 4
_TAG_BYTES: Final = 12


class _Arrays:
    """Arrays under construction: their descriptions, and their bytes one after the other."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, of: str, name: str, values: NDArray[Any]) -> None:
        """Put an array of (n,) or (n, components) numbers, one row for each of what `of` names."""
        kind = values.dtype.kind
        data = np.ascontiguousarray(values, f"<{kind}4").tobytes()
        components = values.shape[1] if values.ndim > 1 else 1
        entry = {"of": of, "name": name, "type": _TYPES[kind], "components": components, "offset": self._size}
        self.found.append(entry)
        self._parts.append(data)
        self._size += len(data)

    def add_fields(self, of: str, rows: NDArray[Any]) -> None:
        """Put the fields of a structured array."""
        for name in rows.dtype.names or ():
            self.add(of, name, rows[name])

    def answer(self, header: Json) -> bytes:
        """The header and the arrays."""
        text = json.dumps({**header, "arrays": self.found}, allow_nan=False, separators=(",", ":")).encode()
        length = len(text).to_bytes(_WORD, "little")
        return b"".join([length, text, bytes(-len(text) % _WORD), *self._parts])


def mesh_bytes(moment: Moment, most: int = MOST_VERTICES) -> bytes:
    """The answer about the draw of a moment. most: vertices and triangles that are sent.

    :raises UsageError: the moment is not that of a draw.
    """
    vertices, arrays = moment.vertices, _Arrays()
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
    found = []
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

    def question(run: Inspection) -> Buffer:
        data = mesh_bytes(run.seek(at.place))
        return Buffer(data, "application/octet-stream", blake2b(data, digest_size=_TAG_BYTES).hexdigest())

    return question


ASKED: Final = {"mesh": Asked(_mesh, slow=True)}


__all__ = ["ASKED", "MOST_VERTICES", "mesh_bytes"]
