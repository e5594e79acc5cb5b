"""Inputs of geometry programs that do not come out even."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import GEOMETRY_MODE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    yield from record.tells("draw.no-sizes")
    for draw in record.draws:
        if not draw.geometry:
            continue
        outputs, inputs = draw("VSH_OUTMAP_TOTAL1.count") + 1, draw("GSH_INPUTBUFFER_CONFIG.count") + 1
        point, uses = draw("GSH_MISC0.mode") == GEOMETRY_MODE.POINT, bool(draw("GSH_INPUTBUFFER_CONFIG.use_uniforms"))
        if point and inputs % outputs:
            yield draw.found(
                f"a geometry program takes {inputs} inputs, and a vertex gives {outputs}: it waits for part of one"
            )
        if point == uses:
            kind = draw.text("GSH_MISC0.mode")
            yield draw.found(f"GSH_INPUTBUFFER_CONFIG.use_uniforms is {int(uses)} in {kind} mode")


RULE = Rule(
    "geometry.inputs",
    "what vertices give does not fill what a geometry program takes",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_GSH_INPUTBUFFER_CONFIG, GPUREG_GSH_MISC0",
    "The unit starts when its inputs are full. What does not come out even stays behind for the next draw.",
    "Let the number of inputs be that of the vertex's outputs times the vertices of a primitive.",
    look,
)
