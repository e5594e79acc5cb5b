"""Work of a fill or a transfer that is one native call: the next start with the same registers can repeat it."""

from __future__ import annotations

from typing import NamedTuple


class Work(NamedTuple):
    """handle, places, numbers: a kernel, with its 64-bit and its 32-bit arguments. written: the arena range that it
    writes. read, made: bytes for the traffic counters."""

    handle: int
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    written: tuple[int, int]
    read: int
    made: int
