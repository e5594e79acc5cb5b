"""Rules about single draws: what their registers, inputs and programs say about what they can draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.switch.record import SwitchDraw, SwitchRecord
from pocketgpu.inspect.switch.primitives.primitive_count import NO_PLACE

RULES = RuleSet("Switch")


@RULES.rule(
    "switch.scissor-empty",
    "a scissor that keeps no pixel of the target",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_SCISSOR_HORIZONTAL, SET_SCISSOR_VERTICAL",
    explanation="The end of a scissor is not part of it, so a scissor whose end is its beginning is empty.",
    hint="Write the column after the last one to XMAX, and the row after the last one to YMAX.",
)
def scissor_empty(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.scissor-empty")


@RULES.rule(
    "switch.viewport-number",
    "a viewport with NaN or infinity",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_VIEWPORT_SCALE_X; OpenGL 4.6, 13.8",
    explanation="No vertex gets a place on the screen.",
    hint="Look at what the size of the viewport was divided by.",
)
def viewport_number(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.viewport-number")


@RULES.rule(
    "switch.viewport-empty",
    "a viewport of no area",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_VIEWPORT_SCALE_X; OpenGL 4.6, 13.8",
    explanation="All vertices lie on a line, so triangles cover nothing.",
    hint="Write half of the width and half of the height.",
)
def viewport_empty(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.viewport-empty")


@RULES.rule(
    "switch.viewport-outside",
    "a viewport beside the target",
    severity="warning",
    confidence="inferred",
    source="class header clb197.h, SET_VIEWPORT_SCALE_X, SET_VIEWPORT_OFFSET_X",
    explanation="Nothing of the view is on the target.",
    hint="The offset is the centre of the viewport in pixels of the target.",
)
def viewport_outside(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.viewport-outside")


@RULES.rule(
    "switch.cull-both",
    "culling of both sides",
    severity="note",
    confidence="documented",
    source="class header clb197.h, OGL_SET_CULL_FACE",
    explanation="No polygon is drawn; lines and points are.",
    hint="Cull one side, or turn culling off.",
)
def cull_both(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.cull-both")


@RULES.rule(
    "switch.never-passes",
    "a test whose function is never",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_DEPTH_FUNC, SET_STENCIL_FUNC, SET_ALPHA_FUNC",
    explanation="No sample passes, so the draw writes no colour and no depth.",
    hint="`pocketgpu state` with the address of the draw shows the function.",
)
def never_passes(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.never-passes")


@RULES.rule(
    "switch.no-target",
    "a draw without any target",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_CT_SELECT, SET_ZT_SELECT",
    explanation="Nothing can be written but what programs store.",
    hint="Bind a render target before the draw.",
)
def no_target(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.no-target")


@RULES.rule(
    "switch.writes-nothing",
    "all channels are masked, and no depth is written",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_CT_WRITE, SET_DEPTH_WRITE",
    explanation="The draw changes no target.",
    hint="Enable the channels, or leave the draw out.",
)
def writes_nothing(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.writes-nothing")


@RULES.rule(
    "switch.raster-off",
    "raster is off, and so is transform feedback",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_RASTER_ENABLE; OpenGL 4.6, RASTERIZER_DISCARD",
    explanation="Primitives go nowhere.",
    hint="Enable raster, or transform feedback.",
)
def raster_off(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.raster-off")


@RULES.rule(
    "switch.sample-mask",
    "a sample mask of 0",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_SAMPLE_MASK_X0_Y0; Vulkan, pSampleMask",
    explanation="No sample is drawn.",
    hint="Write 0xffff to all four words.",
)
def sample_mask(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.sample-mask")


@RULES.rule(
    "switch.target-overlap",
    "two targets of a draw overlap",
    severity="error",
    confidence="inferred",
    source="class header clb197.h, SET_COLOR_TARGET_A, SET_ZT_A",
    explanation="Each overwrites the other, in an order that depends on caches.",
    hint="Give each target memory of its own, with its size rounded up to whole blocks.",
)
def target_overlap(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.target-overlap")


@RULES.rule(
    "switch.blend-nothing",
    "blending that leaves the target as it is",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_BLEND_COLOR_SOURCE_COEFF, SET_BLEND_COLOR_DEST_COEFF",
    explanation="Nothing of the source and all of the target is what was there before.",
    hint="Look at the factors: ONE and ONE_MINUS_SRC_ALPHA, for example.",
)
def blend_nothing(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.blend-nothing")


@RULES.rule(
    "switch.stream-off",
    "a vertex program reads an attribute whose stream is off",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_VERTEX_STREAM_A_FORMAT",
    explanation="The attribute is 0 for all vertices.",
    hint="Enable the stream, or let the attribute read another one.",
)
def stream_off(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.stream-off")


@RULES.rule(
    "switch.index-limit",
    "indices beyond the end of their buffer",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_INDEX_BUFFER_C",
    explanation="They read as 0 here.",
    hint="Look at the count, the first index, and the address of the buffer's last byte.",
)
def index_limit(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.index-limit")


@RULES.rule(
    "switch.vertex-limit",
    "vertices beyond the end of a stream",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_VERTEX_STREAM_LIMIT_A_A; Vulkan, robustBufferAccess",
    explanation="They read as 0 here.",
    hint="Look at the largest index, the stride, and the address of the stream's last byte.",
)
def vertex_limit(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.vertex-limit")


@RULES.rule(
    "switch.vertex-stride",
    "an attribute that reaches into the next vertex",
    severity="warning",
    confidence="inferred",
    source="class header clb197.h, SET_VERTEX_ATTRIBUTE_A, SET_VERTEX_STREAM_A_FORMAT",
    explanation="Its last components are those of the vertex after it. The stride, the offset or the format is wrong.",
    hint="Let the stride be at least as large as the end of the last attribute.",
)
def vertex_stride(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.vertex-stride")


@RULES.rule(
    "switch.vertex-align",
    "an attribute that begins within a component",
    severity="warning",
    confidence="documented",
    source="Vulkan, Vertex Input Description (attribute addresses are multiples of a component's size)",
    explanation="Here it is read byte by byte. A console may read from the multiple before it.",
    hint="Begin streams and attributes at multiples of the size of their components, and choose such a stride.",
)
def vertex_align(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.vertex-align")


@RULES.rule(
    "switch.target-input",
    "a draw writes over vertices, indices or programs that it reads",
    severity="error",
    confidence="inferred",
    source="class header clb197.h, SET_COLOR_TARGET_A; deko3d, memory blocks",
    explanation="What is read depends on how far the draw has come, and on the contents of caches.",
    hint="Give the target memory of its own, with its size rounded up to whole blocks.",
)
def target_input(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.target-input")


@RULES.rule(
    "switch.two-uses",
    "a draw reads the same bytes in two ways, such as vertices and indices",
    severity="warning",
    confidence="inferred",
    source="class header clb197.h, SET_VERTEX_STREAM_A_LOCATION_A, SET_INDEX_BUFFER_A",
    explanation="One range overlaps the other: a stride or a number of vertices is too large, or an address is wrong.",
    hint="Look at strides, at the largest index, and at the addresses of streams and indices.",
)
def two_uses(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.two-uses")


@RULES.rule(
    "switch.constants-unset",
    "a program reads a word of a constant buffer that nobody wrote",
    severity="warning",
    confidence="inferred",
    source="deko3d, memory blocks have no contents at first",
    explanation=(
        "Here it is 0. The line names the slot, the byte and the instruction. The recording runs a second time to find "
        "such words. Not every path through a program needs to read them; places that a program computes are left out."
    ),
    hint="Write the whole block of constants before the draw.",
)
def constants_unset(record: SwitchRecord) -> Iterator[Found]:
    for text, at in record.unset:
        yield Found(text, at)


@RULES.rule(
    "switch.constants-small",
    "a constant buffer that ends before a word that a program reads",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_CONSTANT_BUFFER_SELECTOR_A",
    explanation="The word reads as 0 here.",
    hint="Bind as many bytes as the program's block of constants has.",
)
def constants_small(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.constants-small")


@RULES.rule(
    "switch.texture-invalid",
    "a program names a texture that is not in the pool, cannot be read or is nowhere in memory",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, SET_TEX_HEADER_POOL_C; texture headers of NVIDIA",
    explanation="Here such a texture reads as 0. Not every path through a program needs to sample it.",
    hint="Look at the handle in the constant buffer, and at the pool's last index.",
)
def texture_invalid(record: SwitchRecord) -> Iterable[Found]:
    return record.faults_of("switch.texture-invalid")


@RULES.rule(
    "switch.target-unused",
    "a render target that nothing reads or shows",
    severity="note",
    confidence="inferred",
    source="class header clb197.h, SET_COLOR_TARGET_A",
    explanation="No texture, copy, blit or picture of the recording reads it. Often one of two addresses is wrong.",
    hint="Compare the target's address with that of the shown surface.",
)
def target_unused(record: SwitchRecord) -> Iterator[Found]:
    if record.shows:
        for target, at in record.drawn.items():
            if not any(target.place.overlaps(one) for one in record.places):
                yield Found(f"nothing reads or shows the {target.name} at {target.range} (SET_COLOR_TARGET_A)", at)


@RULES.rule(
    "switch.shown-never-written",
    "a surface is shown that nothing wrote",
    severity="warning",
    confidence="inferred",
    source="libnx, buffers of a queue have no contents at first",
    explanation="It is black here. Writes are recorded in pages of 4096 bytes.",
    hint="Draw, clear or copy to the address of the surface before it is shown.",
)
def shown_never_written(record: SwitchRecord) -> Iterator[Found]:
    for read in record.reads:
        if read.kind == "shown" and read.missing == read.range.size:
            yield Found(f"nothing wrote the shown surface at {read.range}", read.at)


@RULES.rule(
    "switch.nothing-passes",
    "a draw of which no sample passes the tests",
    severity="note",
    confidence="inferred",
    source="class header clb197.h, SET_DEPTH_FUNC, SET_STENCIL_FUNC, SET_ALPHA_FUNC",
    explanation="Its shapes cover pixels, and depth, stencil, alpha or the program removes all of them.",
    hint="`why` with the address of the draw shows one of the samples.",
)
def nothing_passes(record: SwitchRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw.shapes and draw.passed == 0:
            yield Found("no sample of a draw passes the tests", draw.at)


_MOST = 8
"""Most draws that the debugger is asked about, for each rule."""
_CULLING = "OGL_SET_CULL_FACE"


def _without_shape(record: SwitchRecord) -> Iterator[tuple[SwitchDraw, Funnel | None]]:
    """Draws without a visible primitive, with the debugger's answers; None where there were too many questions."""
    draws = (one for one in record.draws if one.shapes == 0)
    for n, draw in enumerate(draws):
        if record.whys is not None:
            yield draw, record.whys(draw.at) if n < _MOST else None


