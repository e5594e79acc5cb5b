"""The funnel of a draw of the Switch: how much passed each stage, and which register stopped the rest.

Primitives are counted here, from the positions that the last program before raster wrote, by the clipper's rules.
Shapes, samples and bytes are counted in what the machine itself computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.inspect.switch.explain import Explainer
from pocketgpu.inspect.switch.fragments import FragmentWatch
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXELS
from pocketgpu.maxwell.graphics.primitives.shapes import room
from pocketgpu.maxwell.graphics.records import MAP_WORDS, PRIMITIVES, RASTER, REGION, SHAPE, VERTICES, VIEWPORT
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

POSITION = 0x70
"""Address of the position's x in attribute space."""
MOST_PIXELS = 1 << 22
"""Most pixels of bounding boxes that are tested to count covered pixels."""


class _StageCounter(Observer):
    """Watches a draw and counts."""

    wants_shapes = True

    def __init__(self, watch: Watch) -> None:
        self._watch, self._drawing = watch, watch.machine.drawing
        self.vertices = self.primitives = self.broken = self.outside = self.culled = self.flat = 0
        self.shapes = self.covered = 0
        self.complete = True
        """Whether all covered pixels were counted."""
        self.plan: Plan | None = None
        self.place: tuple[int, int] | None = None
        """A covered pixel."""
        self._going = False

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        self.plan = plan
        region = self._watch.words(self._drawing.region, REGION.size // 4)
        count = int(self._watch.words(plan.lists[1], 1)[0])
        if not self._going:
            self._list(plan, count)
        self._going = int(region[REGION.NEXT // 4]) < count
        start, end = int(region[REGION.AT // 4]), int(region[REGION.SHAPES_END // 4])
        stride = room(SHAPE.size)
        number = max(end - start, 0) // stride
        self.shapes += number
        shapes = self._watch.bytes(start, number * stride).reshape(number, stride)
        for shape in shapes:
            self._cover(shape.view(np.int32).astype(np.int64), shape.view(np.int64))

    def _cover(self, words: NDArray[np.int64], wide: NDArray[np.int64]) -> None:
        left, top, right, bottom = (int(words[SHAPE.offsets[n] // 4]) for n in ("LEFT", "TOP", "RIGHT", "BOTTOM"))
        if not self.complete or (right - left + 1) * (bottom - top + 1) > MOST_PIXELS:
            self.complete = False
            return
        x = (np.arange(left, right + 1, dtype=np.int64) << 8) + SUBPIXELS // 2
        y = (np.arange(top, bottom + 1, dtype=np.int64) << 8)[:, None] + SUBPIXELS // 2
        inside = np.ones((bottom - top + 1, right - left + 1), bool)
        for n in range(4):
            a, b, c = words[SHAPE.A // 4 + n], words[SHAPE.B // 4 + n], wide[SHAPE.C // 8 + n]
            inside &= a * x + b * y + c >= 0
        found = int(inside.sum())
        self.covered += found
        if found and self.place is None:
            row, column = np.argwhere(inside)[found // 2]
            self.place = left + int(column), top + int(row)

    # -- primitives ---------------------------------------------------------------------------------------------------
    def _list(self, plan: Plan, count: int) -> None:
        """Count the primitives of a list, from the positions of their vertices."""
        vertices, words = self._watch.words(plan.lists[0], VERTICES.size // 4), plan.words
        kind = int(self._watch.words(plan.lists[1], 2)[PRIMITIVES.KIND // 4])
        self.vertices += int(vertices[VERTICES.COUNT // 4])
        self.primitives += count
        if not count or kind > 2:
            return
        corners = self._positions(vertices)[self._columns(plan.lists[1], count, kind + 1)]
        finite = np.isfinite(corners).all(axis=(1, 2))
        self.broken += int((~finite).sum())
        corners = corners[finite]
        x, y, z, w = (corners[..., n] for n in range(4))
        planes = [x < -w, x > w, y < -w, y > w]
        if words[RASTER.CLIP_Z // 4]:
            planes += [z < (0 if words[RASTER.NEAR_ZERO // 4] else -w), z > w]
        away = np.zeros(len(corners), bool)
        for beyond in planes:
            away |= beyond.all(axis=1)
        away |= (w <= 0).all(axis=1)
        self.outside += int(away.sum())
        if kind == 2:
            self._faces(plan, corners[~away & (w > 0).all(axis=1)])

    def _positions(self, vertices: NDArray[np.int32]) -> NDArray[np.float64]:
        """Clip positions of all vertices of a list: (n, 4)."""
        pages, size, at, count = (int(n) for n in vertices[:4])
        table = self._watch.words(at, MAP_WORDS)
        number = -(-count // 32)
        raw = self._watch.bytes(pages, number * size).reshape(number, size)
        columns = [
            raw[:, int(table[POSITION // 4 + n]) :][:, :128].copy().view(np.float32).reshape(-1)[:count]
            for n in range(4)
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float64)

    def _columns(self, record: int, count: int, corners: int) -> NDArray[np.int64]:
        words = self._watch.words(record, PRIMITIVES.size // 4)
        start, stride = (int(words[PRIMITIVES.offsets[name] // 4]) for name in ("COLUMNS", "STRIDE"))
        columns = [self._watch.words(start + n * stride, count) for n in range(corners)]
        return np.stack(columns, axis=1).astype(np.int64)

    def _faces(self, plan: Plan, corners: NDArray[np.float64]) -> None:
        """Count triangles that face the culled way, or have no area."""
        viewport = self._watch.words(plan.viewports, VIEWPORT.size // 4)
        scale, offset = (viewport.view(np.float32)[at // 4 : at // 4 + 2] for at in (VIEWPORT.SCALE, VIEWPORT.OFFSET))
        snapped = np.round((corners[..., :2] / corners[..., 3:] * scale + offset) * SUBPIXELS)
        a, b = snapped[:, 1] - snapped[:, 0], snapped[:, 2] - snapped[:, 0]
        twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        self.flat += int((twice == 0).sum())
        front = (twice < 0) == bool(plan.words[RASTER.FRONT_NEGATIVE // 4])
        cull = int(plan.words[RASTER.CULL // 4])
        self.culled += int(((twice != 0) & np.where(front, bool(cull & 1), bool(cull & 2))).sum())


def draw_why(inspection: SwitchInspection, watch: Watch, address: Address) -> Funnel:
    """The funnel of a draw.

    :raises UsageError: the address names no draw.
    """
    tick = inspection.tick_of(address.place)
    trace = inspection.recorder.traces[tick - 1]
    draw = trace.what
    if not isinstance(draw, Draw):
        raise UsageError("this event is no draw", location=str(address))
    player, drawing = inspection.player, watch.machine.drawing
    player.go(player.at(tick - 1))
    memory, engine = player.machine.memory, player.machine.engine
    before = [surface.rows(memory, engine) for surface, _ in trace.surfaces]
    drawing.forget_passed()  # otherwise repeated draws add to the count
    counter = _StageCounter(watch)
    player.play_to(player.at(tick), counter)
    left = drawing.passed
    changed = []
    for (surface, _), old in zip(trace.surfaces, before, strict=True):
        bytes_ = (surface.rows(memory, engine) != old).reshape(surface.height, surface.width, surface.format.bytes)
        changed.append(int(bytes_.any(axis=2).sum()))
    found = Funnel(address, trace.event, proved=counter.complete)
    _fill(found, draw, counter, left, [(one, n) for (one, _), n in zip(trace.surfaces, changed, strict=True)])
    if counter.place is not None and not sum(changed) and trace.surfaces:
        explained = _example(inspection, watch, tick, trace.surfaces[0][0], counter.place)
        if explained is not None:
            x, y = counter.place
            found.example = f"for example at {x},{y}, primitive {explained.primitive}: {explained.fate}"
            found.proved = found.proved and explained.proved
    return found


def _fill(found: Funnel, draw: Draw, counter: _StageCounter, passed: int, changed: list[tuple[Surface, int]]) -> None:
    plan, state = counter.plan, draw.state

    def add(name: str, left: int, *lost: Loss) -> None:
        came = found.stages[-1].passed if found.stages else left
        found.stages.append(Stage(name, came, left, [loss for loss in lost if loss.count]))

    add("indices" if draw.indexed else "vertices", draw.count)
    add("vertices shaded", counter.vertices)
    add("primitives", counter.primitives, Loss(counter.broken, "have NaN or infinity in their positions"))
    inside = counter.primitives - counter.broken - counter.outside
    add("primitives in the clip volume", inside, Loss(counter.outside, "lie outside a clip plane"))
    facing = inside - counter.culled - counter.flat
    culled = Loss(counter.culled, "show the side that is culled", "OGL_SET_CULL, OGL_SET_CULL_FACE")
    add("primitives that show", facing, culled, Loss(counter.flat, "have no area"))
    gone = max(facing - counter.shapes, 0)
    beside = "lie outside the scissor, the viewport or the surface clip, or between pixels"
    registers = "SET_SCISSOR_HORIZONTAL(0)"
    if plan is not None and plan.words[RASTER.USER_PLANES // 4]:
        beside, registers = f"{beside}, or outside user clip planes", f"{registers}, SET_USER_CLIP_ENABLE"
    add("shapes", counter.shapes, Loss(gone, beside, registers))
    add("pixels that shapes cover" + ("" if counter.complete else ", at least"), counter.covered)
    tested = plan is not None and plan.output.tests
    if tested:
        add("samples that pass all tests", passed)
    for surface, number in changed:
        add(f"samples of {surface.name} that changed", number)
    found.because = _reason(found, counter, passed if tested else None, sum(n for _, n in changed), state)


def _reason(found: Funnel, counter: _StageCounter, passed: int | None, changed: int, state: Any) -> str:
    if changed:
        return f"{changed} samples of its targets changed"
    if not state.field("SET_RASTER_ENABLE"):
        return "nothing: raster is off [SET_RASTER_ENABLE]"
    if counter.plan is None:
        return "nothing: no primitive reached raster"
    for before, stage in zip(found.stages[2:], found.stages[3:], strict=False):
        if before.passed and not stage.passed:
            return f"nothing: no {stage.name}" + (f"; {', '.join(map(str, stage.lost))}" if stage.lost else "")
    if not found.stages[2].passed:
        return "nothing: its vertices make no primitive"
    if passed == 0:
        return "nothing: no sample passes all tests"
    if not state.word("SET_CT_WRITE", 0):
        return "nothing: all channels are masked [SET_CT_WRITE(0)]"
    return "nothing: it writes the values that were already there"


def _example(
    inspection: SwitchInspection, watch: Watch, tick: int, surface: Surface, place: tuple[int, int]
) -> Fragment | None:
    """A fragment of a draw that changed nothing; None if there is none at the place."""
    fragments = FragmentWatch(watch, *place, surface.grid)
    inspection.player.go(inspection.player.at(tick - 1))
    inspection.player.play_to(inspection.player.at(tick), fragments)
    if not fragments.seen:
        return None
    return Explainer(watch, inspection.recorder, surface, tick - 1).fragment(fragments.seen[-1])
