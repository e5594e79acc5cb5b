"""The order in which a warp ran while one of its lanes was recorded: at which tick each lane ran which instruction.

A tick is one instruction of the warp. So the place of any lane at any tick is known from the recording of one lane.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

MOST_LANES = 32
"""Bits of a mask of lanes."""
MOST_TICKS = 1 << 20
"""Ticks that are kept: a lane that waits for others longer is not recorded further."""


@dataclass(eq=False)
class Schedule:
    """What a warp ran. lane: which one was recorded, as a bit of `masks`.

    numbers: of the instruction, by tick. masks: the lanes that it ran for, a bit each, by tick.
    """

    lane: int
    numbers: array[int]
    masks: array[int]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def _masks(self) -> NDArray[np.uint32]:
        return np.array(self.masks, np.uint32)

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        return np.array(self.numbers, np.int64)

    def ticks(self, lane: int) -> NDArray[np.int64]:
        """The ticks at which a lane ran, in order: the tick of each of its steps."""
        if lane not in self._known:
            self._known[lane] = np.flatnonzero(self._masks >> np.uint32(lane) & np.uint32(1))
        return self._known[lane]

    @cached_property
    def _known(self) -> dict[int, NDArray[np.int64]]:
        return {}

    def tick(self, lane: int, place: int) -> int:
        """When a lane stands before a step: the tick of that step; the end for the place after its last one."""
        ticks = self.ticks(lane)
        return int(ticks[place]) if place < len(ticks) else len(self)

    def place(self, lane: int, tick: int) -> int:
        """How many steps a lane has run before a tick: the number of its next one."""
        return int(np.searchsorted(self.ticks(lane), tick))

    def runs(self, lane: int, tick: int) -> bool:
        """Whether a lane takes part in what the warp runs at a tick."""
        return tick < len(self) and bool(self.masks[tick] >> lane & 1)

    def instructions(self, lane: int) -> NDArray[np.int64]:
        """The number of the instruction of each step of a lane."""
        if lane not in self._ran:
            self._ran[lane] = self._numbers[self.ticks(lane)]
        return self._ran[lane]

    @cached_property
    def _ran(self) -> dict[int, NDArray[np.int64]]:
        return {}


def merged(programs: Sequence[Sequence[int]], depths: Sequence[Sequence[int]]) -> Schedule:
    """A schedule of lanes that ran one by one, as if they had been a warp.

    The lanes that are deepest in calls run first, of these the ones that stand at the first instruction; so lanes that
    parted run together again where their ways meet. programs: the instruction of each step, by lane. depths: calls
    around each step, by lane.
    """
    places = [0] * len(programs)
    numbers, masks = array("i"), array("I")
    while len(numbers) < MOST_TICKS:
        standing = [
            (-depths[lane][place], programs[lane][place])
            for lane, place in enumerate(places) if place < len(programs[lane])
        ]  # fmt: skip
        if not standing:
            break
        first, mask = min(standing), 0
        for lane, place in enumerate(places):
            if place < len(programs[lane]) and (-depths[lane][place], programs[lane][place]) == first:
                mask |= 1 << lane
                places[lane] += 1
        numbers.append(first[1])
        masks.append(mask)
    return Schedule(0, numbers, masks)


__all__ = ["MOST_TICKS", "Schedule", "merged"]
