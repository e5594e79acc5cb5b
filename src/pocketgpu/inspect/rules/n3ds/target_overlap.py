"""Colour and depth in one place."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
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


RULE = Rule(
    "target.overlap",
    "colour and depth buffer of a draw overlap",
    "3DS",
    "error",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_LOC, GPUREG_DEPTHBUFFER_LOC",
    "Each is written over the other, in an order that caches decide.",
    "Give the depth buffer memory of its own: 4 bytes a pixel with a stencil, 3 or 2 without.",
    look,
)
