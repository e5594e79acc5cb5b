"""Draws without geometry programs behind draws with one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for (frame, before, _), (other, now, at) in pairwise(record.order):
        if frame == other and before and not now:
            yield Found("draws without a geometry program follow draws with one in the same frame", at)


RULE = Rule(
    "geometry.switch",
    "the geometry stage is switched off within a frame",
    "3DS",
    "warning",
    "seen on hardware",
    "devkitPro/citro3d issues 53 and 56",
    "Programs that drew with a geometry program first and without one afterwards have hung consoles; the other order "
    "worked. Uniforms of the geometry unit were found cleared, too.",
    "Draw what needs the geometry program last, or give every program a geometry part.",
    look,
)
