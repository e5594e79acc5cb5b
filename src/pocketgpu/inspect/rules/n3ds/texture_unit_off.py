"""Combiners that read a unit that is off."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import TEXENV_SOURCE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.fragment.combiners import STAGES

_UNITS = 3


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in range(_UNITS + 1):
            if draw(f"TEXUNIT_CONFIG.unit{unit}_enable"):
                continue
            stages = [stage for stage in range(STAGES) if TEXENV_SOURCE.TEXTURE0 + unit in draw.sources(stage)]
            if stages:
                yield draw.found(
                    f"combiner stage {stages[0]} reads texture unit {unit}, which TEXUNIT_CONFIG.unit{unit}_enable "
                    "switches off"
                )


RULE = Rule(
    "texture.unit-off",
    "a combiner reads a texture unit that is off",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_TEXUNIT_CONFIG, GPUREG_TEXENV0_SOURCE",
    "The unit gives no colour of the texture; what it gives instead is not known.",
    "Enable the unit, or take the texture out of the combiner.",
    look,
)
