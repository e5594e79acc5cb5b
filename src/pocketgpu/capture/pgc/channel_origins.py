"""Where the bytes of a Switch's textures come from: which bytes of the capture, by way of uploads, copies and blits.

Each byte of the GPU's memory has an origin: a byte that a store of the capture brought, a byte that nobody has written
yet, or a conversion, whose sources stand beside it. Copies hand origins on. What a draw or a grid makes keeps the
origin that was there, so an origin counts only as long as the byte still has the value that came from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.capture.channel_replay import Replay
from pocketgpu.capture.formats.pgc.contents import digest
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.maxwell.engines.threed import vertices
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.page_table import PHYSICAL
from pocketgpu.maxwell.watch import Offsets, Places, WatchedGM20B, Watcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pocketgpu.capture.formats.mxcap import ChunkRecord
    from pocketgpu.capture.formats.pgc.traces import PgcLog
    from pocketgpu.maxwell.engines.threed.draws import Draw

Origin = NDArray[np.uint32]
"""0: nobody has written the byte itself. 1 .. stored: a byte of a store, counted through the capture. Up to `stored` +
the size of the GPU's memory: a byte of that memory that nobody had written. From the top downwards: MADE, LOST, then
conversions by number."""

MADE, LOST = 0xFFFFFFFF, 0xFFFFFFFE
"""Made by the GPU; and come by a way that is not followed."""
_FIRST_CONVERSION = LOST - 1
_MOST_CONVERSIONS = 1 << 16
_DIGEST = 16
_SLICE = 12 << 20
"""Bytes that are looked at in one go: whole elements of all formats, whole pages."""


@dataclass(frozen=True)
class Use:
    """A texture that was asked for. digest: of its bytes; origins: of each. layout: None for bytes without a format."""

    layout: PixelLayout | None
    types: tuple[str, ...]
    digest: bytes
    origins: Origin


class Origins(Watcher):
    """Replays a capture and finds the textures that it uses.

    stored: all bytes of the capture's stores, one behind the other. kept: which of them serve as commands, vertices,
    indices, headers. unwritten: bytes of memory, counted from its beginning, that a texture shows and nobody writes.
    """

    def __init__(self, log: PgcLog, switches: Mapping[str, str] | None = None) -> None:
        self.log = log
        sizes = [len(chunk.data) for chunk in log.chunks]
        starts = np.cumsum([0, *sizes])
        self.first = {id(chunk): int(start) + 1 for chunk, start in zip(log.chunks, starts, strict=False)}
        self.stored = np.frombuffer(b"".join(chunk.data for chunk in log.chunks), np.uint8)
        self.kept = np.zeros(len(self.stored) + 1, np.bool_)
        self.uses: list[Use] = []
        self.textures: set[TextureHeader] = set()
        self.conversions: list[tuple[Origin, PixelLayout | None]] = []
        self.machine = machine = WatchedGM20B(self, switches)
        # A replay never gives memory back, so it lies without gaps from the beginning on.
        self.origins = np.zeros(sum(-(-size // PAGE_SIZE) * PAGE_SIZE for size in log.handles.values()), np.uint32)
        self.drawn = np.zeros(len(machine.memory.page_versions), np.bool_)
        self._seen: set[tuple[TextureHeader, bytes, bytes]] = set()
        self.running = _Running(log, self)

    def watch(self) -> None:
        """Replay everything that belongs to a frame."""
        for index in range(self.log.frame_count):
            for number in self.log.submissions_of(index):
                self.running.run(number)
            self.machine.finish()
            self.machine.log.clear()

    # Origins

    @property
    def unwritten(self) -> int:
        """Origins from here on, to the size of memory behind it, are bytes of memory."""
        return len(self.stored) + 1

    def of(self, offsets: Offsets) -> Origin:
        """Origins of bytes of the arena; MADE where nothing is mapped."""
        places = offsets - PHYSICAL
        found = self.origins[np.maximum(places, 0)]
        own = (places + self.unwritten).astype(np.uint32)
        return np.where(offsets < 0, np.uint32(MADE), np.where(found == 0, own, found))

    def put(self, offsets: Offsets, origins: Origin | int) -> None:
        """Bytes of the arena come from here now."""
        there = offsets >= 0
        self.origins[offsets[there] - PHYSICAL] = origins[there] if isinstance(origins, np.ndarray) else origins

    def store(self, offset: int, chunk: ChunkRecord, start: int, size: int) -> None:
        """Bytes from `start` of a chunk were stored at an arena offset."""
        first = self.first[id(chunk)] + start
        place = offset - PHYSICAL
        self.origins[place : place + size] = np.arange(first, first + size, dtype=np.uint32)

    def keep(self, offsets: Offsets) -> None:
        """These bytes serve as something else than a texture."""
        origins = self.of(offsets)
        self.kept[origins[origins <= len(self.stored)]] = True

    def _keep_range(self, address: int, size: int) -> None:
        for offset, length in self.machine.memory.spans(address, size):
            for first in range(0, length if offset is not None else 0, _SLICE):
                start = (offset or 0) + first
                self.keep(np.arange(start, start + min(length - first, _SLICE), dtype=np.int64))

    # What the machine tells

    def reads_commands(self, offset: int, words: int, data: NDArray[np.int64]) -> None:
        commands = np.ones(words, np.bool_)
        commands[data] = False
        places = offset + 4 * np.flatnonzero(commands).astype(np.int64)
        self.keep((places[:, None] + np.arange(4)).reshape(-1))

    def reads_entry(self, address: int, size: int) -> None:
        self._keep_range(address, size)

    def reads_vertices(self, draw: Draw) -> None:
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
                stream, numbers, draw.instance, draw.base_instance, draw.switches["draw.zero_frequency"]
            )
            low, high = int(chosen.min()), int(chosen.max())
            start = stream.address + low * stream.stride + a.offset
            end = min(stream.address + high * stream.stride + a.offset + a.format.bytes, stream.limit + 1)
            if start < end:
                self._keep_range(start, end - start)

    def samples(self, texture: TextureHeader, address: int, size: int) -> None:
        for first in range(0, size, _SLICE):
            self._uses(texture, address + first, min(size - first, _SLICE))

    def _uses(self, texture: TextureHeader, address: int, size: int) -> None:
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
            self.uses.append(Use(texture.format, texture.types, key[1], origins))

    def _counting(self, origins: Origin, texels: NDArray[np.uint8], offsets: Offsets) -> Origin:
        """Origins that still count; MADE for the others."""
        found = origins.copy()
        stored = origins <= len(self.stored)
        found[stored] = np.where(self.stored[origins[stored] - 1] == texels[stored], origins[stored], MADE)
        # Memory that nobody wrote matters beside what somebody wrote: else blank places would show what was there.
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

    def uploads(self, target: Places, words: Offsets | None, padded: int) -> None:
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

    def copies(self, target: Places, source: Places, engine: Any) -> None:
        memory = self.machine.memory
        wanted = target.offsets(memory)
        for offsets, sources in zip(wanted, source.offsets(memory), strict=True):
            self.put(offsets, self.of(sources))

    def converts(self, target: Places, source: Places, layout: PixelLayout | None, engine: Any) -> None:
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

    def fills(self, target: Places) -> None:
        for offsets in target.offsets(self.machine.memory):
            self.put(offsets, MADE)

    def writes(self, pages: NDArray[np.int64]) -> None:
        self.drawn[pages] = True

    def sources_of(self, origin: int) -> tuple[Origin, PixelLayout | None] | None:
        """What a conversion was made of; None if the origin is none."""
        number = _FIRST_CONVERSION - origin
        return self.conversions[number] if 0 <= number < len(self.conversions) else None


class _Running(Replay):
    """A replay that tells what stores bring."""

    def __init__(self, log: PgcLog, origins: Origins) -> None:
        self._origins = origins
        super().__init__(log, origins.machine)

    def _load(self, chunk: ChunkRecord, number: int) -> None:
        super()._load(chunk, number)
        size = len(chunk.data)
        if chunk.handle is not None:
            self._origins.store(self._backing(chunk.handle).offset + chunk.offset, chunk, 0, size)
            return
        at = 0
        for offset, length in self.machine.memory.spans(chunk.gpu_va, size):
            if offset is not None:
                self._origins.store(offset, chunk, at, length)
            at += length
