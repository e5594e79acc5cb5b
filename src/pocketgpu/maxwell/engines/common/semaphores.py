"""Releases: words that engines write when work is done, and reductions of words in memory.

Source: class headers for the fields; `reductions.reduce_word` has the operations.
"""

from __future__ import annotations

import struct

import numpy as np

from pocketgpu.facts.dialect.registers import Field
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.common.windows import read, write
from pocketgpu.maxwell.host.reductions import reduce_word


def reduction_name(field: Field, value: int) -> str:
    """The reduction that a field names, in `reduce_word`'s names: RED_ADD and IADD are ADD. "" for a reserved one."""
    name = field.values.get(field.raw(value), "").removeprefix("RED_")
    return name.removeprefix("I") if name not in ("INC",) else name


def is_signed(field: Field, value: int) -> bool:
    """Whether a field's format of a reduction is signed."""
    return field.raw(value) == field.values.SIGNED_32


def reduce(op: str, old: int, payload: int, signed: bool) -> int:
    """The result of a reduction."""
    if op != "FADD":
        return reduce_word(op, old, payload, signed)
    a, b = (np.array([w], np.uint32).view(np.float32)[0] for w in (old, payload))
    with np.errstate(all="ignore"):
        return int(np.float32(a + b).view(np.uint32))


def release(host: EngineHost, address: int, value: int, four_words: bool, what: str) -> None:
    """Write a semaphore: one word, or 64 bits of `value` followed by a 64-bit time stamp."""
    data = struct.pack("<I", value & 0xFFFFFFFF)
    if four_words:
        data = struct.pack("<QQ", value & 0xFFFF_FFFF_FFFF_FFFF, host.timestamp())
    write(host, address, data, what)
    host.stats.semaphores += 1


def reduction(host: EngineHost, address: int, op: str, payload: int, signed: bool, what: str) -> None:
    """Apply a reduction to the word at an address; a reserved one (`op` is "") is an event."""
    if not op:
        host.report("fault", "engine.reduction", f"{what}: the field names no reduction")
        return
    old = int.from_bytes(read(host, address, 4, what), "little")
    write(host, address, struct.pack("<I", reduce(op, old, payload, signed)), what)
    host.stats.semaphores += 1
