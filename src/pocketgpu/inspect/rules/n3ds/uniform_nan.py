"""Uniforms that are no numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, Rule
from .record import N3dsRecord


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        used = program.uniforms
        for (register, component), (at, count) in sorted(program.nans.items()):
            if used.get(register, 0) >> component & 1:
                name = f"c{register}.{'xyzw'[component]}"
                yield Found(f"uniform {name}, which the {program.unit} program reads, is NaN", at, count)


RULE = Rule(
    "uniform.nan",
    "a float uniform that a program reads is NaN",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Shader Instruction Set, arithmetic; GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM",
    "NaN spreads through every product and sum, and triangles with a NaN corner are not drawn.",
    "Look at what was divided by 0 when the matrix was made.",
    look,
)
