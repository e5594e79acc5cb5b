"""Rules about how draws are started, and draws that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import PRIMITIVE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "draw.start-func",
    "a draw while START_DRAW_FUNC0 says configuration",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_START_DRAW_FUNC0",
    explanation="The register is 0 during a draw and 1 while registers are set. Simulators do not read it.",
    hint="Write 0 to it before DRAWARRAYS or DRAWELEMENTS and 1 after.",
)
def draw_start_func(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.triggered and draw("START_DRAW_FUNC0.configuration"):
            yield draw.found("START_DRAW_FUNC0 is 1, configuration, while drawing")


@RULES.rule(
    "draw.array-mode",
    "GEOSTAGE_CONFIG and GEOSTAGE_CONFIG2 do not fit the kind of draw",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_GEOSTAGE_CONFIG, GPUREG_GEOSTAGE_CONFIG2",
    explanation=(
        "Drivers set bit 0 for arrays, and bit 8 of both for indexed lists of triangles. Simulators do not "
        "read them."
    ),
    hint="Set them around each draw as drivers do.",
)
def draw_array_mode(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.arrays and not draw("GEOSTAGE_CONFIG2.arrays"):
            yield draw.found("DRAWARRAYS with GEOSTAGE_CONFIG2.arrays = 0")
        elif draw.indexed and draw("GEOSTAGE_CONFIG2.arrays"):
            yield draw.found("DRAWELEMENTS with GEOSTAGE_CONFIG2.arrays = 1")
        listed = draw("GEOSTAGE_CONFIG.triangle_elements"), draw("GEOSTAGE_CONFIG2.triangle_elements")
        if listed[0] != listed[1]:
            yield draw.found("triangle_elements of GEOSTAGE_CONFIG and GEOSTAGE_CONFIG2 differ")
        elif draw.indexed and not draw.geometry and listed[0] != (draw("PRIMITIVE_CONFIG.mode") == PRIMITIVE.GEOMETRY):
            yield draw.found(
                f"DRAWELEMENTS of {draw.text('PRIMITIVE_CONFIG.mode')} with triangle_elements = {listed[0]}"
            )


_MOST = 8


@RULES.rule(
    "draw.nothing",
    "a draw without a visible triangle",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_FACECULLING_CONFIG, GPUREG_VIEWPORT_XY",
    explanation=(
        "Triangles that are culled or outside the target cost time and show nothing. The line says what stopped them."
    ),
    hint="`why` with the address of the draw shows more.",
)
def draw_nothing(record: N3dsRecord) -> Iterator[Found]:
    asked = 0
    for draw in record.draws:
        if draw.empty < draw.draws or isinstance(draw.target, str) or record.whys is None:
            continue
        if asked == _MOST:
            yield draw.found("further draws give no triangle")
            continue
        asked += 1
        yield draw.found(record.whys(draw.first).because)
