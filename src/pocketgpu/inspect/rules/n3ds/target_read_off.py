"""Tests and blending without their buffers."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import COMPARE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_READING = frozenset(COMPARE) - COMPARE.numbers("NEVER", "ALWAYS")
"""Comparisons whose outcome depends on what is stored."""


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("COLOR_OPERATION.fragment_mode"):
            continue
        if draw.reads_color and not draw("COLORBUFFER_READ.mask"):
            yield draw.found("blending or a mask needs the colour buffer, but COLORBUFFER_READ is 0")
        if (
            draw.tests_depth
            and draw("DEPTH_COLOR_MASK.depth_function") in _READING
            and not draw("DEPTHBUFFER_READ.depth")
        ):
            yield draw.found("the depth test needs the depth buffer, but DEPTHBUFFER_READ.depth is 0")
        if draw.tests_stencil and draw("STENCIL_TEST.function") in _READING and not draw("DEPTHBUFFER_READ.stencil"):
            yield draw.found("the stencil test needs the stencil, but DEPTHBUFFER_READ.stencil is 0")


RULE = Rule(
    "target.read-off",
    "a test or blending needs a buffer that may not be read",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_READ, GPUREG_DEPTHBUFFER_READ",
    "With reading off the unit compares and blends with something else than memory; simulators differ in what.",
    "Write 15 to COLORBUFFER_READ and 3 to DEPTHBUFFER_READ where the draw needs them.",
    look,
)
