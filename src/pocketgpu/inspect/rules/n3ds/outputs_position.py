"""Vertices without a position."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import SEMANTIC
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_POSITION = (SEMANTIC.POSITION_X, SEMANTIC.POSITION_Y, SEMANTIC.POSITION_Z)
"""Of x, y and z. A w that nobody gives is 1, which is what flat pictures want."""


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        missing = [SEMANTIC[n] for n in _POSITION if n not in draw.outputs]
        if missing:
            yield draw.found(f"no output register gives {', '.join(missing)} (SH_OUTMAP_O0 to O6): it is 1")


RULE = Rule(
    "outputs.position",
    "no output gives a vertex its x, y or z",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_SH_OUTMAP_O0",
    "Components that no register gives are 1, so that nothing is left of a triangle.",
    "Let one output register be x, y, z and w of the position: 0x03020100 in SH_OUTMAP_O0.",
    look,
)
