"""Which words of a 3DS capture hold addresses of main memory.

A capture is replayed. For each word of memory it is known which byte of which load put it there, so a
word of a command list leads back to the capture. Registers with addresses are known from the facts. Two kinds of words
are addresses only together with others: offsets of vertex and index buffers count from a common base, and faces of a
cube texture have the high bits of the first one; both are looked at when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.pgc.contents import Contents, Event, Gx, Load, Swap, Writes, bytes_of
from pocketgpu.capture.formats.pgc.encoder import varint
from pocketgpu.capture.formats.pgc.traces import PgcTrace, runs_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import ENTRY_WORDS, REQUEST_DMA, command_of
from pocketgpu.facts.list_entry import ALL_BYTES, header_of, length_of
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE
from pocketgpu.facts.pica import ATTRIBUTES, LIST_ALIGNMENT, PICA
from pocketgpu.facts.pica_enums import TEXTURE_TYPE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.observer import Observer
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.probe.files.sent import Move

PHYSICAL, UNITS, FACE, VIRTUAL = "p", "u", "t", "v"
"""Kinds of moved words."""
UNIT: Final = 8
"""Bytes that most registers count addresses in."""
_MAIN_END: Final = FCRAM.base + FCRAM_NEW_SIZE


def in_main(address: int) -> bool:
    """Whether an address is in main memory; the end of it counts, as ranges have ends."""
    return FCRAM.base <= address <= _MAIN_END


@dataclass(frozen=True, slots=True)
class Found:
    """The words with addresses of main memory, and all addresses that they lead to."""

    moves: tuple[Move, ...]
    addresses: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a word of a register write is in the capture: the event and the bytes from the beginning of its record.
    event None: the GPU itself wrote it."""

    event: int | None
    offset: int = 0


def _unit_field(block_register: Iterable[Field]) -> Field | None:
    return next((field for field in block_register if field.name == "address" and field.scale == UNIT), None)


_CORE_UNITS: Final = {register.offset: field for register in PICA if (field := _unit_field(register.fields))}
_FACES: Final = tuple(PICA[f"TEXUNIT0_ADDR{number}"].offset for number in range(2, 7))
_FACE_ZERO: Final = PICA["TEXUNIT0_ADDR"].offset
_FACE_FIELD: Final = PICA["TEXUNIT0_ADDR2"].fields[0]
_TYPE_AT, _TYPE = PICA["TEXUNIT0_PARAM"].offset, PICA["TEXUNIT0_PARAM"]["type"]
_CUBES: Final = (TEXTURE_TYPE.CUBE, TEXTURE_TYPE.SHADOW_CUBE)
_BASE_AT, _BASE = PICA["ATTRIBBUFFERS_LOC"].offset, PICA["ATTRIBBUFFERS_LOC"]["base"]
_BUFFERS: Final = tuple(
    (PICA[f"ATTRIBBUFFER{n}_OFFSET"].offset, PICA[f"ATTRIBBUFFER{n}_CONFIG2"].offset) for n in range(ATTRIBUTES)
)
_OFFSET, _COUNT = PICA["ATTRIBBUFFER0_OFFSET"]["offset"], PICA["ATTRIBBUFFER0_CONFIG2"]["count"]
_INDEX_AT, _INDEX = PICA["INDEXBUFFER_CONFIG"].offset, PICA["INDEXBUFFER_CONFIG"]["offset"]
_ARRAYS, _ELEMENTS = PICA["DRAWARRAYS"].offset, PICA["DRAWELEMENTS"].offset
_LIST_SIZES = tuple((PICA[f"CMDBUF_SIZE{n}"].offset, PICA[f"CMDBUF_SIZE{n}"]["size"]) for n in range(2))
_LIST_PLACES = tuple((PICA[f"CMDBUF_ADDR{n}"].offset, PICA[f"CMDBUF_ADDR{n}"]["address"]) for n in range(2))
_JUMPS: Final = tuple(PICA[f"CMDBUF_JUMP{n}"].offset for n in range(2))
_WATCHED: Final = np.zeros(1 << 16, bool)
_WATCHED[[
    *_CORE_UNITS, *_FACES, _TYPE_AT, _BASE_AT, _INDEX_AT, _ARRAYS, _ELEMENTS, *_JUMPS,
    *(at for pair in _BUFFERS for at in pair), *(at for at, _ in (*_LIST_SIZES, *_LIST_PLACES)),
]] = True  # fmt: skip
_CORE_FIRST, _CORE_END = PICA[0].address, PICA[0].address + 4 * 0x300
_EXTERNAL_UNITS: Final = {
    register.address: field
    for register in EXTERNAL
    if (field := _unit_field(register.fields)) and not _CORE_FIRST <= register.address < _CORE_END
}
_EXTERNAL_WHOLE: Final = frozenset(
    register.address for register in EXTERNAL if register.name.startswith(("PDC0_ADDRESS", "PDC1_ADDRESS"))
)
_MOST_WORDS: Final = 1 << 22
_MOST_JUMPS: Final = 4096
_MOST_BEHIND: Final = 64
"""Parts of lists after jumps that are looked at."""
_Words: TypeAlias = NDArray[np.uint32]
_Sources: TypeAlias = NDArray[np.int64]
_Behind: TypeAlias = tuple[_Words, _Sources, dict[int, int], dict[int, "_Origin"]]
"""Words, their sources, and values and origins of registers there."""
_EYES: Final = tuple(ENTRY_WORDS.index(name) for name in ("left", "right"))


