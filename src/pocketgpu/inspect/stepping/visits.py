"""Which instructions and blocks a trace ran, how often, and when: for listings, graphs and jumps between steps.

    visits = trace.visits
    visits.counts[3]                          # how often instruction 3 ran
    visits.find([3, 8], 120, forward=True)    # the next step after step 120 that runs one of them
    visits.blocks()                           # the control flow with counts
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.control_flow import Edge
from pocketgpu.inspect.stepping.listing import ProgramListing
from pocketgpu.late_dataclass import dataclass

MOST_BLOCKS = 400
"""Blocks of a graph that people can still read."""


@dataclass(frozen=True)
class VisitedEdge:
    """An edge of the control flow. taken: how often control went along it."""

    edge: Edge
    taken: int


@dataclass(frozen=True)
class VisitedBlock:
    """Instructions `first` to `last`. count: how often the first of them ran."""

    first: int
    last: int
    count: int
    hangs: bool = False
    edges: tuple[VisitedEdge, ...] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first, "last": self.last, "hits": self.count, "hangs": self.hangs,
            "edges": [
                {"to": one.edge.to, "kind": one.edge.kind, "when": one.edge.when, "taken": one.taken}
                for one in self.edges
            ],
        }  # fmt: skip


class Visits:
    """The way that a trace took through its program.

    :param numbers: the number of the instruction of each step, in order.
    """

    def __init__(self, listing: ProgramListing, numbers: NDArray[np.int64]) -> None:
        self.listing, self.numbers = listing, numbers

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each instruction ran."""
        return np.bincount(self.numbers, minlength=len(self.listing))

    def find(self, numbers: Sequence[int], step: int, forward: bool) -> int | None:
        """The next step after `step`, or the last one before it, that runs one of some instructions."""
        return near(np.flatnonzero(np.isin(self.numbers, numbers)), step, forward)

    def blocks(self) -> tuple[list[VisitedBlock], int]:
        """The first MOST_BLOCKS blocks in the order of the code, and how many the program has.

        :raises CaptureError: the program has more paths than can be followed.
        """
        found = self.listing.blocks()
        taken = self._taken([block.first for block in found])
        counts = self.counts
        shown = [
            VisitedBlock(
                block.first, block.last, int(counts[block.first]) if block.first < len(counts) else 0, block.hangs,
                tuple(VisitedEdge(edge, taken.get((number, edge.to), 0)) for edge in block.edges
                      if edge.to < MOST_BLOCKS),
            ) for number, block in enumerate(found[:MOST_BLOCKS])
        ]  # fmt: skip
        return shown, len(found)

    def _taken(self, firsts: list[int]) -> dict[tuple[int, int], int]:
        """How often control came from a block to the beginning of another, by their numbers."""
        if len(self.numbers) < 2 or not firsts:
            return {}
        starts = np.array(firsts)
        block = np.searchsorted(starts, self.numbers, "right") - 1
        begins = starts[block] == self.numbers
        pairs = np.stack([block[:-1], block[1:]], 1)[begins[1:] & (block[:-1] >= 0)]
        each, counts = np.unique(pairs, axis=0, return_counts=True)
        return {(one[0], one[1]): count for one, count in zip(each.tolist(), counts.tolist(), strict=True)}


def near(steps: NDArray[np.int64], step: int, forward: bool) -> int | None:
    """Of steps in ascending order the first after `step`, or the last before it; None if there is none."""
    at = int(np.searchsorted(steps, step, "right" if forward else "left")) - (not forward)
    return int(steps[at]) if 0 <= at < len(steps) else None


__all__ = ["MOST_BLOCKS", "VisitedBlock", "VisitedEdge", "Visits", "near"]
