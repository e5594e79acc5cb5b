"""A stencil test without a stencil."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.formats import DEPTH_FORMATS
from pocketgpu.facts.pica_enums import DEPTH_FORMAT
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        format = draw("DEPTHBUFFER_FORMAT.format")
        if draw.tests_stencil and format != DEPTH_FORMAT.D24S8:
            known = DEPTH_FORMATS.get(format)
            yield draw.found(f"the stencil test is on, and DEPTHBUFFER_FORMAT is {known.name if known else format}")


RULE = Rule(
    "stencil.format",
    "the stencil test is on and the depth buffer has no stencil",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_STENCIL_TEST, GPUREG_DEPTHBUFFER_FORMAT",
    "Only D24S8 has a stencil.",
    "Use D24S8, or switch the test off.",
    look,
)
