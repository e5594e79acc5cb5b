"""Vertices off the grid of their elements."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica import ATTRIBUTES
from pocketgpu.facts.pica_enums import INDEX_TYPE
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
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
                    yield draw.found(f"vertex buffer {n} has elements of {size} bytes, but its {what} is {shown}")
        index, wide = draw("INDEXBUFFER_CONFIG.offset"), draw("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16
        if draw.indexed and wide and (base + index) % 2:
            yield draw.found(f"indices of 2 bytes at {base + index:#010x}")


def _by_number(draw: DrawRecord) -> Iterator[list[tuple[int, int, int]]]:
    loaded = iter(draw.loaded)
    for n in range(ATTRIBUTES):
        yield next(loaded) if draw(f"ATTRIBBUFFER{n}_CONFIG2.count") else []


RULE = Rule(
    "vertex.alignment",
    "vertices or indices that are not aligned to the size of their elements",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU Geometry Pipeline, Attribute Buffers",
    "Simulators disagree what is read then: some round the address, some do not.",
    "Begin buffers at a multiple of 4, and make the stride one.",
    look,
)