def find(contents: Contents) -> tuple[Found, N3DS]:
    """All words that hold addresses of main memory, and the machine after the last event.

    :raises UsageError: an address cannot be moved, for example because the GPU itself wrote it.
    """
    finder = _Finder(contents)
    driver = drive(PgcTrace("", contents))
    driver.machine.observe(finder)
    finder.begin()
    number = 0
    for events in (*(frame.events for frame in contents.frames), contents.tail):
        for event in events:
            finder.event(number, event)
            driver.do(runs_of((event,)))
            number += 1
        driver.machine.step_vblank()
    return Found(tuple(finder.found.values()), frozenset(finder.addresses)), driver.machine


def record_head(event: Event) -> int:
    """Bytes of an event's record before its words: data, pairs of a register write, or the words of a command."""
    match event:
        case Load():
            return 1 + 4 + 2 + len(varint(len(bytes_of(event.pieces))))
        case Writes():
            return 1 + len(varint(len(event.addresses)))
        case Gx():
            return 1
        case _:
            return 2


class _Finder(Observer):
    """Follows a replay. found: by event and offset."""

    def __init__(self, contents: Contents) -> None:
        self.found: dict[tuple[int, int], Move] = {}
        self.addresses: set[int] = set()
        self._map = AddressMap(contents.ranges) if contents.ranges else AddressMap()
        self._values: dict[int, int] = {}
        self._origins: dict[int, _Origin] = {}
        self._now = 0
        self._loads: dict[int, tuple[int, bytes]] = {}

    def begin(self) -> None:
        """Memory is there."""
        regions = self.machine.memory.regions
        # 0: no source yet, as data never begins at the first byte of an event. Zeros take no memory until they are set.
        self._sources = {region.base: np.zeros(region.size // 4, np.int64) for region, _ in regions}
        self._values = dict(enumerate(self.machine.registers.tolist()))

    # -- what the capture does ----------------------------------------------------------------------------------------
    def event(self, number: int, event: Event) -> None:
        """The next event, before it is played."""
        self._now = number
        match event:
            case Load():
                data, head = bytes_of(event.pieces), record_head(event)
                self._loads[number] = head, data
                self._loaded(event.address, len(data), number << 32 | head)
            case Writes():
                self._writes(event)
            case Gx():
                self._command(event)
            case Swap():
                self._swap(event)
            case _:
                pass

    def _loaded(self, address: int, size: int, source: int) -> None:
        """Words of memory get a source; `source` is that of the first byte."""
        for region, _ in self.machine.memory.regions:
            if region.base <= address < region.end:
                skipped = -address % 4
                first = (address + skipped - region.base) // 4
                words = self._sources[region.base][first : first + max(0, size - skipped) // 4]
                words[:] = source + skipped + 4 * np.arange(len(words))

    def _writes(self, event: Writes) -> None:
        head = record_head(event)
        columns = zip(event.addresses.tolist(), event.values.tolist(), strict=True)
        for number, (address, value) in enumerate(columns):
            origin = _Origin(self._now, head + 8 * number + 4)
            if _CORE_FIRST <= address < _CORE_END:
                self._core_write((address - _CORE_FIRST) // 4, value, ALL_BYTES, origin)
            elif (field := _EXTERNAL_UNITS.get(address)) is not None:
                self._note(origin, UNITS, int(field.decode(value)))
            elif address in _EXTERNAL_WHOLE:
                self._note(origin, PHYSICAL, value)

    def _command(self, event: Gx) -> None:
        command = command_of(event.words)
        if command is None:
            return
        for number, word in enumerate(command.words, 1):
            if word.kind in ("address", "end") and event.words[number]:
                last = word.kind == "end"
                place = self._map.translate(event.words[number] - last)
                if place is not None:
                    self._note(_Origin(self._now, record_head(event) + 4 * number), VIRTUAL, place + last)
        if command is REQUEST_DMA:
            self._copied(*command.values(event.words, "source", "target", "size"))

    def _copied(self, source: int, target: int, size: int) -> None:
        """Copied words keep their source."""
        places = self._map.translate(source, size), self._map.translate(target, size)
        views = [self._source_words(place, size) for place in places if place is not None and not place % 4]
        if len(views) == 2 and len(views[0]) == len(views[1]):
            views[1][:] = views[0].copy()

    def _source_words(self, address: int, size: int) -> NDArray[np.int64]:
        for region, _ in self.machine.memory.regions:
            if region.base <= address < region.end:
                first = (address - region.base) // 4
                return self._sources[region.base][first : first + size // 4]
        return np.zeros(0, np.int64)

    def _swap(self, event: Swap) -> None:
        for number in _EYES:
            place = self._map.translate(event.info[number]) if event.info[number] else None
            if place is not None:
                self._note(_Origin(self._now, record_head(event) + 4 * number), VIRTUAL, place)
        head = record_head(event) + 4 * len(event.info) + len(varint(len(event.registers)))
        for number, (address, value) in enumerate(event.registers):
            if address in _EXTERNAL_WHOLE:
                self._note(_Origin(self._now, head + 8 * number + 4), PHYSICAL, value)

    # -- lists --------------------------------------------------------------------------------------------------------
    def list_starts(self, offset: int, size: int) -> None:
        """Read a list before the machine does."""
        address = self.machine.memory.address_of(offset)
        if address is None:
            return
        after: list[_Behind] = []
        self._walk(*self._list_words(address, size), after)
        self._faces()
        # A console may not take a jump, and go on after it: these words are moved, too.
        values, origins = self._values, self._origins
        for words, sources, self._values, self._origins in after:
            self._walk(words, sources, None)
            self._faces()
        self._values, self._origins = values, origins

    def _walk(self, words: _Words, sources: _Sources, after: list[_Behind] | None) -> None:
        """Look at the writes of a list to watched registers, in order; jumps are followed, and what comes after them is
        added to `after`. None: no jump is followed, and words without a source are passed over."""
        at = total = jumps = 0
        while at + 2 <= len(words):
            id, mask, more, step = header_of(int(words[at + 1]))
            places = np.array([at, *range(at + 2, at + 2 + more)])
            if places[-1] >= len(words) or total > _MOST_WORDS:
                return
            length = length_of(int(words[at + 1]))
            total += length
            at += length
            hits = np.flatnonzero(_WATCHED[id : id + more + 1] if step else np.full(more + 1, _WATCHED[id]))
            jumped = None
            for hit in hits.tolist():
                register, place = id + hit * step, int(places[hit])
                origin = self._origin_of(sources, place, int(words[place]))
                if after is not None or origin.event is not None:
                    self._core_write(register, int(words[place]), mask, origin)
                if register in _JUMPS and jumped is None:
                    jumped = _JUMPS.index(register)
            if jumped is not None and after is not None:
                jumps += 1
                if jumps > _MOST_JUMPS:
                    return
                if at + 2 <= len(words) and len(after) < _MOST_BEHIND:
                    after.append((words[at:], sources[at:], dict(self._values), dict(self._origins)))
                (size_at, size_field), (place_at, place_field) = _LIST_SIZES[jumped], _LIST_PLACES[jumped]
                size = int(size_field.decode(self._values.get(size_at, 0))) & -LIST_ALIGNMENT
                place = int(place_field.decode(self._values.get(place_at, 0))) & -LIST_ALIGNMENT
                words, sources = self._list_words(place, size)
                at = 0

    def _list_words(self, address: int, size: int) -> tuple[_Words, _Sources]:
        offset = self.machine.memory.offset_of(address, size)
        if offset is None:
            return np.zeros(0, np.uint32), np.zeros(0, np.int64)
        words = self.machine.memory.arena[offset : offset + size].view(np.uint32).copy()
        return words, self._source_words(address, size)

    def _origin_of(self, sources: NDArray[np.int64], place: int, word: int) -> _Origin:
        """Where a word of a list comes from; it may have been overwritten since it was loaded."""
        source = int(sources[place]) if place < len(sources) else 0
        if not source:
            return _Origin(None)
        event, offset = source >> 32, source & 0xFFFFFFFF
        head, data = self._loads[event]
        same = int.from_bytes(data[offset - head : offset - head + 4], "little") == word
        return _Origin(event, offset) if same else _Origin(None)

    # -- registers of the 3D core -------------------------------------------------------------------------------------
    def _core_write(self, id: int, value: int, mask: int, origin: _Origin) -> None:
        if not _WATCHED[id]:
            return
        bits = sum(0xFF << 8 * byte for byte in range(4) if mask >> byte & 1)
        before = self._values.get(id, 0)
        self._values[id] = before & ~bits | value & bits
        if mask == ALL_BYTES:
            self._origins[id] = origin
        elif bits:
            self._origins[id] = _Origin(None)
        if id in _CORE_UNITS:
            self._note(self._origins.get(id, _Origin(None)), UNITS, int(_CORE_UNITS[id].decode(self._values[id])))
        elif id in (_ARRAYS, _ELEMENTS):
            self._buffers(indexed=id == _ELEMENTS)
            self._faces()

    def _buffers(self, indexed: bool) -> None:
        """Vertex and index buffers of a draw."""
        base = int(_BASE.decode(self._values.get(_BASE_AT, 0)))
        used = [at for at, config in _BUFFERS if _COUNT.raw(self._values.get(config, 0))]
        offsets = [(at, base + _OFFSET.raw(self._values.get(at, 0))) for at in used]
        if indexed:
            offsets.append((_INDEX_AT, base + _INDEX.raw(self._values.get(_INDEX_AT, 0))))
        for at, address in offsets:
            if not in_main(address):
                continue
            if in_main(base):
                self._note(self._origins.get(_BASE_AT, _Origin(None)), UNITS, base, address)
            else:
                self._note(self._origins.get(at, _Origin(None)), PHYSICAL, address)

    def _faces(self) -> None:
        """Faces of a cube texture but the first."""
        if _TYPE.raw(self._values.get(_TYPE_AT, 0)) not in _CUBES:
            return
        high = self._values.get(_FACE_ZERO, 0) & ~_FACE_FIELD.mask
        for id in _FACES:
            if id in self._origins:
                address = UNIT * (high | self._values.get(id, 0) & _FACE_FIELD.mask)
                self._note(self._origins[id], FACE, address)

    # -- what was found -----------------------------------------------------------------------------------------------
    def _note(self, origin: _Origin, kind: str, address: int, used: int | None = None) -> None:
        """A word is an address, if it is one of main memory; used: what it leads to."""
        if not in_main(address):
            return
        if origin.event is None:
            raise UsageError(
                f"the address {address:#x} is in a command list that the GPU itself wrote, or was written in parts",
                hint="A probe cannot move it.",
            )
        key = origin.event, origin.offset
        known = self.found.get(key)
        if known is not None and known.kind != kind:
            raise UsageError(f"a word is used as two kinds of addresses, one of them {address:#x}")
        self.found[key] = Move(*key, kind)
        self.addresses.add(address if used is None else used)


def hull(addresses: Iterable[int], ranges: Iterable[tuple[int, int]], page: int) -> tuple[int, int] | None:
    """The range of whole pages with all these addresses and ranges of main memory; None: there are none."""
    starts = [(at, 1) for at in addresses] + [(at, size) for at, size in ranges if in_main(at) and size]
    if not starts:
        return None
    first = min(at for at, _ in starts) // page * page
    end = max(at + size for at, size in starts)
    return first, -(-(end - first) // page) * page
