"""The rows of a 3DS's events: lists and the words that start fills and transfers come in the order of the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.facts.gsp import GX_COMMANDS, REQUEST_DMA
from pocketgpu.inspect.decode.rows import COMMAND, EFFECTS
from pocketgpu.inspect.decode.stream import ISSUED_WRITES, JUMPED, LIST
from pocketgpu.inspect.stream.event_rows import EventRows, Extent

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.stream.layout import StreamLayout

GX_WORDS: Final = 8
"""Words of a GX command."""
_STARTED: Final = (
    (("fill",), EFFECTS["fill"]),
    (("transfer", "copy"), EFFECTS["transfer"] | EFFECTS["copy"]),
)
"""Kinds of events, and the effects of the words that start them."""


class N3dsEventRows(EventRows):
    """Matches events and words by their order. Where there are not as many words as events, it says nothing: then a
    fill, say, was refused."""

    def extents(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        if frame[0] == frame[1]:
            return {}
        found = self._lists(layout, frame, events) | self._copies(layout, frame, events)
        return found | self._started(layout, frame, events)

    def _lists(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        table, starts = layout.stream.table, layout.segments
        first, last = (int(layout.rows["segment"][row]) for row in (frame[0], frame[1] - 1))
        own = table[first : last + 1]
        begins = first + np.flatnonzero((own["kind"] == LIST) & (own["flags"] & JUMPED == 0))
        # Lists that are in no memory are events without words.
        lists = [event for event in events if event.kind == "list" and event.reads]
        if len(lists) != len(begins):
            return {}
        found = {}
        for event, begin in zip(lists, begins.tolist(), strict=True):
            end = begin + 1
            while end <= last and table["kind"][end] == LIST and table["flags"][end] & JUMPED:
                end += 1
            found[event.number] = int(starts[begin]), int(starts[end])
        return found

    def _copies(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        """GX commands that copy by themselves, without a unit's registers."""
        rows = layout.rows[frame[0] : frame[1]]
        commands = np.flatnonzero((rows["what"] == COMMAND) & (rows["id"] == 0))
        begins = frame[0] + commands[rows["subchannel"][commands] == GX_COMMANDS.index(REQUEST_DMA)]
        copies = [event.number for event in events if _copies_memory(event)]
        if len(begins) != len(copies):
            return {}
        return {number: (begin, begin + GX_WORDS) for number, begin in zip(copies, begins.tolist(), strict=True)}

    def _started(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        effects = layout.rows["effect"][frame[0] : frame[1]]
        found: dict[int, Extent] = {}
        words: list[tuple[int, int]] = []
        for kinds, mask in _STARTED:
            starting = frame[0] + np.flatnonzero(effects & np.uint16(mask))
            started = [event.number for event in events if event.kind in kinds and not _copies_memory(event)]
            if len(starting) == len(started):
                words += zip(starting.tolist(), started, strict=True)
        before = frame[0]
        for row, number in sorted(words):
            found[number] = max(before, self._begin(layout, row)), row + 1
            before = row + 1
        return found

    def _begin(self, layout: StreamLayout, row: int) -> int:
        """The first row of the writes around one, or of the GX command that issued them."""
        segment = int(layout.rows["segment"][row])
        if layout.stream.table["flags"][segment] & ISSUED_WRITES and segment:
            segment -= 1
        return int(layout.segments[segment])


def _copies_memory(event: Event) -> bool:
    return event.facts.get("command") == REQUEST_DMA.name


__all__ = ["N3dsEventRows"]
