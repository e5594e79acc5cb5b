"""A Switch machine that tells what it does with memory: which bytes go where, and which serve as what.

Everything runs as always. A watcher hears of draws before they are drawn, of commands as they are read, of textures as
shaders first ask for them, and of all that moves bytes: uploads, copies, blits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import A140, B1C0, B197, CLASSES, MethodBlock
from pocketgpu.facts.maxwell.formats import TWOD as TWOD_FORMATS
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.compute.launch import Compute
from pocketgpu.maxwell.engines.compute.queue_metadata import QMD_BYTES, Launch
from pocketgpu.maxwell.engines.copy.dma import DmaCopy
from pocketgpu.maxwell.engines.copy.remap import Side
from pocketgpu.maxwell.engines.inline.unit import InlineToMemory, InlineUnit
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.engines.twod.engine import TwoD
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.gm20b import GM20B, GRIDS_SIZE, TEXTURES_SIZE
from pocketgpu.maxwell.host.channel import Channel, Submission
from pocketgpu.maxwell.host.layout import CLASS_OF_FILE
from pocketgpu.maxwell.host.log import Log
from pocketgpu.maxwell.host.stream import StreamReader
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide
from pocketgpu.maxwell.sampling import store
from pocketgpu.maxwell.sampling.decode import storage_of
from pocketgpu.maxwell.sampling.records import SAMPLED

Offsets = NDArray[np.int64]
"""Arena offsets of bytes; -1 where nothing is mapped."""

_LOAD = B197["LOAD_INLINE_DATA"].word
_UPLOADING = (A140.class_id, B197.class_id, B1C0.class_id)
_CHUNK = 1 << 20
_INCREASING, _ONCE = 1, 5


@dataclass(frozen=True)
class Places:
    """Bytes at GPU addresses base + rows[y] + columns[x], in rows; both int64, columns one for each byte."""

    base: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @staticmethod
    def of_surface(side: SurfaceSide, width: int, lines: int) -> Places:
        """A rectangle of `lines` rows of `width` bytes."""
        x, y = (np.arange(start, start + count, dtype=np.int64) for start, count in ((side.x, width), (side.y, lines)))
        if side.layout is None:
            return Places(side.address, y * side.pitch, x)
        return Places(side.address, side.layout.rows(y, side.z), side.layout.columns(x))

    @staticmethod
    def of_side(side: Side, columns: int, lines: int) -> Places:
        """All components of `columns` elements in each of `lines` lines of a copy."""
        x = np.arange(side.x, side.x + columns * side.element, dtype=np.int64)
        y = np.arange(side.y, side.y + lines, dtype=np.int64)
        return Places(side.plane.va, side.plane.rows(y), side.plane.columns(x))

    @property
    def reach(self) -> tuple[int, int]:
        """Addresses [low, high) of everything."""
        low = self.base + int(self.rows.min()) + int(self.columns.min())
        return low, self.base + int(self.rows.max()) + int(self.columns.max()) + 1

    def offsets(self, memory: GpuMemory) -> Iterator[Offsets]:
        """Where the bytes are in the arena, some rows at a time."""
        if not len(self.rows) or not len(self.columns):
            return
        low, high = self.reach
        pieces = memory.spans(low, high - low)
        starts = low + np.cumsum([0, *(size for _, size in pieces)])[:-1]
        shift = np.array([-1 if at is None else at - start for (at, _), start in zip(pieces, starts, strict=True)])
        holes = np.array([at is None for at, _ in pieces])
        step = max(_CHUNK // len(self.columns), 1)
        for first in range(0, len(self.rows), step):
            addresses = self.base + self.rows[first : first + step, None] + self.columns
            piece = np.searchsorted(starts, addresses, side="right") - 1
            yield np.where(holes[piece], -1, addresses + shift[piece])


class Watcher:
    """Who is told. Subclasses override what they want to hear of."""

    def comes(self, draw: Draw) -> None:
        """A draw is on record; nothing of it is drawn yet."""

    def reads_vertices(self, draw: Draw) -> None:
        """A draw is about to read its vertices."""

    def reads_commands(self, offset: int, words: int, data: NDArray[np.int64]) -> None:
        """A piece of pushbuffer at an arena offset is read; data: which of its words go to memory, by number."""

    def reads_entry(self, address: int, size: int) -> None:
        """A texture header, a sampler or queue metadata at a GPU address is read."""

    def samples(self, texture: TextureHeader, address: int, size: int) -> None:
        """Shaders ask for a texture whose levels and layers are so many bytes at a GPU address."""

    def uploads(self, target: Places, words: Offsets | None, padded: int) -> None:
        """Words of the pushbuffer go to memory; None if they come from a macro. padded: bytes of a line of them."""

    def copies(self, target: Places, source: Places, engine: Any) -> None:
        """Each byte goes where the one of the same number was."""

    def converts(self, target: Places, source: Places, layout: PixelLayout | None, engine: Any) -> None:
        """Bytes are made of others; layout: of pixels of the source, None if only its components are known."""

    def fills(self, target: Places) -> None:
        """A constant goes to memory."""

    def writes(self, pages: NDArray[np.int64]) -> None:
        """A draw, a clear or a grid has written to these pages of 4096 bytes of the arena, by number."""


class WatchedGM20B(GM20B):
    """A GPU whose `watcher` is told what happens."""

    quick_draws = False  # they would not be told of

    def __init__(self, watcher: Watcher, switches: Mapping[str, str] | None = None) -> None:
        self.watcher = watcher
        super().__init__(switches=switches)
        engines = (_ThreeD, _Compute, _InlineToMemory, _TwoD, _DmaCopy)
        self.engine_classes = {engine.class_id: engine for engine in engines}

    def _power_on(self) -> None:
        super()._power_on()
        self.log = _Log(self.watcher)

    def channel(self, id: int = 0) -> Channel:
        """The channel of that number, made when first asked for."""
        known = id in self.channels
        found = super().channel(id)
        if not known:
            _Words(self, found)
        return found

    @cached_property
    def textures(self) -> store.Textures:
        """What handles of textures mean to shaders."""
        area = (sum(self.scratch) + GRIDS_SIZE, TEXTURES_SIZE)
        return _Textures(self.watcher, self.memory, self.engine, area, self.switches)

    def draw(self, draw: Draw, state: Any, counters: Any) -> None:
        """Shade a draw, whose state the live registers are."""
        self.watcher.reads_vertices(draw)
        with self.writing():
            super().draw(draw, state, counters)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Tell of the pages that are written meanwhile."""
        before = self.memory.page_versions.copy()
        yield
        self.watcher.writes(np.flatnonzero(before != self.memory.page_versions))


