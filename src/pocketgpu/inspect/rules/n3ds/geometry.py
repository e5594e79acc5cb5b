"""Rules about the geometry stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pocketgpu.facts.pica_enums import GEOMETRY_MODE, PRIMITIVE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "geometry.switch",
    "the geometry stage is switched off within a frame",
    severity="warning",
    confidence="seen on hardware",
    source="devkitPro/citro3d issues 53 and 56",
    explanation=(
        "Programs that drew with a geometry program first and without one afterwards have hung consoles; the "
        "other order worked. Uniforms of the geometry unit were found cleared, too."
    ),
    hint="Draw with the geometry program last, or give every program a geometry part.",
)
def geometry_switch(record: N3dsRecord) -> Iterator[Found]:
    for (frame, before, _), (other, now, at) in pairwise(record.order):
        if frame == other and before and not now:
            yield Found("draws without a geometry program follow draws with one in the same frame", at)


@RULES.rule(
    "geometry.separate",
    "VSH_COM_MODE does not fit the use of the fourth shader unit",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_VSH_COM_MODE",
    explanation=(
        "The fourth unit runs vertex programs or geometry programs. The bit says whether it gets the uploads of the "
        "other three. If it is wrong, the unit gets two programs, or runs an old one."
    ),
    hint="Write 1 with GEOSTAGE_CONFIG.mode = 2, else 0.",
)
def geometry_separate(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.geometry and not draw("VSH_COM_MODE.separate"):
            yield draw.found("a geometry program runs with VSH_COM_MODE = 0: uploads for vertex units reach it as well")
        elif not draw.geometry and draw("VSH_COM_MODE.separate"):
            yield draw.found("no geometry program runs, but VSH_COM_MODE = 1: the fourth unit has no vertex program")


_ON = 0x08


@RULES.rule(
    "geometry.unit-mode",
    "registers do not set up the fourth unit for a geometry program",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_GSH_INPUTBUFFER_CONFIG, GPUREG_PRIMITIVE_CONFIG",
    explanation="The unit waits for input in the form of the mode. Simulators read only GEOSTAGE_CONFIG.",
    hint="Write 0x08 to bits 24 to 31 and mode 3 to PRIMITIVE_CONFIG.",
)
def geometry_unit_mode(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if not draw.geometry:
            continue
        mode = draw("GSH_INPUTBUFFER_CONFIG.unit_mode")
        if mode != _ON:
            yield draw.found(f"GSH_INPUTBUFFER_CONFIG.unit_mode is {mode:#x} with a geometry program: 0x08 is expected")
        if draw("PRIMITIVE_CONFIG.mode") != PRIMITIVE.GEOMETRY:
            yield draw.found(f"a geometry program runs with PRIMITIVE_CONFIG = {draw.text('PRIMITIVE_CONFIG.mode')}")


@RULES.rule(
    "geometry.inputs",
    "the outputs of vertices do not fill the inputs of a geometry program",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_GSH_INPUTBUFFER_CONFIG, GPUREG_GSH_MISC0",
    explanation="The unit starts when its inputs are full. Outputs that are left over stay there for the next draw.",
    hint="Set the number of inputs to the outputs of a vertex times the vertices of a primitive.",
)
def geometry_inputs(record: N3dsRecord) -> Iterator[Found]:
    yield from record.findings_of("draw.no-sizes")
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
