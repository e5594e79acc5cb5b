"""A geometry unit that hears what vertex units are told."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.geometry and not draw("VSH_COM_MODE.separate"):
            yield draw.found("a geometry program runs with VSH_COM_MODE = 0: uploads for vertex units reach it as well")
        elif not draw.geometry and draw("VSH_COM_MODE.separate"):
            yield draw.found("no geometry program runs, but VSH_COM_MODE = 1: the fourth unit has no vertex program")


RULE = Rule(
    "geometry.separate",
    "VSH_COM_MODE does not fit the use of the fourth shader unit",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_VSH_COM_MODE",
    "The fourth unit runs vertex programs or geometry programs. The bit says whether it is told what the other three "
    "are; set wrongly, two programs meet in one unit, or it runs an old one.",
    "Write 1 with GEOSTAGE_CONFIG.mode = 2, else 0.",
    look,
)
