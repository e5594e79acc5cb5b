"""The funnel of a draw of the Switch: how much passed each stage, and which register stopped the rest.

Primitives are counted here, from the positions that the last program before raster wrote, by the clipper's rules.
Shapes, samples and bytes are counted in what the machine itself computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.inspect.model.wording import counted, there_are
from pocketgpu.inspect.switch.block_runs import (
    STRIDE,
    BlockRuns,
    covered_by,
    primitive_of,
    region_shapes,
    sample_points,
)
from pocketgpu.inspect.switch.causes import (
    culling_registers,
    empty_scissor,
    masked_colours,
    tests_that_never_pass,
    unchanging,
)
from pocketgpu.inspect.switch.explain import Explainer
from pocketgpu.inspect.switch.fragments import FragmentWatch
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXELS, USER_PLANES
from pocketgpu.maxwell.graphics.records import (
    MAP_WORDS,
    PRIMITIVE_ID,
    PRIMITIVES,
    RASTER,
    REGION,
    SHAPE,
    VERTICES,
    VIEWPORT,
)
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

POSITION = 0x70
"""Address of the position's x in attribute space."""
MOST_PIXELS = 1 << 24
"""Most pixels of bounding boxes that are tested to count covered pixels."""
COVERED = "that shapes cover"
"""Part of the name of the stage that counts covered pixels."""
NOTHING = "nothing: "
"""How the cause begins if a draw changed no byte."""
_PLANE_REGISTERS = {
    "nearer than the near plane": "SET_VIEWPORT_Z_CLIP", "beyond the far plane": "SET_VIEWPORT_CLIP_CONTROL",
}  # fmt: skip


