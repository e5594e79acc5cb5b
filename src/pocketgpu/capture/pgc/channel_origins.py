"""The origin of the bytes of a Switch's textures: bytes of the capture, followed through uploads, copies and blits.

Each byte of the GPU's memory has an origin: a byte of a store of the capture, a byte that was never written, or a
conversion, whose sources are recorded separately. Copies copy origins. Draws and grids do not change origins, so an
origin is valid only while the byte still has the value that came from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.capture.formats.pgc.contents import digest
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.compute.queue_metadata import QMD_BYTES
from pocketgpu.maxwell.engines.threed import vertices
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.host.observer import Observer, Segment, TextureRead
from pocketgpu.maxwell.memory.page_table import PHYSICAL
from pocketgpu.maxwell.memory.places import Offsets, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pocketgpu.capture.formats.mxcap import ChunkRecord
    from pocketgpu.capture.formats.pgc.traces import PgcLog
    from pocketgpu.maxwell.engines.common.base import Engine
    from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.host.channel import Channel

Origin = NDArray[np.uint32]
"""0: the byte was never written. 1 .. stored: a byte of a store, counted through the capture. Up to `stored` + the size
of the GPU's memory: a byte of that memory that had not been written. Downwards from the largest value: MADE, LOST, then
conversions by number."""

MADE, LOST = 0xFFFFFFFF, 0xFFFFFFFE
"""Made by the GPU; and written in a way that is not followed."""
_FIRST_CONVERSION = LOST - 1
_MOST_CONVERSIONS = 1 << 16
_DIGEST = 16
_SLICE = 12 << 20
"""Bytes that are processed at a time: whole elements of all formats, whole pages."""


@dataclass(frozen=True)
class TextureUse:
    """A texture that was read. digest: of its bytes; origins: of each. layout: None for bytes without a format."""

    layout: PixelLayout | None
    types: tuple[str, ...]
    digest: bytes
    origins: Origin


@dataclass
class _Unread:
    """A stretch of pushbuffer that a channel is about to read. origins: of its words, (words, 4), at that time.
    commands: which of them are not inline data."""

    offset: int
    origins: Origin
    commands: NDArray[np.bool_]


class Origins(Observer):
    """Replays a capture and finds the textures that it uses.

    stored: all bytes of the capture's stores, one after the other. kept: which of them are used as commands, vertices,
    indices, headers. unwritten: bytes of memory, counted from its start, that a texture shows and nothing writes.
    """

    wants_draws = wants_pages = wants_inline = True

    def __init__(self, log: PgcLog, choices: Mapping[str, str] | None = None) -> None:
        self.log = log
        sizes = [len(chunk.data) for chunk in log.chunks]
        starts = np.cumsum([0, *sizes])
        self.first = {id(chunk): int(start) + 1 for chunk, start in zip(log.chunks, starts, strict=False)}
        self.stored = np.frombuffer(b"".join(chunk.data for chunk in log.chunks), np.uint8)
        self.kept = np.zeros(len(self.stored) + 1, np.bool_)
        self.uses: list[TextureUse] = []
        self.textures: set[TextureHeader] = set()
        self.conversions: list[tuple[Origin, PixelLayout | None]] = []
        machine = SwitchDriver.make_machine(log, choices=choices)
        machine.observe(self)
        # A replay never frees memory, so backings have no gaps between them.
        self.origins = np.zeros(sum(-(-size // PAGE_SIZE) * PAGE_SIZE for size in log.handles.values()), np.uint32)
        self.drawn = np.zeros(len(machine.memory.page_versions), np.bool_)
        self._seen: set[tuple[TextureHeader, bytes, bytes]] = set()
        self._unread: dict[int, list[_Unread]] = {}
        self.driver = SwitchDriver(log, machine, self._store)

    def watch(self) -> None:
        """Replay all frames."""
        while self.driver.frame < self.driver.frame_count:
            self.driver.play_frame()
        for channel in tuple(self._unread):
            self._keep_commands(channel)

    # Origins

    @property
    def unwritten(self) -> int:
        """Origins from here on, up to the size of memory, are bytes of memory."""
        return len(self.stored) + 1

    def of(self, offsets: Offsets) -> Origin:
        """Origins of bytes of the arena; MADE where nothing is mapped."""
        places = offsets - PHYSICAL
        found = self.origins[np.maximum(places, 0)]
        own = (places + self.unwritten).astype(np.uint32)
        return np.where(offsets < 0, np.uint32(MADE), np.where(found == 0, own, found))

    def put(self, offsets: Offsets, origins: Origin | int) -> None:
        """Set the origins of bytes of the arena."""
        there = offsets >= 0
        self.origins[offsets[there] - PHYSICAL] = origins[there] if isinstance(origins, np.ndarray) else origins

    def _store(self, chunk: ChunkRecord, start: int, offset: int, size: int) -> None:
        """Bytes from `start` of a chunk were stored at an arena offset."""
        first = self.first[id(chunk)] + start
        place = offset - PHYSICAL
        self.origins[place : place + size] = np.arange(first, first + size, dtype=np.uint32)

    def keep(self, offsets: Offsets) -> None:
        """Mark bytes as used for something other than a texture."""
        origins = self.of(offsets)
        self.kept[origins[origins <= len(self.stored)]] = True

    def _keep_range(self, address: int, size: int) -> None:
        for offset, length in self.machine.memory.spans(address, size):
            for first in range(0, length if offset is not None else 0, _SLICE):
                start = (offset or 0) + first
                self.keep(np.arange(start, start + min(length - first, _SLICE), dtype=np.int64))

    # Notifications of the machine

    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        """All words are commands, unless `inline_read` marks them as data before later words are read."""
        self._keep_commands(channel.index)
        unread = self._unread[channel.index] = []
        for one in segments:
            for offset, words in one.pieces:
                origins = self.of(np.arange(offset, offset + 4 * words, dtype=np.int64)).reshape(-1, 4)
                unread.append(_Unread(offset, origins, np.ones(words, np.bool_)))

    def inline_read(self, channel: Channel, words: Offsets) -> None:
        """These words are data."""
        for one in self._unread.get(channel.index, ()):
            inside = words[(words >= one.offset) & (words < one.offset + 4 * len(one.origins))]
            one.commands[(inside - one.offset) >> 2] = False

    def _keep_commands(self, channel: int) -> None:
        """A channel has read all the words of its last segments."""
        for one in self._unread.pop(channel, ()):
            origins = one.origins[one.commands]
            self.kept[origins[origins <= len(self.stored)]] = True

    def launch_recorded(self, launch: Launch) -> None:
        """Mark the words of a launch's metadata as used for something else."""
        self._keep_range(launch.address, QMD_BYTES)

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """Mark the vertices and indices of a draw as used for something else."""
        self._keep_vertices(draw)
        run()

    def _keep_vertices(self, draw: Draw) -> None:
        if not 0 < draw.count <= vertices.MAX_VERTICES:
            return
        if draw.index_bytes:
            base = draw.state.address("SET_INDEX_BUFFER_A") + draw.index_bytes * draw.first
            self._keep_range(base, draw.index_bytes * draw.count)
        numbers = draw.vertex_numbers
        if not len(numbers):
            return
        for a in draw.attributes:
            assert a.format is not None
            stream = draw.streams[a.stream]
            chosen = vertices.elements(
                stream, numbers, draw.instance, draw.base_instance, draw.choices["draw.zero_frequency"]
            )
            low, high = int(chosen.min()), int(chosen.max())
            start = stream.address + low * stream.stride + a.offset
            end = min(stream.address + high * stream.stride + a.offset + a.format.bytes, stream.limit + 1)
            if start < end:
                self._keep_range(start, end - start)

    def texture_read(self, found: TextureRead) -> None:
        """Mark the texture's header and sampler as used for something else, and find the origins of its texels."""
        for place in found.entries:
            self._keep_range(*place)
        address, size = found.texels or (0, 0)
        for first in range(0, size, _SLICE):
            self.uses_texels(found.texture, address + first, min(size - first, _SLICE))

    def uses_texels(self, texture: TextureHeader, address: int, size: int) -> None:
        """Record the use of a texture's bytes."""
        data, _ = self.machine.memory.try_read(address, size)
        texels = np.frombuffer(data, np.uint8)
        pieces = [
            np.full(length, -1, np.int64) if at is None else np.arange(at, at + length, dtype=np.int64)
            for at, length in self.machine.memory.spans(address, size)
        ]
        offsets = np.concatenate(pieces)
        origins = self._counting(self.of(offsets), texels, offsets)
        key = (texture, digest(data, _DIGEST), digest(origins.tobytes(), _DIGEST))
        if key not in self._seen:
            self._seen.add(key)
            self.textures.add(texture)
            self.uses.append(TextureUse(texture.format, texture.types, key[1], origins))

    def _counting(self, origins: Origin, texels: NDArray[np.uint8], offsets: Offsets) -> Origin:
        """Origins that are still valid; MADE for the others."""
        found = origins.copy()
        stored = origins <= len(self.stored)
        found[stored] = np.where(self.stored[origins[stored] - 1] == texels[stored], origins[stored], MADE)
        # Unwritten memory matters next to written memory: otherwise blank areas would show the outline of the original.
        pages = np.arange(len(texels)) // PAGE_SIZE
        used = np.zeros(pages[-1] + 1, np.bool_)
        used[pages[found <= len(self.stored)]] = True
        blank = (origins >= self.unwritten) & (origins < self.unwritten + len(self.origins))
        blank_ok = blank & used[pages] & (texels == 0)
        blank_ok &= ~self.drawn[np.maximum(offsets, 0) >> PAGE_SHIFT]
        sources = np.where(blank_ok, origins.astype(np.int64) - self.unwritten + PHYSICAL, 0)
        blank_ok &= ~self.drawn[sources >> PAGE_SHIFT]
        found[blank & ~blank_ok] = MADE
        return found

    def uploaded(self, target: Places, words: Offsets | None, padded: int) -> None:
        """Copy the origins of words of the pushbuffer."""
        place = 0
        lines = None
        if words is not None:
            lines = (words[:, None] + np.arange(4)).reshape(-1, padded)[:, : len(target.columns)]
        for offsets in target.offsets(self.machine.memory):
            if lines is None:
                self.put(offsets, LOST)
            else:
                self.put(offsets, self.of(lines[place : place + len(offsets)]))
            place += len(offsets)

    def copied(self, engine: Engine, target: Places, source: Places) -> None:
        """Copy origins."""
        memory = self.machine.memory
        wanted = target.offsets(memory)
        for offsets, sources in zip(wanted, source.offsets(memory), strict=True):
            self.put(offsets, self.of(sources))

    def converted(self, engine: Engine, target: Places, source: Places, layout: PixelLayout | None) -> None:
        """Give the results a new origin, and record their sources."""
        memory = self.machine.memory
        found = np.unique(np.concatenate([self.of(part).reshape(-1) for part in source.offsets(memory)]))
        memory_end = self.unwritten + len(self.origins)
        found = found[(found != MADE) & ((found < self.unwritten) | (found >= memory_end))]
        number: int = MADE
        if len(found):
            number = LOST
            if len(self.conversions) < _MOST_CONVERSIONS:
                number = _FIRST_CONVERSION - len(self.conversions)
                self.conversions.append((found, layout))
        for offsets in target.offsets(memory):
            self.put(offsets, number)

    def filled(self, target: Places) -> None:
        """The GPU wrote it."""
        for offsets in target.offsets(self.machine.memory):
            self.put(offsets, MADE)

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Something was drawn or computed here."""
        self.drawn[pages] = True

    def sources_of(self, origin: int) -> tuple[Origin, PixelLayout | None] | None:
        """The sources of a conversion; None for other origins."""
        number = _FIRST_CONVERSION - origin
        return self.conversions[number] if 0 <= number < len(self.conversions) else None
