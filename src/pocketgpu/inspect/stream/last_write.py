"""The word that gave a register the value that it has after a frame, a pass or an event that is no draw.

`decode/last_write.py` answers the same for a draw: what a draw saw is decided before its last words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.inspect.decode import select
from pocketgpu.inspect.decode.rows import ISSUED
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.references import RegisterWord

if TYPE_CHECKING:
    from pocketgpu.inspect.model.inspection import Inspection
    from pocketgpu.inspect.stream.event_rows import Extent


def word_after(run: Inspection, register: str, place: Address) -> RegisterWord | None:
    """The last word up to the end of a place that wrote a register, or started the macro that did. None if there is
    none.

    :raises UsageError: there is no such register or place.
    """
    stream = run.stream
    rows = stream.rows[: _end(run, place)]
    # Patterns write the element of an array as NAME[1]. `of_registers` refuses a name that does not exist.
    written = np.flatnonzero(select.of_registers(rows, [re.sub(r"\((\d+)\)$", r"[\1]", register)]))
    if not len(written):
        return None
    at = int(written[-1])
    value = int(rows["new"][at])
    own = np.flatnonzero(rows["what"][: at + 1] != ISSUED)
    at = int(own[-1])
    event, address = stream.event_at(at), int(rows["address"][at])
    return RegisterWord(register, event, stream.line_of(at, extent_of(run, event)), address or None, value)


def _end(run: Inspection, place: Address) -> int:
    """The row after the last one that was read when the machine is at a place."""
    if place.pass_ is not None:
        place = run.pass_of(place).events[-1].address
    first, end = extent_of(run, place)
    if not place.names_event:
        return end
    # A list or a submission has the words of all its draws, and the machine has not read any of them.
    later = filter(None, map(run.stream.range_of, run.events(place.frame)[run.event(place).number + 1 :]))
    return first if any(other <= end for _, other in later) else end


def extent_of(run: Inspection, place: Address) -> Extent:
    """The rows of an event, a pass or a frame; none at the row where an event happens that has none.

    :raises UsageError: there is no such place.
    """
    stream = run.stream
    if place.pass_ is not None:
        found = [extent for event in run.pass_of(place).events if (extent := stream.range_of(event)) is not None]
        if found:
            return min(first for first, _ in found), max(end for _, end in found)
    if not place.names_event:
        run.events(place.frame)  # a missing frame is reported
        return stream.frame_range(place.frame)
    event = run.event(place)
    extent = stream.range_of(event)
    return (stream.row_after(event),) * 2 if extent is None else extent


__all__ = ["extent_of", "word_after"]
