"""Combiners that read lighting that is off."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.n3ds.draw_state import LIT_SOURCES
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        disabled, enabled = draw("LIGHTING_ENABLE1.disable"), draw("LIGHTING_ENABLE0.enable")
        if draw.all_sources & LIT_SOURCES and (disabled or not enabled):
            yield draw.found(
                f"a combiner reads a colour of lighting, which is off "
                f"(LIGHTING_ENABLE0 = {enabled}, LIGHTING_ENABLE1 = {disabled})"
            )


RULE = Rule(
    "lighting.off",
    "a combiner reads the colours of lighting that is off",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_LIGHTING_ENABLE0, GPUREG_LIGHTING_ENABLE1",
    "There are two switches, the second one upside down. Simulators look at one of them.",
    "Write 1 to LIGHTING_ENABLE0 and 0 to LIGHTING_ENABLE1.",
    look,
)
