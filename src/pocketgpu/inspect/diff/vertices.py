"""The first vertex whose outputs differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.diff.alignment import Pair
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.vertices import Vertices
from pocketgpu.inspect.n3ds.inspection import N3dsInspection
from pocketgpu.inspect.n3ds.vertices import VertexWatch
from pocketgpu.wording import counted


def first_vertex(
    a: N3dsInspection, b: N3dsInspection, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
) -> Difference | None:
    """The first vertex of aligned draws of a frame whose outputs differ; None if there is none. Each run plays the
    frame once."""
    draws = [
        (mine[i], others[j]) for i, j in pairs
        if i is not None and j is not None and mine[i].draw is not None and others[j].draw is not None
    ]  # fmt: skip
    if not draws:
        return None
    found = []
    for run, events in ((a, [x for x, _ in draws]), (b, [y for _, y in draws])):
        watch = VertexWatch(run.player.machine, {event.draw for event in events if event.draw is not None})
        run.watch(events[-1], watch)
        found.append(watch.found)
    for x, y in draws:
        assert x.draw is not None and y.draw is not None
        if x.draw not in found[0] or y.draw not in found[1]:  # a budget ended the list earlier
            continue
        difference = rows_differ(found[0][x.draw], found[1][y.draw], x, y)
        if difference is not None:
            return difference
    return None


def rows_differ(a: Vertices, b: Vertices, x: Event, y: Event) -> Difference | None:
    """The first vertex of two draws whose outputs differ; None if there is none."""
    first, second = a.shaded, b.shaded
    count = min(len(first), len(second))
    names = [name for name in first.dtype.names or () if name in (second.dtype.names or ())]
    # Bytes are compared, not numbers: a NaN equals itself.
    wrong = np.zeros(count, bool)
    for name in names:
        wrong |= _unlike(first[name][:count], second[name][:count])
    places = np.flatnonzero(wrong)
    if not len(places):
        if len(first) == len(second):
            return None
        text = f"{counted(len(first), 'vertex', 'vertices')}, not {len(second)}"
        return Difference("vertex", x.address, y.address, text, {"counts": [len(first), len(second)]})
    place = int(places[0])
    name = next(n for n in names if _unlike(first[n][place : place + 1], second[n][place : place + 1])[0])
    values = [np.atleast_1d(array[name][place]).tolist() for array in (first, second)]
    shown = ["[" + ", ".join(f"{value:.9g}" for value in row) + "]" for row in values]
    detail: dict[str, Any] = {
        "vertex": place, "output": name, "a_value": [_plain(v) for v in values[0]],
        "b_value": [_plain(v) for v in values[1]], "vertices": len(places), "of": count,
    }  # fmt: skip
    if place < min(len(a.numbers), len(b.numbers)) and a.emitted is None:
        detail["a_number"], detail["b_number"] = int(a.numbers[place]), int(b.numbers[place])
        detail["same_inputs"] = a.inputs[place].tobytes() == b.inputs[place].tobytes()
    text = f"vertex {place} {name} {shown[0]} -> {shown[1]}"
    return Difference("vertex", x.address.at(vertex=place), y.address.at(vertex=place), text, detail)


def _unlike(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows differ in their bytes."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.ones(len(a), bool)
    rows = [np.ascontiguousarray(one).view(np.uint8).reshape(len(one), -1) for one in (a, b)]
    found: NDArray[np.bool_] = (rows[0] != rows[1]).any(axis=1)
    return found


def _plain(value: float) -> float | str:
    """The value as JSON can hold it."""
    return value if np.isfinite(value) else str(value)
