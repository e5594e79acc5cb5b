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
    source="facts/choices: each choice names what its sources say",
    explanation=(
        "Documents or simulators disagree, or the result depends on the data. A console may behave in the other way."
    ),
    hint="`pocketgpu switches` lists the alternatives; render with --set to see them.",
)
def doubt(record: SwitchRecord) -> Iterator[Found]:
    for doubt, at in record.doubts:
        yield Found(doubt.finding, at)
