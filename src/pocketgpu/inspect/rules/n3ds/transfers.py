"""Rules about the transfer engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.events import sized
from pocketgpu.facts.formats import FRAMEBUFFER_COLOR_FORMATS
from pocketgpu.facts.pica_enums import TRANSFER_SCALE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.pica.engines.transfer import LEAST_16_BIT, external_format

RULES = RuleSet("3DS")


@RULES.rule(
    "transfer.size",
    "a display transfer of no pixels",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Transfer Engine; simulators differ",
    explanation="Some sources say that the unit ends at once; others that no interrupt comes and the program hangs.",
    hint="Write width and height of input and output.",
)
def transfer_size(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        width, height = (unit.get(f"PPF_OUTPUT_SIZE.{name}") for name in ("width", "height"))
        if not (width and height and unit.get("PPF_INPUT_SIZE.width")):
            yield Found(
                f"a display transfer of {sized(width, height)}, from lines of {unit.get('PPF_INPUT_SIZE.width')}",
                unit.at,
            )


@RULES.rule(
    "transfer.formats",
    "a display transfer between formats that the unit cannot convert",
    severity="error",
    confidence="seen on hardware",
    source="GBATEK 3DS GPU External Registers, Memory Copy",
    explanation=(
        "RGBA8 converts to all formats, RGB8 only to itself, 16 bits only to 16 bits. Other transfers never end."
    ),
    hint="Draw to RGBA8, or show the format that was drawn.",
)
def transfer_formats(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        read, write = (external_format(unit.get(f"PPF_FLAGS.{name}_format")) for name in ("input", "output"))
        if read.bits not in (32, write.bits):
            yield Found(f"a display transfer from {read.name} to {write.name}", unit.at)


@RULES.rule(
    "transfer.small",
    "a display transfer of 16-bit pixels below 64x64",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/External Registers, Transfer Engine; libn3ds",
    explanation="The interrupt of a transfer from RGB5A1 to RGBA4 of 32x32 pixels never comes; 128x128 work.",
    hint="Transfer a larger part, or use a texture copy.",
)
def transfer_small(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        read, write = (external_format(unit.get(f"PPF_FLAGS.{name}_format")) for name in ("input", "output"))
        width, height = (unit.get(f"PPF_OUTPUT_SIZE.{name}") for name in ("width", "height"))
        if read.bits == write.bits == 16 and 0 < min(width, height) < LEAST_16_BIT:
            yield Found(f"a display transfer of {sized(width, height)} pixels of 16 bits", unit.at)


@RULES.rule(
    "transfer.flags",
    "flags of a display transfer that are not supported together",
    severity="error",
    confidence="documented",
    source="3dbrew GPU/External Registers, Transfer Engine flags",
    explanation="What the unit does then is not known; simulators refuse it, or differ.",
    hint="Use one tiling flag, scale 0 to 2, and scale tiled pictures only.",
)
def transfer_flags(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        if unit.get("PPF_FLAGS.no_tiling") and unit.get("PPF_FLAGS.linear_to_tiled"):
            yield Found("a display transfer with linear_to_tiled and no_tiling (PPF_FLAGS)", unit.at)
        if unit.get("PPF_FLAGS.scale") not in TRANSFER_SCALE:
            yield Found("a display transfer with scale code 3 (PPF_FLAGS)", unit.at)
        if unit.get("PPF_FLAGS.scale") and unit.get("PPF_FLAGS.linear_to_tiled"):
            yield Found("a display transfer of a linear picture that is scaled down (PPF_FLAGS)", unit.at)


@RULES.rule(
    "transfer.crop",
    "a display transfer whose lines differ in width without the flag for that",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/External Registers, Transfer Engine flags",
    explanation="Without the flag the unit steps through the input by the output's width: the picture is skewed.",
    hint="Set crop where output lines are shorter.",
)
def transfer_crop(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        given, taken = unit.get("PPF_OUTPUT_SIZE.width"), unit.get("PPF_INPUT_SIZE.width")
        if 0 < given < taken and not unit.get("PPF_FLAGS.crop"):
            yield Found(f"a display transfer to lines of {given} from lines of {taken} without PPF_FLAGS.crop", unit.at)
        elif given > taken > 0:
            yield Found(f"a display transfer to lines of {given} from lines of {taken}, which are shorter", unit.at)


@RULES.rule(
    "transfer.skew",
    "a display transfer that flips and crops",
    severity="warning",
    confidence="seen on hardware",
    source="Azahar, hardware test of flipped display transfers; the choice transfer.flip_crop",
    explanation="The output is not at the address that was given, and part of it is before or after the picture.",
    hint="Flip in the viewport, or crop in another transfer.",
)
def transfer_skew(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        given, taken = unit.get("PPF_OUTPUT_SIZE.width"), unit.get("PPF_INPUT_SIZE.width")
        if unit.get("PPF_FLAGS.flip") and unit.get("PPF_FLAGS.crop") and given < taken:
            yield Found(f"a display transfer from {taken} to {given} wide with PPF_FLAGS.flip and crop", unit.at)


@RULES.rule(
    "transfer.unmapped",
    "a transfer or texture copy goes beyond memory",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/External Registers, Transfer Engine",
    explanation="The unit reads and writes physical addresses, whatever is there.",
    hint="Look at addresses, sizes and gaps.",
)
def transfer_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("transfer.fault")


@RULES.rule(
    "transfer.hang",
    "a transfer or texture copy never ends",
    severity="error",
    confidence="seen on hardware",
    source="GBATEK 3DS GPU External Registers, Memory Copy; Azahar, hardware tests of texture copies",
    explanation="A copy of no bytes, or one with a gap and no width, raises no interrupt, and the unit stays busy.",
    hint="Give copies a size of at least 16 bytes, and lines a width where they have a gap.",
)
def transfer_hang(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("transfer.hang")


@RULES.rule(
    "transfer.overlap",
    "input and output of a transfer overlap",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Transfer Engine",
    explanation="The unit reads and writes in bursts. Which bytes are read after they were overwritten is not known.",
    hint="Transfer to another place.",
)
def transfer_overlap(record: N3dsRecord) -> Iterator[Found]:
    for unit in (*record.transfers, *record.copies):
        if unit.source is not None and unit.target is not None and unit.source.overlaps(unit.target):
            yield Found(f"a transfer from {unit.source} to {unit.target}, which overlap", unit.at)


@RULES.rule(
    "transfer.alignment",
    "a transfer with a size or an address that the unit cannot hold",
    severity="warning",
    confidence="documented",
    source="3dbrew and GBATEK, GPU External Registers, Memory Copy",
    explanation="Sizes are multiples of 8 pixels, addresses and copies of 16 bytes. The lower bits cannot be set.",
    hint="Round sizes up, and give targets room for that.",
)
def transfer_alignment(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("PPF"):
            yield Found(f"{lost.register} = {lost.written:#010x} counts as {lost.kept:#010x}", lost.at)


@RULES.rule(
    "transfer.mismatch",
    "a display transfer reads a render target with another format or width",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Transfer Engine; GPU/Internal Registers, GPUREG_COLORBUFFER_FORMAT",
    explanation="Formats 2 and 3 are exchanged between the 3D core and the display side: RGB565 is 3 there and 2 here.",
    hint="Compare PPF_FLAGS.input_format and PPF_INPUT_SIZE with the target's registers.",
)
def transfer_mismatch(record: N3dsRecord) -> Iterator[Found]:
    targets: dict[int, dict[tuple[str, int], None]] = {}
    for draw in record.draws:
        format = FRAMEBUFFER_COLOR_FORMATS.get(draw("COLORBUFFER_FORMAT.format"))
        if "color" in draw.writes and format is not None and not draw("COLOR_OPERATION.fragment_mode"):
            targets.setdefault(draw.writes["color"].address, {})[format.name, draw.size[0]] = None
    for unit in record.transfers:
        drawn = targets.get(unit.address("PPF_INPUT_ADDRESS"))
        if not drawn or unit.get("PPF_FLAGS.linear_to_tiled"):
            continue
        name, width = external_format(unit.get("PPF_FLAGS.input_format")).name, unit.get("PPF_INPUT_SIZE.width")
        text = " or ".join(f"{format}, {across} wide" for format, across in drawn)
        if name not in {format for format, _ in drawn}:
            yield Found(f"a display transfer takes a picture for {name} that was drawn as {text}", unit.at)
        elif width not in {across for _, across in drawn}:
            yield Found(f"a display transfer takes a picture for {width} wide that was drawn as {text}", unit.at)
