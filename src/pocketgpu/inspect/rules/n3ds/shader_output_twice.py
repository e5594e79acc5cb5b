"""An output written again."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        if program.runs_out is not None:
            continue  # what stands behind its last instruction is none of its own
        twice, _ = program.output_writes
        for (register, component), address in sorted(twice.items()):
            yield Found(
                f"the {program.unit} program writes o{register}.{'xyzw'[component]} again at instruction "
                f"{address:#05x}",
                program.at, program.draws,
            )  # fmt: skip


RULE = Rule(
    "shader.output-twice",
    "a shader program writes an output component more than once",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Shader Instruction Set, Registers",
    "Each component of an output register must be written exactly once in a run; else the unit hangs.",
    "Collect the value in a temporary register and move it out at the end.",
    look,
)
