"""Words of a recording that depend on syncpoints.

A console's system says which syncpoints a program has, and their values go on from where they were. So the probe puts
its own numbers into words that name a syncpoint, and moves thresholds. Here those words are found: pushbuffers are read
as the host reads them, and a word of theirs is where the last store left it.

Macros that name syncpoints are not followed; no driver has such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.pgc.contents import Event, Map, Store, Submit, Unmap, bytes_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B06F, B197, SUBCHANNELS
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HEADER, TERTIARY, segment_of
from pocketgpu.late_dataclass import dataclass

_OPERATION, _INDEX = B06F["SYNCPOINTB"]["OPERATION"], B06F["SYNCPOINTB"]["SYNCPT_INDEX"]
_OPERATIONS = _OPERATION.values
_HOST_NUMBER, _HOST_THRESHOLD = B06F["SYNCPOINTB"].word, B06F["SYNCPOINTA"].word
_BIND = B06F["SET_OBJECT"]
_3D_NUMBER = B197["INCREMENT_SYNC_POINT"]
_MATTER: Final = (_BIND.word, _HOST_THRESHOLD, _HOST_NUMBER, _3D_NUMBER.word)
_NUMBER_MASK: Final = 0xFF
"""Of a syncpoint: a Tegra X1 has 192 of them. Bits above are of choices, and stay."""

HOST, ENGINE, THRESHOLD, REACHED = "nmwr"
"""Letters of docs/formats/probe.md: a number in a method of the host, or of the 3D class; a threshold that moves with
its syncpoint; one of a syncpoint that nothing raises, which counts as reached."""


@dataclass(frozen=True, slots=True, order=True)
class SyncpointWord:
    """store: the number of the store that wrote the word, of all in order. at: the word's offset in it."""

    store: int
    at: int
    kind: str
    syncpoint: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a word is: a store and an offset in it."""

    store: int
    at: int


@dataclass(frozen=True, slots=True)
class _Use:
    place: _Place
    kind: str
    syncpoint: int
    raises: bool


class _Memory:
    """Bytes of all handles as the processor stored them, and which store wrote each word."""

    def __init__(self, sizes: Mapping[int, int]) -> None:
        self._bytes = {handle: np.zeros(size, np.uint8) for handle, size in sizes.items()}
        self._stores: dict[int, list[tuple[int, int, int]]] = {handle: [] for handle in sizes}
        self._mapped: dict[int, Map] = {}

    def map(self, one: Map) -> None:
        self._mapped[one.id] = one

    def unmap(self, one: Unmap) -> None:
        self._mapped.pop(one.id, None)

    def place(self, address: int) -> tuple[int, int, int] | None:
        """Handle, offset and bytes that follow of a GPU address."""
        for one in reversed(self._mapped.values()):
            if one.gpu_va <= address < one.gpu_va + one.size:
                at = address - one.gpu_va
                return one.handle, one.offset + at, one.size - at
        return None

    def store(self, number: int, one: Store) -> None:
        data, start = np.frombuffer(bytes_of(one.pieces), np.uint8), 0
        while start < len(data):
            if one.handle is not None:
                handle, offset, size = one.handle, one.offset + start, len(data)
            elif (place := self.place(one.gpu_va + start)) is not None:
                handle, offset, size = place
            else:
                return
            part = data[start : start + size]
            self._bytes[handle][offset : offset + len(part)] = part
            self._stores[handle].append((offset, number, start))
            start += size

    def words(self, address: int, count: int) -> tuple[NDArray[np.uint32], int, int] | None:
        """The words of a segment, with the handle and offset of the first."""
        place = self.place(address)
        if place is None or place[2] < 4 * count:
            return None
        handle, offset, _ = place
        return self._bytes[handle][offset : offset + 4 * count].view("<u4"), handle, offset

    def stored(self, handle: int, offset: int, sizes: Sequence[int]) -> _Place | None:
        """The last store that wrote a word; sizes: of all stores."""
        for first, number, start in reversed(self._stores[handle]):
            if first <= offset and offset + 4 <= first + sizes[number] - start:
                return _Place(number, start + offset - first)
        return None


@dataclass(frozen=True, slots=True)
class _Write:
    """A method that may name a syncpoint or bind a class. at: the index of its word; None: it is in the header."""

    method: int
    subchannel: int
    at: int | None


class _Packets:
    """Where the packets of a channel are: one may go on in the next segment."""

    def __init__(self) -> None:
        self._method = self._left = self._subchannel = self._form = 0

    def writes(self, words: NDArray[np.uint32]) -> Iterator[_Write]:
        """The writes of a segment that matter here."""
        at, end = 0, len(words)
        while at < end:
            if self._left:
                taken = min(self._left, end - at)
                yield from (_Write(method, self._subchannel, at + place) for method, place in self._matter(taken))
                at += taken
                continue
            header = int(words[at])
            at += 1
            form = HEADER["SEC_OP"].raw(header)
            if form == FORMS.END_PB_SEGMENT:
                return
            self._begin(form, header)
            if form == FORMS.IMMD_DATA_METHOD and self._method in _MATTER:
                yield _Write(self._method, self._subchannel, None)

    def _begin(self, form: int, header: int) -> None:
        old = form in (FORMS.GRP0_USE_TERT, FORMS.GRP2_USE_TERT)
        self._subchannel = HEADER["SUBCHANNEL"].raw(header)
        self._method = HEADER["ADDRESS_OLD" if old else "ADDRESS"].raw(header)
        self._form, self._left = form, HEADER["COUNT_OLD" if old else "COUNT"].raw(header)
        if old:
            self._form = FORMS.INC_METHOD if form == FORMS.GRP0_USE_TERT else FORMS.NON_INC_METHOD
        if form in (FORMS.IMMD_DATA_METHOD, FORMS.RESERVED6) or (
            old and HEADER["TERT_OP"].raw(header) != TERTIARY.INC_METHOD
        ):
            self._left = 0

    def _matter(self, taken: int) -> list[tuple[int, int]]:
        """(method, place) of the next words of a packet, in order; goes on after them."""
        first, form = self._method, self._form
        self._left -= taken
        if form == FORMS.INC_METHOD:
            self._method += taken
            return [(one, one - first) for one in sorted(_MATTER) if first <= one < first + taken]
        if form == FORMS.ONE_INC:
            self._method, self._form = first + 1, FORMS.NON_INC_METHOD
            places = ([first] if first in _MATTER else []), ([first + 1] if first + 1 in _MATTER else [])
            return [(one, 0) for one in places[0]] + [(one, n) for one in places[1] for n in range(1, taken)]
        return [(first, n) for n in range(taken)] if first in _MATTER else []


class _Channel:
    """What a channel has bound, and its last threshold."""

    def __init__(self) -> None:
        self.packets = _Packets()
        self.bound = {number: one.class_id for number, one in SUBCHANNELS.items()}
        self.threshold: _Place | None = None


class SyncpointFinder:
    """Follows the events of a recording, in order, and finds the words."""

    def __init__(self, sizes: Mapping[int, int]) -> None:
        self._memory = _Memory(sizes)
        self._channels: dict[int, _Channel] = {}
        self._uses: list[_Use] = []
        self._sizes: list[int] = []

    def follow(self, events: Iterable[Event]) -> None:
        """Go on with these events.

        :raises UsageError: a number of a syncpoint cannot be replaced.
        """
        for event in events:
            match event:
                case Map():
                    self._memory.map(event)
                case Unmap():
                    self._memory.unmap(event)
                case Store():
                    self._sizes.append(sum(map(len, event.pieces)))
                    self._memory.store(len(self._sizes) - 1, event)
                case Submit():
                    for entry in event.entries.tolist():
                        self._segment(self._channels.setdefault(event.channel, _Channel()), entry)

    def _segment(self, channel: _Channel, entry: int) -> None:
        address, count = segment_of(entry)
        found = self._memory.words(address, count) if count else None
        if found is None:
            return
        words, handle, offset = found
        for write in channel.packets.writes(words):
            place = None if write.at is None else self._memory.stored(handle, offset + 4 * write.at, self._sizes)
            value = 0 if write.at is None else int(words[write.at])
            self._write(channel, write, value, place)

    def _write(self, channel: _Channel, write: _Write, value: int, place: _Place | None) -> None:
        if write.method == _BIND.word:
            channel.bound[write.subchannel] = _BIND["NVCLASS"].raw(value)
        elif write.method == _HOST_THRESHOLD:
            channel.threshold = place
        elif write.method == _HOST_NUMBER:
            operation = _OPERATION.raw(value)
            if write.at is not None and operation not in (_OPERATIONS.WAIT, _OPERATIONS.INCR):
                return
            waits = operation == _OPERATIONS.WAIT
            number = _INDEX.raw(value) & _NUMBER_MASK
            self._use(place, HOST, number, raises=not waits)
            if waits:
                self._use(channel.threshold, THRESHOLD, number, raises=False)
        elif channel.bound.get(write.subchannel) == B197.class_id:
            self._use(place, ENGINE, _3D_NUMBER["INDEX"].raw(value) & _NUMBER_MASK, raises=True)

    def _use(self, place: _Place | None, kind: str, number: int, raises: bool) -> None:
        if place is None:
            raise UsageError(
                "the recording has a syncpoint's number where no other number can be put",
                hint="It must be a word of its own, which the recording stores: not in a header, nor made by the GPU.",
            )
        self._uses.append(_Use(place, kind, number, raises))

    @property
    def syncpoints(self) -> tuple[int, ...]:
        """The numbers that words name, in order of their first use."""
        return tuple(dict.fromkeys(one.syncpoint for one in self._uses))

    @property
    def words(self) -> tuple[SyncpointWord, ...]:
        """The words in the order of stores, each once."""
        raised = {one.syncpoint for one in self._uses if one.raises}
        found = {}
        for one in self._uses:
            kind = REACHED if one.kind == THRESHOLD and one.syncpoint not in raised else one.kind
            found[one.place.store, one.place.at] = SyncpointWord(one.place.store, one.place.at, kind, one.syncpoint)
        return tuple(found[key] for key in sorted(found))
