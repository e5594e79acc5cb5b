"""Which memory of a 3DS was written and which is in the processor's cache, held to sets of bytes."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from pocketgpu.inspect.rules.n3ds.memory_map import GRANULE, WrittenMemory

SIZE = 40 * GRANULE


def touched(offset: int, size: int) -> set[int]:
    """Groups of 16 bytes that a range has a byte of."""
    return {byte // GRANULE for byte in range(offset, offset + size)}


def test_marks_follow_sets_of_bytes() -> None:
    r = random.Random(4)
    for _ in range(30):
        memory: Any = SimpleNamespace(guest_end=SIZE)
        map_, written, dirty = WrittenMemory(memory), set[int](), set[int]()
        for _ in range(12):
            size = r.choice([1, 5, GRANULE, 3 * GRANULE, 100])
            offset = r.choice([r.randrange(SIZE - size), GRANULE * r.randrange((SIZE - size) // GRANULE)])
            act, part = r.choice(["processor", "gpu", "flush"]), touched(offset, size)
            if act == "flush":
                map_.flush(offset, size)
                dirty -= part
            else:
                map_.write(offset, size, by_processor=act == "processor")
                written |= part
                dirty = dirty | part if act == "processor" else dirty - part
            for first, count in ((0, SIZE), (offset, size), (r.randrange(SIZE - 100), r.randrange(1, 100))):
                part = touched(first, count)
                assert map_.missing(first, count) == min(GRANULE * len(part - written), count)
                assert map_.stale(first, count) == min(GRANULE * len(part & dirty), count)
