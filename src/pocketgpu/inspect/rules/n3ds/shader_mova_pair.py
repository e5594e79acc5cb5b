"""MOVA after MOVA."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.shader.program import opcode


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        places = [a for a in program.addresses if opcode(program.code[a]).name == "MOVA"]
        for first, second in pairwise(places):
            if second == first + 1:
                yield Found(
                    f"the {program.unit} program has MOVA at {first:#05x} and again right behind", program.at,
                    program.draws,
                )  # fmt: skip


RULE = Rule(
    "shader.mova-pair",
    "two MOVA in a row",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU Shader Instruction Set",
    "Two MOVA next to each other are said to hang the unit.",
    "Put another instruction, or NOP, between them, or set both address registers at once.",
    look,
)
