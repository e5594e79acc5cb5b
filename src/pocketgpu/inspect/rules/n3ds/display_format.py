"""Screens that take a picture for another one."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.external.transfer import external_format


def look(record: N3dsRecord) -> Iterator[Found]:
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


RULE = Rule(
    "display.format",
    "a screen shows a picture in another format than it was made in",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/External Registers, Framebuffer format",
    "The display controller has a format of its own, which no transfer changes.",
    "Write the format of the transfer's output to the framebuffer's.",
    look,
)
