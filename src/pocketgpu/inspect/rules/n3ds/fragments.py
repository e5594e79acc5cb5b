"""Rules about early depth and lighting."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.n3ds.inventory.draw_state import LIT_SOURCES
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "early-depth.pair",
    "only one of the two registers of the early depth test is set",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_EARLYDEPTH_TEST1, GPUREG_EARLYDEPTH_TEST2",
    explanation=(
        "The test has a part in the rasteriser and one at the buffer, each with an enable bit. Simulators have no "
        "early test."
    ),
    hint="Set both, or neither.",
)
def early_depth_pair(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        first, second = draw("EARLYDEPTH_TEST1.enable"), draw("EARLYDEPTH_TEST2.enable")
        if first != second:
            yield draw.found(f"EARLYDEPTH_TEST1 is {first} and EARLYDEPTH_TEST2 is {second}")


@RULES.rule(
    "lighting.off",
    "a combiner reads the colours of lighting that is off",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_LIGHTING_ENABLE0, GPUREG_LIGHTING_ENABLE1",
    explanation="There are two enable bits, the second one inverted. Simulators read one of them.",
    hint="Write 1 to LIGHTING_ENABLE0 and 0 to LIGHTING_ENABLE1.",
)
def lighting_off(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        disabled, enabled = draw("LIGHTING_ENABLE1.disable"), draw("LIGHTING_ENABLE0.enable")
        if draw.all_sources & LIT_SOURCES and (disabled or not enabled):
            yield draw.found(
                f"a combiner reads a colour of lighting, which is off "
                f"(LIGHTING_ENABLE0 = {enabled}, LIGHTING_ENABLE1 = {disabled})"
            )
