"""Rules about shader programs and their uniforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from pocketgpu.facts.pica import SHADER_REGISTERS
from pocketgpu.facts.pica_enums import SEMANTIC
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.n3ds.uniforms import UnsetUniform
from pocketgpu.pica.shader.program import opcode

RULES = RuleSet("3DS")


@RULES.rule(
    "shader.no-end",
    "a shader program without END",
    severity="error",
    confidence="seen on hardware",
    source="3dbrew GPU/Shader Instruction Set, END; devkitPro/picasso issue 34",
    explanation=(
        "The unit continues with whatever is after the program: remains of longer programs, or words of 0. What it "
        "does then depends on what ran before."
    ),
    hint="Put 'end' after the last instruction of main.",
)
def shader_no_end(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        last = program.runs_out
        if last is not None:
            yield Found(
                f"the {program.unit} program has no END: it runs on after instruction {last:#05x}", program.at,
                program.draws,
            )  # fmt: skip


@RULES.rule(
    "shader.endless",
    "a shader program that does not end",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Shader Instruction Set, Control Flow",
    explanation="The console has no limit on instructions: the unit never takes the next vertex.",
    hint="Look at the loop's integer uniform and at jumps back.",
)
def shader_endless(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("shader.endless")


@RULES.rule(
    "shader.break",
    "BREAK outside of a loop",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Shader Instruction Set, BREAK",
    explanation="BREAK takes an entry from the stack of loops. If it is empty, the unit hangs.",
    hint="Leave loops only from inside of them.",
)
def shader_break(record: N3dsRecord) -> Iterator[Found]:
    yield from record.findings_of("shader.break")
    for program in record.programs:
        if program.hangs:
            yield Found(
                f"the {program.unit} program can reach a BREAK outside of any loop", program.at, program.draws
            )


@RULES.rule(
    "shader.output-twice",
    "a shader program writes an output component more than once",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Shader Instruction Set, Registers",
    explanation="Each component of an output register must be written exactly once in a run; else the unit hangs.",
    hint="Collect the value in a temporary register and move it out at the end.",
)
def shader_output_twice(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        if program.runs_out is not None:
            continue  # instructions after its end are not its own
        twice, _ = program.output_writes
        for (register, component), address in sorted(twice.items()):
            yield Found(
                f"the {program.unit} program writes o{register}.{'xyzw'[component]} again at instruction "
                f"{address:#05x}",
                program.at, program.draws,
            )  # fmt: skip


@RULES.rule(
    "shader.output-missing",
    "an output component that the rasteriser takes is not written",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Shader Instruction Set, Registers",
    explanation="Output registers keep what an earlier vertex left there, or the unit waits for them.",
    hint="Write all components of every output that SH_OUTMAP names, on every path through the program.",
)
def shader_output_missing(record: N3dsRecord) -> Iterator[Found]:
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


@RULES.rule(
    "shader.two-inputs",
    "an instruction reads two different input registers",
    severity="warning",
    confidence="inferred",
    source="picasso (the assembler), what it refuses of input registers",
    explanation="The unit can read one input register in an instruction. Simulators read both.",
    hint="Move one of them to a temporary register first.",
)
def shader_two_inputs(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        for address in program.addresses:
            inputs = sorted({register for register, _ in program.sources(address) if register < SHADER_REGISTERS})
            if len(inputs) > 1:
                names = " and ".join(f"v{n}" for n in inputs)
                yield Found(
                    f"the {program.unit} program reads {names} in one instruction, {address:#05x}", program.at,
                    program.draws,
                )  # fmt: skip


@RULES.rule(
    "shader.mova-pair",
    "two MOVA in a row",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU Shader Instruction Set",
    explanation="Two MOVA next to each other are said to hang the unit.",
    hint="Put another instruction, or NOP, between them, or set both address registers at once.",
)
def shader_mova_pair(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        places = [a for a in program.addresses if opcode(program.code[a]).name == "MOVA"]
        for first, second in pairwise(places):
            if second == first + 1:
                yield Found(
                    f"the {program.unit} program has MOVA at {first:#05x} and again right after", program.at,
                    program.draws,
                )  # fmt: skip


@RULES.rule(
    "uniform.unset",
    "a float uniform that a program reads was never written",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM",
    explanation="It is 0 here. A console keeps what another program left there.",
    hint="Upload it before the draw; look at the register's number in the program's header.",
)
def uniform_unset(record: N3dsRecord) -> Iterator[Found]:
    groups: list[list[UnsetUniform]] = []
    for one in record.unset:
        last = groups[-1][-1] if groups else None
        near = last is not None and (last.unit, last.at, last.axes) == (one.unit, one.at, one.axes)
        if near and last is not None and last.register + 1 == one.register:
            groups[-1].append(one)
        else:
            groups.append([one])
    for group in groups:
        first, count = group[0], len(group)
        part = "" if first.axes == "xyzw" else f".{first.axes}"
        name = f"uniform c{first.register}{part}" if count == 1 else (
            f"uniforms c{first.register}{part} to c{group[-1].register}{part}"
        )  # fmt: skip
        yield Found(
            f"the {first.unit} program reads {name} at instruction {first.address:#05x} ({first.line}), and nothing "
            "ever wrote there", first.at, max(one.draws for one in group),
        )  # fmt: skip


@RULES.rule(
    "uniform.nan",
    "a float uniform that a program reads is NaN",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Shader Instruction Set, arithmetic; GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM",
    explanation="NaN spreads through every product and sum, and triangles with a NaN corner are not drawn.",
    hint="Look at what was divided by 0 when the matrix was made.",
)
def uniform_nan(record: N3dsRecord) -> Iterator[Found]:
    for program in record.programs:
        used = program.uniforms
        read = {key: found for key, found in sorted(program.nans.items()) if used.get(key[0], 0) >> key[1] & 1}
        registers: dict[int, list[tuple[int, str, int]]] = {}
        for (register, component), (at, count) in read.items():
            registers.setdefault(register, []).append((component, at, count))
        # A matrix that was divided by 0 is all NaN: one line for each register, not for each of 16 numbers.
        for register, parts in registers.items():
            name = f"c{register}.{''.join('xyzw'[component] for component, _, _ in parts)}"
            _, at, _ = parts[0]
            count = max(count for _, _, count in parts)
            yield Found(f"uniform {name}, which the {program.unit} program reads, is NaN", at, count)
