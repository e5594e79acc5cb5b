"""What is in a channel log: counts by frame, classes and their methods, macros, what engines did, and doubts.

The log is replayed on the machine, so that what is counted is what happened; beside it each segment is read for the
names of its methods, as memory has it when its submission begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.events import Event
from pocketgpu.facts.maxwell import B06F, CLASSES, WORDS, MethodBlock
from pocketgpu.facts.maxwell.pushbuffers import segment_of
from pocketgpu.facts.switches import SWITCHES
from pocketgpu.inspect.n3ds.capture_info import Use
from pocketgpu.inspect.n3ds.doubts import Doubt
from pocketgpu.inspect.n3ds.features import Feature
from pocketgpu.inspect.switch import doubts as maxwell_doubts
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.host.stream import INC, ONE_INC, Packet, StreamReader

_MOST_RECORDS: Final = 1 << 16
"""Different things that engines did, beyond which they are no longer told apart."""


@dataclass
class ChannelFrameCounts:
    """What one frame asks for; `index` None: what comes after the last present. `words`: of pushbuffers."""

    index: int | None
    submissions: int = 0
    segments: int = 0
    loads: int = 0
    load_bytes: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {name: value for name, value in vars(self).items() if name != "counts"}
        return {**plain, **self.counts}


@dataclass
class ClassUse:
    """How one class is used: writes of each method, by word."""

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


@dataclass
class MaxwellInfo:
    """All of it. `classes` by name; `unknown` are methods that no table describes, by class and word."""

    frames: list[ChannelFrameCounts] = field(default_factory=list)
    tail: ChannelFrameCounts | None = None
    headers: dict[str, int] = field(default_factory=dict)
    classes: dict[str, ClassUse] = field(default_factory=dict)
    unknown: dict[tuple[str, int], Use] = field(default_factory=dict)
    macros: dict[int, int] = field(default_factory=dict)
    macro_words: int = 0
    macros_loaded: int = 0
    longest_macro: int = 0
    features: dict[Feature, Use] = field(default_factory=dict)
    doubts: dict[Doubt, Use] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    open_words: int = 0

    def totals(self) -> dict[str, int]:
        """The counts of everything together, what comes after the last present included."""
        parts = [frame.to_dict() for frame in (*self.frames, *([self.tail] if self.tail else []))]
        names = [name for name in (parts[0] if parts else {}) if name != "index"]
        return {name: sum(part[name] for part in parts) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the frames' counts and the events."""
        return {
            "totals": self.totals(),
            "after_last_frame": self.tail.to_dict() if self.tail else None,
            "headers": self.headers,
            "classes": [use.to_dict() for use in self.classes.values()],
            "unknown_methods": [
                {"class": name, "byte": 4 * word, "count": use.count, "first": use.first}
                for (name, word), use in self.unknown.items()
            ],
            "macros": {
                "loaded": self.macros_loaded,
                "words": self.macro_words,
                "longest_run": self.longest_macro,
                "calls": {str(number): count for number, count in self.macros.items()},
            },
            "features": [
                {"id": feature.id, "text": feature.text, "count": use.count, "first": use.first}
                for feature, use in self.features.items()
            ],
            "doubts": [
                {
                    "switch": doubt.switch,
                    "default": SWITCHES[doubt.switch].default,
                    "alternatives": list(SWITCHES[doubt.switch].alternatives),
                    "certain": doubt.certain,
                    "reason": doubt.reason,
                    "count": use.count,
                    "first": use.first,
                }
                for doubt, use in self.doubts.items()
            ],
        }


@dataclass
class _Stream:
    """One channel's reader, and which subchannels something was bound to."""

    reader: StreamReader = field(default_factory=StreamReader)
    bound: set[int] = field(default_factory=set)


