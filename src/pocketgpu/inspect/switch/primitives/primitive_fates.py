"""The fate of each triangle of a draw of the Switch, and where the viewport puts its corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.fates import Fates, FateTable
from pocketgpu.inspect.switch.primitives.primitive_count import Ints, PrimitiveCount
from pocketgpu.inspect.switch.primitives.viewports import column
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.raster.raster_state import POSITION
from pocketgpu.maxwell.graphics.records import MAP_WORDS, PRIMITIVE_ID, RASTER, VERTICES, VIEWPORT, VIEWPORT_COUNT
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

_AXES = 4


class _RowFates(PrimitiveCount):
    """Notes what becomes of each row of one list. A row is stopped if it is for every viewport that it goes to."""

    def __init__(self, memory: GpuMemory, state: State, count: int) -> None:
        super().__init__(memory, state, None)
        self.stops, self.clips = FateTable(count), FateTable(count)
        self._stopped = np.zeros(count, np.int64)
        self._copies = np.zeros(count, np.int64)

    def judge(self, rows: Ints, verdict: str, reason: str = "", register: str = "") -> None:
        if verdict == "clipped":
            self.clips.give(rows, verdict, reason, register)
        else:
            self.stops.give(rows, verdict, reason, register)
            self._stopped[rows] += 1

    def _of_viewport(self, plan: Plan, n: int, kind: int, columns: Ints, rows: Ints) -> None:
        self._copies[rows] += 1
        super()._of_viewport(plan, n, kind, columns, rows)

    def fates(self, ids: Ints) -> Fates:
        """The fates of all rows. ids: the numbers of their primitives."""
        clips, stops = self.clips.result(ids), self.stops.result(ids)
        kinds = clips.kinds + stops.kinds
        stopped = (self._stopped >= self._copies) & (self._copies > 0)
        which = np.where(stopped, stops.which + len(clips.kinds), clips.which)
        used, places = np.unique(which, return_inverse=True)
        return Fates(tuple(kinds[n] for n in used.tolist()), places.reshape(-1).astype(np.int64), ids)


def fates_of(memory: GpuMemory, state: State, plan: Plan, count: int) -> Fates:
    """The fates of the rows of the current list, which has triangles."""
    ids = column(memory, plan, PRIMITIVE_ID, count) & 0xFFFFFFFF if count else np.zeros(0, np.int64)
    rows = _RowFates(memory, state, count)
    rows.add(plan, count)
    return rows.fates(ids)


def window_of(memory: GpuMemory, plan: Plan, viewport: int = 0) -> NDArray[np.float64] | None:
    """What the set-up does to a position of a viewport, as a matrix (3, 4): x and y in pixels times w, and w. None if
    it takes an axis from something else than the position."""
    size = VIEWPORT.size // 4
    words = memory.words(plan.viewports, size * VIEWPORT_COUNT)[viewport * size : (viewport + 1) * size]
    source, sign = (words[at // 4 : at // 4 + _AXES] for at in (VIEWPORT.SOURCE, VIEWPORT.SIGN))
    table = memory.words(int(memory.words(plan.lists[0], VERTICES.size // 4)[VERTICES.MAP // 4]), MAP_WORDS)
    axes = {int(table[POSITION // 4 + axis]): axis for axis in range(_AXES)}
    last = max(n for n in plan.programs if n != PIXEL)
    written = set(plan.programs[last].header.outputs)
    rows = np.zeros((_AXES, _AXES))
    for n, (at, flip) in enumerate(zip(source.tolist(), sign.tolist(), strict=True)):
        axis = axes.get(at)
        if axis is None or POSITION + 4 * axis not in written:
            return None
        rows[n, axis] = -1 if flip else 1
    scale, offset = (
        words[at // 4 : at // 4 + 2].view(np.float32).astype(np.float64) for at in (VIEWPORT.SCALE, VIEWPORT.OFFSET)
    )
    return np.stack([*(scale[:, None] * rows[:2] + offset[:, None] * rows[3]), rows[3]])


def depths_of(plan: Plan) -> tuple[float, float]:
    """z divided by w at the near and at the far plane."""
    return (0.0 if plan.words[RASTER.NEAR_ZERO // 4] else -1.0), 1.0


__all__ = ["depths_of", "fates_of", "window_of"]
