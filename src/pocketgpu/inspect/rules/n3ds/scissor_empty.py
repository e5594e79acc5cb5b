"""A scissor that leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import SCISSOR
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("SCISSORTEST_MODE.mode") != SCISSOR.INSIDE:
            continue
        x1, y1 = draw("SCISSORTEST_POS.x1"), draw("SCISSORTEST_POS.y1")
        x2, y2 = draw("SCISSORTEST_DIM.x2"), draw("SCISSORTEST_DIM.y2")
        width, height = draw.size
        if x2 < x1 or y2 < y1 or x1 >= width or y1 >= height:
            yield draw.found(f"the scissor keeps {x1}, {y1} to {x2}, {y2} of a target of {width}x{height}: nothing")


RULE = Rule(
    "scissor.empty",
    "a scissor rectangle that keeps no pixel",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_SCISSORTEST_POS, GPUREG_SCISSORTEST_DIM",
    "Both corners lie inside of the rectangle; they are no corner and a size.",
    "Write the last column and row to SCISSORTEST_DIM.",
    look,
)
