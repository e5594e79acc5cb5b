"""A cache of results that are computed from registers; the registers read are the key.

There is no hand-written list of what a result depends on. It is made from a `RecordingState`, and the words that were
read for it are its key. Which words are read may depend on other words: a result that did not read the blend equation
is valid for any equation. So results are grouped by the set of words that they read, and a search compares, for each
set, the current values of its words. This is sound because a result is a function of what is read: where these words
have the same values, making the result again would read the same words and give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.engines.common.state import RecordingState, State

Result = TypeVar("Result")


class _Table(Generic[Result]):
    """Results that read the same words. places: the numbers of the words."""

    def __init__(self, places: NDArray[np.int64]) -> None:
        self.places = places
        self.results: dict[tuple[bytes, Hashable], Result] = {}


class ReadCache(Generic[Result]):
    """Results that were made from registers.

        plans = ReadCache(4096)
        plan = plans.get(state, make_plan)  # make_plan runs only if no plan fits the registers

    A result is used again when the registers that were read to make it (and `inputs`, if given) have the same values as
    then. most: how many results it keeps; when it is full, the next one drops all others.
    """

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._tables: list[_Table[Result]] = []  # the most recently used first

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"ReadCache({self._count} results of {len(self._tables)} sets of words)"

    @property
    def full(self) -> bool:
        """Whether the cache must be emptied before the next `add`."""
        return self._count >= self._most

    def clear(self) -> None:
        """Drop all results."""
        self._tables, self._count = [], 0

    def find(self, state: State, inputs: Hashable = None) -> Result | None:
        """The cached result for these registers, or None. If `state` records reads, the words of the result are
        recorded.

        :param inputs: what the result depends on besides registers.
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
        """Add a result that was made from `read` and `inputs`."""
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
        """The result for these registers, made if it is not cached."""
        found = self.find(state, inputs)
        if found is None:
            read = state.recording()
            found = make(read)
            self.add(read, found, inputs)
            state.note(read.places)
        return found


__all__ = ["ReadCache"]
