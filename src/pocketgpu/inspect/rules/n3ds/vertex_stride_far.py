"""A stride that does not fit what lies in memory."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.draws import DrawReader
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for read in draw.reads:
            if read.kind != "vertices" or not read.missing or draw.vertices < 2:
                continue
            n = int(read.what.rpartition(" ")[2])
            size, stride = DrawReader.vertex_size(draw, n), draw(f"ATTRIBBUFFER{n}_CONFIG2.stride")
            if stride > size and read.missing < read.range.size:
                yield draw.found(
                    f"ATTRIBBUFFER{n}_CONFIG2.stride is {stride} for vertices of {size} bytes: the last of "
                    f"{draw.vertices} vertices lie where nothing was written"
                )


RULE = Rule(
    "vertex.stride-far",
    "a stride leads out of what was written for the vertices",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2",
    "Vertices are read from between the written ones and from behind them.",
    "The stride is the number of bytes from one vertex to the next, padding included.",
    look,
)
