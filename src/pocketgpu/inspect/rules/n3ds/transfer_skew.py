"""Flipped and cropped at once."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in record.transfers:
        given, taken = unit.get("PPF_OUTPUT_SIZE.width"), unit.get("PPF_INPUT_SIZE.width")
        if unit.get("PPF_FLAGS.flip") and unit.get("PPF_FLAGS.crop") and given < taken:
            yield Found(f"a display transfer from {taken} to {given} wide with PPF_FLAGS.flip and crop", unit.at)


RULE = Rule(
    "transfer.skew",
    "a display transfer that flips and crops",
    "3DS",
    "warning",
    "seen on hardware",
    "Azahar, hardware test of flipped display transfers; the switch transfer.flip_crop",
    "The output lies elsewhere than the address says, and part of it before or behind the picture.",
    "Flip in the viewport, or crop in another transfer.",
    look,
)
