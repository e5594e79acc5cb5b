"""Rules about how draws are started, and draws that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import COMPARE, PRIMITIVE
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord

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


@RULES.rule(
    "draw.never-passes",
    "a depth or alpha test whose function is never",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_DEPTH_COLOR_MASK, GPUREG_FRAGOP_ALPHA_TEST",
    explanation="No fragment is drawn. With a stencil test the draw may be meant for the stencil alone.",
    hint="Choose another function, or switch the test off.",
)
def draw_never_passes(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.writes_stencil:
            continue
        if draw.tests_depth and draw("DEPTH_COLOR_MASK.depth_function") == COMPARE.NEVER:
            yield draw.found("the depth test never passes (DEPTH_COLOR_MASK.depth_function never)")
        elif draw("FRAGOP_ALPHA_TEST.enable") and draw("FRAGOP_ALPHA_TEST.function") == COMPARE.NEVER:
            yield draw.found("the alpha test never passes (FRAGOP_ALPHA_TEST.function never)")


_MOST = 8
"""Most draws that the debugger is asked about, for each rule."""
_CULLING = "FACECULLING_CONFIG"


def _asked(record: N3dsRecord, draws: Iterator[DrawRecord]) -> Iterator[tuple[DrawRecord, Funnel | None]]:
    """Draws with the debugger's answers; None where there were too many questions."""
    for n, draw in enumerate(draws):
        if record.whys is not None:
            yield draw, record.whys(draw.first) if n < _MOST else None


def _without_triangle(record: N3dsRecord) -> Iterator[DrawRecord]:
    return (one for one in record.draws if one.empty >= one.draws and not isinstance(one.target, str))


def _is_culled(found: Funnel) -> bool:
    """Whether culling alone dropped all triangles."""
    stage = found.narrowest
    return stage is not None and stage.name == "triangles" and all(
        loss.register.startswith(_CULLING) for loss in stage.lost
    )  # fmt: skip


@RULES.rule(
    "draw.culled",
    "culling drops every triangle of a draw",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_FACECULLING_CONFIG",
    explanation="All draws with these registers show nothing. Their corners may run the other way round.",
    hint="Cull the other side, or none; a transform that mirrors turns the corners round.",
)
def draw_culled(record: N3dsRecord) -> Iterator[Found]:
    for draw, found in _asked(record, _without_triangle(record)):
        if found is not None and _is_culled(found):
            yield draw.found(found.because)


@RULES.rule(
    "draw.nothing",
    "a draw without a visible triangle",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_VIEWPORT_XY, GPUREG_SCISSORTEST_POS",
    explanation="Triangles outside the target cost time and show nothing. The line says what stopped them.",
    hint="`why` with the address of the draw shows more.",
)
def draw_nothing(record: N3dsRecord) -> Iterator[Found]:
    for draw, found in _asked(record, _without_triangle(record)):
        if found is None:
            yield draw.found("further draws give no triangle")
        elif not _is_culled(found):
            yield draw.found(found.because)


def _without_effect(record: N3dsRecord) -> Iterator[DrawRecord]:
    return (one for one in record.draws if one.watched and not one.changed and one.empty < one.draws)


@RULES.rule(
    "draw.no-fragment",
    "a draw of which no fragment passes any test",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_DEPTH_COLOR_MASK, GPUREG_STENCIL_TEST, GPUREG_FRAGOP_ALPHA_TEST",
    explanation="It costs time and shows nothing. It may be hidden by what was drawn before.",
    hint="`why` with the address of the draw shows what each test compared.",
)
def draw_no_fragment(record: N3dsRecord) -> Iterator[Found]:
    for draw, found in _asked(record, _without_effect(record)):
        if found is not None and found.narrowest is not None and found.narrowest.name == "fragments":
            yield draw.found(found.because)


@RULES.rule(
    "draw.no-effect",
    "a draw that leaves its target as it was",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_BLEND_FUNC, GPUREG_DEPTH_COLOR_MASK, GPUREG_COLORBUFFER_WRITE",
    explanation="Fragments pass all tests, and masks or blending keep what was there.",
    hint="Look at the blend factors, at alpha, and at the masks.",
)
def draw_no_effect(record: N3dsRecord) -> Iterator[Found]:
    for draw, found in _asked(record, _without_effect(record)):
        if found is not None and found.narrowest is not None and found.narrowest.name == "colours":
            yield draw.found(found.because)
