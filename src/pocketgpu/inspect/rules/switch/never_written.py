"""Reads of what nobody wrote."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    for read in record.reads:
        if read.missing:
            yield Found(
                f"{read.what}: {read.missing} of {read.range.size} bytes at {read.range.address:#x} were never written",
                read.at,
            )


RULE = Rule(
    "switch.never-written",
    "a draw, a copy or a grid reads memory that nothing wrote",
    "Switch",
    "warning",
    "inferred",
    "deko3d, memory blocks have no contents at first",
    "Here such memory is 0. Bytes are told apart in pages of 4096.",
    "Look at the address, the stride and the number of vertices.",
    look,
)
