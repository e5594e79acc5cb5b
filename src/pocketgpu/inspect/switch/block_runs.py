"""Running single shapes, or single blocks of them: by the machine's own code, and by NumPy with intermediate values.

A block is 8 x 4 pixels. While a draw is replayed, its shapes are in the region, and their pixels are not drawn yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.switch.surfaces import Surface, surface_of
from pocketgpu.inspect.switch.watched import Listener, Watch
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.primitives.layout import plane_offset
from pocketgpu.maxwell.graphics.primitives.shapes import room
from pocketgpu.maxwell.graphics.raster.pixel_blocks import raster_shapes
from pocketgpu.maxwell.graphics.records import (
    BLOCK_HEIGHT,
    BLOCK_WIDTH,
    FRAGMENTS,
    PLANE,
    RASTER,
    REGION,
    SHAPE,
)
from pocketgpu.maxwell.sass.warp.observer import Observer as WarpObserver

STRIDE = room(SHAPE.size)
"""Bytes from a shape to the next."""
Area = tuple[int, int]
"""(arena offset, size)."""


def sample_points(plan: Plan) -> list[tuple[int, int]]:
    """The points of a pixel where its coverage is tested, in 1/256 pixel."""
    if not plan.multi:
        return [(128, 128)]
    words = plan.words
    across, down = RASTER.SAMPLE_X // 4, RASTER.SAMPLE_Y // 4
    return [
        (16 * int(words[across + n]), 16 * int(words[down + n])) for n in range(int(words[RASTER.SAMPLES // 4]))
    ]  # fmt: skip


def region_shapes(watch: Watch) -> tuple[int, int]:
    """(arena offset of the first shape in the machine's region, number of shapes)."""
    region = watch.words(watch.machine.drawing.region, REGION.size // 4)
    start, end = int(region[REGION.AT // 4]), int(region[REGION.SHAPES_END // 4])
    return start, max(end - start, 0) // STRIDE


def primitive_of(watch: Watch, planes: int) -> int:
    """The number of the primitive that planes belong to, as programs read it."""
    return int(watch.words(planes + plane_offset("PRIMITIVE_ID") + PLANE.C, 1)[0]) & 0xFFFFFFFF


def surfaces_of(plan: Plan, grid: tuple[int, int], layer: int = 0) -> list[tuple[Surface, int]]:
    """A layer of the targets, and the arena offset of each one's first byte. grid: samples of a pixel across, down."""
    return [
        (surface_of(target, grid, layer), window.offset + layer * dict(target.words)["LAYER_STRIDE"])
        for target, window in zip(plan.targets, plan.windows, strict=True)
    ]


def block_areas(plan: Plan, grid: tuple[int, int], x: int, y: int, layer: int = 0) -> list[Area]:
    """All bytes of the targets that the block with pixel x, y can write."""
    x, y = x & -BLOCK_WIDTH, y & -BLOCK_HEIGHT
    across, down = grid
    found = []
    for (surface, base), window in zip(surfaces_of(plan, grid, layer), plan.windows, strict=True):
        size = surface.format.bytes
        left, width, height = x * across * size, BLOCK_WIDTH * across * size, BLOCK_HEIGHT * down
        layout = surface.plane.layout
        if layout is not None:
            low, high = layout.reach(left, y * down, surface.plane.z, width, height)
        else:
            low = y * down * surface.plane.pitch + left
            high = low + (height - 1) * surface.plane.pitch + width
        end = window.offset + window.size
        low, high = min(base + low, end), min(base + high, end)
        found.append((low, high - low))
    return found


class BlockRuns:
    """Runs shapes of the draw that a machine is about to raster."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._machine = watch, watch.machine
        self._prepared: Plan | None = None

    def draw(self, plan: Plan, start: int, end: int) -> None:
        """Draw the shapes from one arena offset to another, by the machine's own code."""
        if end <= start:
            return
        region = self._watch.words(self._watch.region, REGION.size // 4)
        region[REGION.AT // 4], region[REGION.SHAPES_END // 4] = start, end
        drawing = self._machine.drawing
        run = self._machine.engine.get(raster_shapes, multi=plan.multi)
        run(plan.at, self._watch.region, drawing.pixel_slots[0], drawing.fragments, 0, 1)

    def cut(self, shape: int, x: int, y: int) -> None:
        """Make a region with a copy of one shape, cut to the block with pixel x, y."""
        watch = self._watch
        copy = watch.words(watch.shape, STRIDE // 4)
        copy[:] = watch.words(shape, STRIDE // 4)
        x, y = x & -BLOCK_WIDTH, y & -BLOCK_HEIGHT
        limits = (
            ("LEFT", max, x), ("TOP", max, y),
            ("RIGHT", min, x + BLOCK_WIDTH - 1), ("BOTTOM", min, y + BLOCK_HEIGHT - 1),
        )  # fmt: skip
        for name, choose, limit in limits:
            at = SHAPE.offsets[name] // 4
            copy[at] = choose(int(copy[at]), limit)
        region = watch.words(watch.region, REGION.size // 4)
        region[REGION.AT // 4], region[REGION.SHAPES_END // 4] = watch.shape, watch.shape + STRIDE

    def both(
        self, plan: Plan, areas: list[Area], note: Listener, after: Callable[[], None],
        observer: WarpObserver | None = None,
    ) -> bool:  # fmt: skip
        """Run the block of `cut` by NumPy, then by the machine's own code, which leaves its bytes; returns whether both
        leave the same bytes.

        note: gets the intermediate values. after: called between the two, while NumPy's results are there.
        """
        watch, drawing = self._watch, self._machine.drawing
        if self._prepared is not plan:
            watch.prepare(plan)
            self._prepared = plan
        slot, fragments = drawing.pixel_slots[0], drawing.fragments
        program = plan.programs.get(PIXEL)
        size = program.layout().size if program is not None else 4096
        kept = watch.bytes(slot, size).copy(), watch.bytes(fragments, FRAGMENTS.size).copy()
        before = [watch.bytes(*area).copy() for area in areas]
        run = watch.engine.get(raster_shapes, multi=plan.multi)
        with watch.listening(note, observer):
            run(watch.raster, watch.region, slot, fragments, 0, 1)
        after()
        ours = [watch.bytes(*area).copy() for area in areas]
        for area, data in zip(areas, before, strict=True):
            watch.bytes(*area)[:] = data
        watch.bytes(slot, size)[:], watch.bytes(fragments, FRAGMENTS.size)[:] = kept
        own = self._machine.engine.get(raster_shapes, multi=plan.multi)
        own(plan.at, watch.region, slot, fragments, 0, 1)
        watch.bytes(slot, size)[:], watch.bytes(fragments, FRAGMENTS.size)[:] = kept
        return all(np.array_equal(one, watch.bytes(*area)) for one, area in zip(ours, areas, strict=True))


def covered_by(words: NDArray[np.int64], wide: NDArray[np.int64], x: Any, y: Any) -> Any:
    """Whether points (1/256 pixel, numbers or arrays that broadcast) are inside of all edges of a shape. words, wide:
    its record as 32-bit and 64-bit words."""
    inside: Any = True
    for n in range(4):
        a, b, c = words[SHAPE.A // 4 + n], words[SHAPE.B // 4 + n], wide[SHAPE.C // 8 + n]
        inside = inside & (a * x + b * y + c >= 0)
    return inside


__all__ = [
    "STRIDE", "Area", "BlockRuns", "block_areas", "covered_by", "primitive_of", "region_shapes", "sample_points",
    "surfaces_of",
]  # fmt: skip
