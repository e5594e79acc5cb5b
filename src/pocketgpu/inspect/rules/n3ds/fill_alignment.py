"""Fills off their grid."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("PSC"):
            yield Found(
                f"{lost.register} = {8 * lost.written:#010x} counts as {8 * lost.kept:#010x}: the unit knows multiples "
                "of 16 bytes", lost.at,
            )  # fmt: skip


RULE = Rule(
    "fill.alignment",
    "a memory fill that does not begin and end at multiples of 16 bytes",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU External Registers, Memory Fill",
    "The lowest bit of the registers cannot be set. Eight bytes more or less are filled.",
    "Align what is filled to 16 bytes.",
    look,
)
