"""Narrower output without cropping."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        given, taken = unit.get("PPF_OUTPUT_SIZE.width"), unit.get("PPF_INPUT_SIZE.width")
        if 0 < given < taken and not unit.get("PPF_FLAGS.crop"):
            yield Found(f"a display transfer to lines of {given} from lines of {taken} without PPF_FLAGS.crop", unit.at)
        elif given > taken > 0:
            yield Found(f"a display transfer to lines of {given} from lines of {taken}, which are shorter", unit.at)


RULE = Rule(
    "transfer.crop",
    "a display transfer whose lines differ in width without the flag for that",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/External Registers, Transfer Engine flags",
    "Without the flag the unit steps through the input by the output's width: the picture is skewed.",
    "Set crop where output lines are shorter.",
    look,
)
