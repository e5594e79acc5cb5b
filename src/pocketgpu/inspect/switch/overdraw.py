"""How many fragments each pixel of a Switch's first target got: from the shapes of draws, before they are drawn."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.overdraw import CoverCounts, Over, Overdraw, draws_of
from pocketgpu.inspect.switch.block_runs import STRIDE, sample_points
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXELS
from pocketgpu.maxwell.graphics.records import REGION, SHAPE
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_BOX = [SHAPE.offsets[name] // 4 for name in ("LEFT", "TOP", "RIGHT", "BOTTOM")]
_LAYER = SHAPE.offsets["LAYER"] // 4
_EDGES = 4


class CoverWatch(Observer):
    """Counts what the shapes of draws cover, of the first layer."""

    wants_shapes = True

    def __init__(self, counts: CoverCounts) -> None:
        self.counts = counts

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        memory, region_at = self.machine.memory, self.machine.drawing.region
        region = memory.words(region_at, REGION.size // 4)
        start, end = int(region[REGION.AT // 4]), int(region[REGION.SHAPES_END // 4])
        number = max(end - start, 0) // STRIDE
        shapes = memory.arena[start : start + number * STRIDE].reshape(number, STRIDE)
        words, wide = shapes.view(np.int32), shapes.view(np.int64)
        mine = words[:, _LAYER] == 0
        a, b = (words[mine, at // 4 : at // 4 + _EDGES].astype(np.int64) for at in (SHAPE.A, SHAPE.B))
        c = wide[mine, SHAPE.C // 8 : SHAPE.C // 8 + _EDGES]
        self.counts.add(words[mine][:, _BOX].astype(np.int64), (a, b, c), sample_points(plan), SUBPIXELS)


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
        player.play_to(player.at(numbers[-1]), CoverWatch(counts))
    return Overdraw(last.address, over, len(draws), counts.counts, counts.left)


__all__ = ["CoverWatch", "overdraw"]
