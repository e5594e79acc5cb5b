"""Stages of graphics by number, and what addresses of attribute space mean."""

from __future__ import annotations

from typing import Any

from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import Value
from pocketgpu.maxwell.graphics.records import ATTRIBUTE_SPACE
from pocketgpu.maxwell.sass.semantics.known import Flag

_STAGES = SPH["VTG"]["SHADER_TYPE"].values
NONE, VERTEX, GEOMETRY, PIXEL = 0, _STAGES.VERTEX, _STAGES.GEOMETRY, _STAGES.PIXEL
CONTROL, EVALUATION = _STAGES.TESSELLATION_INIT, _STAGES.TESSELLATION
"""Stages as shader headers number them, and `LAUNCH.STAGE`."""
WORD_MASK = ATTRIBUTE_SPACE - 4
"""Bits of an address of attribute space that name a word."""
PRIMITIVE_ID, LAYER, VIEWPORT, TESS_U, TESS_V, VIEWPORT_MASK, FACING = 0x60, 0x64, 0x68, 0x2F0, 0x2F4, 0x3A0, 0x3FC
OF_INVOCATION = (PRIMITIVE_ID, TESS_U, TESS_V)
"""Words that belong to the invocation, not to a vertex, in programs after the vertex stage."""
OF_PRIMITIVE = (PRIMITIVE_ID, LAYER, VIEWPORT, VIEWPORT_MASK, FACING)
"""Integers that are the same for all pixels of a primitive, so they are never interpolated."""


def any_of(v: Value, numbers: tuple[int, ...]) -> Value:
    """Whether a value is one of some numbers."""
    found = v == numbers[0]
    for number in numbers[1:]:
        found = found | (v == number)
    return found


def one_of(v: Any, *numbers: int) -> Flag:
    """The same for a number that may be known while tracing."""
    if isinstance(v, int):
        return v in numbers
    return any_of(v, numbers)
