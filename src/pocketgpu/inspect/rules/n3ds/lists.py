"""Rules about command lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "list.no-finalize",
    "a command list ends without FINALIZE",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_FINALIZE",
    explanation="A write to FINALIZE raises the interrupt P3D. Without it the system software waits forever.",
    hint="End the list with FINALIZE = 0x12345678, inside of its last 16 bytes.",
)
def list_no_finalize(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("list.no-finalize")


@RULES.rule(
    "list.endless",
    "a command list does not end",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, Command List",
    explanation=(
        "A jump drops the rest of the running list, and there is no return: lists that jump to each other run forever."
    ),
    hint="Set the address and the size of the next list before each jump.",
)
def list_endless(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("list.endless")


@RULES.rule(
    "list.unmapped",
    "a command list, or the target of a jump, is not in memory",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/Internal Registers, GPUREG_CMDBUF_ADDR",
    explanation="The unit takes physical addresses. What it reads outside of memory is not a command list.",
    hint="Give the physical address divided by 8, and the size of the whole list.",
)
def list_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("list.unmapped", "list.unmapped-jump")


@RULES.rule(
    "list.size",
    "a command list whose size or address is no multiple of 16 bytes",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU Internal Registers, Command Lists",
    explanation=(
        "The lowest bit of size and address cannot be set, so the last 8 bytes are never read. FINALIZE in them "
        "does not happen, and the console hangs (list.no-finalize)."
    ),
    hint="Pad the list; drivers append FINALIZE a second time.",
)
def list_size(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("CMDBUF_SIZE"):
            yield Found(
                f"a list of {8 * lost.written} bytes runs as {8 * lost.kept} bytes: what comes after is not read",
                lost.at,
            )
        elif lost.register.startswith("CMDBUF_ADDR"):
            yield Found(f"a list at {8 * lost.written:#010x} is read from {8 * lost.kept:#010x} on", lost.at)


@RULES.rule(
    "list.unknown-register",
    "a list writes where there is no register",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU Internal Registers, Register Map",
    explanation="Such writes do nothing. Often the cause is a header that is out of step with its parameters.",
    hint="The first parameter precedes its header; entries with an odd number of extra parameters are padded.",
)
def list_unknown_register(record: N3dsRecord) -> Iterator[Found]:
    for at, count in record.ignored:
        yield Found("a list writes to ids that have no register, or cannot be written from a list", at, count)
