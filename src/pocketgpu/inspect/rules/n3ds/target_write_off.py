"""Writes that are allowed in one place and not in the other."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("COLOR_OPERATION.fragment_mode"):
            continue
        colors = any(draw(f"DEPTH_COLOR_MASK.{name}") for name in ("red", "green", "blue", "alpha"))
        if colors and not draw("COLORBUFFER_WRITE.mask"):
            yield draw.found("DEPTH_COLOR_MASK lets colours be written, but COLORBUFFER_WRITE is 0")
        if draw.tests_depth and draw("DEPTH_COLOR_MASK.depth_write") and not draw("DEPTHBUFFER_WRITE.depth"):
            yield draw.found("DEPTH_COLOR_MASK lets depth be written, but DEPTHBUFFER_WRITE.depth is 0")


RULE = Rule(
    "target.write-off",
    "one register lets a buffer be written and another does not",
    "3DS",
    "note",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_WRITE, GPUREG_DEPTHBUFFER_WRITE",
    "Nothing is written. Where that is meant, DEPTH_COLOR_MASK says it as well.",
    "Set both, or neither.",
    look,
)
