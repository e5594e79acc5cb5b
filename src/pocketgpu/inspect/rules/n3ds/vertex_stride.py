"""A stride that is too small."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.draws import DrawReader
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for n in range(12) if draw.triggered else ():
            size, stride = DrawReader.vertex_size(draw, n), draw(f"ATTRIBBUFFER{n}_CONFIG2.stride")
            if 0 < stride < size:
                yield draw.found(
                    f"ATTRIBBUFFER{n}_CONFIG2.stride is {stride}, but a vertex of the buffer has {size} bytes"
                )


RULE = Rule(
    "vertex.stride",
    "the stride of a vertex buffer is smaller than its vertices",
    "3DS",
    "warning",
    "inferred",
    "libn3ds, comments on attribute buffers; 3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2",
    "Each vertex overlaps the next one, and consoles may hang.",
    "The stride is the number of bytes from one vertex to the next.",
    look,
)
