"""Outputs of the last program before raster, and the viewports that primitives are drawn to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.distinct import distinct
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.records import PRIMITIVES, PROVOKING, RASTER, TRIANGLE_LIST, VERTICES, VIEWPORT_COUNT
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

Ints = NDArray[np.int64]


def vertex_output(memory: GpuMemory, plan: Plan, offset: int) -> NDArray[np.int32]:
    """A word of all vertices of a draw's current list, by its offset in a page."""
    pages, size, _, count = memory.words(plan.lists[0], VERTICES.size // 4)[:4].tolist()
    number = -(-count // LANES)
    raw = memory.arena[pages : pages + number * size].reshape(number, size)
    return raw[:, offset:][:, :VECTOR].copy().view(np.int32).reshape(-1)[:count]


def column(memory: GpuMemory, plan: Plan, number: int, count: int) -> Ints:
    """A column of the list of primitives."""
    words = memory.words(plan.lists[1], PRIMITIVES.size // 4)
    start, stride = (int(words[PRIMITIVES.offsets[name] // 4]) for name in ("COLUMNS", "STRIDE"))
    return memory.words(start + number * stride, count).astype(np.int64)


def viewports_of(memory: GpuMemory, plan: Plan, provoking: Ints) -> tuple[Ints, Ints]:
    """Which primitive each copy is of, and its viewport. There is one copy of each, or with masks of viewports one for
    each viewport in its mask. provoking: the provoking vertex of each primitive."""
    if plan.masks:
        bits = vertex_output(memory, plan, int(plan.words[RASTER.VIEWPORT_MASK_AT // 4]))[provoking]
        which, numbers = np.nonzero(bits[:, None] >> np.arange(VIEWPORT_COUNT) & 1)
        return which, numbers
    at = int(plan.words[RASTER.VIEWPORT_AT // 4])
    chosen = np.zeros(len(provoking), np.int64)
    if at >= 0:
        chosen = vertex_output(memory, plan, at)[provoking].astype(np.int64)
        chosen[(chosen < 0) | (chosen >= VIEWPORT_COUNT)] = 0
    return np.arange(len(provoking)), chosen


def used_viewports(memory: GpuMemory, plan: Plan) -> tuple[int, ...]:
    """The viewports that the primitives of the current list are drawn to, ascending."""
    if not plan.masks and plan.words[RASTER.VIEWPORT_AT // 4] < 0:
        return (0,)
    count, kind = (int(n) for n in memory.words(plan.lists[1], 2))
    if not count or kind > TRIANGLE_LIST:
        return ()
    _, numbers = viewports_of(memory, plan, column(memory, plan, PROVOKING, count))
    return tuple(distinct(numbers).tolist())


__all__ = ["column", "used_viewports", "vertex_output", "viewports_of"]
