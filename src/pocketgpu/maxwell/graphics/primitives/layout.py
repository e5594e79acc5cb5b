"""Where planes of primitives are, and how large the scratch of their set-up is."""

from __future__ import annotations

from typing import TypeVar

from pocketgpu.lanes import Value
from pocketgpu.maxwell.graphics.records import GROUP, PLANE, PLANE_NAMES, plane_at
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

_HEAD_GROUPS = -(-len(PLANE_NAMES) // GROUP)
HEAD_SIZE = _HEAD_GROUPS * PLANE.size
"""Bytes of the planes of PLANE_NAMES."""
DOUBLES = 3 * 8 * GROUP
"""Bytes of the f64 words of a group: eight constants, eight slopes along x, eight along y."""

USER_PLANES = 8
CORNER_VECTORS, OWN_VECTORS = 9, 8
"""Scratch vectors of each corner, and of the primitive. Distances from user planes follow, for each corner."""
SCRATCH_SIZE = (3 * CORNER_VECTORS + OWN_VECTORS + 3 * USER_PLANES) * VECTOR
"""Bytes of scratch that set-up needs."""


def plane_offset(name: str) -> int:
    """Offset of a plane from PLANE_NAMES."""
    return plane_at(PLANE_NAMES.index(name))


def input_offset(number: int) -> int:
    """Offset of the plane of an input, by its number in the PIXEL_INPUT table."""
    return HEAD_SIZE + plane_at(number)


Count = TypeVar("Count", int, Value)


def plane_bytes(groups: Count) -> Count:
    """Bytes of the planes of a primitive with so many groups of inputs, without f64 words; a multiple of 64."""
    return groups * PLANE.size + HEAD_SIZE


def planes_size(groups: Count) -> Count:
    """Bytes of the planes of a primitive with so many groups of inputs, a multiple of 64."""
    return plane_bytes(groups) + (groups + 1) * DOUBLES
