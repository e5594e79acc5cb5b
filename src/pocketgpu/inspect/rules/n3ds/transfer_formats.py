"""Conversions that the unit cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.pica.external.transfer import external_format


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        read, write = (external_format(unit.get(f"PPF_FLAGS.{name}_format")) for name in ("input", "output"))
        if read.bits not in (32, write.bits):
            yield Found(f"a display transfer from {read.name} to {write.name}", unit.at)


RULE = Rule(
    "transfer.formats",
    "a display transfer between formats that the unit cannot convert",
    "3DS",
    "error",
    "seen on hardware",
    "GBATEK 3DS GPU External Registers, Memory Copy",
    "RGBA8 goes to all formats, RGB8 only to itself, 16 bits only to 16 bits. Else the transfer never ends.",
    "Draw to RGBA8, or show the format that was drawn.",
    look,
)
