"""What is in a channel log: counts by frame, classes and their methods, macros, what engines did, and doubts.

The log is replayed on the machine, and what happens is counted. `method_use` decodes the words of pushbuffers, as they
are in memory when their submission begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive, log_of_switch
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.errors import NoPictureError
from pocketgpu.inspect.model.inventory import Doubt, Feature, Inventory, Use
from pocketgpu.inspect.switch.inventory import doubts as maxwell_doubts
from pocketgpu.inspect.switch.inventory.doubts import WHEN
from pocketgpu.inspect.switch.inventory.method_use import ClassUse, MethodUse
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

_MOST_RECORDS: Final = 1 << 16
"""Most different features that are listed."""


@dataclass
class ChannelFrameCounts:
    """Counts of one frame; `index` None: what comes after the last present. `words`: of pushbuffers."""

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


@dataclass(repr=False)
class MaxwellInfo(Inventory[ChannelFrameCounts]):
    """What is in a channel log. `classes` by name; `unknown` are methods that no table describes, by class and word;
    tail: what comes after the last present; open_words: that packets still wait for at the end."""

    tail: ChannelFrameCounts | None = None
    headers: dict[str, int] = field(default_factory=dict)
    classes: dict[str, ClassUse] = field(default_factory=dict)
    unknown: dict[tuple[str, int], Use] = field(default_factory=dict)
    macros: dict[int, int] = field(default_factory=dict)
    macro_words: int = 0
    macros_loaded: int = 0
    longest_macro: int = 0
    open_words: int = 0

    @property
    def unseen(self) -> frozenset[str]:
        return maxwell_doubts.UNSEEN

    @property
    def parts(self) -> list[ChannelFrameCounts]:
        return [*self.frames, *([self.tail] if self.tail else [])]

    def to_dict(self) -> dict[str, Any]:
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
            "features": self.features_to_json(),
            "doubts": self.doubts_to_json(),
        }


class _Collector(Observer):
    """Fills a MaxwellInfo while a log is replayed. frame: the counts of the current frame."""

    def __init__(self, log: ChannelLog, machine: GM20B) -> None:
        self.info, self._log = MaxwellInfo(source=log.source), log
        self.frame = ChannelFrameCounts(None)
        self._onward: dict[str, int] = {}  # by choice, the first submission with a method that raises it
        self._methods = MethodUse(machine, self._note_method)

    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        """Count a submission, and note the words of its segments."""
        submission, frame = self._log.submissions[number], self.frame
        frame.submissions += len(submission.entries) > 0
        frame.segments += len(submission.entries)
        frame.loads += len(submission.updates)
        frame.load_bytes += sum(len(self._log.chunks[update].data) for update in submission.updates)
        self._methods.note(channel, number, entries)

    def records(self, records: Iterable[Any], place: str) -> None:
        """Count what engines did."""
        for record in records:
            for feature in _features(record):
                if feature in self.info.features or len(self.info.features) < _MOST_RECORDS:
                    self.info.use([feature], 1, place)
            for doubt in maxwell_doubts.of_record(record):
                self.info.note([doubt], 1, place)
                if self.frame.index is not None:
                    self.info.touch([doubt.choice], [self.frame.index])

    def _note_method(self, doubt: Doubt, count: int, place: str) -> None:
        """A method at a place such as "s3/e2+17" raises a doubt. What it sets stays set in later frames."""
        self.info.note([doubt], count, place)
        submission = int(place[1:].partition("/")[0])
        self._onward[doubt.choice] = min(submission, self._onward.get(doubt.choice, submission))

    def finish(self) -> MaxwellInfo:
        info, methods = self.info, self._methods
        methods.finish()
        ends = [self._log.submissions_of(frame.index or 0).stop for frame in info.frames]
        for choice, submission in self._onward.items():
            info.touch([choice], range(bisect_right(ends, submission), len(ends)))
        info.headers, info.classes, info.unknown = methods.headers, methods.classes, methods.unknown
        info.open_words = methods.open_words
        info.sort()
        return info


def _features(record: Any) -> Iterable[Feature]:
    """A record as text, without the values that differ from one to the next."""
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
            yield Feature("launch", f"{counted(sizes, 'thread')}, program {record.program:#x}")
        case other:
            yield Feature(other.lower(), "")


def examine_capture(
    capture: Capture, progress: Callable[[int], None] = lambda _: None, frames: int | None = None,
    switches: Mapping[str, str] | None = None,
) -> MaxwellInfo:  # fmt: skip
    """Like `examine`, of an opened recording.

    :raises NoPictureError: it does nothing at all.
    """
    log = log_of_switch(capture)
    if not log.submissions:
        raise NoPictureError("the capture has no submissions", location=capture.path, hint="Record until it draws.")
    return examine(log, progress, frames, switches)


def examine(
    log: ChannelLog, progress: Callable[[int], None] = lambda _: None, frames: int | None = None,
    switches: Mapping[str, str] | None = None,
) -> MaxwellInfo:  # fmt: skip
    """Replay a whole log, also after its last present, and describe it; or only its first `frames` frames. `progress`
    is called after each frame. switches: values of choices for the replay, which decide what runs at all."""
    driver = drive(log, switches=switches)
    machine, collector = driver.machine, _Collector(log, driver.machine)
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
        if frame.index is not None:
            info.touch((one for one, when in WHEN.items() if any(frame.counts[name] for name in when)), [frame.index])
        info.events += machine.events.drain()

    for index, present in enumerate(log.presents[:frames]):
        frame = ChannelFrameCounts(index)
        run(frame)
        text = (
            f"{present.format} {present.width}x{present.height}, {'block-linear' if present.block_linear else 'pitch'}"
        )
        info.use([Feature("present", text)], 1, f"f{index}")
        info.frames.append(frame)
        progress(index)
    if log.tail and frames is None:
        info.tail = ChannelFrameCounts(None)
        run(info.tail)
    stats = machine.stats
    info.macros = dict(stats.calls)
    info.macro_words, info.macros_loaded = stats.mme_instruction_words, stats.mme_macros_loaded
    info.longest_macro = stats.longest_macro
    if any(event.id == "channel.deadlock" for event in info.events):
        info.note([maxwell_doubts.DEADLOCK], 1, "")
        info.touch([maxwell_doubts.DEADLOCK.choice], range(len(info.frames)))
    return collector.finish()
