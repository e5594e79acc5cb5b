"""Inputs that nobody fills."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.vertices import input_field
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        program = draw.programs.get("vertex")
        if program is None:
            continue
        count = draw("VSH_INPUTBUFFER_CONFIG.count") + 1
        fed = {draw(input_field(n)) for n in range(count)}
        missing = sorted(program.inputs - fed)
        if missing:
            names = ", ".join(f"v{n}" for n in missing)
            yield draw.found(f"the vertex program reads {names}, which none of the {count} attributes fills")


RULE = Rule(
    "vertex.input-unfed",
    "a vertex program reads an input register that no attribute fills",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_VSH_ATTRIBUTES_PERMUTATION",
    "Registers that are not named keep what an earlier draw left there.",
    "Raise the number of attributes, or correct the permutation.",
    look,
)
