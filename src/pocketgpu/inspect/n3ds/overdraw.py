"""How many fragments each pixel of a 3DS's target got, and what draws cost.

Both are counted from the triangle records of draws, before these are drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.costs import CostCounter, Costs
from pocketgpu.inspect.model.overdraw import MOST_TESTS, CoverCounts, Edges, Ints, Over, Overdraw, draws_of
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.pica.core.layout import PACKET, TRIANGLE
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

_FIRST, _LAST = PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4
_BOX = [getattr(TRIANGLE, name) // 4 for name in ("MIN_X", "MIN_Y", "MAX_X", "MAX_Y")]
_A, _B, _C = (getattr(TRIANGLE, name) // 4 for name in ("A", "B", "C"))
_EDGES = 3
_CENTRE = ((0, 0),)
"""Edge functions of records are those of the centres of pixels."""


class TriangleWatch(DrawWatcher, ABC):
    """Takes the triangle records of some draws, before these are drawn. wanted: numbers of the draws."""

    def __init__(self, machine: N3DS, wanted: set[int]) -> None:
        self.machine, self.wanted = machine, wanted
        self._first = 0
        self._looking = False

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`."""
        self._first, self._looking = numbers.start - packets.start, bool(self.wanted & set(numbers))
        try:
            run(0, len(numbers))
        finally:
            self._looking = False

    def fragments(self, first: int, end: int, run: Run) -> None:
        """See `Observer`."""
        work = self.machine.work
        for entry in range(first, end) if self._looking else ():
            packet = self.machine.runner.drawn(entry)
            if self._first + packet not in self.wanted:
                continue
            head = work.head(packet)
            low, high = int(head[_FIRST]), int(head[_LAST])
            if high <= low:
                continue
            self.take(self._first + packet, work.triangles(low, high))
        run(first, end)

    @abstractmethod
    def take(self, draw: int, records: NDArray[np.int32]) -> None:
        """Triangle records of a draw."""


def shapes_of(records: NDArray[np.int32]) -> tuple[Ints, Edges]:
    """Boxes and edges of triangle records."""
    a, b = (records[:, at : at + _EDGES].astype(np.int64) for at in (_A, _B))
    c = np.ascontiguousarray(records[:, _C : _C + 2 * _EDGES]).view(np.int64)
    return records[:, _BOX].astype(np.int64), (a, b, c)


class _Overdraw(TriangleWatch):
    """counts: of columns and rows of memory."""

    def __init__(self, machine: N3DS, wanted: set[int], counts: CoverCounts) -> None:
        super().__init__(machine, wanted)
        self.counts = counts

    def take(self, draw: int, records: NDArray[np.int32]) -> None:
        self.counts.add(*shapes_of(records), _CENTRE, 1)


class _Costs(TriangleWatch):
    """Counts what each draw costs."""

    def __init__(self, machine: N3DS, draws: int) -> None:
        super().__init__(machine, set(range(draws)))
        self.counter = CostCounter(draws, MOST_TESTS)

    def take(self, draw: int, records: NDArray[np.int32]) -> None:
        self.counter.primitives[draw] += len(records)
        self.counter.add(draw, *shapes_of(records), _CENTRE, 1)


def overdraw(run: N3dsInspection, place: Address, over: Over) -> Overdraw:
    """See `Inspection.overdraw`."""
    draws = draws_of(run.events(place.frame), run.passes(place.frame), place, over)
    last = draws[-1]
    target = run.seek(last.address).target
    if target is None:
        raise UsageError("the draw has no target", location=str(last.address))
    counts = CoverCounts(target.width, target.height)
    run.watch(last, _Overdraw(run.player.machine, {one.draw for one in draws if one.draw is not None}, counts))
    found = counts.counts[:, : target.in_memory.whole_width]
    if target.in_memory.turned:
        found = found.T[::-1]
    return Overdraw(last.address, over, len(draws), np.ascontiguousarray(found), counts.left)


def costs(run: N3dsInspection, frame: int) -> Costs:
    """See `Inspection.costs`."""
    draws = run.draws(frame)
    watch = _Costs(run.player.machine, len(draws))
    if draws:
        run.watch(draws[-1], watch)
    return watch.counter.result(frame, [one.number for one in draws], [one.facts["vertices"] for one in draws])


__all__ = ["TriangleWatch", "costs", "overdraw", "shapes_of"]
