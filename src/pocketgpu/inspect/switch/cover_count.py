"""The pixels of a draw's shapes: how many they cover, how many a scissor cuts off, and how many masks leave out.

Masks are window rectangles, the stipple of polygons and the sample mask. A line's stipple and the edges of smooth
polygons are not counted here.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.switch.block_runs import covered_by, sample_points
from pocketgpu.inspect.switch.primitives.primitive_count import limits_of
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXEL_BITS, SUBPIXELS
from pocketgpu.maxwell.graphics.records import FILL, INSIDE_ANY, LINE, NOTHING, RASTER, SHAPE

MOST_PIXELS = 1 << 24
"""Most pixels of bounding boxes that are tested to count covered pixels."""
SCISSORS = "SET_SCISSOR_HORIZONTAL({n}), SET_SCISSOR_VERTICAL({n})"
_SCISSOR = "SET_SCISSOR_"
_WINDOWS = 8
_CORNERS = 4
"""Pixels of a quad: each has a sample mask."""
_STIPPLE = 32
"""Columns and rows of the stipple of polygons."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom, all inclusive."""
Ints = NDArray[np.int64]


class CoverCount:
    """Counts of the shapes of one draw. every: count however many pixels are looked at.

    covered: pixels (with several samples: samples) inside of shapes. cut: those that would be, without scissors, by
    registers. masked: of those covered, the ones that masks leave out, by (reason, register). complete: whether all
    shapes were looked at. place: a covered pixel.
    """

    def __init__(self, state: State, every: bool) -> None:
        self._state, self._every = state, every
        self.covered = self._looked = 0
        self.cut: Counter[str] = Counter()
        self.masked: Counter[tuple[str, str]] = Counter()
        self.complete = True
        self.place: tuple[int, int] | None = None
        self._limits: dict[int, Box] = {}

    @property
    def kept(self) -> int:
        """Covered ones that no mask leaves out."""
        return self.covered - sum(self.masked.values())

    def add(self, plan: Plan, words: Ints, wide: Ints) -> None:
        """Count a shape. words, wide: its record as 32-bit and 64-bit words."""
        box = _box(words)
        n = int(words[SHAPE.VIEWPORT // 4])
        whole = self._whole(plan, n, words, wide) if self._state.field("SET_SCISSOR_ENABLE", "V", n) else None
        left, top, right, bottom = whole or box
        self._looked += (right - left + 1) * (bottom - top + 1)
        if self._looked > MOST_PIXELS and not self._every:
            self.complete = False
            return
        columns, rows = np.arange(left, right + 1, dtype=np.int64), np.arange(top, bottom + 1, dtype=np.int64)[:, None]
        within = (columns >= box[0]) & (columns <= box[2]) & (rows >= box[1]) & (rows <= box[3])
        for s, (dx, dy) in enumerate(sample_points(plan)):
            inside = covered_by(words, wide, (columns << SUBPIXEL_BITS) + dx, (rows << SUBPIXEL_BITS) + dy)
            mine = inside & within
            found = int(mine.sum())
            self.covered += found
            self.cut[SCISSORS.format(n=n)] += int(inside.sum()) - found
            if found and self.place is None:
                row, column = np.argwhere(mine)[found // 2]
                self.place = left + int(column), top + int(row)
            if found:
                self._mask(plan, mine, columns, rows, int(words[SHAPE.KIND // 4]), s)

    # -- scissors -----------------------------------------------------------------------------------------------------
    def _whole(self, plan: Plan, n: int, words: Ints, wide: Ints) -> Box | None:
        """The box that a shape would have without the scissor; None for shapes whose box is more than their edges."""
        if int(words[SHAPE.KIND // 4]) == LINE or plan.words[RASTER.CONSERVATIVE // 4] or words[SHAPE.FADE // 4]:
            return None
        edges = [
            (int(words[SHAPE.A // 4 + i]), int(words[SHAPE.B // 4 + i]), int(wide[SHAPE.C // 8 + i])) for i in range(4)
        ]
        found = []
        for (a, b, c), (d, e, f) in combinations([edge for edge in edges if edge[0] or edge[1]], 2):
            if a * e - b * d:
                x, y = (b * f - c * e) / (a * e - b * d), (c * d - a * f) / (a * e - b * d)
                if all(p * x + q * y + r >= -2 * (abs(p) + abs(q)) - 2 for p, q, r in edges):
                    found.append((x / SUBPIXELS, y / SUBPIXELS))
        if len(found) < 3:
            return None
        limits = self._limits.get(n)
        if limits is None:
            limits = self._limits[n] = self._without_scissor(plan, n)
        xs, ys = zip(*found, strict=True)
        return (
            max(int(min(xs)) - 1, limits[0]), max(int(min(ys)) - 1, limits[1]),
            min(int(max(xs)) + 1, limits[2]), min(int(max(ys)) + 1, limits[3]),
        )  # fmt: skip

    def _without_scissor(self, plan: Plan, n: int) -> Box:
        """The pixels of a viewport that may be drawn apart from its scissor."""
        low, high = [0, 0], [(1 << 15) - 1] * 2
        for limit in limits_of(self._state, plan.targets, n):
            if not limit.register.startswith(_SCISSOR):
                low[limit.axis] = max(low[limit.axis], limit.first)
                high[limit.axis] = min(high[limit.axis], limit.last)
        return low[0], low[1], high[0], high[1]

    # -- masks --------------------------------------------------------------------------------------------------------
    def _mask(self, plan: Plan, mine: Any, columns: Ints, rows: Ints, kind: int, sample: int) -> None:
        words = plan.words
        mode = int(words[RASTER.WINDOW_CLIPS // 4])
        if mode:
            inside = np.zeros_like(mine)
            for n in range(_WINDOWS):
                at = RASTER.WINDOWS // 4 + 4 * n
                x0, y0, x1, y1 = (int(v) for v in words[at : at + 4])
                inside |= (columns >= x0) & (columns <= x1) & (rows >= y0) & (rows <= y1)
            out = mine & ((inside != (mode == INSIDE_ANY)) | (mode == NOTHING))
            self.masked["{is|are} left out by window rectangles", "SET_WINDOW_CLIP_ENABLE"] += int(out.sum())
            mine = mine & ~out
        if words[RASTER.POLYGON_STIPPLE // 4] and kind == FILL:
            pattern = words[RASTER.POLYGON_PATTERN // 4 :][:_STIPPLE].astype(np.int64)
            out = mine & ((pattern[rows % _STIPPLE] >> (_STIPPLE - 1 - columns % _STIPPLE) & 1) == 0)
            self.masked["{is|are} left out by the stipple of polygons", "SET_POLYGON_STIPPLE"] += int(out.sum())
            mine = mine & ~out
        ballot = int(words[RASTER.SAMPLES_LEFT // 4 + sample])
        for corner in range(_CORNERS):
            if not ballot >> corner & 1:
                x, y = corner & 1, corner >> 1
                out = mine & (columns & 1 == x) & (rows & 1 == y)
                self.masked["{is|are} left out by the sample mask", f"SET_SAMPLE_MASK_X{x}_Y{y}"] += int(out.sum())


def _box(words: Ints) -> Box:
    left, top, right, bottom = (int(words[SHAPE.offsets[n] // 4]) for n in ("LEFT", "TOP", "RIGHT", "BOTTOM"))
    return left, top, right, bottom


__all__ = ["MOST_PIXELS", "CoverCount"]
