"""Data that may still be in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    if not record.flushes:
        return
    for read in record.all_reads:
        if read.stale:
            yield Found(
                f"{read.what}: {read.stale} of {read.range.size} bytes at {read.range.address:#010x} were written by "
                "the processor and not flushed since", read.at,
            )  # fmt: skip


RULE = Rule(
    "cache.stale",
    "the GPU reads what the processor wrote without a cache flush",
    "3DS",
    "warning",
    "documented",
    "3dbrew GSP Shared Memory, FlushCacheRegions; GSPGPU:FlushDataCache",
    "The GPU does not see the processor's cache, and reads older data. Only recordings of GX commands tell of flushes, "
    "and only those of commands: where a program flushes by no command at all, nothing is looked for.",
    "Flush the range after writing it and before the command that reads it.",
    look,
)
