"""Rules about doubtful behaviour that a capture depends on."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.switch.record import SwitchRecord

RULES = RuleSet("Switch")


@RULES.rule(
    "switch.doubt",
    "the picture depends on behaviour that the sources leave open",
    severity="note",
    confidence="inferred",
    source="facts/choices: each choice names who says what",
    explanation=(
        "Documents or simulators disagree there, or the data decide. What a console shows may be the other thing."
    ),
    hint="`pocketgpu switches` tells the alternatives; render with --set to see them.",
)
def doubt(record: SwitchRecord) -> Iterator[Found]:
    for doubt, at in record.doubts:
        yield Found(f"{doubt.reason} (the choice {doubt.choice})", at)
