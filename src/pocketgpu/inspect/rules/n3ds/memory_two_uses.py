"""Bytes that are read as two things."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_KINDS = ("vertices", "indices", "texture")


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        reads = [read for kind in _KINDS for read in draw.reads if read.kind == kind]
        for one, other in combinations(reads, 2):
            if one.kind != other.kind and one.range.overlaps(other.range):
                yield draw.found(f"{one.what} at {one.range} ({one.name}) overlaps {other.what} at {other.range}")


RULE = Rule(
    "memory.two-uses",
    "a draw reads the same bytes as vertices and as indices or a texture",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2, GPUREG_INDEXBUFFER_CONFIG",
    "One of them reaches into the other: a stride or a number of vertices is too large, or an address is wrong.",
    "Look at strides, at the largest index, and at offsets, which count from ATTRIBBUFFERS_LOC.",
    look,
)
