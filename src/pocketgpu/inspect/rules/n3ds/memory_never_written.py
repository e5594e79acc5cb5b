"""Reads of what nobody wrote."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_KINDS = ("list", "vertices", "indices", "texture")


def look(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in _KINDS and read.missing:
            where = f" ({read.name})" if read.name else ""
            yield Found(
                f"{read.what}: {read.missing} of {read.range.size} bytes at {read.range.address:#010x} "
                f"were never written{where}", read.at,
            )  # fmt: skip


RULE = Rule(
    "memory.never-written",
    "vertices, indices, textures or lists are read from memory that nothing wrote",
    "3DS",
    "warning",
    "inferred",
    "3dbrew Memory layout",
    "Here such memory is 0. On a console it holds what another program left there. Bytes are told apart in groups "
    "of 16.",
    "Look at the address and the size; a recording that began late may also lack what was written before.",
    look,
)
