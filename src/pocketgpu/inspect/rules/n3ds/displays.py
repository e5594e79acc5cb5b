"""Rules about what the screens show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.facts.pica_enums import TRANSFER_SCALE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord, UnitRecord
from pocketgpu.pica.engines.transfer import external_format
from pocketgpu.wording import counted

RULES = RuleSet("3DS")


@RULES.rule(
    "display.never-written",
    "a screen shows memory that nothing wrote",
    severity="note",
    confidence="inferred",
    source="3dbrew GPU/External Registers, LCD",
    explanation=(
        "A console shows whatever was there before; here it is black. Programs that use one screen often leave the "
        "other screen so."
    ),
    hint="Show the address that the transfer writes to, or fill the framebuffer once.",
)
def display_never_written(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind == "display" and read.range.size and read.missing >= read.range.size:
            yield Found(f"{read.what}: nothing was ever written at {read.range.address:#010x} ({read.name})", read.at)


@RULES.rule(
    "display.format",
    "a screen shows a picture in another format than it was written in",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Framebuffer format",
    explanation="The display controller has its own format register. A transfer does not change it.",
    hint="Write the output format of the transfer to the format register of the framebuffer.",
)
def display_format(record: N3dsRecord) -> Iterator[Found]:
    made: dict[int, str] = {}
    for unit in record.transfers:
        if unit.target is not None and not unit.get("PPF_FLAGS.linear_to_tiled"):
            made[unit.target.address] = external_format(unit.get("PPF_FLAGS.output_format")).name
    for shown in record.shown:
        name = external_format(shown.format).name
        if made.get(shown.address, name) != name:
            yield Found(
                f"the {shown.screen} screen shows {shown.address:#010x} as {name}, transfers write "
                f"{made[shown.address]} there", shown.at,
            )  # fmt: skip


@RULES.rule(
    "display.stride",
    "a screen steps through a picture by another width than it was written with",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Framebuffer stride; Transfer Engine",
    explanation="Each line on the screen begins at another place of a line of the picture: it is skewed.",
    hint="Write width times bytes of a pixel to the stride, or transfer lines of 240 pixels.",
)
def display_stride(record: N3dsRecord) -> Iterator[Found]:
    made: dict[int, UnitRecord] = {}
    for unit in record.transfers:
        if unit.target is not None and not unit.get("PPF_FLAGS.linear_to_tiled"):
            made[unit.target.address] = unit
    for shown in record.shown:
        writer = made.get(shown.address)
        if writer is None:
            continue
        written = writer.get("PPF_OUTPUT_SIZE.width")
        if writer.get("PPF_FLAGS.scale") in (TRANSFER_SCALE.TWO_BY_ONE, TRANSFER_SCALE.TWO_BY_TWO):
            written //= 2
        written *= external_format(writer.get("PPF_FLAGS.output_format")).bits // 8
        # Two pictures side by side for stereo share a stride of twice their width.
        if shown.stride > 0 and shown.stride % max(written, 1):
            yield Found(
                f"the {shown.screen} screen steps {counted(shown.stride, 'byte')} from line to line at "
                f"{shown.address:#010x}, "
                f"and the transfer {writer.at} wrote lines of {counted(written, 'byte')} (PPF_OUTPUT_SIZE)", shown.at,
            )  # fmt: skip


@RULES.rule(
    "display.unmapped",
    "a screen shows addresses where no memory is",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/External Registers, LCD",
    explanation="Framebuffer registers take physical addresses.",
    hint="Look at address and stride.",
)
def display_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("display.unmapped")
