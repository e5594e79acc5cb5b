"""A list whose end is never read."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for lost in record.lost:
        if lost.register.startswith("CMDBUF_SIZE"):
            yield Found(
                f"a list of {8 * lost.written} bytes runs as {8 * lost.kept} bytes: what comes after is not read",
                lost.at,
            )
        elif lost.register.startswith("CMDBUF_ADDR"):
            yield Found(f"a list at {8 * lost.written:#010x} is read from {8 * lost.kept:#010x} on", lost.at)


RULE = Rule(
    "list.size",
    "a command list that is no multiple of 16 bytes, or does not begin at one",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU Internal Registers, Command Lists",
    "The lowest bit of size and address cannot be set, so the last 8 bytes are never read. FINALIZE in them does not "
    "happen, and the console hangs (list.no-finalize).",
    "Pad the list; drivers append FINALIZE a second time.",
    look,
)
