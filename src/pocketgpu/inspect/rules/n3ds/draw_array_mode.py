"""Draws whose kind other registers do not know of."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import PRIMITIVE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.arrays and not draw("GEOSTAGE_CONFIG2.arrays"):
            yield draw.found("DRAWARRAYS with GEOSTAGE_CONFIG2.arrays = 0")
        elif draw.indexed and draw("GEOSTAGE_CONFIG2.arrays"):
            yield draw.found("DRAWELEMENTS with GEOSTAGE_CONFIG2.arrays = 1")
        listed = draw("GEOSTAGE_CONFIG.triangle_elements"), draw("GEOSTAGE_CONFIG2.triangle_elements")
        if listed[0] != listed[1]:
            yield draw.found("triangle_elements of GEOSTAGE_CONFIG and GEOSTAGE_CONFIG2 differ")
        elif draw.indexed and not draw.geometry and listed[0] != (draw("PRIMITIVE_CONFIG.mode") == PRIMITIVE.GEOMETRY):
            yield draw.found(
                f"DRAWELEMENTS of {draw.text('PRIMITIVE_CONFIG.mode')} with triangle_elements = {listed[0]}"
            )


RULE = Rule(
    "draw.array-mode",
    "GEOSTAGE_CONFIG and GEOSTAGE_CONFIG2 do not fit the kind of draw",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_GEOSTAGE_CONFIG, GPUREG_GEOSTAGE_CONFIG2",
    "Drivers set bit 0 for arrays, and bit 8 of both for indexed lists of triangles. Simulators do not look at them.",
    "Set them around each draw as drivers do.",
    look,
)
