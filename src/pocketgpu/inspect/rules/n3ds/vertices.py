"""Rules about vertex buffers and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.facts.pica import ATTRIBUTES
from pocketgpu.facts.pica_enums import INDEX_TYPE
from pocketgpu.facts.vertices import input_field
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord
from pocketgpu.wording import counted

RULES = RuleSet("3DS")


@RULES.rule(
    "vertex.stride",
    "the stride of a vertex buffer is smaller than its vertices",
    severity="warning",
    confidence="inferred",
    source="libn3ds, comments on attribute buffers; 3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2",
    explanation="Each vertex overlaps the next one, and consoles may hang.",
    hint="The stride is the number of bytes from one vertex to the next.",
)
def vertex_stride(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for n in range(12) if draw.triggered else ():
            size, stride = draw.vertex_size(n), draw(f"ATTRIBBUFFER{n}_CONFIG2.stride")
            if 0 < stride < size:
                yield draw.found(
                    f"ATTRIBBUFFER{n}_CONFIG2.stride is {stride}, but a vertex of the buffer has "
                    f"{counted(size, 'byte')}"
                )


@RULES.rule(
    "vertex.stride-far",
    "a stride leads out of the memory that was written for the vertices",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2",
    explanation="Vertices are read from between the written ones and from after them.",
    hint="The stride is the number of bytes from one vertex to the next, padding included.",
)
def vertex_stride_far(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for read in draw.reads:
            if read.kind != "vertices" or not read.missing or draw.vertices < 2:
                continue
            n = int(read.what.rpartition(" ")[2])
            size, stride = draw.vertex_size(n), draw(f"ATTRIBBUFFER{n}_CONFIG2.stride")
            if stride > size and read.missing < read.range.size:
                yield draw.found(
                    f"ATTRIBBUFFER{n}_CONFIG2.stride is {stride} for vertices of {counted(size, 'byte')}: the last of "
                    f"{draw.vertices} vertices lie where nothing was written"
                )


def _by_number(draw: DrawRecord) -> Iterator[list[tuple[int, int, int]]]:
    loaded = iter(draw.loaded)
    for n in range(ATTRIBUTES):
        yield next(loaded) if draw(f"ATTRIBBUFFER{n}_CONFIG2.count") else []


@RULES.rule(
    "vertex.alignment",
    "vertices or indices that are not aligned to the size of their elements",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU Geometry Pipeline, Attribute Buffers",
    explanation="Simulators disagree on what is read then: some round the address, some do not.",
    hint="Begin buffers at a multiple of 4, and make the stride a multiple of 4.",
)
def vertex_alignment(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if not draw.triggered:
            continue
        base = draw.bytes("ATTRIBBUFFERS_LOC.base")
        for n, components in enumerate(_by_number(draw)):
            size = max((size for code, size, _ in components if size), default=1)
            offset, stride = draw(f"ATTRIBBUFFER{n}_OFFSET.offset"), draw(f"ATTRIBBUFFER{n}_CONFIG2.stride")
            for what, value in (("address", base + offset), ("stride", stride)):
                if value % size:
                    shown = f"{value:#010x}" if what == "address" else str(value)
                    yield draw.found(
                        f"vertex buffer {n} has elements of {counted(size, 'byte')}, but its {what} is {shown}"
                    )
        index, wide = draw("INDEXBUFFER_CONFIG.offset"), draw("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16
        if draw.indexed and wide and (base + index) % 2:
            yield draw.found(f"indices of 2 bytes at {base + index:#010x}")


@RULES.rule(
    "vertex.unmapped",
    "vertices or indices are outside of memory",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_LOC",
    explanation="They read as 0 here. What a console reads there is not known.",
    hint="Offsets of buffers and indices count from ATTRIBBUFFERS_LOC.",
)
def vertex_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("vertex.unmapped")


_NAMES = ("ATTRIBBUFFERS_FORMAT_HIGH.count", "VSH_INPUTBUFFER_CONFIG.count", "VSH_NUM_ATTR.count")


@RULES.rule(
    "vertex.attributes",
    "registers disagree on how many attributes a vertex has",
    severity="warning",
    confidence="documented",
    source=(
        "3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_FORMAT_HIGH, GPUREG_VSH_INPUTBUFFER_CONFIG, "
        "GPUREG_VSH_NUM_ATTR"
    ),
    explanation=(
        "Simulators read one of them; on a console loaders, units and the vertex cache each read their own."
    ),
    hint="Write the same number, minus one, to all three.",
)
def vertex_attributes(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        names = _NAMES if draw.triggered else _NAMES[1:]
        counts = [draw(name) + 1 for name in names]
        if len(set(counts)) > 1:
            text = ", ".join(f"{name} says {count}" for name, count in zip(names, counts, strict=True))
            yield draw.found(f"the number of attributes is not the same everywhere: {text}")


@RULES.rule(
    "vertex.unloaded",
    "an attribute comes from no buffer and is not fixed",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_FORMAT_HIGH",
    explanation="Its input register keeps what the last draw left there, which differs from run to run.",
    hint="Name it in a buffer's components, or set its bit in the mask of fixed attributes.",
)
def vertex_unloaded(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if not draw.triggered:
            continue
        loaded = {code for loader in draw.loaded for code, size, _ in loader if size}
        fixed = draw("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask")
        count = min(draw("ATTRIBBUFFERS_FORMAT_HIGH.count") + 1, ATTRIBUTES)
        missing = [n for n in range(count) if n not in loaded and not fixed >> n & 1]
        if missing:
            yield draw.found(f"attributes {', '.join(map(str, missing))} are neither loaded nor fixed")


@RULES.rule(
    "vertex.input-unfed",
    "a vertex program reads an input register that no attribute fills",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_VSH_ATTRIBUTES_PERMUTATION",
    explanation="Registers that are not named keep what an earlier draw left there.",
    hint="Raise the number of attributes, or correct the permutation.",
)
def vertex_input_unfed(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        program = draw.programs.get("vertex")
        if program is None:
            continue
        count = draw("VSH_INPUTBUFFER_CONFIG.count") + 1
        fed = {draw(input_field(n)) for n in range(count)}
        missing = sorted(program.inputs - fed)
        if missing:
            names = ", ".join(f"v{n}" for n in missing)
            yield draw.found(f"the vertex program reads {names}, which none of the {counted(count, 'attribute')} fills")
