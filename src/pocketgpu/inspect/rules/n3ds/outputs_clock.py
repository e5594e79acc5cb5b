"""Outputs whose clock is off."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.vertices import CLOCKS, TEXTURE_COORDINATES
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        outputs = set(draw.outputs)
        off = [name for name, codes in CLOCKS.items() if outputs & codes and not draw(f"SH_OUTATTR_CLOCK.{name}")]
        if off:
            yield draw.found(f"SH_OUTATTR_CLOCK is off for {', '.join(off)}, which SH_OUTMAP has")
        if outputs & TEXTURE_COORDINATES and not draw("SH_OUTATTR_MODE.texture_coordinates"):
            yield draw.found("SH_OUTATTR_MODE.texture_coordinates is 0, and SH_OUTMAP has texture coordinates")


RULE = Rule(
    "outputs.clock",
    "an output whose clock is switched off",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_SH_OUTATTR_CLOCK, GPUREG_SH_OUTATTR_MODE",
    "Simulators do not look at these registers. On a console the value stays what it was.",
    "Set a bit for each kind of output that SH_OUTMAP names.",
    look,
)
