"""Rules about outputs of vertex programs."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import SEMANTIC
from pocketgpu.facts.vertices import CLOCKS, TEXTURE_COORDINATES
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.wording import counted

RULES = RuleSet("3DS")


@RULES.rule(
    "outputs.count",
    "registers disagree on how many outputs a vertex has",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_VSH_OUTMAP_TOTAL1, GPUREG_VSH_OUTMAP_TOTAL2, GPUREG_SH_OUTMAP_TOTAL",
    explanation="Simulators read the mask. On a console the units after the shader each have a count of their own.",
    hint="Write the same number to all; the VSH registers hold it minus one.",
)
def outputs_count(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        mask = draw("VSH_OUTMAP_MASK.mask").bit_count()
        counts = {"VSH_OUTMAP_MASK": mask}
        counts |= {name: draw(f"{name}.count") + 1 for name in ("VSH_OUTMAP_TOTAL1", "VSH_OUTMAP_TOTAL2")}
        if draw.geometry:
            total = draw("GSH_OUTMAP_MASK.mask").bit_count()
            if draw("SH_OUTMAP_TOTAL.count") > total:
                yield draw.found(
                    f"SH_OUTMAP_TOTAL is {draw('SH_OUTMAP_TOTAL.count')}, GSH_OUTMAP_MASK has "
                    f"{counted(total, 'register')}"
                )
        else:
            counts["SH_OUTMAP_TOTAL"] = draw("SH_OUTMAP_TOTAL.count")
        if len(set(counts.values())) > 1:
            text = ", ".join(f"{name} says {count}" for name, count in counts.items())
            yield draw.found(f"the number of outputs is not the same everywhere: {text}")


_POSITION = (SEMANTIC.POSITION_X, SEMANTIC.POSITION_Y, SEMANTIC.POSITION_Z)
"""x, y and z. A w that no output writes is 1, which suits flat pictures."""


@RULES.rule(
    "outputs.position",
    "no output gives a vertex its x, y or z",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_SH_OUTMAP_O0",
    explanation="Components that no register gives are 1, so triangles have no area.",
    hint="Let one output register be x, y, z and w of the position: 0x03020100 in SH_OUTMAP_O0.",
)
def outputs_position(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        missing = [SEMANTIC[n] for n in _POSITION if n not in draw.outputs]
        if missing:
            yield draw.found(f"no output register gives {', '.join(missing)} (SH_OUTMAP_O0 to O6): it is 1")


@RULES.rule(
    "outputs.clock",
    "an output whose clock is switched off",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_SH_OUTATTR_CLOCK, GPUREG_SH_OUTATTR_MODE",
    explanation="Simulators do not read these registers. On a console the value does not change.",
    hint="Set a bit for each kind of output that SH_OUTMAP names.",
)
def outputs_clock(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        outputs = set(draw.outputs)
        off = [name for name, codes in CLOCKS.items() if outputs & codes and not draw(f"SH_OUTATTR_CLOCK.{name}")]
        if off:
            yield draw.found(f"SH_OUTATTR_CLOCK is off for {', '.join(off)}, which SH_OUTMAP has")
        if outputs & TEXTURE_COORDINATES and not draw("SH_OUTATTR_MODE.texture_coordinates"):
            yield draw.found("SH_OUTATTR_MODE.texture_coordinates is 0, and SH_OUTMAP has texture coordinates")
