"""Transfers that are too small to end."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.external.transfer import LEAST_16_BIT, external_format


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        read, write = (external_format(unit.get(f"PPF_FLAGS.{name}_format")) for name in ("input", "output"))
        width, height = (unit.get(f"PPF_OUTPUT_SIZE.{name}") for name in ("width", "height"))
        if read.bits == write.bits == 16 and 0 < min(width, height) < LEAST_16_BIT:
            yield Found(f"a display transfer of {width}x{height} pixels of 16 bits", unit.at)


RULE = Rule(
    "transfer.small",
    "a display transfer of 16-bit pixels below 64x64",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/External Registers, Transfer Engine; libn3ds",
    "The interrupt of a transfer from RGB5A1 to RGBA4 of 32x32 pixels never comes; 128x128 work.",
    "Transfer a larger part, or use a texture copy.",
    look,
)
