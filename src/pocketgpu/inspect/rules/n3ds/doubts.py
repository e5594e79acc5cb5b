"""Rules about doubtful behaviour that a capture depends on."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.n3ds.inventory import doubts
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "doubt",
    "the picture depends on behaviour that the sources leave open",
    severity="note",
    confidence="inferred",
    source="facts/choices: each choice names what its sources say",
    explanation="Documents or simulators disagree. A console may behave in the other way.",
    hint="`pocketgpu switches` lists the alternatives; render with --set to see them.",
)
def doubt(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for doubt in doubts.of_draw(draw):
            if doubt.certain:
                yield draw.found(doubt.finding)
    for unit in record.units:
        for doubt in doubts.of_unit(unit.unit, unit.words):
            if doubt.certain:
                yield Found(doubt.finding, unit.at)
