"""The fragments of a draw on one pixel, with all intermediate values.

While a draw is replayed, this reads its shapes before their pixels are drawn. For each shape that covers the pixel,
NumPy evaluates the block of 8 x 4 pixels around it, and intermediate values are noted. Then memory is restored, and the
machine's own code draws the same block: both must leave the same bytes. At the end memory is restored again, and the
machine draws the whole draw as always.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.switch.lane_trace import Instruction, LaneTracer
from pocketgpu.inspect.switch.surfaces import Surface, surface_of
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.primitives.planes import plane_offset
from pocketgpu.maxwell.graphics.primitives.shapes import room
from pocketgpu.maxwell.graphics.raster.pixel_blocks import raster_shapes
from pocketgpu.maxwell.graphics.records import (
    BLOCK_HEIGHT,
    BLOCK_WIDTH,
    FRAGMENTS,
    LANE_X,
    LANE_Y,
    PLANE,
    RASTER,
    REGION,
    SHAPE,
)
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, VECTOR

Samples = list[bytes]
"""The bytes of the samples of a pixel, in order."""
MOST = 64
"""Most fragments of a draw that are evaluated; further ones are only counted."""


@dataclass
class ProbedFragment:
    """The values of one fragment. probes: intermediate values of the pixel's lane by name, in the order in which they
    were computed; ballots are 0 or 1.

    samples, passed: numbers of the samples that the shape covers, and of those that pass all tests.
    before, after: bytes of the samples of each target, by its name. proved: whether NumPy's bytes of the whole block
    are those of the machine's code.
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


