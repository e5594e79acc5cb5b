"""Transfers of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        width, height = (unit.get(f"PPF_OUTPUT_SIZE.{name}") for name in ("width", "height"))
        if not (width and height and unit.get("PPF_INPUT_SIZE.width")):
            yield Found(
                f"a display transfer of {width}x{height}, from lines of {unit.get('PPF_INPUT_SIZE.width')}", unit.at
            )


RULE = Rule(
    "transfer.size",
    "a display transfer of no pixels",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/External Registers, Transfer Engine; simulators differ",
    "Some say that the unit ends at once, some that no interrupt comes, and the program waits for ever.",
    "Write width and height of input and output.",
    look,
)