class _Collector(Observer):
    """Fills a MaxwellInfo while a log is replayed. frame: the counts of the frame at hand."""

    def __init__(self, log: ChannelLog) -> None:
        self.info, self._log = MaxwellInfo(), log
        self.frame = ChannelFrameCounts(None)
        self._streams: dict[int, _Stream] = {}

    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        """Count a submission, and name what its segments are going to write."""
        submission, frame = self._log.submissions[number], self.frame
        frame.submissions += 1
        frame.segments += len(submission.entries)
        frame.loads += len(submission.updates)
        frame.load_bytes += sum(len(self._log.chunks[update].data) for update in submission.updates)
        for index, entry in enumerate(submission.entries.tolist()):
            address, words = segment_of(entry)
            data, _ = self.machine.memory.try_read(address, 4 * words)
            self.segment(submission.channel, np.frombuffer(data, "<u4"), f"s{number}/e{index}")

    def segment(self, channel: int, words: NDArray[np.uint32], place: str) -> None:
        """Name what a segment writes."""
        stream = self._streams.setdefault(channel, _Stream())
        reserved = stream.reader.forms.get("reserved", 0)
        for packet in stream.reader.segment(words):
            self._packet(stream, packet, f"{place}+{packet.at}")
        if stream.reader.forms.get("reserved", 0) > reserved:
            self._note(maxwell_doubts.RESERVED_HEADER, 1, place)

    def _packet(self, stream: _Stream, packet: Packet, place: str) -> None:
        block = packet.block
        if packet.word == 0:
            stream.bound.add(packet.subchannel)
        elif packet.subchannel not in stream.bound and block is not B06F:
            self._note(maxwell_doubts.UNBOUND, 1, place)
        name = block.name if block else "unknown"
        use = self.info.classes.get(name)
        if use is None:
            use = self.info.classes[name] = ClassUse(block)
        use.subchannels.add(packet.subchannel)
        count = len(packet.values)
        if packet.form == INC:
            words = np.arange(packet.word, packet.word + count) & (WORDS - 1)
            np.add.at(use.writes, words, 1)
        elif packet.form == ONE_INC and packet.first:
            words = np.arange(packet.word, packet.word + min(count, 2)) & (WORDS - 1)
            use.writes[words] += [1, count - 1][: len(words)]
        else:
            words = np.array([packet.word])
            use.writes[words] += count
        for word in words[~_known(name)[words]].tolist():
            self.info.unknown.setdefault((name, word), Use()).add(1, place)
        watched = maxwell_doubts.watched(name)
        for word in watched.keys() & set(words.tolist()) if watched else ():
            index = (word - packet.word) & (WORDS - 1)
            once = packet.form == INC or (packet.form == ONE_INC and packet.first and index == 0)
            for value in packet.values[index : index + 1 if once else None].tolist():
                for matters, doubt in watched[word]:
                    if matters(value):
                        self._note(doubt, 1, place)

    def records(self, records: Iterable[Any], place: str) -> None:
        """What engines did."""
        for record in records:
            for feature in _features(record):
                if feature in self.info.features or len(self.info.features) < _MOST_RECORDS:
                    self.info.features.setdefault(feature, Use()).add(1, place)
            for doubt in maxwell_doubts.of_record(record):
                self._note(doubt, 1, place)

    def _note(self, doubt: Doubt, count: int, place: str) -> None:
        self.info.doubts.setdefault(doubt, Use()).add(count, place)

    def finish(self) -> MaxwellInfo:
        info = self.info
        forms: Counter[str] = Counter()
        for stream in self._streams.values():
            forms.update(stream.reader.forms)
            info.open_words += stream.reader.open_words
        info.headers = dict(sorted(forms.items()))
        info.classes = dict(sorted(info.classes.items(), key=lambda item: sorted(item[1].subchannels)))
        info.features = dict(sorted(info.features.items(), key=lambda item: item[0].id))
        info.doubts = dict(sorted(info.doubts.items(), key=lambda item: (not item[0].certain, item[0].switch)))
        return info


_KNOWN: dict[str, NDArray[np.bool_]] = {}


def _known(name: str) -> NDArray[np.bool_]:
    """Which words of a class are methods of it."""
    if name not in _KNOWN:
        block = next((block for block in CLASSES.values() if block.name == name), None)
        table = np.zeros(WORDS, bool)
        for method in block or ():
            table[list(method.words())] = True
        if block is not None:
            table[0] = True  # SET_OBJECT is the host's on every subchannel
        _KNOWN[name] = table
    return _KNOWN[name]


def _features(record: Any) -> Iterable[Feature]:
    """A record in words, without what differs from one to the next."""
    match type(record).__name__:
        case "Clear":
            yield Feature("clear", f"{record.format}, channels {record.channels}")
        case "Copy":
            yield Feature("copy", f"{record.kind}, {record.source_layout} to {record.target_layout}")
        case "Blit":
            text = f"{record.source_format} to {record.target_format}, {record.filter.lower()}"
            operation = "" if record.operation == "SRCCOPY" else f", {record.operation}"
            yield Feature("blit", text + operation)
        case "Upload":
            yield Feature("upload", f"class {record.class_id:04x}, {record.layout}")
        case "Report":
            yield Feature("report", f"{record.operation} {record.report}".strip())
        case "Draw":
            yield Feature("draw", f"{record.topology_name}, {'indexed' if record.indexed else 'arrays'}")
        case "Launch":
            sizes = " of ".join("x".join(map(str, three)) for three in (record.grid, record.block))
            yield Feature("launch", f"{sizes} threads, program {record.program:#x}")
        case other:
            yield Feature(other.lower(), "")


def examine(log: ChannelLog, progress: Callable[[int], None] = lambda _: None) -> MaxwellInfo:
    """Replay a log, what follows its last present included, and tell what is in it. `progress` hears of each frame."""
    driver = drive(log)
    machine, collector = driver.machine, _Collector(log)
    info = collector.info
    machine.observe(collector)

    def run(frame: ChannelFrameCounts) -> None:
        place = "after the last frame" if frame.index is None else f"f{frame.index}"
        collector.frame, before = frame, driver.totals()
        for _ in driver.steps():
            collector.records(machine.log, place)
            machine.log.clear()
        collector.records(machine.log, place)
        machine.log.clear()
        frame.counts = {name: count - before[name] for name, count in driver.totals().items()}
        info.events += machine.events.drain()

    for index, present in enumerate(log.presents):
        frame = ChannelFrameCounts(index)
        run(frame)
        text = (
            f"{present.format} {present.width}x{present.height}, {'block-linear' if present.block_linear else 'pitch'}"
        )
        info.features.setdefault(Feature("present", text), Use()).add(1, f"f{index}")
        info.frames.append(frame)
        progress(index)
    if log.tail:
        info.tail = ChannelFrameCounts(None)
        run(info.tail)
    stats = machine.stats
    info.macros = dict(stats.calls)
    info.macro_words, info.macros_loaded = stats.mme_instruction_words, stats.mme_macros_loaded
    info.longest_macro = stats.longest_macro
    if any(event.id == "channel.deadlock" for event in info.events):
        info.doubts.setdefault(maxwell_doubts.DEADLOCK, Use()).add(1, "")
    return collector.finish()
