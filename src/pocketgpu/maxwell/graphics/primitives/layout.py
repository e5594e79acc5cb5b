"""Where planes of primitives are, and how large the scratch of their set-up is."""

from __future__ import annotations

from typing import TypeVar

from pocketgpu.lanes import Value
from pocketgpu.maxwell.graphics.records import PLANE, PLANE_NAMES
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

GROUP = 8
"""So many inputs have their planes together."""
HEAD_SIZE = len(PLANE_NAMES) * PLANE.size
DOUBLES = 64
"""Bytes of the f64 words of depth and 1 / w: constant, slope along x, along y; those of each group of inputs follow,
eight constants first."""
GROUP_DOUBLES = 3 * 8 * GROUP

USER_PLANES = 8
CORNER_VECTORS, OWN_VECTORS = 9, 8
"""Scratch vectors of each corner, and of the primitive. Distances from user planes follow, for each corner."""
SCRATCH_SIZE = (3 * CORNER_VECTORS + OWN_VECTORS + 3 * USER_PLANES) * VECTOR
"""Bytes of scratch that set-up needs."""


def plane_offset(name: str) -> int:
    """Offset of a plane from PLANE_NAMES."""
    return PLANE_NAMES.index(name) * PLANE.size


Count = TypeVar("Count", int, Value)


def doubles_offset(groups: Count) -> Count:
    """Offset of the f64 words from the planes of a primitive with so many groups of inputs."""
    return (groups * (GROUP * PLANE.size) + (HEAD_SIZE + 63)) & -64


def planes_size(groups: Count) -> Count:
    """Bytes of the planes of a primitive with so many groups of inputs, a multiple of 64."""
    return doubles_offset(groups) + groups * GROUP_DOUBLES + DOUBLES