class FragmentWatch(Observer):
    """Watches one draw for its fragments on pixel x, y of the first layer of its targets.

    grid: samples of a pixel across and down. Afterwards `seen` has the fragments in order, `total` their number,
    `shapes` how many shapes the draw had.
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
        self._prepared: Plan | None = None

    # -- notifications of the draw ------------------------------------------------------------------------------------
    def shapes_ready(self, plan: Plan) -> None:
        """The region has the shapes of a plan."""
        region = self._watch.words(self._machine.drawing.region, REGION.size // 4)
        start, end = int(region[REGION.AT // 4]), int(region[REGION.SHAPES_END // 4])
        stride = room(SHAPE.size)
        count = (end - start) // stride
        self.shapes += count
        if count <= 0:
            return
        found = self._covering(plan, self._watch.bytes(start, count * stride).reshape(count, stride))
        self.total += len(found)
        found = found[: max(MOST - len(self.seen), 0)]
        if not len(found):
            return
        if self._prepared is not plan:
            self._watch.prepare(plan)
            self._prepared = plan
        areas = self._areas(plan)
        kept = [self._watch.bytes(*area).copy() for area in areas]
        for number in found.tolist():
            self.seen.append(self._fragment(plan, start + number * stride, areas))
        for area, data in zip(areas, kept, strict=True):
            self._watch.bytes(*area)[:] = data

    def _covering(self, plan: Plan, shapes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Numbers of the shapes that cover the pixel, or one of its samples."""
        words, wide = shapes.view(np.int32), shapes.view(np.int64)

        def of(name: str, n: int = 0) -> NDArray[np.int64]:
            return words[:, SHAPE.offsets[name] // 4 + n].astype(np.int64)

        x, y = self._x, self._y
        inside = (of("LEFT") <= x) & (x <= of("RIGHT")) & (of("TOP") <= y) & (y <= of("BOTTOM"))
        inside &= of("LAYER") == 0
        numbers: NDArray[np.int64] = np.flatnonzero(inside)
        if not len(numbers):
            return numbers
        words, wide = words[numbers], wide[numbers]
        covered = np.zeros(len(numbers), bool)
        for dx, dy in self._points(plan):
            px, py = (x << 8) + dx, (y << 8) + dy
            within = np.ones(len(numbers), bool)
            for n in range(4):
                value: NDArray[np.int64] = of("A", n) * px + of("B", n) * py + wide[:, SHAPE.C // 8 + n]
                within &= value >= 0
            covered |= within
        return numbers[covered]

    def _points(self, plan: Plan) -> list[tuple[int, int]]:
        """The points of a pixel where its coverage is tested, in 1/256 pixel."""
        if not plan.multi:
            return [(128, 128)]
        words = plan.words
        count = int(words[RASTER.SAMPLES // 4])
        return [
            (16 * int(words[RASTER.SAMPLE_X // 4 + n]), 16 * int(words[RASTER.SAMPLE_Y // 4 + n])) for n in range(count)
        ]

    # -- memory that the block writes ---------------------------------------------------------------------------------
    def _surfaces(self, plan: Plan, layer: int = 0) -> list[tuple[Surface, int]]:
        """The targets, and the arena offset of each one's first byte."""
        return [
            (surface_of(target, self._grid, layer), window.offset + layer * dict(target.words)["LAYER_STRIDE"])
            for target, window in zip(plan.targets, plan.windows, strict=True)
        ]

    def _areas(self, plan: Plan) -> list[tuple[int, int]]:
        """(arena offset, size) of all bytes of the targets that the block can write."""
        x, y = self._x & -BLOCK_WIDTH, self._y & -BLOCK_HEIGHT
        across, down = self._grid
        found = []
        for (surface, base), window in zip(self._surfaces(plan), plan.windows, strict=True):
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

    def _bytes_of(self, plan: Plan, layer: int) -> dict[str, Samples]:
        """Bytes of the pixel's samples in all targets."""
        found = {}
        for (surface, base), window in zip(self._surfaces(plan, layer), plan.windows, strict=True):
            places = [base + place - surface.address for place in surface.places(self._x, self._y)]
            size = surface.format.bytes
            inside = surface.inside(self._x, self._y) and max(places) + size <= window.offset + window.size
            found[surface.name] = [self._watch.bytes(at, size).tobytes() for at in places] if inside else []
        return found

    # -- one fragment -------------------------------------------------------------------------------------------------
    def _fragment(self, plan: Plan, shape: int, areas: list[tuple[int, int]]) -> ProbedFragment:
        watch, machine, lane = self._watch, self._machine, self.lane
        drawing = machine.drawing
        record = watch.words(shape, SHAPE.size // 4)

        def get(name: str) -> int:
            return int(record[SHAPE.offsets[name] // 4])

        planes = get("PLANES") + plane_offset("PRIMITIVE_ID") + PLANE.C
        seen = ProbedFragment(
            int(watch.words(planes, 1)[0]), get("KIND"), bool(get("FRONT")), get("LAYER"), get("VIEWPORT"), plan,
        )  # fmt: skip
        self._one_shape(shape)
        slot = drawing.pixel_slots[0]
        program = plan.programs.get(PIXEL)
        size = program.layout().size if program is not None else 4096
        fragments = drawing.fragments
        kept = watch.bytes(slot, size).copy(), watch.bytes(fragments, FRAGMENTS.size).copy()
        before = [watch.bytes(*area).copy() for area in areas]
        seen.before = self._bytes_of(plan, seen.layer)
        self._listen(seen, plan, slot, fragments)
        words = watch.words(fragments, FRAGMENTS.size // 4)
        seen.killed = bool(int(words[FRAGMENTS.KILLED // 4]) >> lane & 1) and program is not None
        if program is not None:
            outputs = int(words[FRAGMENTS.OUTPUTS // 4])
            used = range(max([*program.header.output_registers, 3]) + 1)
            seen.outputs = [int(watch.words(outputs + VECTOR * n, 32)[lane]) & 0xFFFFFFFF for n in used]
        ours = [watch.bytes(*area).copy() for area in areas]
        # The same block by the machine's own code.
        for area, data in zip(areas, before, strict=True):
            watch.bytes(*area)[:] = data
        watch.bytes(slot, size)[:], watch.bytes(fragments, FRAGMENTS.size)[:] = kept
        run = machine.engine.get(raster_shapes, multi=plan.multi)
        run(plan.at, watch.region, slot, fragments, 0, 1)
        watch.bytes(slot, size)[:], watch.bytes(fragments, FRAGMENTS.size)[:] = kept
        theirs = [watch.bytes(*area) for area in areas]
        seen.proved = all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
        seen.after = self._bytes_of(plan, seen.layer)
        return seen

    def _one_shape(self, shape: int) -> None:
        """Make a region with a copy of one shape, cut to the block."""
        watch = self._watch
        size = room(SHAPE.size)
        copy = watch.words(watch.shape, size // 4)
        copy[:] = watch.words(shape, size // 4)
        x, y = self._x & -BLOCK_WIDTH, self._y & -BLOCK_HEIGHT
        limits = (
            ("LEFT", max, x), ("TOP", max, y),
            ("RIGHT", min, x + BLOCK_WIDTH - 1), ("BOTTOM", min, y + BLOCK_HEIGHT - 1),
        )  # fmt: skip
        for name, choose, limit in limits:
            at = SHAPE.offsets[name] // 4
            copy[at] = choose(int(copy[at]), limit)
        region = watch.words(watch.region, REGION.size // 4)
        region[REGION.AT // 4], region[REGION.SHAPES_END // 4] = watch.shape, watch.shape + size

    def _listen(self, seen: ProbedFragment, plan: Plan, slot: int, fragments: int) -> None:
        """Evaluate the block by NumPy, and note values."""
        watch, lane = self._watch, self.lane
        program = plan.programs.get(PIXEL)
        tracer: LaneTracer | None = None
        if program is not None:
            constants = int(watch.words(watch.launch, LAUNCH.size // 4)[LAUNCH.CONSTANTS // 4])
            tracer = LaneTracer(self._machine.memory.arena, program.code.data, constants, lane)

        def note(name: str, value: Any) -> None:
            if name.startswith("texture."):
                if tracer is not None:
                    tracer.note(name, value)
                return
            if name in _BALLOTS:
                kept: Any = int(value) >> lane & 1
            else:
                array = np.asarray(value)
                kept = (array if array.ndim == 0 else array[lane]).item()
            seen.probes.setdefault(name, []).append(kept)

        run = watch.engine.get(raster_shapes, multi=plan.multi)
        with watch.listening(note, tracer):
            run(watch.raster, watch.region, slot, fragments, 0, 1)
        if tracer is not None:
            tracer.close()
            seen.instructions, seen.steps = tracer.instructions, tracer.total
        words = watch.words(fragments, FRAGMENTS.size // 4)
        count = int(words[FRAGMENTS.SAMPLES // 4])
        cover = words[FRAGMENTS.COVER // 4 : FRAGMENTS.COVER // 4 + count]
        seen.passed = [n for n in range(count) if int(cover[n]) >> lane & 1]
        seen.samples = self._covered(plan)

    def _covered(self, plan: Plan) -> list[int]:
        """Samples that the shape covers, before any test."""
        shape = self._watch.bytes(self._watch.shape, room(SHAPE.size))
        words, wide = shape.view(np.int32).astype(np.int64), shape.view(np.int64)
        a, b = (words[at // 4 : at // 4 + 4] for at in (SHAPE.A, SHAPE.B))
        c = wide[SHAPE.C // 8 : SHAPE.C // 8 + 4]
        found = []
        for n, (dx, dy) in enumerate(self._points(plan)):
            if ((a * ((self._x << 8) + dx) + b * ((self._y << 8) + dy) + c) >= 0).all():
                found.append(n)
        return found


_BALLOTS = {
    "raster.allowed", "raster.covered", "depth.cover", "depth.left", "discard.killed", "discard.kept", "write.cover",
}  # fmt: skip
"""Intermediate values with a bit for each lane."""
