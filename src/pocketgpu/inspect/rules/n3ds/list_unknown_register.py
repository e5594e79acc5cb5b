"""Writes that go nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for at, count in record.ignored:
        yield Found("a list writes to ids that have no register, or cannot be written from a list", at, count)


RULE = Rule(
    "list.unknown-register",
    "a list writes where there is no register",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU Internal Registers, Register Map",
    "Such writes do nothing. They often come of a header that is out of step with its parameters.",
    "The first parameter stands before its header; entries with an odd number of extra parameters are padded.",
    look,
)
