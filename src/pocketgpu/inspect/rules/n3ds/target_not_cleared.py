"""Buffers that are read before anything was there."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in ("color", "depth") and read.range.size and read.missing >= read.range.size:
            use = "tested against" if read.kind == "depth" else "blended with"
            yield Found(
                f"the {read.what} at {read.range.address:#010x} ({read.name}) is {use}, and nothing ever wrote there",
                read.at,
            )


RULE = Rule(
    "target.not-cleared",
    "a draw depends on a colour or depth buffer that was never cleared",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_DEPTH_COLOR_MASK, GPUREG_BLEND_FUNC",
    "Here the buffer is 0; on a console it holds what was there before, so the picture differs from run to run.",
    "Fill colour and depth buffer before the first draw, at the addresses that the draw uses.",
    look,
)
