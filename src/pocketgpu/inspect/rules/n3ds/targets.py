"""Rules about colour and depth buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.events import sized
from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS
from pocketgpu.facts.pica_enums import COMPARE, DEPTH_FORMAT, PIXEL_SIZE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "target.unmapped",
    "a draw without a render target in memory",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/Internal Registers, GPUREG_COLORBUFFER_LOC, GPUREG_FRAMEBUFFER_DIM",
    explanation="The draw is left out here. A console writes to whatever is at that address.",
    hint="COLORBUFFER_LOC and DEPTHBUFFER_LOC hold physical addresses divided by 8.",
)
def target_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("draw.left-out")


@RULES.rule(
    "target.alignment",
    "a render target that does not begin at a multiple of 64 bytes, or does not consist of whole tiles",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU Internal Registers, Framebuffer",
    explanation=(
        "The lower bits of the address are ignored, and targets consist of tiles of 8x8 pixels."
    ),
    hint="Align targets to 128 bytes, as drivers do, and make their width a multiple of 8.",
)
def target_alignment(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        used = {"COLORBUFFER": "color" in draw.writes, "DEPTHBUFFER": draw.uses_depth}
        for name, on in used.items():
            place = draw(f"{name}_LOC.address") << 3
            if on and place % 64:
                yield draw.found(f"{name}_LOC is {place:#010x}, which is no multiple of 64")
        width, _ = draw.size
        if width % 8:
            yield draw.found(f"FRAMEBUFFER_DIM.width is {width}, which is no multiple of 8")


@RULES.rule(
    "target.overlap",
    "colour and depth buffer of a draw overlap",
    severity="error",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_LOC, GPUREG_DEPTHBUFFER_LOC",
    explanation="Each overwrites the other, in an order that depends on caches.",
    hint="Give the depth buffer memory of its own: 4 bytes a pixel with a stencil, 3 or 2 without.",
)
def target_overlap(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if isinstance(draw.target, str) or not draw.uses_depth:
            continue
        (color, size), (depth, depth_size) = draw.target.color, draw.target.depth
        writes = "color" in draw.writes or "depth" in draw.writes
        if depth_size and writes and color < depth + depth_size and depth < color + size:
            places = [draw(f"{name}_LOC.address") << 3 for name in ("COLORBUFFER", "DEPTHBUFFER")]
            yield draw.found(
                f"colour buffer ({places[0]:#010x}+{size:#x}) and depth buffer ({places[1]:#010x}+{depth_size:#x}) "
                "overlap"
            )


@RULES.rule(
    "target.inputs",
    "a texture, vertices or indices overlap the render target of the same draw",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_ADDR1, GPUREG_FRAMEBUFFER_FLUSH",
    explanation="What the draw reads there depends on how far it has come, and on the contents of caches.",
    hint="Draw to another target, or read from a copy.",
)
def target_inputs(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for read in draw.reads:
            if read.kind not in ("texture", "vertices", "indices"):
                continue
            for part, target in draw.writes.items():
                if read.range.overlaps(target):
                    buffer = "colour buffer" if part == "color" else "depth buffer"
                    yield draw.found(
                        f"{read.what} at {read.range} overlaps the {buffer} at {target} that the draw writes"
                    )


@RULES.rule(
    "target.sizes",
    "FRAMEBUFFER_DIM and RENDERBUF_DIM differ",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_RENDERBUF_DIM",
    explanation=(
        "The rasteriser has its own register for the size of the target. Simulators read one of the two."
    ),
    hint="Write the same word to both.",
)
def target_sizes(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        other = draw("RENDERBUF_DIM.width"), draw("RENDERBUF_DIM.height") + 1
        if other != draw.size:
            text = " and ".join(f"{name} is {sized(w, h)}" for name, (w, h) in
                                (("FRAMEBUFFER_DIM", draw.size), ("RENDERBUF_DIM", other)))  # fmt: skip
            yield draw.found(text)


_BITS = {PIXEL_SIZE.BITS_16: 16, PIXEL_SIZE.BITS_24: 24, PIXEL_SIZE.BITS_32: 32}


@RULES.rule(
    "target.pixel-size",
    "COLORBUFFER_FORMAT has a size that its format does not have",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_FORMAT",
    explanation="Simulators read only the format; the console's memory unit reads the size.",
    hint="Write 2 for RGBA8, 1 for RGB8 and 0 for formats of 16 bits.",
)
def target_pixel_size(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        format = FRAMEBUFFER_COLOR_FORMATS.get(draw("COLORBUFFER_FORMAT.format"))
        bits = _BITS.get(draw("COLORBUFFER_FORMAT.pixel_size"))
        if format is None:
            yield draw.found(f"COLORBUFFER_FORMAT.format is {draw('COLORBUFFER_FORMAT.format')}, which is no format")
        elif bits != format.bits:
            yield draw.found(f"COLORBUFFER_FORMAT.pixel_size says {bits or 'nothing known'} bits for {format.name}")


_READERS = ("transfer", "copy", "display", "texture")


@RULES.rule(
    "target.unused",
    "a render target that nothing reads",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_LOC; GPU/External Registers, Transfer Engine",
    explanation=(
        "No transfer, copy, texture or screen of the recording reads the picture. Often one of the two "
        "addresses is wrong."
    ),
    hint="Compare COLORBUFFER_LOC with the input address of the transfer.",
)
def target_unused(record: N3dsRecord) -> Iterator[Found]:
    read = [one for one in record.all_reads if one.kind in _READERS and one.range.size]
    if not any(one.kind in ("transfer", "copy") for one in read):
        return
    for draw in record.draws:
        target = draw.writes.get("color")
        if target is None or any(target.overlaps(one.range) for one in read):
            continue
        others = sorted({f"{one.range.address:#010x}" for one in read if one.kind in ("transfer", "copy")})
        width, height = draw.size
        yield draw.found(
            f"draws go to {sized(width, height)} pixels at {target.address:#010x} (COLORBUFFER_LOC), and nothing reads "
            "them: "
            f"transfers read {', '.join(others[:3])}"
        )


_READING = frozenset(COMPARE) - COMPARE.numbers("NEVER", "ALWAYS")
"""Comparisons whose outcome depends on what is stored."""


@RULES.rule(
    "target.read-off",
    "a test or blending needs a buffer that may not be read",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_READ, GPUREG_DEPTHBUFFER_READ",
    explanation=(
        "With reading off, the unit compares and blends with something other than memory; simulators differ in what."
    ),
    hint="Write 15 to COLORBUFFER_READ and 3 to DEPTHBUFFER_READ where the draw needs them.",
)
def target_read_off(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("COLOR_OPERATION.fragment_mode"):
            continue
        if draw.reads_color and not draw("COLORBUFFER_READ.mask"):
            yield draw.found("blending or a mask needs the colour buffer, but COLORBUFFER_READ is 0")
        if (
            draw.tests_depth
            and draw("DEPTH_COLOR_MASK.depth_function") in _READING
            and not draw("DEPTHBUFFER_READ.depth")
        ):
            yield draw.found("the depth test needs the depth buffer, but DEPTHBUFFER_READ.depth is 0")
        if draw.tests_stencil and draw("STENCIL_TEST.function") in _READING and not draw("DEPTHBUFFER_READ.stencil"):
            yield draw.found("the stencil test needs the stencil, but DEPTHBUFFER_READ.stencil is 0")


@RULES.rule(
    "target.write-off",
    "one register lets a buffer be written and another does not",
    severity="note",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_WRITE, GPUREG_DEPTHBUFFER_WRITE",
    explanation="Nothing is written. If that is intended, clear DEPTH_COLOR_MASK as well.",
    hint="Set both, or neither.",
)
def target_write_off(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("COLOR_OPERATION.fragment_mode"):
            continue
        colors = any(draw(f"DEPTH_COLOR_MASK.{name}") for name in ("red", "green", "blue", "alpha"))
        if colors and not draw("COLORBUFFER_WRITE.mask"):
            yield draw.found("DEPTH_COLOR_MASK lets colours be written, but COLORBUFFER_WRITE is 0")
        if draw.tests_depth and draw("DEPTH_COLOR_MASK.depth_write") and not draw("DEPTHBUFFER_WRITE.depth"):
            yield draw.found("DEPTH_COLOR_MASK lets depth be written, but DEPTHBUFFER_WRITE.depth is 0")


@RULES.rule(
    "stencil.format",
    "the stencil test is on and the depth buffer has no stencil",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_STENCIL_TEST, GPUREG_DEPTHBUFFER_FORMAT",
    explanation="Only D24S8 has a stencil.",
    hint="Use D24S8, or turn the test off.",
)
def stencil_format(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        format = draw("DEPTHBUFFER_FORMAT.format")
        if draw.tests_stencil and format != DEPTH_FORMAT.D24S8:
            known = DEPTH_FORMATS.get(format)
            yield draw.found(f"the stencil test is on, and DEPTHBUFFER_FORMAT is {known.name if known else format}")
