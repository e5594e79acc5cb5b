"""Two inputs in one instruction."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica import SHADER_REGISTERS
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        for address in program.addresses:
            inputs = sorted({register for register, _ in program.sources(address) if register < SHADER_REGISTERS})
            if len(inputs) > 1:
                names = " and ".join(f"v{n}" for n in inputs)
                yield Found(
                    f"the {program.unit} program reads {names} in one instruction, {address:#05x}", program.at,
                    program.draws,
                )  # fmt: skip


RULE = Rule(
    "shader.two-inputs",
    "an instruction reads two different input registers",
    "3DS",
    "warning",
    "inferred",
    "picasso (the assembler), what it refuses of input registers",
    "The unit can read one input register in an instruction. Simulators read both.",
    "Move one of them to a temporary register first.",
    look,
)
