"""Registers that count outputs."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        mask = draw("VSH_OUTMAP_MASK.mask").bit_count()
        counts = {"VSH_OUTMAP_MASK": mask}
        counts |= {name: draw(f"{name}.count") + 1 for name in ("VSH_OUTMAP_TOTAL1", "VSH_OUTMAP_TOTAL2")}
        if draw.geometry:
            total = draw("GSH_OUTMAP_MASK.mask").bit_count()
            if draw("SH_OUTMAP_TOTAL.count") > total:
                yield draw.found(
                    f"SH_OUTMAP_TOTAL is {draw('SH_OUTMAP_TOTAL.count')}, GSH_OUTMAP_MASK has {total} registers"
                )
        else:
            counts["SH_OUTMAP_TOTAL"] = draw("SH_OUTMAP_TOTAL.count")
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{name} says {count}" for name, count in counts.items())
            yield draw.found(f"the number of outputs is not the same everywhere: {told}")


RULE = Rule(
    "outputs.count",
    "registers disagree how many outputs a vertex has",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_VSH_OUTMAP_TOTAL1, GPUREG_VSH_OUTMAP_TOTAL2, GPUREG_SH_OUTMAP_TOTAL",
    "Simulators look at the mask. On a console the units behind the shader each have a count of their own.",
    "Write the same number to all; the VSH registers hold it minus one.",
    look,
)
