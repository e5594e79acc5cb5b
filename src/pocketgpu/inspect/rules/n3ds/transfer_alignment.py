"""Sizes and addresses off the unit's grid."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("PPF"):
            yield Found(f"{lost.register} = {lost.written:#010x} counts as {lost.kept:#010x}", lost.at)


RULE = Rule(
    "transfer.alignment",
    "a transfer with a size or an address that the unit cannot hold",
    "3DS",
    "warning",
    "documented",
    "3dbrew and GBATEK, GPU External Registers, Memory Copy",
    "Sizes are multiples of 8 pixels, addresses and copies of 16 bytes. The lower bits cannot be set.",
    "Round sizes up, and give targets room for that.",
    look,
)
