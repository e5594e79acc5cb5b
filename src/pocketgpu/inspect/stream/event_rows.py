"""Which rows of the command stream belong to which event of a frame.

Draws have the rows since the draw before, as `decode` counts them. Of other events a console's provider knows the word
that starts them: their rows are those from the event before up to it. Lists and submissions have all of their rows,
also those of the draws in them. Loads of memory have none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.stream.layout import StreamLayout

_WHOLE: Final = ("list", "submission")
"""Kinds of events that begin, and in which others happen."""
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
    """The rows of a frame's events: first row, row after the last, number and rank of each event that has rows.

    A row belongs to the event of the lowest rank.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]
    ranks: NDArray[np.int64]

    @classmethod
    def of(cls, extents: Iterable[tuple[Event, Extent]]) -> FrameRows:
        """Of events with their rows."""
        rows = [(start, end, event.number, _rank(event)) for event, (start, end) in extents]
        found = np.array(rows, np.int64).reshape(-1, 4)
        return cls(*(found[:, column].copy() for column in range(4)))

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
        """The event that a row belongs to: one that it starts, else a draw, else a list; the one with the fewest rows
        if there are several."""
        inside = np.flatnonzero((self.starts <= row) & (row < self.ends))
        if not len(inside):
            return None
        best = np.lexsort((self.ends[inside] - self.starts[inside], self.ranks[inside]))[0]
        return int(self.numbers[inside[best]])


def _rank(event: Event) -> int:
    if event.draw is not None:
        return 1
    return 2 if event.kind in _WHOLE else 0


__all__ = ["EventRows", "Extent", "FrameRows"]
