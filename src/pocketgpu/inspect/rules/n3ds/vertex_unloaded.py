"""Attributes from nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica import ATTRIBUTES
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if not draw.triggered:
            continue
        loaded = {code for loader in draw.loaded for code, size, _ in loader if size}
        fixed = draw("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask")
        count = min(draw("ATTRIBBUFFERS_FORMAT_HIGH.count") + 1, ATTRIBUTES)
        missing = [n for n in range(count) if n not in loaded and not fixed >> n & 1]
        if missing:
            yield draw.found(f"attributes {', '.join(map(str, missing))} are neither loaded nor fixed")


RULE = Rule(
    "vertex.unloaded",
    "an attribute comes from no buffer and is not fixed",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_FORMAT_HIGH",
    "Its input register keeps what the last draw left there, which is another thing in every run.",
    "Name it in a buffer's components, or set its bit in the mask of fixed attributes.",
    look,
)