class _Log(Log):
    """The machine's log, which draws go to before they are drawn."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher

    def append(self, record: Any) -> None:
        super().append(record)
        if isinstance(record, Draw):
            self._watcher.comes(record)


class _Words:
    """What a channel reads; which words of it are inline data."""

    def __init__(self, machine: WatchedGM20B, channel: Channel) -> None:
        self.machine, self.channel, self.reader = machine, channel, StreamReader()
        self.waiting: dict[int, list[tuple[int, Offsets]]] = {}  # by class: number of the piece, where its words are
        self._pieces_of = channel._pieces_of
        channel._pieces_of = self.pieces_of  # type: ignore[method-assign]
        for engine in channel.engines.values():
            inline = getattr(engine, "inline", None)
            if isinstance(inline, _Inline):
                inline.words = self

    def pieces_of(self, submission: Submission) -> list[tuple[int, int, int, int]]:
        runs = self._pieces_of(submission)
        # What is left of pieces before stands in front of the first of these.
        self.waiting = {key: [(-1, words) for _, words in parts] for key, parts in self.waiting.items()}
        # All words before have been read: subchannels are bound as these will find them, by the capture's state, too.
        for subchannel in range(8):
            class_id = CLASS_OF_FILE[self.channel._get("BINDINGS", subchannel)]
            self.reader.bound[subchannel] = CLASSES.get(class_id)
        arena = self.machine.memory.arena
        for number, (offset, count, _, _) in enumerate(runs):
            words = arena[offset : offset + 4 * count].view(np.uint32)
            data = []
            for packet in self.reader.segment(words):
                if packet.block is None or packet.block.class_id not in _UPLOADING:
                    continue
                numbers = packet.at + np.arange(len(packet.values), dtype=np.int64)
                if packet.word != _LOAD or packet.form == _INCREASING:
                    numbers = numbers[packet_methods(packet) == _LOAD]
                if len(numbers):
                    data.append(numbers)
                    self.waiting.setdefault(packet.block.class_id, []).append((number, offset + 4 * numbers))
            found = np.concatenate(data) if data else np.zeros(0, np.int64)
            self.machine.watcher.reads_commands(offset, count, found)
        return runs

    def take(self, class_id: int, data: NDArray[np.uint8]) -> Offsets | None:
        """Where the words of inline data that has just come in full were; None if they are not the pushbuffer's."""
        channel = self.channel
        run, position = channel._get("RUN"), channel._get("POSITION")
        before: list[Offsets] = []
        after: list[tuple[int, Offsets]] = []
        for number, words in self.waiting.get(class_id, []):
            if number < run:
                before.append(words)
            elif number > run:
                after.append((number, words))
            else:
                read = words < position
                before.append(words[read])
                if not read.all():
                    after.append((number, words[~read]))
        self.waiting[class_id] = after
        count = len(data) // 4
        words = np.concatenate(before)[-count:] if before and count else np.zeros(0, np.int64)
        arena = self.machine.memory.arena.view(np.uint32)
        if len(words) != count or not np.array_equal(arena[words >> 2], data[: 4 * count].view(np.uint32)):
            return None
        return words


def packet_methods(packet: Any) -> NDArray[np.int64]:
    """The method that each value of a packet goes to."""
    count = len(packet.values)
    if packet.form == _INCREASING:
        return packet.word + np.arange(count, dtype=np.int64) & 0xFFF
    methods = np.full(count, packet.word, np.int64)
    if packet.form == _ONCE and packet.first:
        methods[1:] = packet.word + 1 & 0xFFF
    return methods


