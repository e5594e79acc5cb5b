"""Uniforms that are no numbers."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        used = program.uniforms
        read = {key: found for key, found in sorted(program.nans.items()) if used.get(key[0], 0) >> key[1] & 1}
        registers: dict[int, list[tuple[int, str, int]]] = {}
        for (register, component), (at, count) in read.items():
            registers.setdefault(register, []).append((component, at, count))
        # A matrix that was divided by 0 has NaN all over: a line for each register, not for each of 16 numbers.
        for register, parts in registers.items():
            name = f"c{register}.{''.join('xyzw'[component] for component, _, _ in parts)}"
            _, at, _ = parts[0]
            count = max(count for _, _, count in parts)
            yield Found(f"uniform {name}, which the {program.unit} program reads, is NaN", at, count)


RULE = Rule(
    "uniform.nan",
    "a float uniform that a program reads is NaN",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Shader Instruction Set, arithmetic; GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM",
    "NaN spreads through every product and sum, and triangles with a NaN corner are not drawn.",
    "Look at what was divided by 0 when the matrix was made.",
    look,
)
