"""The command stream of a Switch capture: the GPFIFO entries of each submission, and the words that they name.

The capture is replayed on a machine that draws nothing and launches nothing, because pushbuffers lie in memory that the
processor, copies and inline data write. Words are noted when a channel comes to them, not when they are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pocketgpu.capture.channel_replay import Replay
from pocketgpu.facts.maxwell.headers import GPFIFO as STRUCTURES
from pocketgpu.inspect.decode.maxwell_tracer import MaxwellState, MaxwellTracer, channel_bytes
from pocketgpu.inspect.decode.rows import EFFECTS, Rows
from pocketgpu.inspect.decode.stream import GPFIFO, PUSHBUFFER, SUBMISSION, Stream, StreamBuilder
from pocketgpu.maxwell.engines.compute.launch import Compute
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.layout import CHANNEL_LAYOUT

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.maxwell.host.channel import Channel, Submission

_ENTRY = STRUCTURES["ENTRY"]
_GET, _GET_HI, _LENGTH = (_ENTRY[name] for name in ("GET", "GET_HI", "LENGTH"))


class _Unlaunched(Compute):
    """The compute engine without anything that runs grids."""

    def _run(self, launch: Launch) -> None:
        pass


class StreamGM20B(GM20B):
    """A Switch's GPU that draws nothing, and notes what its channels are given to do."""

    def __init__(self, switches: Mapping[str, str] | None = None) -> None:
        super().__init__(switches=switches)
        self.builder = StreamBuilder("Switch")
        self.frame_number = 0
        self.engine_classes = {**self.engine_classes, _Unlaunched.class_id: _Unlaunched}
        self.first: dict[int, tuple[bytes, ...]] = {}

    def channel(self, id: int = 0) -> Channel:
        known = id in self.channels
        channel = super().channel(id)
        if not known:
            pieces_of = channel._pieces_of

            def noted(submission: Submission) -> list[tuple[int, int, int, int]]:
                self._keep(channel)
                first = submission.next
                runs = pieces_of(submission)
                self._note(channel, submission, first, runs)
                return runs

            channel._pieces_of = noted  # type: ignore[method-assign]
        return channel

    def _keep(self, channel: Channel) -> None:
        """What a channel holds before its first word."""
        if channel.index not in self.first:
            base = self.layout.channel(channel.index)
            block = self.memory.arena[base : base + CHANNEL_LAYOUT.size]
            self.first[channel.index] = channel_bytes(block, self.ram_words)

    def _note(
        self, channel: Channel, submission: Submission, first: int, runs: list[tuple[int, int, int, int]]
    ) -> None:
        add, place = self.builder.add, (self.frame_number, submission.number)
        words: dict[int, list[np.ndarray]] = {}
        for start, count, entry, _ in runs:
            words.setdefault(entry, []).append(self.memory.arena[start : start + 4 * count].view(np.uint32))
        for number in range(first, submission.next):
            entry = int(submission.entries[number])
            flags = SUBMISSION if number == 0 else 0
            halves = np.array([entry & 0xFFFFFFFF, entry >> 32], np.uint32)
            add(GPFIFO, halves, *place, flags=flags, channel=channel.index, entry=number)
            if number in words:
                address = _GET_HI.raw(entry) << 32 | _GET.raw(entry) << _GET.lo
                found = np.concatenate(words[number])
                add(PUSHBUFFER, found, *place, address, channel=channel.index, entry=number)

    def draw(self, draw: Any, state: Any, counters: Any) -> None:
        """Nothing is shaded."""


def gather(log: ChannelLog, switches: Mapping[str, str] | None = None) -> Stream:
    """The whole stream of a recording; what comes after the last present is frame -1."""
    machine = StreamGM20B(switches)
    running = Replay(log, machine)
    drawn: list[str] = []

    def run(numbers: range) -> None:
        machine.log.clear()
        for number in numbers:
            running.run(number)
        machine.finish()
        drawn.extend(record.place for record in machine.log if isinstance(record, Draw))

    for frame in range(log.frame_count):
        machine.frame_number = frame
        run(log.submissions_of(frame))
    machine.frame_number = -1
    run(log.tail)
    state = MaxwellState(machine.codes.copy(), dict(machine.first), machine.ram_words)
    stream = machine.builder.build(state, max(len(machine.channels), 1), log.frame_count)
    _note_drawn(stream, drawn, switches)
    return stream


def _note_drawn(stream: Stream, drawn: list[str], switches: Mapping[str, str] | None) -> None:
    """Say which triggers drew, where not all of them did: a condition was not met, or state was broken."""
    rows = MaxwellTracer(stream, macros=True, switches=switches).trace()
    fired = rows[(rows["effect"] & EFFECTS["draw"]) != 0]
    if len(fired) == len(drawn):
        return
    left: dict[str, int] = {}
    for place in drawn:
        left[place] = left.get(place, 0) + 1
    marks = np.zeros(len(fired), np.uint8)
    entries = stream.table["entry"][fired["segment"]].tolist()
    for number, (row, entry) in enumerate(zip(fired, entries, strict=True)):
        place = f"s{row['list']}/e{entry}+{row['position']}"
        if left.get(place, 0):
            left[place] -= 1
            marks[number] = 1
    stream.drawn = marks


def trace_rows(
    stream: Stream, macros: bool = False, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
) -> Rows:
    """The rows of a stream that `gather` found."""
    return MaxwellTracer(stream, macros=macros, switches=switches, evaluator=evaluator).trace()