def _machine(host: EngineHost) -> WatchedGM20B:
    return cast(WatchedGM20B, host)


class _Inline(InlineUnit):
    words: _Words | None = None

    def _store(self, pitch: bool, length: int, lines: int, data: NDArray[np.uint8]) -> None:
        super()._store(pitch, length, lines, data)
        padded = (length + 3) & -4
        lines = min(lines, len(data) // padded)
        if not lines or self.words is None:
            return
        words = self.words.take(self._block.class_id, data)
        with suppress(UsageError):  # has been told
            target = Places.of_surface(self._side(pitch), length, lines)
            words = None if words is None else words[: lines * padded >> 2]
            _machine(self._host).watcher.uploads(target, words, padded)


def _inline(host: EngineHost, block: MethodBlock, registers: Registers) -> _Inline:
    return _Inline(host, block, registers)


class _ThreeD(ThreeD):
    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        self.inline = _inline(host, B197, registers)
        clear = B197["CLEAR_SURFACE"].word
        self.effects[clear] = self._watched(self.effects[clear])

    def _watched(self, effect: Callable[[int], None]) -> Callable[[int], None]:
        def run(value: int) -> None:
            with _machine(self.host).writing():
                effect(value)

        return run


class _Compute(Compute):
    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        self.inline = _inline(host, B1C0, registers)

    def _run(self, launch: Launch) -> None:
        machine = _machine(self.host)
        machine.watcher.reads_entry(launch.address, QMD_BYTES)
        with machine.writing():
            super()._run(launch)


class _InlineToMemory(InlineToMemory):
    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        self.inline = _inline(host, A140, registers)


class _DmaCopy(DmaCopy):
    def _transfer(self, value: int) -> None:
        copies = self.host.stats.copies
        super()._transfer(value)
        if self.host.stats.copies == copies:
            return
        watcher = _machine(self.host).watcher
        plan = self._plans[value.to_bytes(4, "little") + self.registers[self._words].tobytes()]
        most = max(_CHUNK // max(plan.source.element, plan.target.element), 1)
        for first in range(0, plan.columns, most):  # a buffer may be one line of any length
            columns = min(plan.columns - first, most)
            source, target = (
                Places.of_side(replace(side, x=side.x + first * side.element), columns, plan.rows)
                for side in (plan.source, plan.target)
            )
            if plan.kind == "copy":
                watcher.copies(target, source, self)
            elif plan.kind == "fill":
                watcher.fills(target)
            else:
                watcher.converts(target, source, None, self)


class _TwoD(TwoD):
    def _blit(self, value: int) -> None:
        blits = self.host.stats.blits
        super()._blit(value)
        if self.host.stats.blits == blits:
            return
        watcher = _machine(self.host).watcher
        plan = self._plans[b"".join(self.registers[part].tobytes() for part in self._parts)]
        if plan.copy is not None:
            from_side, to_side, width = plan.copy
            read, written = (Places.of_surface(side, width, plan.size[1]) for side in (from_side, to_side))
            watcher.copies(written, read, self)
            return
        record, columns, rows = plan.record, plan.columns, plan.rows
        if record is None or columns is None or rows is None or plan.source is None or plan.target is None:
            return
        layout, width = TWOD_FORMATS.named(record.source_format), plan.size[0]
        target = Places(
            plan.target.va + plan.writes[0], _wide(rows[:, 0]), _wide(columns[0, :width], plan.target_bytes)
        )
        base = plan.source.va + plan.reads[0]
        if (record.source_format, record.filter, record.operation) == (record.target_format, "point", "SRCCOPY"):
            watcher.copies(target, Places(base, _wide(rows[:, 1]), _wide(columns[1, :width], layout.bytes)), self)
            return
        taps, lines = np.unique(columns[1:3, :width]), np.unique(rows[:, 1:3])
        watcher.converts(target, Places(base, _wide(lines), _wide(taps, layout.bytes)), layout, self)


def _wide(places: NDArray[np.int32], count: int = 1) -> NDArray[np.int64]:
    """Each place and the `count` - 1 bytes behind it."""
    return (places.astype(np.int64)[:, None] + np.arange(count)).reshape(-1)


class _Textures(store.Textures):
    def __init__(self, watcher: Watcher, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._watcher = watcher

    def _make(self, handle: int, use: int) -> Any:
        found = super()._make(handle, use)
        number, pools = handle & 0xFFFFF, self.pools
        which = number if pools.joined else handle >> 20
        place = pools.headers + number * store.HEADER_BYTES
        self._watcher.reads_entry(place, store.HEADER_BYTES)
        if use == SAMPLED or which <= pools.last_sampler:
            self._watcher.reads_entry(pools.samplers + which * store.SAMPLER_BYTES, store.SAMPLER_BYTES)
        texture = TextureHeader.parse(self.memory.try_read(place, store.HEADER_BYTES)[0])
        with suppress(UsageError):  # of those that are too large, nothing is read
            self._watcher.samples(texture, *storage_of(texture, self.switches))
        return found


__all__ = ["Places", "WatchedGM20B", "Watcher", "packet_methods"]
