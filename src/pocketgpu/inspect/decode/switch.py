"""The command stream of a Switch capture: the GPFIFO entries of each submission, and the words that they name.

The capture is replayed without draws and launches, because pushbuffers are in memory that the processor, copies and
inline data write. Words are noted when a channel reads them, not when they are submitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.capture.driver import drive
from pocketgpu.facts.maxwell.pushbuffers import segment_of
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode.maxwell_tracer import MaxwellState, MaxwellTracer, channel_bytes
from pocketgpu.inspect.decode.rows import EFFECTS
from pocketgpu.inspect.decode.stream import GPFIFO, PUSHBUFFER, SUBMISSION, Stream, StreamBuilder
from pocketgpu.maxwell.host.observer import RunGrid, Segment, Undrawn
from pocketgpu.maxwell.sass.launch.launcher import Result

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.host.channel import Channel


class _Noting(Undrawn):
    """Notes the entries and words that the channels of a machine read. frame: the current one."""

    def __init__(self) -> None:
        self.builder = StreamBuilder("Switch")
        self.frame = 0
        self.first: dict[int, tuple[bytes, ...]] = {}
        """The state of channels before their first word, by index."""
        self.drawn: list[str] = []
        """Places of draws, in order."""

    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        """Note entries, and the words that they name, as they are now."""
        arena = self.machine.memory.arena
        if channel.index not in self.first:
            self.first[channel.index] = channel_bytes(channel.block, self.machine.ram_words)
        add = partial(self.builder.add, frame=self.frame, list_=number, channel=channel.index)
        for one in segments:
            halves = np.array([one.entry & 0xFFFFFFFF, one.entry >> 32], np.uint32)
            add(GPFIFO, halves, flags=SUBMISSION if one.number == 0 else 0, entry=one.number)
            if one.pieces:
                address, _ = segment_of(one.entry)
                words = np.concatenate([arena[at : at + 4 * count].view(np.uint32) for at, count in one.pieces])
                add(PUSHBUFFER, words, address=address, entry=one.number)

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """Leave the grid out."""
        return Result()

    def draw_recorded(self, draw: Draw) -> None:
        """Note where a draw is."""
        self.drawn.append(draw.place)


def gathering(log: ChannelLog, choices: Mapping[str, str] | None = None) -> InSteps[Stream]:
    """The whole stream of a recording; what comes after the last present is frame -1. A step is one of the driver."""
    driver, noting = drive(log, switches=choices), _Noting()
    machine = driver.machine
    machine.observe(noting)
    for frame in (*range(log.frame_count), -1):
        noting.frame = frame
        for _ in driver.steps():
            yield
    machine.log.clear()
    state = MaxwellState(machine.codes.copy(), dict(noting.first), machine.ram_words)
    stream = noting.builder.build(state, max(len(machine.channels), 1), log.frame_count)
    yield from _noting_drawn(stream, noting.drawn, choices)
    return stream


def _noting_drawn(stream: Stream, drawn: list[str], choices: Mapping[str, str] | None) -> InSteps[None]:
    """Note which triggers drew, if not all did: a condition was not met, or state was broken."""
    rows = yield from MaxwellTracer(stream, macros=True, choices=choices).tracing()
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
