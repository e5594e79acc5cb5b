"""Three registers that count the same."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_NAMES = ("ATTRIBBUFFERS_FORMAT_HIGH.count", "VSH_INPUTBUFFER_CONFIG.count", "VSH_NUM_ATTR.count")


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        names = _NAMES if draw.triggered else _NAMES[1:]
        counts = [draw(name) + 1 for name in names]
        if len(set(counts)) > 1:
            told = ", ".join(f"{name} says {count}" for name, count in zip(names, counts, strict=True))
            yield draw.found(f"the number of attributes is not the same everywhere: {told}")


RULE = Rule(
    "vertex.attributes",
    "registers disagree how many attributes a vertex has",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_FORMAT_HIGH, GPUREG_VSH_INPUTBUFFER_CONFIG, "
    "GPUREG_VSH_NUM_ATTR",
    "Simulators look at one of them; on a console loaders, units and the vertex cache each look at their own.",
    "Write the same number, minus one, to all three.",
    look,
)
