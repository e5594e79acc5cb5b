"""Draws without programs."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    yield from record.tells("draw.program")
    for draw in record.draws:
        if not {"vertex", "vertex A"} & set(draw.stages):
            yield Found("a draw without a vertex program (SET_PIPELINE_SHADER)", draw.at)


RULE = Rule(
    "switch.no-program",
    "a draw without a vertex program, or with one that cannot be read",
    "Switch",
    "error",
    "documented",
    "class header clb197.h, SET_PIPELINE_SHADER",
    "There is nothing that gives vertices a position.",
    "Enable the stage, and look at SET_PROGRAM_REGION and SET_PIPELINE_PROGRAM.",
    look,
)
