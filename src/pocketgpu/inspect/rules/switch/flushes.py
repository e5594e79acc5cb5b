"""What a running program of the Switch forgets to write back: the GPU or the display reads bytes that its processor
wrote to cached memory, and that would still be in the cache of a console.

    app = pocketgpu.run("app.nro")
    watch = FlushWatch(app.console)
    app.frames(60)
    print(watch.stale[0])

A copy of memory is kept as the GPU would see it. `dc cvac` and its like copy a line there, as it is then; what the GPU
writes is there, too, in whole pages. Memory that the program has made uncached (SetMemoryAttribute) is always up to
date: deko3d and libnx do that for blocks that are not CPU-cached, so only the others are found here. What a grid of
threads reads by address is not seen.
Source: libnx's arm/cache.h, nvidia/map.c and display/framebuffer.c; switchbrew SVC, SetMemoryAttribute. Lines have 64
bytes: Cortex-A57 manual.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.guests.app import App
from pocketgpu.guests.processors.hooks import CACHE_LINE
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi.pages import Use
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.display.display import Present
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.rules import Found
from pocketgpu.inspect.model.stale import Stale, trace_of
from pocketgpu.inspect.rules.switch.watch import Watch
from pocketgpu.maxwell.engines.common.base import Engine
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import RunGrid, Segment
from pocketgpu.maxwell.memory.places import Places
from pocketgpu.maxwell.sass.launch.launcher import Result
from pocketgpu.wording import counted

_HEADER = 0x50
"""Bytes of the header of a stage's program."""
_CALLERS = 8
"""Functions that a finding names: five of libnx lie between a program that shows a picture and the call."""
_MOST = 1 << 26
"""Bytes of one read that are compared."""


