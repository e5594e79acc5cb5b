"""Topologies: their numbers in the two methods that have them, and the number of primitives of a run of vertices.

Source: class header B197. BEGIN and SET_PRIMITIVE_TOPOLOGY number them differently.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.state import State

# Words in the names of SET_PRIMITIVE_TOPOLOGY to those of BEGIN; the longer legacy names mean the same.
_WORDS = {
    "POINT": "POINTS", "LINELIST": "LINES", "LINESTRIP": "LINE_STRIP", "TRIANGLELIST": "TRIANGLES",
    "TRIANGLESTRIP": "TRIANGLE_STRIP", "TRIANGLEFAN": "TRIANGLE_FAN", "PATCH": "PATCH",
}  # fmt: skip

MOST_CORNERS = 32
"""Most vertices of a primitive that `corners` names; a patch has no more."""


@cache
def begin_names() -> dict[int, str]:
    """Names of topologies by BEGIN's numbers."""
    return dict(B197.values("BEGIN.OP"))


@cache
def separate() -> dict[int, int]:
    """Numbers of SET_PRIMITIVE_TOPOLOGY to those of BEGIN."""
    numbers = {name: number for number, name in begin_names().items()}
    found = {}
    for number, name in B197.values("SET_PRIMITIVE_TOPOLOGY").items():
        plain = next((to for word, to in _WORDS.items() if word in name), "")
        found[number] = numbers[name if name in numbers else plain]
    return found


def last_provokes(state: State) -> bool:
    """Whether the last vertex of a primitive is the provoking one, not the first."""
    return state.field("SET_PROVOKING_VERTEX") == B197.values("SET_PROVOKING_VERTEX").LAST


def name(topology: int) -> str:
    """The name of a topology by BEGIN's number."""
    return begin_names().get(topology, f"topology {topology}")


def primitives(topology: int, vertices: int, patch: int) -> int:
    """Number of primitives of an unbroken run of vertices; left-over vertices make none. patch: vertices of a patch."""
    n = vertices
    match name(topology):
        case "POINTS":
            return n
        case "LINES":
            return n // 2
        case "LINE_LOOP":
            return n if n > 1 else 0
        case "LINE_STRIP":
            return max(n - 1, 0)
        case "TRIANGLES":
            return n // 3
        case "TRIANGLE_STRIP" | "TRIANGLE_FAN":
            return max(n - 2, 0)
        case "QUADS" | "LINELIST_ADJCY":
            return n // 4
        case "QUAD_STRIP":
            return max((n - 2) // 2, 0)
        case "POLYGON":
            return int(n > 2)
        case "LINESTRIP_ADJCY":
            return max(n - 3, 0)
        case "TRIANGLELIST_ADJCY":
            return n // 6
        case "TRIANGLESTRIP_ADJCY":
            return max((n - 4) // 2, 0)
        case "PATCH":
            return n // patch if patch else 0
    return 0


def corners(topology: int, vertices: int, patch: int, number: int) -> list[int]:
    """The places of the vertices of primitive `number` in an unbroken run of `vertices`, in order; without neighbours,
    and of a polygon the first MOST_CORNERS."""
    i = number
    match name(topology):
        case "POINTS":
            return [i]
        case "LINES":
            return [2 * i, 2 * i + 1]
        case "LINE_LOOP":
            return [i, (i + 1) % max(vertices, 1)]
        case "LINE_STRIP":
            return [i, i + 1]
        case "TRIANGLES":
            return [3 * i, 3 * i + 1, 3 * i + 2]
        case "TRIANGLE_STRIP":
            return [i, i + 1, i + 2]
        case "TRIANGLE_FAN":
            return [0, i + 1, i + 2]
        case "QUADS":
            return [*range(4 * i, 4 * i + 4)]
        case "QUAD_STRIP":
            return [*range(2 * i, 2 * i + 4)]
        case "POLYGON":
            return [*range(min(vertices, MOST_CORNERS))]
        case "LINELIST_ADJCY":
            return [4 * i + 1, 4 * i + 2]
        case "LINESTRIP_ADJCY":
            return [i + 1, i + 2]
        case "TRIANGLELIST_ADJCY":
            return [*range(6 * i, 6 * i + 6, 2)]
        case "TRIANGLESTRIP_ADJCY":
            return [*range(2 * i, 2 * i + 6, 2)]
        case "PATCH":
            return [*range(patch * i, patch * (i + 1))]
    return []


def runs(indices: NDArray[np.uint32], restart: int | None) -> list[NDArray[np.uint32]]:
    """Indices split at the restart index; empty runs are left out."""
    if restart is None:
        return [indices] if len(indices) else []
    cuts = np.flatnonzero(indices == np.uint32(restart))
    starts, ends = np.append(0, cuts + 1), np.append(cuts, len(indices))
    return [indices[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True) if b > a]
