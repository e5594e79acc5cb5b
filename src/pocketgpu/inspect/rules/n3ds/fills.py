"""Rules about memory fills."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.wording import counted

RULES = RuleSet("3DS")


@RULES.rule(
    "fill.empty",
    "a memory fill that ends before it begins",
    severity="error",
    confidence="documented",
    source="3dbrew GSP Shared Memory, MemoryFill; GPU/External Registers, Memory Fill",
    explanation=(
        "The third word is the end, not a size. The system software refuses such a command; what the unit does "
        "is not known."
    ),
    hint="Write the address after the last byte.",
)
def fill_empty(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.fills:
        start, end = unit.address(f"{unit.unit}_START"), unit.address(f"{unit.unit}_END")
        if end <= start:
            yield Found(f"{unit.unit} fills from {start:#010x} up to {end:#010x}, which is nothing", unit.at)
        elif not start:
            yield Found(f"{unit.unit} fills from address 0", unit.at)


@RULES.rule(
    "fill.unmapped",
    "a memory fill goes beyond memory",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/External Registers, Memory Fill",
    explanation="The unit writes to physical addresses, whatever is there.",
    hint="Look at the end of the range.",
)
def fill_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("fill.unmapped")


@RULES.rule(
    "fill.alignment",
    "a memory fill that does not begin and end at multiples of 16 bytes",
    severity="warning",
    confidence="documented",
    source="GBATEK 3DS GPU External Registers, Memory Fill",
    explanation="The lowest bit of the registers cannot be set. Eight bytes more or less are filled.",
    hint="Align start and end to 16 bytes.",
)
def fill_alignment(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("PSC"):
            yield Found(
                f"{lost.register} = {8 * lost.written:#010x} counts as {8 * lost.kept:#010x}: the unit takes multiples "
                "of 16 bytes", lost.at,
            )  # fmt: skip


_WIDTH_24 = (1, 3)


@RULES.rule(
    "fill.remainder",
    "a fill of 24 bits whose size is no multiple of 3",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Memory Fill; simulators differ",
    explanation="Whether the last value is cut, or written whole beyond the end, is not known.",
    hint="Make the range a multiple of 48 bytes.",
)
def fill_remainder(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.fills:
        size = unit.address(f"{unit.unit}_END") - unit.address(f"{unit.unit}_START")
        if unit.get(f"{unit.unit}_CONTROL.width") in _WIDTH_24 and size > 0 and size % 3:
            yield Found(f"{unit.unit} fills {counted(size, 'byte')} with a value of 3 bytes", unit.at)
