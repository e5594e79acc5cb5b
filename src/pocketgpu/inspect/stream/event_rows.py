"""Which rows of the command stream belong to which event of a frame.

Draws have the rows since the draw before, as `decode` counts them. Of other events a console's provider knows the word
that starts them: their rows are those from the event before up to it. Lists and submissions have all of their rows,
also those of the draws in them. Loads of memory have none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.stream.layout import StreamLayout

Extent = tuple[int, int]
"""Rows of an event: the first one, and the one after the last."""


class EventRows(ABC):
    """Finds the rows of events that are no draws."""

    @abstractmethod
    def extents(self, layout: StreamLayout, frame: Extent, events: Sequence[Event]) -> dict[int, Extent]:
        """The rows of events of a frame that are no draws, by their numbers; events without rows are left out.

        frame: the rows of the frame.
        """


@dataclass
class FrameRows:
    """The rows of a frame's events: first row, row after the last, and number of each event that has rows."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, extents: Iterable[tuple[int, Extent]]) -> FrameRows:
        """Of extents by the number of their event."""
        found = np.array([(start, end, number) for number, (start, end) in extents], np.int64).reshape(-1, 3)
        return cls(found[:, 0], found[:, 1], found[:, 2])

    def extent(self, number: int) -> Extent | None:
        """The rows of an event; None if it has none."""
        at = np.flatnonzero(self.numbers == number)
        return (int(self.starts[at[0]]), int(self.ends[at[0]])) if len(at) else None

    def after(self, number: int) -> int | None:
        """The row at which an event without rows happens: that after the rows of the last event before it that has
        some. None if none has."""
        before = np.flatnonzero(self.numbers < number)
        return int(self.ends[before[int(np.argmax(self.numbers[before]))]]) if len(before) else None

    def at(self, row: int) -> int | None:
        """The event that a row belongs to, of several the one with the fewest rows."""
        inside = np.flatnonzero((self.starts <= row) & (row < self.ends))
        if not len(inside):
            return None
        return int(self.numbers[inside[int(np.argmin(self.ends[inside] - self.starts[inside]))]])


__all__ = ["EventRows", "Extent", "FrameRows"]
