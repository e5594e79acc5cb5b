"""Results of reading registers, found again while everything that was read is the same.

Nobody lists what a result depends on. It is made from a `RecordingState`, and the words that were read for it are its
key. Which words are read may depend on what other words hold: a result that did not look at the equation of blending
is good for any equation. So results are kept by the set of words that they were made of, and a search compares, for
each set, the present values of its words. This is sound because making a result is a function of what is read: where
the words of a result hold the same, making it again would read the same words and come to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.engines.common.state import RecordingState, State

Result = TypeVar("Result")


class _Table(Generic[Result]):
    """Results that were made of the same words. places: the numbers of the words."""

    def __init__(self, places: NDArray[np.int64]) -> None:
        self.places = places
        self.results: dict[tuple[bytes, Hashable], Result] = {}


class ReadCache(Generic[Result]):
    """Some results. most: how many are kept; when there is no room all of them are forgotten."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._tables: list[_Table[Result]] = []  # the one that was used last comes first

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"ReadCache({self._count} results of {len(self._tables)} sets of words)"

    @property
    def full(self) -> bool:
        """Whether the next result needs room."""
        return self._count >= self._most

    def clear(self) -> None:
        """Forget all."""
        self._tables, self._count = [], 0

    def find(self, state: State, inputs: Hashable = None) -> Result | None:
        """The result for these registers, if it is there. If `state` notes what is read, the words of the result are.

        :param inputs: what the result depends on beside registers.
        """
        for n, table in enumerate(self._tables):
            places = table.places
            found = table.results.get((state.peek(places), inputs))
            if found is not None:
                if n:
                    self._tables.insert(0, self._tables.pop(n))
                state.note(places)
                return found
        return None

    def add(self, read: RecordingState, result: Result, inputs: Hashable = None) -> None:
        """Keep a result that was made from `read` and `inputs`."""
        if self.full:
            self.clear()
        places = read.places
        table = next((one for one in self._tables if np.array_equal(one.places, places)), None)
        if table is None:
            table = _Table(places)
            self._tables.insert(0, table)
        table.results[read.peek(places), inputs] = result
        self._count += 1

    def get(self, state: State, make: Callable[[State], Result], inputs: Hashable = None) -> Result:
        """The result for these registers, made if need be."""
        found = self.find(state, inputs)
        if found is None:
            read = state.recording()
            found = make(read)
            self.add(read, found, inputs)
            state.note(read.places)
        return found


__all__ = ["ReadCache"]
