"""How many fragments each pixel of a Switch's first target got, and what draws cost.

Both are counted from the shapes of draws, before these are drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.costs import CostCounter, Costs
from pocketgpu.inspect.model.overdraw import MOST_TESTS, CoverCounts, Edges, Ints, Over, Overdraw, draws_of
from pocketgpu.inspect.switch.block_runs import STRIDE, sample_points
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXELS
from pocketgpu.maxwell.graphics.records import PRIMITIVES, REGION, SHAPE
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_BOX = [SHAPE.offsets[name] // 4 for name in ("LEFT", "TOP", "RIGHT", "BOTTOM")]
_LAYER = SHAPE.offsets["LAYER"] // 4
_EDGES = 4


class ShapeWatch(Observer, ABC):
    """Takes the shapes of draws, before these are drawn."""

    wants_shapes = True

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        memory, region_at = self.machine.memory, self.machine.drawing.region
        region = memory.words(region_at, REGION.size // 4)
        start, end = int(region[REGION.AT // 4]), int(region[REGION.SHAPES_END // 4])
        number = max(end - start, 0) // STRIDE
        shapes = memory.arena[start : start + number * STRIDE].reshape(number, STRIDE)
        words, wide = shapes.view(np.int32), shapes.view(np.int64)
        a, b = (words[:, at // 4 : at // 4 + _EDGES].astype(np.int64) for at in (SHAPE.A, SHAPE.B))
        c = wide[:, SHAPE.C // 8 : SHAPE.C // 8 + _EDGES].copy()
        self.take(plan, words[:, _LAYER].copy(), words[:, _BOX].astype(np.int64), (a, b, c))

    @abstractmethod
    def take(self, plan: Plan, layers: NDArray[np.int32], boxes: Ints, edges: Edges) -> None:
        """Layers, boxes and edges of shapes."""


class _Overdraw(ShapeWatch):
    """Counts what shapes of the first layer cover."""

    def __init__(self, counts: CoverCounts) -> None:
        self.counts = counts

    def take(self, plan: Plan, layers: NDArray[np.int32], boxes: Ints, edges: Edges) -> None:
        a, b, c = (part[layers == 0] for part in edges)
        self.counts.add(boxes[layers == 0], (a, b, c), sample_points(plan), SUBPIXELS)


class _Costs(ShapeWatch):
    """Counts what draws cost."""

    def __init__(self, draws: int) -> None:
        self.counter = CostCounter(draws, MOST_TESTS)
        self._place = 0
        self._going = False

    def begin(self, place: int) -> None:
        """The draw at a place runs next."""
        self._place, self._going = place, False

    def take(self, plan: Plan, layers: NDArray[np.int32], boxes: Ints, edges: Edges) -> None:
        memory = self.machine.memory
        count = int(memory.words(plan.lists[1] + PRIMITIVES.COUNT, 1)[0])
        following = int(memory.words(self.machine.drawing.region + REGION.NEXT, 1)[0])
        if not self._going:
            self.counter.primitives[self._place] += count
        self._going = following < count
        self.counter.add(self._place, boxes, edges, tuple(sample_points(plan)), SUBPIXELS)


def overdraw(run: SwitchInspection, place: Address, over: Over) -> Overdraw:
    """See `Inspection.overdraw`."""
    draws = draws_of(run.events(place.frame), run.passes(place.frame), place, over)
    last = draws[-1]
    pictures = [one for one in run.seek(last.address).pictures.values() if one.kind != "screen"]
    if not pictures:
        raise UsageError("the draw has no target", location=str(last.address))
    counts = CoverCounts(pictures[0].width, pictures[0].height)
    player, ticks = run.player, {one.number: run.tick_of(one.address) for one in draws}
    for _, some in groupby(draws, lambda one: one.pass_):
        numbers = [ticks[one.number] for one in some]
        player.go(player.at(numbers[0] - 1))
        player.play_to(player.at(numbers[-1]), _Overdraw(counts))
    return Overdraw(last.address, over, len(draws), counts.counts, counts.left)


def costs(run: SwitchInspection, frame: int) -> Costs:
    """See `Inspection.costs`."""
    draws, player = run.draws(frame), run.player
    watch = _Costs(len(draws))
    for place, one in enumerate(draws):
        tick = run.tick_of(one.address)
        player.go(player.at(tick - 1))
        watch.begin(place)
        player.play_to(player.at(tick), watch)
    return watch.counter.result(frame, [one.number for one in draws], [one.facts["count"] for one in draws])


__all__ = ["ShapeWatch", "costs", "overdraw"]
