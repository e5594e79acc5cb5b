"""The fragments of a draw on one pixel, with all intermediate values.

While a draw is replayed, this reads its shapes before their pixels are drawn. For each shape that covers the pixel,
NumPy evaluates the block of 8 x 4 pixels around it, and intermediate values are noted. Then memory is restored, and the
machine's own code draws the same block: both must leave the same bytes. At the end memory is restored again, and the
machine draws the whole draw as always.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.switch.block_runs import (
    STRIDE,
    Area,
    BlockRuns,
    block_areas,
    covered_by,
    primitive_of,
    region_shapes,
    sample_points,
    surfaces_of,
)
from pocketgpu.inspect.switch.lane_trace import Instruction, LaneTracer
from pocketgpu.inspect.switch.recorder import Box
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.records import BLOCK_HEIGHT, BLOCK_WIDTH, FRAGMENTS, LANE_X, LANE_Y, SHAPE
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, VECTOR

Samples = list[bytes]
"""The bytes of the samples of a pixel, in order."""
NOWHERE: Box = (1 << 30, 1 << 30, -1, -1)
"""A rectangle without pixels."""
MOST = 64
"""Most fragments of a draw that are evaluated; further ones are only counted."""


@dataclass
class ProbedFragment:
    """The values of one fragment. probes: intermediate values of the pixel's lane by name, in the order in which they
    were computed; ballots are 0 or 1.

    samples, passed: numbers of the samples that the shape covers, and of those that pass all tests.
    before, after: bytes of the samples of each target, by its name. x, y: the pixel. proved: whether NumPy's bytes of
    the whole block are those of the machine's code.
    """

    primitive: int
    kind: int
    front: bool
    layer: int
    viewport: int
    plan: Plan
    probes: dict[str, list[Any]] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    steps: int = 0
    samples: list[int] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    killed: bool = False
    outputs: list[int] = field(default_factory=list)
    before: dict[str, Samples] = field(default_factory=dict)
    after: dict[str, Samples] = field(default_factory=dict)
    proved: bool = False
    x: int = 0
    y: int = 0


class FragmentWatch(Observer):
    """Watches one draw for its fragments on pixel x, y of the first layer of its targets.

    grid: samples of a pixel across and down. Afterwards `seen` has the fragments in order, `total` their number,
    `shapes` how many shapes the draw had, `box` the smallest rectangle of pixels that has all of them.
    """

    wants_shapes = True

    def __init__(self, watch: Watch, x: int, y: int, grid: tuple[int, int]) -> None:
        self._watch, self._x, self._y, self._grid = watch, x, y, grid
        self._machine = watch.machine
        self.lane = next(
            n for n in range(32) if (LANE_X[n], LANE_Y[n]) == (x % BLOCK_WIDTH, y % BLOCK_HEIGHT)
        )  # fmt: skip
        self.seen: list[ProbedFragment] = []
        self.total = self.shapes = 0
        self.box: Box = NOWHERE
        self._runs = BlockRuns(watch)

    # -- notifications of the draw ------------------------------------------------------------------------------------
    def shapes_ready(self, plan: Plan) -> None:
        """The region has the shapes of a plan."""
        start, count = region_shapes(self._watch)
        self.shapes += count
        if count <= 0:
            return
        found = self._covering(plan, self._watch.bytes(start, count * STRIDE).reshape(count, STRIDE))
        self.total += len(found)
        found = found[: max(MOST - len(self.seen), 0)]
        if not len(found):
            return
        areas = block_areas(plan, self._grid, self._x, self._y)
        kept = [self._watch.bytes(*area).copy() for area in areas]
        for number in found.tolist():
            self.seen.append(self._fragment(plan, start + number * STRIDE, areas))
        for area, data in zip(areas, kept, strict=True):
            self._watch.bytes(*area)[:] = data

    def _covering(self, plan: Plan, shapes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Numbers of the shapes that cover the pixel, or one of its samples."""
        words, wide = shapes.view(np.int32), shapes.view(np.int64)

        def of(name: str, n: int = 0) -> NDArray[np.int64]:
            return words[:, SHAPE.offsets[name] // 4 + n].astype(np.int64)

        x, y = self._x, self._y
        left, top, right, bottom = (of(name) for name in ("LEFT", "TOP", "RIGHT", "BOTTOM"))
        self.box = _around(self.box, (int(left.min()), int(top.min()), int(right.max()), int(bottom.max())))
        inside = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
        inside &= of("LAYER") == 0
        numbers: NDArray[np.int64] = np.flatnonzero(inside)
        if not len(numbers):
            return numbers
        record, halves = words[numbers].astype(np.int64).T, wide[numbers].T
        covered = np.zeros(len(numbers), bool)
        for dx, dy in sample_points(plan):
            covered |= covered_by(record, halves, (x << 8) + dx, (y << 8) + dy)
        return numbers[covered]

    def _bytes_of(self, plan: Plan, layer: int) -> dict[str, Samples]:
        """Bytes of the pixel's samples in all targets."""
        found = {}
        for (surface, base), window in zip(surfaces_of(plan, self._grid, layer), plan.windows, strict=True):
            places = [base + place - surface.address for place in surface.places(self._x, self._y)]
            size = surface.format.bytes
            inside = surface.inside(self._x, self._y) and max(places) + size <= window.offset + window.size
            found[surface.name] = [self._watch.bytes(at, size).tobytes() for at in places] if inside else []
        return found

    # -- one fragment -------------------------------------------------------------------------------------------------
    def _fragment(self, plan: Plan, shape: int, areas: list[Area]) -> ProbedFragment:
        watch = self._watch
        record = watch.words(shape, SHAPE.size // 4)

        def get(name: str) -> int:
            return int(record[SHAPE.offsets[name] // 4])

        seen = ProbedFragment(
            primitive_of(watch, get("PLANES")), get("KIND"), bool(get("FRONT")), get("LAYER"), get("VIEWPORT"), plan,
            x=self._x, y=self._y,
        )  # fmt: skip
        self._runs.cut(shape, self._x, self._y)
        seen.before = self._bytes_of(plan, seen.layer)
        tracer = self._tracer(plan)
        note = partial(self._note, seen, tracer)
        seen.proved = self._runs.both(plan, areas, note, lambda: self._take(seen, plan, tracer), tracer)
        seen.after = self._bytes_of(plan, seen.layer)
        return seen

    def _tracer(self, plan: Plan) -> LaneTracer | None:
        """The observer of the lane's program; None without a program."""
        program = plan.programs.get(PIXEL)
        if program is None:
            return None
        constants = int(self._machine.drawing.programs.stages[PIXEL].words[LAUNCH.CONSTANTS // 4])
        return LaneTracer(self._machine.memory.arena, program.code.data, constants, self.lane)

    def _note(self, seen: ProbedFragment, tracer: LaneTracer | None, name: str, value: Any) -> None:
        """Keep an intermediate value of the lane."""
        if name.startswith("texture."):
            if tracer is not None:
                tracer.note(name, value)
            return
        if name in BALLOTS:
            kept: Any = int(value) >> self.lane & 1
        else:
            array = np.asarray(value)
            kept = (array if array.ndim == 0 else array[self.lane]).item()
        seen.probes.setdefault(name, []).append(kept)

    def _take(self, seen: ProbedFragment, plan: Plan, tracer: LaneTracer | None) -> None:
        """Read what NumPy's run of the block left."""
        watch, lane = self._watch, self.lane
        program = plan.programs.get(PIXEL)
        if tracer is not None:
            tracer.close()
            seen.instructions, seen.steps = tracer.instructions, tracer.total
        words = watch.words(self._machine.drawing.fragments, FRAGMENTS.size // 4)
        if program is not None and seen.steps:  # or these are of an earlier block
            seen.killed = bool(int(words[FRAGMENTS.KILLED // 4]) >> lane & 1)
            outputs = int(words[FRAGMENTS.OUTPUTS // 4])
            used = range(max([*program.header.output_registers, 3]) + 1)
            seen.outputs = [int(watch.words(outputs + VECTOR * n, 32)[lane]) & 0xFFFFFFFF for n in used]
        count = int(words[FRAGMENTS.SAMPLES // 4])
        cover = words[FRAGMENTS.COVER // 4 : FRAGMENTS.COVER // 4 + count]
        seen.passed = [n for n in range(count) if int(cover[n]) >> lane & 1]
        shape = watch.bytes(watch.shape, STRIDE)
        record, wide = shape.view(np.int32).astype(np.int64), shape.view(np.int64)
        x, y = self._x << 8, self._y << 8
        points = enumerate(sample_points(plan))
        seen.samples = [n for n, (dx, dy) in points if covered_by(record, wide, x + dx, y + dy)]


def _around(one: Box, other: Box) -> Box:
    """The smallest rectangle with two others."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


BALLOTS = {
    "raster.allowed", "raster.covered", "depth.cover", "depth.left", "discard.killed", "discard.kept", "write.cover",
}  # fmt: skip
"""Intermediate values with a bit for each lane."""
