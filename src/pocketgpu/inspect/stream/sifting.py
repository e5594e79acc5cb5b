"""Rows of a stream that match: found slice by slice, so that nobody waits for the whole stream, and kept by number."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.decode.rows import CHANGED, ISSUED
from pocketgpu.inspect.stream.layout import SLICE, StreamLayout
from pocketgpu.inspect.stream.query import Query
from pocketgpu.late_dataclass import dataclass

Rows = NDArray[np.int64]
_FIRST_ROOM: Final = 1024


@dataclass(frozen=True)
class Sift:
    """Which rows are wanted. text: see `query`; "": all. changed: only writes after which a register differs from its
    value at the last draw. issued: also what macros issue. rows: only these, the first one and the one after the last.
    """

    text: str = ""
    changed: bool = False
    issued: bool = True
    rows: tuple[int, int] | None = None


class Sifted:
    """The rows that a sift lets through, as far as they were looked at. `go_on` looks at more.

    scanned, of: how many rows were looked at, and how many there are to look at. found: how many match.
    """

    def __init__(self, layout: StreamLayout, sift: Sift) -> None:
        self.sift, self._layout = sift, layout
        self._first, end = sift.rows or (0, len(layout.rows))
        self.of, self.scanned, self.found = end - self._first, 0, 0
        self._query = Query(sift.text, layout) if sift.text.strip() else None
        self._all = self._query is None and not sift.changed and (sift.issued or not len(layout.issued))
        self._rows = np.zeros(0 if self._all else _FIRST_ROOM, np.int32)
        if self._all:
            self.scanned = self.found = self.of

    @property
    def done(self) -> bool:
        return self.scanned == self.of

    def go_on(self) -> None:
        """Look at one more slice."""
        if self.done:
            return
        first = self._first + self.scanned
        rows = self._layout.rows[first : min(first + SLICE, self._first + self.of)]
        mask = np.ones(len(rows), np.bool_)
        if self.sift.changed:
            mask &= (rows["effect"] & np.uint16(CHANGED)) != 0
        if not self.sift.issued:
            mask &= rows["what"] != ISSUED
        if self._query is not None and mask.any():
            mask &= self._query.matches(rows, np.arange(first, first + len(rows)))
        more = np.flatnonzero(mask) + first
        self._keep(more)
        self.scanned += len(rows)

    def _keep(self, more: Rows) -> None:
        count = self.found + len(more)
        if count > len(self._rows):
            room = np.zeros(max(count, 2 * len(self._rows)), np.int32)
            room[: self.found] = self._rows[: self.found]
            self._rows = room
        self._rows[self.found : count] = more
        self.found = count

    def rows(self, first: int, count: int) -> Rows:
        """The numbers of rows `first` and up to `count` - 1 after it, of those that were found."""
        end = min(first + count, self.found)
        if self._all:
            return np.arange(self._first + first, self._first + max(end, first))
        return self._rows[first : max(end, first)].astype(np.int64)

    def index(self, row: int) -> int:
        """How many of the rows that were found come before a row."""
        if self._all:
            return min(max(row - self._first, 0), self.of)
        return int(np.searchsorted(self._rows[: self.found], row))

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of some rows match the text, by their numbers."""
        if self._query is None:
            return np.ones(len(rows), np.bool_)
        return self._query.matches(self._layout.rows[rows], rows)

    def near(self, row: int, forward: bool) -> int | None:
        """The first row after `row`, or the last before it; None if none was found there so far."""
        at = self.index(row + 1) if forward else self.index(row) - 1
        if not 0 <= at < self.found:
            return None
        return int(self.rows(at, 1)[0])

    def knows(self, row: int, forward: bool) -> bool:
        """Whether `near` is final: all rows on the way were looked at."""
        return self.done or (self.near(row, True) is not None if forward else self._first + self.scanned >= row)


__all__ = ["Sift", "Sifted"]
