"""Which methods the pushbuffers of a recording write, in which form of header, and which of them raise doubts.

Segments are noted when their submissions begin. The channels' own parser decodes the words (`inspect.decode`), some ten
thousand segments at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.choices import CHOICES, departures
from pocketgpu.facts.maxwell import B06F, CLASSES, WORDS, MethodBlock
from pocketgpu.facts.maxwell.pushbuffers import FORMS, header_columns, segment_of
from pocketgpu.inspect.decode import rows as what_is
from pocketgpu.inspect.decode.maxwell_tracer import MaxwellState, MaxwellTracer, channel_bytes
from pocketgpu.inspect.decode.rows import Rows
from pocketgpu.inspect.decode.stream import PUSHBUFFER, SUBMISSION, StreamBuilder
from pocketgpu.inspect.model.inventory import Doubt, Use
from pocketgpu.inspect.switch.inventory import doubts
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.layout import CLASS_OF_FILE, FILES, HOST_FILE

MOST_NOTED: Final = 1 << 20
"""Most words that are noted before they are decoded: 48 MB of rows."""
FORM_NAMES: Final = {
    FORMS.GRP0_USE_TERT: "group_0",
    FORMS.INC_METHOD: "incrementing",
    FORMS.GRP2_USE_TERT: "group_2",
    FORMS.NON_INC_METHOD: "non_incrementing",
    FORMS.IMMD_DATA_METHOD: "immediate",
    FORMS.ONE_INC: "increment_once",
    FORMS.RESERVED6: "reserved",
    FORMS.END_PB_SEGMENT: "end_segment",
}
ZERO: Final = "nop_word_0"
"""The name of the word 0, which does nothing."""


@dataclass
class ClassUse:
    """Use of one class. writes: how often each method is written, by word."""

    block: MethodBlock | None
    writes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(WORDS, np.int64))
    subchannels: set[int] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: methods by name with how often they were written."""
        block = self.block
        methods: Counter[str] = Counter()
        for word in np.flatnonzero(self.writes).tolist():
            found = block.at(word) if block else None
            methods[found[0].name if found else f"{4 * word:#06x}"] += int(self.writes[word])
        return {
            "class": block.name if block else "unknown",
            "engine": block.engine if block else "unknown",
            "subchannels": sorted(self.subchannels),
            "writes": int(self.writes.sum()),
            "distinct": int(np.count_nonzero(self.writes)),
            "methods": dict(methods.most_common()),
        }


@cache
def _named(file: int) -> MethodBlock | None:
    """The class of a register file, None for the file of classes that do not exist."""
    return CLASSES.get(CLASS_OF_FILE[file])


