"""The fourth unit's mode."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import PRIMITIVE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_ON = 0x08


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if not draw.geometry:
            continue
        mode = draw("GSH_INPUTBUFFER_CONFIG.unit_mode")
        if mode != _ON:
            yield draw.found(f"GSH_INPUTBUFFER_CONFIG.unit_mode is {mode:#x} with a geometry program: 0x08 is expected")
        if draw("PRIMITIVE_CONFIG.mode") != PRIMITIVE.GEOMETRY:
            yield draw.found(f"a geometry program runs with PRIMITIVE_CONFIG = {draw.text('PRIMITIVE_CONFIG.mode')}")


RULE = Rule(
    "geometry.unit-mode",
    "registers do not say that the fourth unit runs a geometry program",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_GSH_INPUTBUFFER_CONFIG, GPUREG_PRIMITIVE_CONFIG",
    "The unit waits for input in the form that the mode says. Simulators look at GEOSTAGE_CONFIG alone.",
    "Write 0x08 to bits 24 to 31 and mode 3 to PRIMITIVE_CONFIG.",
    look,
)
