"""Behaviour that nobody is sure of."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    for doubt, at in record.doubts:
        yield Found(f"{doubt.reason} (the switch {doubt.switch})", at)


RULE = Rule(
    "switch.doubt",
    "the picture depends on behaviour that the sources leave open",
    "Switch",
    "note",
    "inferred",
    "facts/switches: each switch names who says what",
    "Documents or simulators disagree there, or the data decide. What a console shows may be the other thing.",
    "`pocketgpu switches` tells the alternatives; render with --set to see them.",
    look,
)
