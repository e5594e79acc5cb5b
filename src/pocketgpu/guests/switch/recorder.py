"""Records a running Switch as the contents of a `.pgc`: mappings, what the processor wrote, submissions, presents.

A program's memory objects may overlap, and their memory is used again for others. Handles of the capture are therefore
not those objects: a handle is a stretch of the program's memory that the GPU or the display ever saw as one piece, and
mappings begin where they do inside it. So the replay shares the bytes that the program shared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.formats.mxcap import FORMATS
from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.capture.formats.pgc import contents as pgc
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Submit, Unmap, digest
from pocketgpu.capture.formats.pgc.numbers import FULL_COVERAGE, PICTURES_COVERED
from pocketgpu.facts.maxwell.page_kinds import KINDS
from pocketgpu.guests.kernel.recorder import MemoryRecorder
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.switch.display.display import Display, Present
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver
    from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping

_CONSOLE: Final = "Switch"
_ONLY_SIZE: Final = 0
"""The id of mappings that only tell the size of a handle: the machine's mappings have other numbers."""
_SHOWN_KIND: Final = KINDS["generic_16bx2"]


@dataclass(frozen=True, slots=True)
class _Mapped:
    """A mapping is new. place: of its first byte in the arena."""

    mapping: GpuMapping
    place: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the processor has written to a place in the arena. address: where the GPU sees that; 0 if it does not."""

    place: int
    address: int
    pieces: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes of all pieces."""
        return sum(map(len, self.pieces))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A present, and the address at which the GPU sees it."""

    present: Present
    address: int


_Noted = _Mapped | _Stored | _Shown | Submit | Unmap


class SwitchRecorder(MemoryRecorder):
    """Follows a driver and a display from a moment on at which the GPU has nothing to do. frames: those that are over,
    a present ends one."""

    copies_all = False

    def __init__(self, driver: NvDriver, display: Display) -> None:
        super().__init__(driver.gpu.memory, driver.kernel)
        self._driver, self._display, self._memory = driver, display, driver.gpu.memory
        self._ranges: dict[tuple[int, int], None] = {}
        self._live: dict[int, GpuMapping] = {}
        channels = driver.gpu.channels
        self._state = [one for number in channels for one in channel_state.save(channels[number], number)]
        self._syncpoints = driver.gpu.syncpoints.values() if channels else {}
        self._changes = -1
        self._borders: list[int] | None = None
        self._noted: list[_Noted] = []
        self.frames: list[tuple[tuple[_Noted, ...], bytes]] = []
        driver.followers.append(self)
        display.followers.append(self)

    def __repr__(self) -> str:
        return f"<SwitchRecorder: {len(self.frames)} frames>"

    def stop(self) -> None:
        """Follow no longer."""
        self._driver.followers.remove(self)
        self._display.followers.remove(self)

    # -- what happens -----------------------------------------------------------------------------------------------
    def _see(self, place: int, size: int) -> None:
        """The GPU or the display sees a range from now on."""
        start, end = place & -PAGE_SIZE, place + size + -(place + size) % PAGE_SIZE
        self._ranges[start, end] = None
        self.share(start, end - start)

    def _find_mappings(self) -> None:
        """Note which mappings are gone and which are new."""
        if self._changes == self._memory.map_changes:
            return
        self._changes, self._borders = self._memory.map_changes, None
        now = {one.number: one for one in self._memory.mappings}
        for number in [number for number in self._live if number not in now]:
            self._noted.append(Unmap(number))
            del self._live[number]
        for number, one in now.items():
            if number not in self._live:
                place = one.backing.offset + one.offset
                self._live[number] = one
                self._noted.append(_Mapped(one, place))
                self._see(place, one.size)

    def stored(self, place: int, data: bytes) -> None:
        at = 0
        while at < len(data):  # cut where a mapping begins or ends
            address, size = self._seen_at(place + at)
            self._store(place + at, address, data[at : at + size] if size else data[at:])
            at += size or len(data)

    def _store(self, place: int, address: int, data: bytes) -> None:
        """Note a store, joined with the one before if it goes on there."""
        last = self._noted[-1] if self._noted else None
        goes_on = isinstance(last, _Stored) and last.place + last.size == place
        if isinstance(last, _Stored) and goes_on and address == (last.address and last.address + last.size):
            self._noted[-1] = _Stored(last.place, last.address, (*last.pieces, data))
            return
        self._noted.append(_Stored(place, address, (data,)))

    def _seen_at(self, place: int) -> tuple[int, int]:
        """The address of a place, 0 if it is mapped nowhere, and for how many bytes that holds; 0 for all further."""
        if self._borders is None:
            starts = [(one.backing.offset + one.offset, one) for one in self._live.values()]
            self._borders = sorted({border for start, one in starts for border in (start, start + one.size)})
        after = bisect_right(self._borders, place)
        size = self._borders[after] - place if after < len(self._borders) else 0
        for one in self._live.values():
            start = one.backing.offset + one.offset
            if start <= place < start + one.size:
                return one.address + place - start, size
        return 0, size

    def resuming(self) -> None:
        """Channels that waited are about to go on."""
        self._find_mappings()
        self.find_written()

    def submitting(self, channel: int, entries: NDArray[np.uint64]) -> None:
        """A channel is about to get entries."""
        self.resuming()
        self._noted.append(Submit(channel, entries.copy()))

    def worked(self) -> None:
        """The GPU has done what it can."""
        self.gpu_worked()

    def presented(self, present: Present) -> None:
        """A present ends a frame."""
        self._find_mappings()
        self._see(present.place, present.surface.size)
        self.find_written()
        self._noted.append(_Shown(present, self._address_of(present)))
        picture = self._display.picture(present).array.tobytes()
        self.frames.append((tuple(self._noted), digest(picture, Contents(_CONSOLE).digest_size)))
        self._noted = []

    def _address_of(self, present: Present) -> int:
        """Where the GPU sees a surface, as a picture if it can; 0 if nowhere."""
        found = 0
        for one in self._live.values():
            at = present.place - one.backing.offset - one.offset
            if at >= 0 and at + present.surface.size <= one.size:
                if one.kind == _SHOWN_KIND:
                    return one.address + at
                found = found or one.address + at
        return found

    # -- the capture ------------------------------------------------------------------------------------------------
    def contents(self, about: Mapping[str, str]) -> Contents:
        """The capture so far; what came after the last present is its tail. about: key and value of notes."""
        found = Contents(_CONSOLE, coverage=FULL_COVERAGE[_CONSOLE] | PICTURES_COVERED, about=dict(about))
        handles = _Handles(self._ranges)
        parts = [(*handles.events(noted),) for noted, _ in self.frames]
        tail = (*handles.events(self._noted),)
        sizes = (*handles.sizes((*parts, tail)),)
        if parts:
            parts[0] = (*sizes, *parts[0])
        else:
            tail = (*sizes, *tail)
        found.frames = [
            FrameContents(events, {0: picture}) for events, (_, picture) in zip(parts, self.frames, strict=True)
        ]
        found.tail = tail
        found.state, found.syncpoints = list(self._state), dict(self._syncpoints)
        return found


class _Handles:
    """Stretches of memory: ranges that overlap are one. Handles are numbers from 1, by address."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def _at(self, place: int) -> tuple[int, int]:
        """Handle and offset of a place."""
        index = bisect_right(self._starts, place) - 1
        return index + 1, place - self._starts[index]

    def events(self, noted: Iterable[_Noted]) -> Iterator[Event]:
        """What was noted, as events of a capture."""
        for one in noted:
            match one:
                case _Mapped():
                    handle, offset = self._at(one.place)
                    mapping = one.mapping
                    yield pgc.Map(mapping.number, mapping.address, mapping.size, handle, mapping.kind, offset)
                case _Stored():
                    yield from self._stores(one)
                case _Shown():
                    yield self._present(one)
                case _:
                    yield one

    def _stores(self, one: _Stored) -> Iterator[pgc.Store]:
        """Stores, cut where another handle begins."""
        place = one.place
        if place + one.size <= self._ends[bisect_right(self._starts, place) - 1]:
            handle, offset = self._at(place)
            yield pgc.Store(handle, offset, one.address, one.pieces)
            return
        data = b"".join(one.pieces)
        at = 0
        while at < len(data):
            handle, offset = self._at(place + at)
            size = min(len(data) - at, self._ends[handle - 1] - place - at)
            yield pgc.Store(handle, offset, one.address and one.address + at, (data[at : at + size],))
            at += size

    def _present(self, one: _Shown) -> pgc.Present:
        handle, offset = self._at(one.present.place)
        surface, fences = one.present.surface, one.present.fences
        return pgc.Present(
            one.address, handle, offset, surface.width, surface.height, FORMATS.index(surface.format),
            surface.block_linear, surface.block_height_log2, surface.stride, surface.transform,
            fences[0] if fences else None, surface.left, surface.top,
        )  # fmt: skip

    def sizes(self, parts: Iterable[Iterable[Event]]) -> Iterator[Event]:
        """Mappings that are taken away at once, for handles that no mapping covers to their end."""
        reached = dict.fromkeys(range(1, len(self._starts) + 1), 0)
        for events in parts:
            for one in events:
                if isinstance(one, pgc.Map):
                    reached[one.handle] = max(reached[one.handle], one.offset + one.size)
        for handle, end in reached.items():
            size = self._ends[handle - 1] - self._starts[handle - 1]
            if end < size:
                yield pgc.Map(_ONLY_SIZE, 0, size, handle, 0)
                yield Unmap(_ONLY_SIZE)
