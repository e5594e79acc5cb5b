"""Draws that write what they read."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
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


RULE = Rule(
    "target.inputs",
    "a texture, vertices or indices overlap the render target of the same draw",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_ADDR1, GPUREG_FRAMEBUFFER_FLUSH",
    "What the draw reads there depends on how far it came, and on what caches hold.",
    "Draw to another target, or copy what is read first.",
    look,
)
