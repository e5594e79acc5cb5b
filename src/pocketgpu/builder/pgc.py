"""From the events of a builder to the contents of a `.pgc`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np

from pocketgpu.capture.formats.citrace_write import Load as LoadedBytes
from pocketgpu.capture.formats.citrace_write import RecordedEvent, Write
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.capture.formats.pgc import numbers
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Gx, Load, Narrow, Swap, Writes
from pocketgpu.capture.pgc.convert import state_records

BuiltEvent: TypeAlias = RecordedEvent | Gx | Narrow | Swap


def contents_of(
    frames: Iterable[Sequence[BuiltEvent]], initial: InitialState, tail: Sequence[BuiltEvent] = ()
) -> Contents:
    """The contents of a capture: the events of each frame, and those after the last one."""
    made = Contents(
        "3DS", coverage=numbers.FULL_COVERAGE["3DS"], state=state_records(vars(initial)), tail=_events(tail)
    )
    made.frames = [FrameContents(_events(events)) for events in frames]
    return made


def _events(events: Sequence[BuiltEvent]) -> tuple[Event, ...]:
    found: list[Event] = []
    for written, group in groupby(events, lambda event: isinstance(event, Write)):
        if written:
            pairs = [(event.address, event.value) for event in group if isinstance(event, Write)]
            columns = np.array(pairs, np.uint32)
            found.append(Writes(columns[:, 0].copy(), columns[:, 1].copy()))
            continue
        for event in group:
            if isinstance(event, LoadedBytes):
                found.append(Load(event.address, (event.data,)))
            elif not isinstance(event, Write):
                found.append(event)
    return tuple(found)


__all__ = ["BuiltEvent", "contents_of"]
