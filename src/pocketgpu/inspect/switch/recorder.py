"""The recorder of a Switch recording's events: it turns a replay into events while it runs.

An engine's record says what was done. The recorder adds its place in the command stream, the registers that changed
since the previous event, and the memory that it may have written. Memory has GPU addresses for people and arena offsets
for comparisons, as drivers map the same bytes at several addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.capture.driver.switch import LOAD, SHOW, SUBMISSION
from pocketgpu.capture.formats.mxcap import ChannelLog, ChunkRecord
from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.facts.maxwell.pushbuffers import segment_of
from pocketgpu.inspect.model.event import Event, Range, Words
from pocketgpu.inspect.switch import describe
from pocketgpu.inspect.switch.late_facts import LateFacts
from pocketgpu.inspect.switch.passes import Passes
from pocketgpu.inspect.switch.resources import textures_read
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.compute.launch import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.layout import CLASS_FILES

if TYPE_CHECKING:
    from pocketgpu.maxwell.memory.gpu_memory import Backing

Spans = tuple[tuple[int, int], ...]
"""(arena offset, size in bytes) of ranges of memory."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom of a rectangle of pixels, all inclusive; right is less than left if it has no pixel."""
_MOST_RANGES = 64


@dataclass(frozen=True)
class RegisterChange:
    """Registers of a class that changed before an event: words, values before and after."""

    file: int
    words: NDArray[np.int64]
    before: NDArray[np.uint32]
    after: NDArray[np.uint32]


@dataclass(frozen=True)
class TickTrace:
    """What is known of a tick besides its event. what: the engine's record, or a number for other events. writes:
    memory that it wrote or may have written. channel: index of its channel, -1 without one.

    surfaces: those that it wrote, with the arena offset of each one's first byte. sources: what it read, as (address,
    arena offset, size). plan: of a blit or a copy. stores: whether programs of a draw could write memory. stored: of a
    draw, the pages that words for constant buffers went to before it; None if that is not known.
    """

    event: Event
    what: Any
    record: Any
    writes: Spans
    changes: tuple[RegisterChange, ...]
    channel: int
    surfaces: tuple[tuple[Surface, int], ...] = ()
    sources: tuple[tuple[int, int, int], ...] = ()
    plan: Any = None
    stores: bool = False
    stored: Spans | None = None


@lru_cache(maxsize=1 << 14)
def register_name(file: int, word: int) -> str:
    """Official name of a word of a register file, such as "SET_COLOR_TARGET_A(3)"."""
    found = CLASSES[CLASS_FILES[file]].get(word) if file < len(CLASS_FILES) else None
    return f"{word:#05x}" if found is None else found.label


def _named(changes: Sequence[RegisterChange]) -> dict[str, str]:
    """New values of registers, by their names."""
    return {
        register_name(change.file, word): f"{after:#010x}"
        for change in changes
        for word, after in zip(change.words.tolist(), change.after.tolist(), strict=True)
    }


class _StreamPosition:
    """Where a channel is in its submission: the entry, and its first word that belongs to no event yet."""

    def __init__(self) -> None:
        self.submission = self.entry = self.word = -1
        self.last: Words | None = None


