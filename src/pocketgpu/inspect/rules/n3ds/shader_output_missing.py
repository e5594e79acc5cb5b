"""An output that is never written."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.pica import SHADER_REGISTERS
from pocketgpu.facts.pica_enums import SEMANTIC
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        unit = "geometry" if draw.geometry else "vertex"
        program = draw.programs.get(unit)
        if program is None or program.graph is None or program.runs_out is not None:
            continue
        mask = draw("GSH_OUTMAP_MASK.mask" if draw.geometry else "VSH_OUTMAP_MASK.mask")
        registers = [n for n in range(SHADER_REGISTERS) if mask >> n & 1]
        written = {part for node in program.reached for a in node.addresses for part in program.written(a)}
        sure = written if draw.geometry else program.output_writes[1]
        missing = [
            f"o{registers[n // 4]}.{'xyzw'[n % 4]}"
            for n, meaning in enumerate(draw.outputs)
            if meaning != SEMANTIC.UNUSED and n // 4 < len(registers) and (registers[n // 4], n % 4) not in sure
        ]
        if missing:
            yield draw.found(f"the {unit} program does not always write {', '.join(missing)}, which SH_OUTMAP uses")


RULE = Rule(
    "shader.output-missing",
    "an output component that the rasteriser takes is not written",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Shader Instruction Set, Registers",
    "Output registers keep what an earlier vertex left there, or the unit waits for them.",
    "Write all components of every output that SH_OUTMAP names, on every way through the program.",
    look,
)