def _is_culled(found: Funnel) -> bool:
    """Whether culling alone dropped all primitives."""
    stage = found.narrowest
    return stage is not None and bool(stage.lost) and all(loss.register.startswith(_CULLING) for loss in stage.lost)


@RULES.rule(
    "switch.culled",
    "culling drops every primitive of a draw",
    severity="warning",
    confidence="inferred",
    source="class header clb197.h, OGL_SET_CULL_FACE, OGL_SET_FRONT_FACE",
    explanation="The draw shows nothing. Its corners may run the other way round.",
    hint="Cull the other side, or none; a viewport that mirrors turns the corners round.",
)
def culled(record: SwitchRecord) -> Iterator[Found]:
    for draw, found in _without_shape(record):
        if found is not None and _is_culled(found):
            yield Found(found.because, draw.at)


def _has_no_place(found: Funnel) -> bool:
    """Whether all primitives have NaN or infinity in their positions."""
    stage = found.narrowest
    return stage is not None and bool(stage.lost) and all(NO_PLACE in loss.reason for loss in stage.lost)


@RULES.rule(
    "switch.vertex-nan",
    "all primitives of a draw have NaN or infinity in their positions",
    severity="warning",
    confidence="documented",
    source="OpenGL 4.6, 13.7 (clipping); class header clb197.h",
    explanation="Such primitives have no place on the screen, so the draw shows nothing.",
    hint="Look at the constants of the vertex program and at its vertices: `state` with the address of the draw.",
)
def vertex_nan(record: SwitchRecord) -> Iterator[Found]:
    for draw, found in _without_shape(record):
        if found is not None and _has_no_place(found):
            yield Found(found.because, draw.at)


@RULES.rule(
    "switch.draw-nothing",
    "a draw without a visible primitive",
    severity="note",
    confidence="inferred",
    source="class header clb197.h, OGL_SET_CULL_FACE, SET_SCISSOR_HORIZONTAL, SET_VIEWPORT_SCALE_X",
    explanation="Primitives that are culled or outside the target cost time and show nothing. The line says why.",
    hint="`why` with the address of the draw shows more.",
)
def draw_nothing(record: SwitchRecord) -> Iterator[Found]:
    for draw, found in _without_shape(record):
        if found is None:
            yield Found("further draws have no visible primitive", draw.at)
        elif not _is_culled(found) and not _has_no_place(found):
            yield Found(found.because, draw.at)
