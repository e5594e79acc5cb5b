"""A program that runs out of its code."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        last = program.runs_out
        if last is not None:
            yield Found(
                f"the {program.unit} program has no END: it runs on behind instruction {last:#05x}", program.at,
                program.draws,
            )  # fmt: skip


RULE = Rule(
    "shader.no-end",
    "a shader program without END",
    "3DS",
    "error",
    "seen on hardware",
    "3dbrew GPU/Shader Instruction Set, END; devkitPro/picasso issue 34",
    "The unit goes on with whatever lies behind the program: remains of longer programs, or instructions made of "
    "nothing. What it does then depends on what ran before.",
    "Put 'end' behind the last instruction of main.",
    look,
)
