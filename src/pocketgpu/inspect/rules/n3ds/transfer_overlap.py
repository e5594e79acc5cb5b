"""Transfers onto themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for unit in (*record.transfers, *record.copies):
        if unit.source is not None and unit.target is not None and unit.source.overlaps(unit.target):
            yield Found(f"a transfer from {unit.source} to {unit.target}, which overlap", unit.at)


RULE = Rule(
    "transfer.overlap",
    "input and output of a transfer overlap",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/External Registers, Transfer Engine",
    "The unit reads and writes in bursts. What is read after it was written over is not known.",
    "Transfer to another place.",
    look,
)