class Recorder:
    """Records a player's events: `events` by frame, `passes` by frame, `traces` by tick (the first is number 0)."""

    def __init__(self, log: ChannelLog) -> None:
        self.log = log
        self.events: list[list[Event]] = []
        self.passes: list[Passes] = []
        self.traces: list[TickTrace] = []
        self.first: list[int] = []
        """For each frame, how many ticks come before it."""
        self.reached: dict[int, Box] = {}
        """For draws whose shapes were looked at, by tick: the smallest rectangle of pixels that has all of them."""
        self.covering: dict[int, bool] = {}
        """For draws that were asked, by tick: whether their shapes cover a pixel."""
        self.machine: GM20B | None = None
        self.backings: Callable[[], Mapping[int, Backing]] = dict
        """Memory by handle, now."""
        self._frame = -1
        self._draws = 0
        self._open = False
        self._positions: dict[int, _StreamPosition] = {}
        self._registers: dict[int, NDArray[np.uint32]] = {}
        self.power_on: dict[int, NDArray[np.uint32]] = {}
        """Registers of a channel before its first event, by its index: (files, words)."""
        self._versions: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._map_changes = -1
        """The state of mappings for which the next two are valid."""
        self._known_spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._placed: tuple[tuple[Surface, ...], tuple[tuple[Surface, int], ...]] = ((), ())
        """Surfaces of an event, and those of them that are mapped, with their places."""
        self._constants = 0  # words that went to constant buffers
        self._constant_pages: Spans | None = None  # where those before the draw that comes next went

    # -- notifications of the player ----------------------------------------------------------------------------------
    def note(self, what: Any, more: Any) -> None:
        """Record a tick."""
        assert self.machine is not None
        if not self._open:
            self._frame += 1
            self._draws, self._open = 0, True
            self.events.append([])
            self.passes.append(Passes(self._frame))
            self.first.append(len(self.traces))
        if what == LOAD:
            self._load(more)
        elif what == SUBMISSION:
            self._submission(more)
        elif what == SHOW:
            self._add(describe.show(self.log.presents[more], more), what, more)
            self._open = False
        else:
            self._record(what, more)

    def drawing(self) -> None:
        """A draw is about to be made, which `note` will be called with."""
        assert self.machine is not None
        if self.machine.constant_words == self._constants:
            self._constant_pages = ()
            return
        # Only now do the pages that have changed show where words for constant buffers went: the draw changes others.
        pages = self._changed() if len(self._versions) else ()
        self._constant_pages = pages if 0 < len(pages) < _MOST_RANGES else None

    def _load(self, number: int) -> None:
        chunks = [self.log.chunks[update] for update in self.log.submissions[number].updates]
        found = describe.load(chunks, number)
        self._add(found, LOAD, number, written=self._stored(chunks))
        self._versions = self._now()

    def _stored(self, chunks: Sequence[ChunkRecord]) -> Spans:
        """Where the processor wrote. Memory that the GPU does not see, as that of pictures that a program draws itself,
        has no address: its handle says where it is."""
        spans: list[tuple[int, int]] = []
        for one in chunks:
            backing = self.backings().get(one.handle) if one.handle is not None else None
            if backing is not None:
                spans.append((backing.offset + one.offset, len(one.data)))
            else:
                spans += self.spans((Range(one.gpu_va, len(one.data)),))
        return tuple(spans)

    def _submission(self, number: int) -> None:
        machine = self.machine
        assert machine is not None
        entries = self.log.submissions[number].entries
        self._add(describe.submission(number, len(entries)), SUBMISSION, number)
        # Registers are compared with what they are before the first word runs.
        for channel in machine.channels.values():
            self._know(channel)

    def _know(self, channel: Channel) -> None:
        if channel.index not in self._registers:
            self._registers[channel.index] = channel.files.copy()
            self.power_on[channel.index] = channel.files.copy()

    def _record(self, record: Any, channel: Channel) -> None:
        machine = self.machine
        assert machine is not None
        self._know(channel)
        try:
            found = describe.record(record, channel)
        except PocketGPUError as error:  # registers can name things that do not exist
            place = getattr(record, "place", "")
            kind = "draw" if isinstance(record, Draw) else "report"
            found = describe.Description(kind, f"{type(record).__name__}: {error.message}", {"place": place})
        constants = machine.constant_words - self._constants
        if constants:
            # Words of the pushbuffer for constant buffers have no record: they belong to the event after them.
            found.facts = {**found.facts, "constant_words": constants}
        stores = isinstance(record, Draw) and describe.stores(machine)
        if constants or stores or isinstance(record, Launch):
            found.writes = (*found.writes, *self._ranges(self._changed()))
        if isinstance(record, Draw):
            found.reads = tuple(dict.fromkeys((*found.reads, *textures_read(machine, record))))
        self._constants = machine.constant_words
        changes = self._changes(channel)
        found.facts = LateFacts(dict(found.facts), "registers", partial(_named, changes))
        found.words = self._words(record.place, channel)
        draw = None
        if isinstance(record, Draw):
            draw, self._draws = self._draws, self._draws + 1
        self._add(found, record, record, changes, channel.index, draw, stores=stores)
        self._versions, self._constant_pages = self._now(), None

    # -- events -------------------------------------------------------------------------------------------------------
    def _add(
        self, found: describe.Description, what: Any, record: Any, changes: tuple[RegisterChange, ...] = (),
        channel: int = -1, draw: int | None = None, written: Spans | None = None, stores: bool = False,
    ) -> None:  # fmt: skip
        events = self.events[self._frame]
        event = Event(
            self._frame, len(events), found.kind, found.title, draw, None, found.facts, found.writes, found.reads,
            found.words,
        )  # fmt: skip
        events.append(event)
        self.passes[self._frame].add(event, found.target)
        assert self.machine is not None
        memory = self.machine.memory
        if self._map_changes != memory.map_changes:
            self._map_changes, self._placed = memory.map_changes, ((), ())
            self._known_spans.clear()
        if self._placed[0] is not found.surfaces:  # consecutive draws share them
            places = ((surface, memory.offset_of(surface.address, surface.size)) for surface in found.surfaces)
            self._placed = found.surfaces, tuple((surface, at) for surface, at in places if at is not None)
        sources = ((one.address, memory.offset_of(one.address, one.size), one.size) for one in found.reads)
        self.traces.append(
            TickTrace(
                event, what, record, self.spans(found.writes) if written is None else written, changes, channel,
                self._placed[1],
                tuple((va, at, size) for va, at, size in sources if at is not None), found.plan, stores,
                None if draw is None else self._constant_pages,
            )
        )  # fmt: skip

    def spans(self, ranges: tuple[Range, ...]) -> Spans:
        """The arena ranges that ranges of addresses are mapped to now."""
        assert self.machine is not None
        memory, known = self.machine.memory, self._known_spans
        found: list[tuple[int, int]] = []
        for one in ranges:
            key = one.address, one.size
            if key not in known or self._map_changes != memory.map_changes:
                known[key] = [(at, size) for at, size in memory.spans(*key) if at is not None]
            found += known[key]
        return tuple(found)

    def tick_of(self, event: Event) -> int:
        """How many ticks are over right after an event."""
        return self.first[event.frame] + event.number + 1

    # -- memory that changed ------------------------------------------------------------------------------------------
    def _now(self) -> NDArray[np.uint32]:
        assert self.machine is not None
        memory = self.machine.memory
        return memory.page_versions[: memory.used_end >> PAGE_SHIFT].copy()

    def _changed(self) -> Spans:
        """Arena ranges of the pages that were stamped since the previous event."""
        assert self.machine is not None
        memory, before = self.machine.memory, self._versions
        now = memory.page_versions[: memory.used_end >> PAGE_SHIFT]
        known = min(len(now), len(before))
        pages = (now[:known] != before[:known]).nonzero()[0]
        if len(now) > known:
            pages = np.concatenate([pages, now[known:].nonzero()[0] + known])
        if not len(pages) or not known:
            return ()
        groups = np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1)
        return tuple((int(g[0]) << PAGE_SHIFT, len(g) * PAGE_SIZE) for g in groups[:_MOST_RANGES])

    def _ranges(self, spans: Spans) -> tuple[Range, ...]:
        """Ranges of the arena as GPU addresses."""
        assert self.machine is not None
        found = []
        for offset, size in spans:
            addresses = self.machine.memory.addresses_of(offset)
            if addresses:
                found.append(Range(addresses[0], size))
        return tuple(found)

    # -- registers ----------------------------------------------------------------------------------------------------
    def _changes(self, channel: Channel) -> tuple[RegisterChange, ...]:
        known, live = self._registers[channel.index], channel.files
        pairs = (live.view(np.uint64) != known.view(np.uint64)).any(axis=1)  # half as many to compare
        found = []
        for file in pairs[: len(CLASS_FILES)].nonzero()[0].tolist():
            now = live[file]
            words = (now != known[file]).nonzero()[0]
            found.append(RegisterChange(file, words, known[file][words], now[words]))
            known[file][words] = now[words]
        return tuple(found)

    def registers(self, tick: int, file: int = 0, channel: int = 0) -> NDArray[np.uint32]:
        """Registers of a class after `tick` ticks, as of the last event that compared them."""
        if channel not in self.power_on:
            return np.zeros(0x1000, np.uint32)
        found: NDArray[np.uint32] = self.power_on[channel][file].copy()
        for trace in self.traces[:tick]:
            if trace.channel == channel:
                for change in trace.changes:
                    if change.file == file:
                        found[change.words] = change.after
        return found

    # -- words of the stream ------------------------------------------------------------------------------------------
    def _words(self, place: str, channel: Channel) -> Words | None:
        """The words after those of the previous event, up to the word at a place ("s3/e2+17")."""
        machine = self.machine
        assert machine is not None
        head, _, word = place.partition("+")
        submission, _, entry = head.partition("/e")
        if not entry.isdecimal() or not word.isdecimal():
            return None
        number, last, end = int(submission[1:]), int(entry), int(word) + 1
        at = self._positions.setdefault(channel.index, _StreamPosition())
        if at.submission != number:
            at.submission, at.entry, at.word = number, 0, 0
        if (at.entry, at.word) == (last, end):
            return at.last  # one method has several events, such as a macro that draws
        entries = self.log.submissions[number].entries if number < len(self.log.submissions) else ()
        spans, values = [], []
        for index in range(at.entry, min(last + 1, len(entries))):
            start, length = segment_of(int(entries[index]))
            first = at.word if index == at.entry else 0
            stop = end if index == last else length
            if stop > first:
                address = start + 4 * first
                spans.append(Range(address, 4 * (stop - first)))
                values.append(np.frombuffer(machine.memory.try_read(address, 4 * (stop - first))[0], "<u4"))
        at.entry, at.word = last, end
        joined = values[0] if len(values) == 1 else np.concatenate([np.zeros(0, np.uint32), *values])
        at.last = Words(tuple(spans), joined.astype(np.uint32))
        return at.last
