"""Rules about draws: what they read, and their targets."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.switch.record import SwitchRecord
from pocketgpu.wording import counted

RULES = RuleSet("Switch")


@RULES.rule(
    "switch.never-written",
    "a draw, a copy or a grid reads memory that nothing wrote",
    severity="warning",
    confidence="inferred",
    source="deko3d, memory blocks have no contents at first",
    explanation="Here such memory is 0. Writes are recorded in pages of 4096 bytes.",
    hint="Look at the address, the stride and the number of vertices.",
)
def never_written(record: SwitchRecord) -> Iterator[Found]:
    for read in record.reads:
        if read.missing and read.kind != "shown":
            yield Found(
                f"{read.what}: {read.missing} of {counted(read.range.size, 'byte')} at {read.range.address:#x} were "
                f"never written",
                read.at,
            )


@RULES.rule(
    "switch.no-program",
    "a draw without a vertex program, or with one that cannot be read",
    severity="error",
    confidence="documented",
    source="class header clb197.h, SET_PIPELINE_SHADER",
    explanation="Vertices get no position.",
    hint="Enable the stage, and look at SET_PROGRAM_REGION and SET_PIPELINE_PROGRAM.",
)
def no_program(record: SwitchRecord) -> Iterator[Found]:
    yield from record.findings_of("draw.program")
    for draw in record.draws:
        if not {"vertex", "vertex A"} & set(draw.stages):
            yield Found("a draw without a vertex program (SET_PIPELINE_SHADER)", draw.at)


@RULES.rule(
    "switch.unbound-constants",
    "a program reads a constant buffer that is not bound",
    severity="warning",
    confidence="documented",
    source="class header clb197.h, BIND_GROUP_CONSTANT_BUFFER",
    explanation="It reads as 0 here.",
    hint="Bind a buffer to the slot, for the group of the stage.",
)
def unbound_constants(record: SwitchRecord) -> Iterator[Found]:
    yield from record.findings_of("draw.constants")
    for draw in record.draws:
        for stage, slot in draw.unbound:
            yield Found(f"the {stage} program reads constant buffer {slot}, and nothing is bound there", draw.at)


@RULES.rule(
    "switch.target-texture",
    "a draw samples the target that it draws to",
    severity="warning",
    confidence="documented",
    source="OpenGL 4.5, Rendering Feedback Loops; class header clb197.h",
    explanation="What is sampled depends on how far the draw has come, and on the contents of caches.",
    hint="Draw to another target, or copy the texture first.",
)
def target_texture(record: SwitchRecord) -> Iterator[Found]:
    for draw in record.draws:
        for texture in draw.textures:
            for name, target in draw.targets:
                if texture.overlaps(target):
                    yield Found(f"a texture at {texture} overlaps the {name} at {target} of the same draw", draw.at)
