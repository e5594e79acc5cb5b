"""Transfers that read a picture as another one."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.formats import FRAMEBUFFER_COLOR_FORMATS
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.external.transfer import external_format


def look(record: N3dsRecord) -> Iterator[Found]:
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
        told = " or ".join(f"{format}, {across} wide" for format, across in drawn)
        if name not in {format for format, _ in drawn}:
            yield Found(f"a display transfer takes a picture for {name} that was drawn as {told}", unit.at)
        elif width not in {across for _, across in drawn}:
            yield Found(f"a display transfer takes a picture for {width} wide that was drawn as {told}", unit.at)


RULE = Rule(
    "transfer.mismatch",
    "a display transfer takes a render target for another format or width",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/External Registers, Transfer Engine; GPU/Internal Registers, GPUREG_COLORBUFFER_FORMAT",
    "Formats 2 and 3 are exchanged between the 3D core and the display side: RGB565 is 3 there and 2 here.",
    "Compare PPF_FLAGS.input_format and PPF_INPUT_SIZE with the target's registers.",
    look,
)
