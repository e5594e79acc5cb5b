"""Draws in configuration mode."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.triggered and draw("START_DRAW_FUNC0.configuration"):
            yield draw.found("START_DRAW_FUNC0 is 1, configuration, while drawing")


RULE = Rule(
    "draw.start-func",
    "a draw while START_DRAW_FUNC0 says configuration",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_START_DRAW_FUNC0",
    "The register is 0 during a draw and 1 while registers are set. Simulators do not look at it.",
    "Write 0 to it before DRAWARRAYS or DRAWELEMENTS and 1 after.",
    look,
)
