"""Targets off the grid of their tiles."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        used = {"COLORBUFFER": "color" in draw.writes, "DEPTHBUFFER": draw.uses_depth}
        for name, on in used.items():
            place = draw(f"{name}_LOC.address") << 3
            if on and place % 64:
                yield draw.found(f"{name}_LOC is {place:#010x}, which is no multiple of 64")
        width, _ = draw.size
        if width % 8:
            yield draw.found(f"FRAMEBUFFER_DIM.width is {width}, which is no multiple of 8")


RULE = Rule(
    "target.alignment",
    "a render target that does not begin at a multiple of 64 bytes, or has no whole tiles",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU Internal Registers, Framebuffer",
    "The lower bits of the address do not count, and rows of tiles of 8 pixels are what targets are made of.",
    "Align targets to 128 bytes, as drivers do, and make them a multiple of 8 wide.",
    look,
)
