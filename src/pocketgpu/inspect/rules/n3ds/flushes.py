"""What a running program forgets to flush: the GPU or a display reads bytes that its processor wrote and that would
still be in the cache of a console's processor.

    app = pocketgpu.run("app.elf")
    watch = FlushWatch(app.console.kernel)
    app.frames(60)
    print(watch.found[0])

    f12/e3: texture unit 0 reads 4 bytes at 0x20010190 that were written and not flushed; by draw+0x38 < main+0x74

A copy of memory is kept as the GPU would see it: what is flushed is copied there, and what the GPU writes. Bytes that
differ when somebody reads them are found. A byte that is written again with its own value does not differ.
Source: 3dbrew GSP Shared Memory, FlushCacheRegions; GSPGPU:FlushDataCache. Lines have 32 bytes: ARM11 MPCore manual.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.app import App
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.rules import Found
from pocketgpu.inspect.model.stale import Stale, trace_of
from pocketgpu.inspect.rules.n3ds.record import Read
from pocketgpu.inspect.rules.n3ds.watch import Watch
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.wording import counted

CACHE_LINE: Final = 32


class FlushWatch(Watch):
    """Watches a program from its start; it is slower then. found: each stretch of memory once for each who read it."""

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__()
        self._kernel = kernel
        memory = kernel.machine.memory
        self._flushed = np.frombuffer(mmap.mmap(-1, memory.guest_end), np.uint8)
        self._known: dict[tuple[str, str, int, int], Stale] = {}
        self._drawn: list[Range] = []
        self._wait = False
        for region, offset in memory.regions:
            self._settle(offset, region.size)
        kernel.flush_listeners.append(self._flush)
        kernel.machine.observe(self)

    def __repr__(self) -> str:
        return f"<FlushWatch: {counted(len(self._known), 'finding')}>"

    @property
    def found(self) -> list[Stale]:
        """All findings, in order."""
        return list(self._known.values())

    def stop(self) -> None:
        """Watch no longer."""
        self._kernel.flush_listeners.remove(self._flush)
        self._kernel.machine.dismiss(self)

    # -- memory as the GPU sees it ------------------------------------------------------------------------------------
    def _settle(self, offset: int, size: int) -> None:
        """These bytes are in memory."""
        now = self._kernel.machine.memory.arena[offset : offset + size]
        flushed = self._flushed[offset : offset + size]
        if not np.array_equal(now, flushed):
            flushed[:] = now

    def _flush(self, virtual: int, size: int) -> None:
        low, high = virtual & -CACHE_LINE, -(-(virtual + size) // CACHE_LINE) * CACHE_LINE
        for area in self._kernel.space.within(low, high - low):
            if area.physical is not None:
                first, end = max(low, area.base), min(high, area.end)
                offset = self._kernel.machine.memory.offset_of(area.physical + first - area.base, end - first)
                if offset is not None:
                    self._settle(offset, end - first)

    def writes(self, ranges: Sequence[Range], by_processor: bool = False) -> None:
        """What the GPU writes is in memory, once it is done."""
        if self._wait:
            self._drawn += ranges
            return
        for one in ranges:
            offset = self._kernel.machine.memory.offset_of(one.address, one.size)
            if offset is not None:
                self._settle(offset, one.size)

    def draws(self, packets: DrawPackets, run: Run) -> None:
        self.begin_again()  # what draws of equal states read is looked at each time
        self._wait = True
        super().draws(packets, run)
        self._wait = False
        self.writes(self._drawn)
        self._drawn.clear()

    # -- reads ------------------------------------------------------------------------------------------------------
    def reads(self, kind: str, what: str, range_: Range, name: str = "") -> Read:
        found = Read(kind, what, range_, self.here, name=name)
        offset = self._kernel.machine.memory.offset_of(range_.address, range_.size)
        if offset is None or not range_.size:
            return found
        part = slice(offset, offset + range_.size)
        places: NDArray[np.int64] = np.flatnonzero(self._kernel.machine.memory.arena[part] != self._flushed[part])
        if len(places):
            self._note_stale(kind, what, range_.address + int(places[0]), len(places))
        return replace(found, stale=len(places))

    def _note_stale(self, kind: str, what: str, address: int, size: int) -> None:
        key = (kind, what, address, size)
        known = self._known.get(key)
        if known is not None:
            self._known[key] = replace(known, count=known.count + 1)
            return
        shown = kind == "display"
        at = f"f{len(self.frames) - 1}" if shown else self.here
        self._known[key] = Stale(at, kind, what, address, size, trace=() if shown else trace_of(self._kernel))



def flushes_of(program: App, frames: int) -> list[Found]:
    """What a program that is about to start forgets to flush in so many frames, as findings."""
    kernel = program.console.kernel
    assert isinstance(kernel, N3DSKernel), "rules of the 3DS are about its programs"
    watch = FlushWatch(kernel)
    program.frames(frames)
    return [one.finding for one in watch.found]


__all__ = ["CACHE_LINE", "FlushWatch", "Stale", "flushes_of"]
