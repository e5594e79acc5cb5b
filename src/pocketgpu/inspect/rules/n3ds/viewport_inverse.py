"""The other half of the viewport."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_NEAR = 1 / 256


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for size, inverse in (("VIEWPORT_WIDTH", "VIEWPORT_INVW"), ("VIEWPORT_HEIGHT", "VIEWPORT_INVH")):
            half, given = draw.value(f"{size}.value"), draw.value(f"{inverse}.value")
            if half > 0 and not abs(given * half - 1) < _NEAR:
                yield draw.found(f"{inverse} is {given:.6g}, and 2 / {2 * half:g} would be {1 / half:.6g}")


RULE = Rule(
    "viewport.inverse",
    "VIEWPORT_INVW or VIEWPORT_INVH does not fit the viewport's size",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_VIEWPORT_INVW",
    "Simulators look at the width alone. The console takes the way back from pixels to clip space from these.",
    "Write 2 / width and 2 / height, as 31-bit floats in bits 1 to 31.",
    look,
)
