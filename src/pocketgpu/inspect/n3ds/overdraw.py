"""How many fragments each pixel of a 3DS's target got: from the triangle records of draws, before they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.overdraw import CoverCounts, Over, Overdraw, draws_of
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.pica.core.layout import PACKET, TRIANGLE
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.front.targets import RenderTarget
from pocketgpu.pica.n3ds import N3DS

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

_FIRST, _LAST = PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4
_BOX = [getattr(TRIANGLE, name) // 4 for name in ("MIN_X", "MIN_Y", "MAX_X", "MAX_Y")]
_A, _B, _C = (getattr(TRIANGLE, name) // 4 for name in ("A", "B", "C"))
_EDGES = 3


class CoverWatch(DrawWatcher):
    """Counts what the triangles of some draws cover. wanted: their numbers. counts: of columns and rows of memory."""

    def __init__(self, machine: N3DS, wanted: set[int], counts: CoverCounts) -> None:
        self.machine, self.wanted, self.counts = machine, wanted, counts
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
            records = work.triangles(low, high)
            a, b = (records[:, at : at + _EDGES].astype(np.int64) for at in (_A, _B))
            c = np.ascontiguousarray(records[:, _C : _C + 2 * _EDGES]).view(np.int64)
            self.counts.add(records[:, _BOX].astype(np.int64), (a, b, c), ((0, 0),), 1)
        run(first, end)


def overdraw(run: N3dsInspection, place: Address, over: Over) -> Overdraw:
    """See `Inspection.overdraw`."""
    draws = draws_of(run.events(place.frame), run.passes(place.frame), place, over)
    last = draws[-1]
    target = run.seek(last.address).target
    if target is None:
        raise UsageError("the draw has no target", location=str(last.address))
    counts = CoverCounts(target.width, target.height)
    run.watch(last, CoverWatch(run.player.machine, {one.draw for one in draws if one.draw is not None}, counts))
    found = counts.counts[:, : target.width & (~31 if target.blocks else ~7)]
    if RenderTarget(target.address, target.width, target.height, target.format).turned:
        found = found.T[::-1]
    return Overdraw(last.address, over, len(draws), np.ascontiguousarray(found), counts.left)


__all__ = ["CoverWatch", "overdraw"]
