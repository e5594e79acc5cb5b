"""The rows of a Switch's events: an engine's record says which word of which submission it was made by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.inspect.decode.stream import PUSHBUFFER
from pocketgpu.inspect.stream.event_rows import EventRows, Extent

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.stream.layout import StreamLayout

_PLACE: Final = re.compile(r"s(\d{1,9})/e(\d{1,9})\+(\d{1,9})")


class SwitchEventRows(EventRows):
    """Finds events by the places in their facts, such as s3/e2+17: word 17 of entry 2 of submission 3."""

    def extents(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        if frame[0] == frame[1]:
            return {}
        table, starts = layout.stream.table, layout.segments
        first, last = (int(layout.rows["segment"][row]) for row in (frame[0], frame[1] - 1))
        segments: dict[tuple[int, int], int] = {}
        submissions: dict[int, Extent] = {}
        own = table[first : last + 1]
        for number, kind, list_, entry in zip(
            range(first, last + 1), own["kind"].tolist(), own["list"].tolist(), own["entry"].tolist(), strict=True
        ):
            if kind == PUSHBUFFER:
                segments[list_, entry] = number
            begin = submissions.get(list_, (int(starts[number]), 0))[0]
            submissions[list_] = begin, int(starts[number + 1])
        found: dict[int, Extent] = {}
        before: tuple[int, Extent] | None = None
        for event in events:
            if event.kind == "submission" and (of := submissions.get(int(event.facts.get("submission", -1)))):
                found[event.number] = of
            place = _PLACE.fullmatch(str(event.facts.get("place", "")))
            segment = None if place is None else segments.get((int(place[1]), int(place[2])))
            if place is None or segment is None:
                continue
            submission, end = int(place[1]), self._end(layout, segment, int(place[3]))
            start = submissions[submission][0]
            if before is not None and before[0] == submission:
                # One word has several events, such as a macro that draws twice.
                start = before[1][0] if before[1][1] == end else before[1][1]
            before = submission, (min(start, end), end)
            if event.draw is None:
                found[event.number] = before[1]
        return found

    def _end(self, layout: StreamLayout, segment: int, word: int) -> int:
        """The row after a word of a segment, and after what it makes a macro issue."""
        start, end = (int(layout.segments[number]) for number in (segment, segment + 1))
        return start + int(np.searchsorted(layout.rows["position"][start:end], word, "right"))


__all__ = ["SwitchEventRows"]
