"""Half of the early depth test."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        first, second = draw("EARLYDEPTH_TEST1.enable"), draw("EARLYDEPTH_TEST2.enable")
        if first != second:
            yield draw.found(f"EARLYDEPTH_TEST1 is {first} and EARLYDEPTH_TEST2 is {second}")


RULE = Rule(
    "early-depth.pair",
    "only one of the two registers of the early depth test is set",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_EARLYDEPTH_TEST1, GPUREG_EARLYDEPTH_TEST2",
    "The test has a part in the rasteriser and one at the buffer, each with a switch. Simulators have no early test.",
    "Set both, or neither.",
    look,
)
