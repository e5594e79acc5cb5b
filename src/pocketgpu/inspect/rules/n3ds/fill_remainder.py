"""Fills that end inside of a pixel."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_WIDTH_24 = (1, 3)


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.fills:
        size = unit.address(f"{unit.unit}_END") - unit.address(f"{unit.unit}_START")
        if unit.get(f"{unit.unit}_CONTROL.width") in _WIDTH_24 and size > 0 and size % 3:
            yield Found(f"{unit.unit} fills {size} bytes with a value of 3 bytes", unit.at)


RULE = Rule(
    "fill.remainder",
    "a fill of 24 bits whose size is no multiple of 3",
    "3DS",
    "note",
    "inferred",
    "3dbrew GPU/External Registers, Memory Fill; simulators differ",
    "Whether the last value is cut or written whole, behind the end, is not known.",
    "Make the range a multiple of 48 bytes.",
    look,
)
