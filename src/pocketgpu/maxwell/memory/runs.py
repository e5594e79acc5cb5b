"""Runs: addresses that threads of programs reach and that lie in the arena in one piece, listed for kernels.

A kernel that has found a run knows about all pages of it at once (`page_table.run`). The list has the longest ones, and
is empty from any change of the page table until somebody lists them again: then kernels look up pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

import numpy as np

from pocketgpu.arena import Bytes
from pocketgpu.maxwell.memory.page_table import ROW_BYTES, RUN, RUNS


class Runs:
    """The list of runs in an arena."""

    def __init__(self, arena: Bytes) -> None:
        words = lambda at, size: arena[at : at + size * RUNS]
        self._starts, self._places = (words(at, 8).view(np.int64) for at in (RUN.START, RUN.PLACES))
        self._offsets = words(RUN.OFFSET, 4).view(np.int32)
        self.listed = False

    def forget(self) -> None:
        """The page table changes: none of the runs may be used any more."""
        if self.listed:
            self.listed = False
            self._places[:] = 0

    def set(self, found: Iterable[tuple[int, int, int]]) -> None:
        """List runs, each as (address, bytes that threads reach, arena offset)."""
        self.forget()
        for n, (address, size, offset) in enumerate(nlargest(RUNS, found, key=lambda one: one[1])):
            if size >= ROW_BYTES:
                self._starts[n], self._places[n], self._offsets[n] = address, size - ROW_BYTES + 1, offset
        self.listed = True


__all__ = ["Runs"]