class FlushWatch(Watch):
    """Watches a program from its start; it is slower then. stale: each stretch of memory once for each who read it."""

    def __init__(self, console: SwitchConsole) -> None:
        self._console, self._kernel = console, console.kernel
        self._memory = memory = console.machine.memory
        super().__init__(len(memory.page_versions))
        self._flushed = np.frombuffer(mmap.mmap(-1, memory.guest_end), np.uint8)
        self._known: dict[tuple[str, str, int, int], Stale] = {}
        self._before = memory.page_versions.copy()
        for page in memory.used(np.arange(memory.guest_end >> PAGE_SHIFT)).tolist():
            self._settle(page << PAGE_SHIFT, PAGE_SIZE)
        processor = self._kernel.processor
        assert isinstance(processor, UnicornArm64), "caches are of a processor that runs programs"
        self._shows = _Shows(self)
        self._ends: list[Callable[[], None]] = [processor.follow_flushes(self._lines)]
        self._kernel.flush_listeners.append(self._flush)
        console.nvdrv.driver.followers.append(self)
        console.display.followers.append(self._shows)
        console.machine.observe(self)

    def __repr__(self) -> str:
        return f"<FlushWatch: {counted(len(self._known), 'finding')}>"

    @property
    def stale(self) -> list[Stale]:
        """All findings, in order."""
        return list(self._known.values())

    def stop(self) -> None:
        """Watch no longer."""
        self._console.machine.dismiss(self)
        self._console.display.followers.remove(self._shows)
        self._console.nvdrv.driver.followers.remove(self)
        self._kernel.flush_listeners.remove(self._flush)
        for end in self._ends:
            end()

    # -- memory as the GPU sees it ------------------------------------------------------------------------------------
    def _settle(self, offset: int, size: int) -> None:
        """These bytes are in memory."""
        self._flushed[offset : offset + size] = self._memory.arena[offset : offset + size]

    def _lines(self, addresses: NDArray[np.uint64], data: NDArray[np.uint8]) -> None:
        """The processor wrote lines of its cache back."""
        flushed = self._flushed.reshape(-1, CACHE_LINE)
        low, high = int(addresses.min()), int(addresses.max()) + CACHE_LINE
        for area in self._kernel.space.within(low, high - low):
            if area.physical is not None:
                here = (addresses >= area.base) & (addresses < area.end)
                flushed[(addresses[here] - area.base + area.physical) // CACHE_LINE] = data[here]

    def _flush(self, address: int, size: int) -> None:
        """The kernel wrote a range of the cache back."""
        for area in self._kernel.space.within(address, size):
            if area.physical is not None:
                first, end = max(address, area.base), min(address + size, area.end)
                for page in self._used(area.physical + first - area.base, end - first):
                    self._settle(page << PAGE_SHIFT, PAGE_SIZE)

    def _used(self, offset: int, size: int) -> list[int]:
        pages = np.arange(offset >> PAGE_SHIFT, (offset + size + PAGE_SIZE - 1) >> PAGE_SHIFT)
        return self._memory.used(pages).tolist() if len(pages) else []

    # -- the driver: a follower of what the GPU does ------------------------------------------------------------------
    def submitting(self, channel: int, entries: NDArray[np.uint64]) -> None:
        """The GPU is about to work."""
        self.resuming()

    def resuming(self) -> None:
        """The GPU is about to go on."""
        self._memory.look()  # stamps what the processor wrote, so that all later stamps are of the GPU
        self._before[:] = self._memory.page_versions
        self.draws = 0

    def worked(self) -> None:
        """What the GPU wrote is in memory."""
        for page in np.flatnonzero(self._before != self._memory.page_versions).tolist():
            self._settle(page << PAGE_SHIFT, PAGE_SIZE)
        self._before[:] = self._memory.page_versions
        self.begin()

    def showing(self, present: Present) -> None:
        """The display is about to show a buffer."""
        self._before[:] = self._memory.page_versions  # the GPU does nothing now
        at = f"f{present.number}"
        self._look("display", "the display", present.place, present.surface.size, at, self._program_address)
        self.frame = present.number + 1

    # -- reads ------------------------------------------------------------------------------------------------------
    def _look(
        self, kind: str, what: str, offset: int, size: int, at: str, address_of: Callable[[int], int | None]
    ) -> None:
        """Find bytes of a range of the arena that are not as the GPU sees them."""
        part = slice(offset, offset + size)
        places = np.flatnonzero(self._memory.arena[part] != self._flushed[part]) + offset
        self._found(kind, what, places, at, address_of)

    def _found(
        self, kind: str, what: str, places: NDArray[np.int64], at: str, address_of: Callable[[int], int | None]
    ) -> None:
        """Bytes are not as the GPU sees them, which is right where nothing is cached. places: arena offsets."""
        if len(places):
            pages, which = np.unique(places >> PAGE_SHIFT, return_inverse=True)
            places = places[self._cached(pages)[which]]
        if len(places):
            self._note(kind, what, at, address_of(int(places[0])) or 0, len(places))

    def _cached(self, pages: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pages the program caches, and the GPU has not written since it began its work."""
        now: NDArray[np.bool_] = self._before[pages] == self._memory.page_versions[pages]
        for number in np.flatnonzero(now).tolist():
            address = self._program_address(int(pages[number]) << PAGE_SHIFT)
            if address is None or self._kernel.uses.at(address)[0] & Use.UNCACHED:
                now[number] = False
        return now

    def _program_address(self, offset: int) -> int | None:
        """Where the program sees a byte of the arena."""
        for area in self._kernel.space:
            if area.physical is not None and area.physical <= offset < area.physical + area.size:
                return area.base + offset - area.physical
        return None

    def _note(self, kind: str, what: str, at: str, address: int, size: int) -> None:
        key = (kind, what, address, size)
        known = self._known.get(key)
        if known is not None:
            self._known[key] = replace(known, count=known.count + 1)
            return
        self._known[key] = Stale(at, kind, what, address, size, trace=trace_of(self._kernel), callers=_CALLERS)

    def note_read(self, kind: str, what: str, range_: Range, at: str) -> None:
        for offset, size in self._memory.spans(range_.address, min(range_.size, _MOST)):
            if offset is not None:
                self._look(kind, what, offset, size, at, self.address_of)

    def _note_places(self, what: str, source: Places) -> None:
        for some in source.offsets(self._memory):
            places = some[some >= 0]
            places = places[self._memory.arena[places] != self._flushed[places]]
            self._found("copy", what, places, self.here, self.address_of)

    # -- what the GPU does --------------------------------------------------------------------------------------------
    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        for offset, words in (piece for one in segments for piece in one.pieces):
            self._look("pushbuffer", "a pushbuffer", offset, 4 * words, f"f{self.frame}", self.address_of)

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        at = f"f{self.frame}/d{self.draws - 1}"
        self.note_inputs(draw, at)
        for texture in self.textures_of(run):
            self.note_read("texture", "a texture", texture, at)
        self.note_constants(draw, at)
        for shader in draw.shaders:
            self.note_read("program", "a program's header", Range(shader.address, _HEADER), at)

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        for slot, buffer in enumerate(launch.constants):
            if buffer is not None:
                where = Range(buffer.address, buffer.size)
                self.note_read("constants", f"constant buffer {slot} of a grid", where, self.here)
        return run()

    def copied(self, engine: Engine, target: Places, source: Places) -> None:
        self._note_places("a copy", source)

    def converted(self, engine: Engine, target: Places, source: Places, layout: PixelLayout | None) -> None:
        self._note_places("a copy", source)


class _Shows:
    """Follows the display for a watch, whose own `presented` is the machine's."""

    def __init__(self, watch: FlushWatch) -> None:
        self._watch = watch

    def presented(self, present: Present) -> None:
        """A buffer was presented."""
        self._watch.showing(present)


def flushes_of(program: App, frames: int) -> list[Found]:
    """What a program that is about to start forgets to write back, in so many presents, as findings."""
    console = program.console
    assert isinstance(console, SwitchConsole), "rules of the Switch are about its programs"
    if not console.kernel.checks_pages:
        return []  # what is uncached is not known
    watch = FlushWatch(console)
    program.presents(frames)
    return [one.finding for one in watch.stale]


__all__ = ["FlushWatch", "flushes_of"]
