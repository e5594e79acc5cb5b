"""Windows: ranges of GPU addresses as arena offsets that a kernel can work on.

Nearly always a surface is contiguous in the arena, and the kernel works in place. Otherwise (pages mapped one by one,
holes) it works on a copy in the scratch area, whose mapped bytes are copied back. Unmapped bytes read as zero, writes
to them are lost, and there is a fault event.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import EngineHost

MAX_BYTES = 1 << 30
"""The most bytes that one operation may span or move; no surface of this chip is nearly as large."""
_ALIGN = 64


@dataclass(frozen=True)
class Window:
    """A range of addresses as kernels use it: byte 0 is at arena offset `offset`. pieces: where a copy is written
    back."""

    va: int
    size: int
    offset: int
    pieces: tuple[tuple[int | None, int], ...] = ()


class Scratch:
    """The host's scratch area, allocated from its start. Make a new one (`Scratch(host)`) for each operation."""

    def __init__(self, host: EngineHost) -> None:
        self._memory = host.memory
        self._at = host.scratch[0]
        self._at += -self._at % _ALIGN
        self._end = sum(host.scratch)
        self._host = host

    @property
    def left(self) -> int:
        """Bytes that are still free."""
        return self._end - self._at

    def take(self, size: int) -> int | None:
        """Arena offset of `size` bytes; None, with an event, if there is no room."""
        if size > self.left:
            self._host.report("warning", "engine.scratch", f"an operation needs {size} bytes more of scratch: left out")
            return None
        at = self._at
        self._at += size + (-size % _ALIGN)
        return at

    def put(self, data: np.ndarray[Any, Any]) -> int | None:
        """Arena offset of a copy of an array, None if there is no room."""
        at = self.take(data.nbytes)
        if at is not None:
            self._memory.arena[at : at + data.nbytes] = data.view(np.uint8).reshape(-1)
        return at

    def open(self, va: int, size: int, what: str) -> Window | None:
        """A window on `size` bytes at `va`, named `what` in events; None, with an event, if it is impossible."""
        memory = self._memory
        if not 0 < size <= MAX_BYTES or va < 0:
            self._host.report("fault", "engine.range", f"{what}: {size:#x} bytes at {va:#x} are no surface")
            return None
        offset = memory.offset_of(va, size)
        if offset is not None:
            return Window(va, size, offset)
        pieces = tuple(memory.spans(va, size))
        missed = sum(length for at, length in pieces if at is None)
        if missed:
            report_missed(self._host, what, va, size, missed)
            if missed == size:
                return None
        start = self.take(size)
        if start is None:
            return None
        at = start
        for place, length in pieces:
            memory.arena[at : at + length] = 0 if place is None else memory.arena[place : place + length]
            at += length
        return Window(va, size, start, pieces)

    def close(self, window: Window) -> None:
        """After writing to a window: write copies back, and stamp the pages."""
        memory = self._memory
        if not window.pieces:
            memory.touch(window.offset, window.size)
            return
        at = window.offset
        for place, length in window.pieces:
            if place is not None:
                memory.arena[place : place + length] = memory.arena[at : at + length]
                memory.touch(place, length)
            at += length


def report_missed(host: EngineHost, what: str, va: int, size: int, missed: int) -> None:
    """Report an access to unmapped addresses."""
    amount = "all" if missed == size else f"{missed:#x} of the"
    host.report("fault", "memory.unmapped", f"{what}: {amount} {size:#x} bytes at {va:#x} are not mapped")


def read(host: EngineHost, va: int, size: int, what: str) -> bytes:
    """Bytes of guest memory; unmapped ones are zero and make an event."""
    data, missed = host.memory.try_read(va, size)
    if missed:
        report_missed(host, what, va, size, missed)
    return data


def write(host: EngineHost, va: int, data: bytes, what: str) -> None:
    """Store bytes in guest memory; unmapped ones are lost and make an event."""
    missed = host.memory.try_write(va, data)
    if missed:
        report_missed(host, what, va, len(data), missed)


BYTES_PER_TICK = 16
"""The emulated time of moved bytes: about 10 GB/s, a little under half of what the chip's memory can do."""


def spend(host: EngineHost, size: int) -> None:
    """Add the time for moving so many bytes. A rough estimate; programs see it in time stamps only."""
    host.spend(size // BYTES_PER_TICK)
