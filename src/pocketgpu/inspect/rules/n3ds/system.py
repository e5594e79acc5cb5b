"""Rules about the system software and the console as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "gx.refused",
    "the system software refuses a GX command",
    severity="error",
    confidence="documented",
    source="3dbrew GSP Shared Memory",
    explanation=(
        "Addresses and sizes must be multiples of 8 and in memory that the GPU can access. The queue stops "
        "at the command."
    ),
    hint="The message names the word.",
)
def gx_refused(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("gsp.refused")


@RULES.rule(
    "register.hang",
    "an access to a register that hangs the bus, or does not exist",
    severity="error",
    confidence="documented",
    source="GBATEK 3DS GPU External Registers, Register Map",
    explanation="Some addresses of the GPU stop the processor that reads or writes them.",
    hint="Use the registers that the tables name.",
)
def register_hang(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("external.hang", "external.abort", "external.unmapped")


@RULES.rule(
    "memory.vram-off",
    "video memory is switched off",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU External Registers, VRAM power",
    explanation="A bank that is off loses what it holds.",
    hint="Write 0 to VRAM_POWER.",
)
def memory_vram_off(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("vram.off")