class _StageCounter(Observer):
    """Watches a draw and counts; with a `primitive`, only that one.

    It draws the shapes itself, by the machine's own code, and leaves nothing of them to the machine: so what the
    shapes of one primitive change is known, after those before it and without those after it.
    """

    wants_shapes = True

    def __init__(self, watch: Watch, primitive: int | None, every: bool) -> None:
        self._every = every
        self._watch, self._drawing = watch, watch.machine.drawing
        self._runs, self._primitive = BlockRuns(watch), primitive
        self.vertices = self.primitives = self.broken = self.outside = self.culled = self.flat = 0
        self.planes: dict[str, int] = {}
        """Of the primitives outside of the clip volume: how many lie beyond each plane."""
        self.first, self.end = -1, 0
        """The primitives of the draw, by number."""
        self.owners = 0
        """Primitives that have a shape."""
        self.shapes = self.covered = self.passed = 0
        self.changed: dict[str, int] = {}
        """Samples of each target that changed, by its name."""
        self.complete = True
        """Whether all covered pixels were counted."""
        self.plan: Plan | None = None
        self.place: tuple[int, int] | None = None
        """A covered pixel."""
        self._going = False
        self._looked = 0
        self._before: list[NDArray[np.uint8]] = []
        self._masks: list[NDArray[np.bool_]] = []

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        self.plan = plan
        region = self._watch.words(self._drawing.region, REGION.size // 4)
        count = int(self._watch.words(plan.lists[1], 1)[0])
        if not self._going:
            self._list(plan, count)
        self._going = int(region[REGION.NEXT // 4]) < count
        start, number = region_shapes(self._watch)
        shapes = self._watch.bytes(start, number * STRIDE).reshape(number, STRIDE)
        owners = np.array([primitive_of(self._watch, int(at)) for at in shapes[:, :4].copy().view(np.int32)[:, 0]])
        mine = np.ones(number, bool) if self._primitive is None else owners == self._primitive
        self.shapes += int(mine.sum())
        self.owners += len(np.unique(owners[mine]))
        points = sample_points(plan)
        for shape in shapes[mine]:
            self._cover(shape.view(np.int32).astype(np.int64), shape.view(np.int64), points)
        edges = np.flatnonzero(np.diff(mine, prepend=False, append=False)).tolist()
        at = 0
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            self._runs.draw(plan, start + at * STRIDE, start + first * STRIDE)
            self._draw_mine(plan, start + first * STRIDE, start + last * STRIDE)
            at = last
        self._runs.draw(plan, start + at * STRIDE, start + number * STRIDE)
        region[REGION.SHAPES_END // 4] = start  # all is drawn

    def _draw_mine(self, plan: Plan, start: int, end: int) -> None:
        """Draw shapes that are counted, and see which samples they change."""
        windows, passed = plan.windows, self._drawing.passed
        now = [self._watch.bytes(window.offset, window.size) for window in windows]
        if self._primitive is not None or not self._before:
            self._before = [data.copy() for data in now]
        self._runs.draw(plan, start, end)
        self.passed += self._drawing.passed - passed
        masks = []
        for data, old, target in zip(now, self._before, plan.targets, strict=True):
            size = target.format.bytes
            whole = len(data) // size * size
            masks.append((data[:whole] != old[:whole]).reshape(-1, size).any(axis=1))
        if self._primitive is not None and self._masks:
            masks = [one | other for one, other in zip(masks, self._masks, strict=True)]
        self._masks = masks
        self.changed = {t.name: int(mask.sum()) for t, mask in zip(plan.targets, masks, strict=True)}

    def _cover(self, words: NDArray[np.int64], wide: NDArray[np.int64], points: list[tuple[int, int]]) -> None:
        left, top, right, bottom = (int(words[SHAPE.offsets[n] // 4]) for n in ("LEFT", "TOP", "RIGHT", "BOTTOM"))
        self._looked += (right - left + 1) * (bottom - top + 1)
        if self._looked > MOST_PIXELS and not self._every:
            self.complete = False
            return
        x = np.arange(left, right + 1, dtype=np.int64) << 8
        y = (np.arange(top, bottom + 1, dtype=np.int64) << 8)[:, None]
        for dx, dy in points:
            inside = covered_by(words, wide, x + dx, y + dy)
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
        if not count:
            return
        ids = self._column(plan.lists[1], PRIMITIVE_ID, count) & 0xFFFFFFFF
        self.first = int(ids.min()) if self.first < 0 else min(self.first, int(ids.min()))
        self.end = max(self.end, int(ids.max()) + 1)
        mine = np.ones(count, bool) if self._primitive is None else ids == self._primitive
        self.primitives += int(mine.sum())
        if not mine.any() or kind > 2:
            return
        columns = np.stack([self._column(plan.lists[1], n, count) for n in range(kind + 1)], axis=1)
        user = [n for n in range(USER_PLANES) if words[RASTER.USER_PLANES // 4] >> n & 1]
        table = self._watch.words(int(vertices[VERTICES.MAP // 4]), MAP_WORDS)
        offsets = [int(table[POSITION // 4 + n]) for n in range(4)]
        offsets += [int(words[RASTER.DISTANCES // 4 + n]) for n in user]
        corners = self._outputs(vertices, offsets)[columns[mine]]
        finite = np.isfinite(corners[..., :4]).all(axis=(1, 2))
        self.broken += int((~finite).sum())
        corners = corners[finite]
        x, y, z, w = (corners[..., n] for n in range(4))
        planes = {
            "behind the eye": w <= 0, "left of the view": x < -w, "right of the view": x > w,
            "below the view": y < -w, "above the view": y > w,
        }  # fmt: skip
        if words[RASTER.CLIP_Z // 4]:
            planes["nearer than the near plane"] = z < (0 if words[RASTER.NEAR_ZERO // 4] else -w)
            planes["beyond the far plane"] = z > w
        for place, n in enumerate(user, 4):
            planes[f"outside of user clip plane {n}"] = ~(corners[..., place] >= 0)
        away = np.zeros(len(corners), bool)
        for name, beyond in planes.items():
            fresh = beyond.all(axis=1) & ~away
            if fresh.any():
                self.planes[name] = self.planes.get(name, 0) + int(fresh.sum())
            away |= fresh
        self.outside += int(away.sum())
        if kind == 2:
            self._faces(plan, corners[~away & (w > 0).all(axis=1)][..., :4])

    def _outputs(self, vertices: NDArray[np.int32], offsets: list[int]) -> NDArray[np.float64]:
        """Floats of all vertices of a list, by their offsets in a page: (n, len(offsets))."""
        pages, size, _, count = (int(n) for n in vertices[:4])
        number = -(-count // 32)
        raw = self._watch.bytes(pages, number * size).reshape(number, size)
        columns = [
            raw[:, at:][:, :128].copy().view(np.float32).reshape(-1)[:count] for at in offsets
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float64)

    def _column(self, record: int, column: int, count: int) -> NDArray[np.int64]:
        words = self._watch.words(record, PRIMITIVES.size // 4)
        start, stride = (int(words[PRIMITIVES.offsets[name] // 4]) for name in ("COLUMNS", "STRIDE"))
        return self._watch.words(start + column * stride, count).astype(np.int64)

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


def draw_why(inspection: SwitchInspection, watch: Watch, address: Address, every: bool = False) -> Funnel:
    """The funnel of a draw, or of one of its primitives. every: count covered pixels however many are looked at.

    :raises UsageError: the address names no draw, or no primitive of it.
    """
    tick = inspection.tick_of(address.place)
    trace = inspection.recorder.traces[tick - 1]
    draw = trace.what
    if not isinstance(draw, Draw):
        raise UsageError("this event is no draw", location=str(address))
    player, drawing = inspection.player, watch.machine.drawing
    player.go(player.at(tick - 1))
    drawing.forget_passed()  # otherwise repeated draws add to the count
    counter = _StageCounter(watch, address.primitive, every)
    player.play_to(player.at(tick), counter)
    if address.primitive is not None and not counter.primitives:
        number = counter.end - counter.first if counter.first >= 0 else 0
        raise UsageError(
            f"the draw has no primitive {address.primitive} that reaches raster", location=str(address),
            hint=there_are(number, "primitive", f"{trace.event.address}/t{max(counter.first, 0)}"),
        )  # fmt: skip
    found = Funnel(address, trace.event, proved=counter.complete)
    _fill(found, draw, counter)
    if counter.place is not None and not sum(counter.changed.values()) and trace.surfaces:
        explained = _example(inspection, watch, tick, trace.surfaces[0][0], counter.place, address.primitive)
        if explained is not None:
            x, y = counter.place
            found.example = f"for example at {x},{y}, primitive {explained.primitive}: {explained.fate}"
            found.proved = found.proved and explained.proved
    return found


def _fill(found: Funnel, draw: Draw, counter: _StageCounter) -> None:
    plan, state = counter.plan, draw.state

    def add(name: str, left: int, *lost: Loss) -> None:
        came = found.stages[-1].passed if found.stages else left
        found.stages.append(Stage(name, came, left, [loss for loss in lost if loss.count]))

    if found.address.primitive is None:
        add("indices" if draw.indexed else "vertices", draw.count)
        add("vertices shaded", counter.vertices)
    add("primitives", counter.primitives, Loss(counter.broken, "{has|have} NaN or infinity in {its|their} positions"))
    inside = counter.primitives - counter.broken - counter.outside
    user = "SET_USER_CLIP_ENABLE"
    away = (
        Loss(count, f"{{lies|lie}} {name}", user if "user" in name else _PLANE_REGISTERS.get(name, ""))
        for name, count in counter.planes.items()
    )
    add("primitives in the clip volume", inside, *away)
    facing = inside - counter.culled - counter.flat
    culled = Loss(counter.culled, "{shows|show} the side that is culled", culling_registers(state))
    add("primitives that show", facing, culled, Loss(counter.flat, "{has|have} no area"))
    gone = max(facing - counter.owners, 0)
    add("shapes", counter.shapes, Loss(gone, *_beside(state, plan)))
    unit = "samples" if plan is not None and plan.multi else "pixels"
    add(f"{unit} {COVERED}" + ("" if counter.complete else ", at least"), counter.covered)
    if plan is not None and plan.output.tests:
        add("samples that pass all tests", counter.passed, *tests_that_never_pass(state, counter.covered))
    reached = found.stages[-1].passed
    for name, number in counter.changed.items():
        again = "" if found.address.primitive is not None or not number else ", or the draw writes there again"
        text = f"{{leaves|leave}} the bytes that were there{again}"
        same = Loss(max(reached - number, 0), text, unchanging(state, plan, name))
        found.stages.append(Stage(f"samples of {name} that changed", reached, number, [same] if same.count else []))
    found.because = _reason(found, counter, state)


def _beside(state: State, plan: Plan | None) -> tuple[str, str]:
    """Why primitives that show have no shape, and the registers that cause it."""
    empty = empty_scissor(state, plan.targets if plan is not None else [])
    if empty is not None:
        return empty
    reason, registers = "{lies|lie} outside the scissor, the viewport or the surface clip, or between pixels", ""
    if state.field("SET_SCISSOR_ENABLE"):
        registers = "SET_SCISSOR_HORIZONTAL(0)"
    if plan is not None and plan.words[RASTER.USER_PLANES // 4]:
        reason = f"{reason}, or outside user clip planes"
        registers = ", ".join(filter(None, (registers, "SET_USER_CLIP_ENABLE")))
    return reason, registers


def _reason(found: Funnel, counter: _StageCounter, state: State) -> str:
    parts = [f"{counted(number, 'sample')} of the {name}" for name, number in counter.changed.items() if number]
    if parts:
        text = f"{' and '.join(parts)} changed"
        if len(parts) == 1 and "depth target" in parts[0]:
            text += ", and no colour" + (f" [{masked}]" if (masked := masked_colours(state)) else "")
        return text
    if not state.field("SET_RASTER_ENABLE"):
        return f"{NOTHING}raster is off [SET_RASTER_ENABLE]"
    if counter.plan is None:
        return f"{NOTHING}no primitive reached raster"
    lost: list[Loss] = []
    for stage in found.stages:
        lost = stage.lost or lost
        if stage.stops_all and not stage.name.startswith("samples of"):
            return f"{NOTHING}no {stage.name}" + (f"; {', '.join(map(str, lost))}" if lost else "")
    if not counter.primitives:
        return f"{NOTHING}its vertices make no primitive"
    if all(not target.name.startswith("colour") for target in counter.plan.targets):
        masked = masked_colours(state)
        return f"{NOTHING}all channels are masked [{masked}]" if masked else f"{NOTHING}no colour has a target"
    for target in counter.plan.targets:
        why = unchanging(state, counter.plan, target.name)
        if why:
            return f"{NOTHING}blending leaves the {target.name} as it is ({why})"
    return f"{NOTHING}it writes the values that were already there"


def _example(
    inspection: SwitchInspection, watch: Watch, tick: int, surface: Surface, place: tuple[int, int],
    primitive: int | None,
) -> Fragment | None:  # fmt: skip
    """A fragment of a draw, or of one primitive, that changed nothing; None if there is none at the place."""
    fragments = FragmentWatch(watch, *place, surface.grid)
    inspection.player.go(inspection.player.at(tick - 1))
    inspection.player.play_to(inspection.player.at(tick), fragments)
    seen = [one for one in fragments.seen if primitive is None or one.primitive == primitive]
    return Explainer(watch, inspection.recorder, surface, tick - 1).fragment(seen[-1]) if seen else None
