"""Fills of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.fills:
        start, end = unit.address(f"{unit.unit}_START"), unit.address(f"{unit.unit}_END")
        if end <= start:
            yield Found(f"{unit.unit} fills from {start:#010x} up to {end:#010x}, which is nothing", unit.at)
        elif not start:
            yield Found(f"{unit.unit} fills from address 0", unit.at)


RULE = Rule(
    "fill.empty",
    "a memory fill that ends before it begins",
    "3DS",
    "error",
    "documented",
    "3dbrew GSP Shared Memory, MemoryFill; GPU/External Registers, Memory Fill",
    "The third word is the end, no size. The system software refuses such a command; what the unit does is not known.",
    "Write the address behind the last byte.",
    look,
)
