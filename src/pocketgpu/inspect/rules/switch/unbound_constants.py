"""Constant buffers that are not there."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    yield from record.tells("draw.constants")
    for draw in record.draws:
        for stage, slot in draw.unbound:
            yield Found(f"the {stage} program reads constant buffer {slot}, and nothing is bound there", draw.at)


RULE = Rule(
    "switch.unbound-constants",
    "a program reads a constant buffer that is not bound",
    "Switch",
    "warning",
    "documented",
    "class header clb197.h, BIND_GROUP_CONSTANT_BUFFER",
    "It reads as 0 here.",
    "Bind a buffer to the slot, for the group of the stage.",
    look,
)
