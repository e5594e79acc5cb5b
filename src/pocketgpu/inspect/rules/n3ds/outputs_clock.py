"""Outputs whose clock is off."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_CLOCKS = {
    "position_z": (0x02,), "color": range(0x08, 0x0C), "texcoord0": (0x0C, 0x0D), "texcoord1": (0x0E, 0x0F),
    "texcoord2": (0x16, 0x17), "texcoord0_w": (0x10,), "quaternion_view": (*range(0x04, 0x08), 0x12, 0x13, 0x14),
}  # fmt: skip
_COORDINATES = (0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x16, 0x17)


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        outputs = set(draw.outputs)
        off = [name for name, codes in _CLOCKS.items() if outputs & set(codes) and not draw(f"SH_OUTATTR_CLOCK.{name}")]
        if off:
            yield draw.found(f"SH_OUTATTR_CLOCK is off for {', '.join(off)}, which SH_OUTMAP has")
        if outputs & set(_COORDINATES) and not draw("SH_OUTATTR_MODE.texture_coordinates"):
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
