"""Draws that come to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_MOST = 8


def look(record: N3dsRecord) -> Iterator[Found]:
    asked = 0
    for draw in record.draws:
        if draw.empty < draw.draws or isinstance(draw.target, str) or record.whys is None:
            continue
        if asked == _MOST:
            yield draw.found("further draws give no triangle")
            continue
        asked += 1
        yield draw.found(record.whys(draw.first).because)


RULE = Rule(
    "draw.nothing",
    "a draw of which no triangle is left",
    "3DS",
    "note",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_FACECULLING_CONFIG, GPUREG_VIEWPORT_XY",
    "What is culled, or lies outside, costs time and shows nothing. The line says what became of the triangles.",
    "`why` with the address of the draw tells more.",
    look,
)