@cache
def _tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each word of each register file: whether a table describes it, and whether a doubt is about it."""
    known, watched = (np.zeros((FILES, WORDS), bool) for _ in range(2))
    for file in range(FILES):
        block = _named(file)
        for method in block or ():
            known[file, list(method.words())] = True
        if block is not None:
            known[file, B06F["SET_OBJECT"].word] = True  # the host's on every subchannel
            watched[file, list(doubts.watched(block.name))] = True
    return known, watched


class MethodUse:
    """The counts. `note` takes submissions; `finish` must be called after the last of them.

    doubt: called with each doubt, how often it occurs, and where first. headers: how many of each form. classes: by
    name. unknown: methods that no table describes, by class and word. open_words: how many words packets still lack.
    """

    def __init__(self, machine: GM20B, doubt: Callable[[Doubt, int, str], None]) -> None:
        self._machine, self._doubt = machine, doubt
        self._builder = StreamBuilder("Switch")
        self._channels: dict[int, tuple[bytes, ...]] = {}
        self._bound: set[tuple[int, int]] = set()
        self.headers: Counter[str] = Counter()
        self.classes: dict[str, ClassUse] = {}
        self.unknown: dict[tuple[str, int], Use] = {}
        self.open_words = 0

    def note(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        """Note the words of a submission as memory has them now."""
        machine = self._machine
        if channel.index not in self._channels:
            self._channels[channel.index] = channel_bytes(channel.block, machine.ram_words)
        for index, entry in enumerate(entries.tolist()):
            address, count = segment_of(entry)
            if count:
                words = np.frombuffer(machine.memory.try_read(address, 4 * count)[0], "<u4")
                flags = SUBMISSION if index == 0 else 0
                self._builder.add(PUSHBUFFER, words, 0, number, address, flags, channel.index, index)
        if self._builder.length > MOST_NOTED:
            self._decode()

    def finish(self) -> None:
        """Count what was noted, and how many words are missing."""
        self._decode()
        self.headers = Counter(dict(sorted(self.headers.items())))
        self.classes = dict(sorted(self.classes.items(), key=lambda item: sorted(item[1].subchannels)))

    def _decode(self) -> None:
        """Decode what was noted so far. Open packets, macros and bindings continue in what is noted next."""
        machine = self._machine
        state = MaxwellState(machine.codes, self._channels, machine.ram_words)
        stream = self._builder.build(state, max(self._channels, default=0) + 1)
        self._builder = StreamBuilder("Switch")
        tracer = MaxwellTracer(stream, choices=dict(departures(machine.choices, *CHOICES)))
        decoded = _PacketRows(tracer.trace(), stream.table)
        self._channels = {channel: tracer.channel(channel) for channel in self._channels}
        self.open_words = sum(tracer.open_words(channel) for channel in self._channels)
        self._count_headers(decoded)
        self._count_writes(decoded)
        self._find_unbound(decoded)
        for name, word, count, place in decoded.unknown():
            self.unknown.setdefault((name, word), Use()).add(count, place)
        for found, count, place in decoded.doubts():
            self._doubt(found, count, place)

    def _count_headers(self, decoded: _PacketRows) -> None:
        rows = decoded.rows
        kinds = rows["what"]
        self.headers[ZERO] += int((kinds == what_is.PADDING).sum())
        places = np.flatnonzero((kinds == what_is.HEADER) | (kinds == what_is.IMMEDIATE))
        (forms,) = header_columns(rows["word"][places], "SEC_OP")
        for form, count in enumerate(np.bincount(forms, minlength=len(FORM_NAMES)).tolist()):
            self.headers[FORM_NAMES[form]] += count
        self.headers = +self.headers
        segments = rows["segment"][places[forms == FORMS.RESERVED6]]
        for segment in np.unique(segments).tolist():
            self._doubt(doubts.RESERVED_HEADER, 1, decoded.segment(segment))

    def _count_writes(self, decoded: _PacketRows) -> None:
        data = decoded.data
        files = data["block"]
        for file in files[np.sort(np.unique(files, return_index=True)[1])].tolist():
            block, own = _named(file), data[files == file]
            use = self.classes.setdefault(block.name if block else "unknown", ClassUse(block))
            use.writes += np.bincount(own["id"], minlength=WORDS)
            use.subchannels.update(np.unique(own["subchannel"]).tolist())

    def _find_unbound(self, decoded: _PacketRows) -> None:
        """Doubts about packets for subchannels that nothing was bound to."""
        data, channels = decoded.data, decoded.channels
        binds = (data["block"] == HOST_FILE) & (data["id"] == B06F["SET_OBJECT"].word)
        of_class = decoded.firsts & (data["block"] != HOST_FILE)
        for channel in np.unique(channels).tolist():
            for subchannel in np.unique(data["subchannel"][channels == channel]).tolist():
                if (channel, subchannel) in self._bound:
                    continue
                own = (channels == channel) & (data["subchannel"] == subchannel)
                found = np.flatnonzero(own & binds)
                unbound = np.flatnonzero(own & of_class)
                if len(found):
                    self._bound.add((channel, subchannel))
                    unbound = unbound[unbound < found[0]]
                if len(unbound):
                    self._doubt(doubts.UNBOUND, len(unbound), decoded.place(int(unbound[0])))


class _PacketRows:
    """Decoded rows, and the packets that they belong to. data: rows that write a method.

    channels: channel of each row of `data`; firsts: whether it is the first of its packet, or of the packet's part in
    this segment.
    """

    def __init__(self, rows: Rows, table: NDArray[np.void]) -> None:
        self.rows, self._table = rows, table
        kinds, segments = rows["what"], rows["segment"]
        begins = kinds != what_is.PARAMETER
        begins[1:] |= segments[1:] != segments[:-1]
        begins[:1] = True
        starts = np.flatnonzero(begins)
        places = np.flatnonzero((kinds == what_is.PARAMETER) | (kinds == what_is.IMMEDIATE))
        self.data = rows[places]
        packets = np.cumsum(begins)[places] - 1
        self._packets, self._starts = packets, starts
        self.channels: NDArray[np.int32] = table["channel"][self.data["segment"]]
        self.firsts: NDArray[np.bool_] = np.ones(len(packets), bool)
        self.firsts[1:] = packets[1:] != packets[:-1]

    def segment(self, number: int) -> str:
        """A segment for people: "s3/e2"."""
        row = self._table[number]
        return f"s{row['list']}/e{row['entry']}"

    def place(self, index: int) -> str:
        """Where the packet of a row of `data` begins: "s3/e2+17"."""
        first = self.rows[self._starts[self._packets[index]]]
        return f"{self.segment(int(first['segment']))}+{first['position']}"

    def unknown(self) -> Iterator[tuple[str, int, int, str]]:
        """Methods that no table describes: class, word, packets that write them, where first; in order."""
        data, (known, _) = self.data, _tables()
        places = np.flatnonzero(~known[data["block"], data["id"]])
        names = data["block"][places].astype(np.int64) * WORDS + data["id"][places]
        found, firsts = np.unique(names, return_index=True)
        for index in np.argsort(firsts).tolist():
            own = places[names == found[index]]
            file, word = divmod(int(found[index]), WORDS)
            block = _named(file)
            count = len(np.unique(self._packets[own]))
            yield block.name if block else "unknown", word, count, self.place(int(own[0]))

    def doubts(self) -> Iterator[tuple[Doubt, int, str]]:
        """The doubts about written values: how often each value was written, and where first."""
        data, (_, watched) = self.data, _tables()
        places = np.flatnonzero(watched[data["block"], data["id"]])
        rows = data[places]
        (immediate,) = header_columns(rows["word"], "IMMD_DATA")
        values = np.where(rows["what"] == what_is.IMMEDIATE, immediate, rows["word"])
        writes = np.stack([rows["block"].astype(np.int64), rows["id"].astype(np.int64), values])
        found, firsts, counts = np.unique(writes, axis=1, return_index=True, return_counts=True)
        for column in np.argsort(firsts).tolist():
            file, word, value = found[:, column].tolist()
            block = _named(file)
            assert block is not None
            for matters, doubt in doubts.watched(block.name)[word]:
                if matters(value):
                    yield doubt, int(counts[column]), self.place(int(places[firsts[column]]))
