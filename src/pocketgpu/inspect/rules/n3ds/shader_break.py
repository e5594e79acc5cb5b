"""BREAK without a loop."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    yield from record.tells("shader.break")
    for program in record.programs:
        if program.hangs:
            yield Found(
                f"the {program.unit} program can come to a BREAK outside of any loop", program.at, program.draws
            )


RULE = Rule(
    "shader.break",
    "BREAK outside of a loop",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Shader Instruction Set, BREAK",
    "BREAK takes an entry from the stack of loops. With none there, the unit hangs.",
    "Leave loops only from inside of them.",
    look,
)
