"""Contents of small captures with every kind of record, made by hand: they are read and written, not replayed."""

from __future__ import annotations

import numpy as np

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Gx,
    Load,
    Map,
    Narrow,
    Present,
    StateRecord,
    Store,
    Submit,
    Swap,
    Unmap,
    Writes,
)
from pocketgpu.facts.gsp import AddressRange


def words(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def picture(number: int, size: int = 8) -> bytes:
    return bytes((number * 37 + i * 11) & 0xFF for i in range(size))


def scene_3ds(frames: int = 3) -> Contents:
    contents = Contents("3DS", 8, about={"source": "by hand", "recorder": "tests"})
    contents.coverage = F.FULL_COVERAGE["3DS"] | F.PICTURES_COVERED
    contents.state = [
        StateRecord(0, words(1, 2, 3), 4), StateRecord(10, words(*range(40)), 256), StateRecord(2, words(7), 767),
    ]  # fmt: skip
    contents.ranges = [AddressRange(0x14000000, 0x20000000, 0x8000000), AddressRange(0x1F000000, 0x18000000, 0x600000)]
    shared = bytes(range(200)) + bytes(56)
    for n in range(frames):
        events: tuple[Event, ...] = (
            Load(0x20000000 + 4096 * n, (shared,)),
            Load(0x20100000, (bytes((n, 1, 2, n)), shared, b"")),
            Writes(words(0x10400010, 0x10400014, 0x1040001C), words(n, 0xFFFFFFFF, 0x201)),
            Narrow(0x10202001, 0x80 + n, 8),
            Narrow(0x10202002, 0x1234, 16),
            Gx((1, 0x14000000, 64, n, 0, 0, 0, 0x80000000)),
            Swap(n & 1, (0, 1, 2, 3, 4, 5, n), ((0x10400468, 0x18000000), (0x10400470, 0x80301))),
        )
        pictures = {0: picture(n), 1: picture(0), **({2: picture(9)} if n == 1 else {})}
        contents.frames.append(FrameContents(events, pictures))
    return contents


def scene_switch(frames: int = 3) -> Contents:
    contents = Contents("Switch", 12, check_size=2, about={"source": "by hand"})
    contents.coverage = F.FULL_COVERAGE["Switch"]
    contents.state = [StateRecord(65, words(5, 6), 0x100, 2, 0xB197), StateRecord(68, words(9), 0, 2)]
    contents.syncpoints = {8: 64, 9: 0xFFFFFFFF}
    for n in range(frames):
        entry = np.array([0x5_0000_0040 | 2 << 42, (0x5_0000_0080 | 1 << 63 | 3 << 42) + n], np.uint64)
        events: tuple[Event, ...] = (
            *([Unmap(3)] if n else []),
            Map(3, 0x5_0000_0000, 0x4000, 70, 0xFE),
            *([] if n else [Map(4, 0x7F_FFFF_F000, 0x1000, 0xFFFFFFFF, 0)]),
            *([] if n else [Map(9, 0x6_0000_0000, 0x2000, 70, 0xDB, 0x1000)]),
            Store(70, 64, 0x5_0000_0040, (bytes((n,)) * 300,)),
            Store(None, 0, 0x7F_FFFF_F000, (b"the same", b"bytes")),
            Submit(5, entry),
            Present(
                0x5_0000_0000, None if n else 70, 0 if n else 512, 16, 8, n, True, 2, 64, n & 7, (8, 65) if n else None,
                *((3, 5) if n == 1 else ()),
            ),
        )
        contents.frames.append(FrameContents(events, {0: picture(n, 12)} if n else None))
    return contents


def same_event(a: Event, b: Event) -> bool:
    """Whether two events say the same; how bytes are cut into pieces does not matter."""
    if type(a) is not type(b):
        return False
    for name in type(a).__dataclass_fields__:
        left, right = getattr(a, name), getattr(b, name)
        if name == "pieces":
            left, right = b"".join(left), b"".join(right)
        if isinstance(left, np.ndarray):
            if left.dtype != right.dtype or not np.array_equal(left, right):
                return False
        elif left != right:
            return False
    return True


def same_frames(a: list[FrameContents], b: list[FrameContents]) -> bool:
    """Whether frames have the same events and the same pictures."""
    return len(a) == len(b) and all(
        x.pictures == y.pictures and len(x.events) == len(y.events) and all(map(same_event, x.events, y.events))
        for x, y in zip(a, b, strict=True)
    )
