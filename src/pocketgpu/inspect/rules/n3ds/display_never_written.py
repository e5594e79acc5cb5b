"""Screens that show nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind == "display" and read.range.size and read.missing >= read.range.size:
            yield Found(f"{read.what}: nothing was ever written at {read.range.address:#010x} ({read.name})", read.at)


RULE = Rule(
    "display.never-written",
    "a screen shows memory that nothing wrote",
    "3DS",
    "note",
    "inferred",
    "3dbrew GPU/External Registers, LCD",
    "What is shown is whatever was there before; here it is black. Programs that use one screen often leave the other "
    "so.",
    "Show where the transfer went, or fill the framebuffer once.",
    look,
)
