"""Flags that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica_enums import TRANSFER_SCALE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        if unit.get("PPF_FLAGS.no_tiling") and unit.get("PPF_FLAGS.linear_to_tiled"):
            yield Found("a display transfer with linear_to_tiled and no_tiling (PPF_FLAGS)", unit.at)
        if unit.get("PPF_FLAGS.scale") not in TRANSFER_SCALE:
            yield Found("a display transfer with scale code 3 (PPF_FLAGS)", unit.at)
        if unit.get("PPF_FLAGS.scale") and unit.get("PPF_FLAGS.linear_to_tiled"):
            yield Found("a display transfer of a linear picture that is scaled down (PPF_FLAGS)", unit.at)


RULE = Rule(
    "transfer.flags",
    "flags of a display transfer that are not supported together",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/External Registers, Transfer Engine flags",
    "What the unit does then is not known; simulators refuse, or each do something else.",
    "Use one tiling flag, scale 0 to 2, and scale tiled pictures only.",
    look,
)
