"""The funnel of a draw of the Switch: how much passed each stage, and which register stopped the rest.

Primitives and pixels are counted from the vertices and shapes of the draw (`primitive_count.py`, `cover_count.py`).
Samples that pass and bytes that change are counted in what the machine itself computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.distinct import distinct
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.inspect.switch.block_runs import STRIDE, BlockRuns, primitive_of, region_shapes
from pocketgpu.inspect.switch.cover_count import CoverCount
from pocketgpu.inspect.switch.explain import Explainer
from pocketgpu.inspect.switch.fragments import FragmentWatch
from pocketgpu.inspect.switch.primitives.causes import (
    culling_registers,
    empty_scissor,
    masked_colours,
    tests_that_never_pass,
    unchanging,
)
from pocketgpu.inspect.switch.primitives.primitive_count import NO_PLACE, PrimitiveCount
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.output.keys import NO_TEST
from pocketgpu.maxwell.graphics.records import RASTER, REGION
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.wording import counted, there_are

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

COVERED = "that shapes cover"
"""Part of the name of the stage that counts covered pixels."""
NOTHING = "nothing: "
"""How the cause begins if a draw changed no byte."""
REJECTED = "rejected: "
"""How the fate of a fragment begins that no target got."""
_SPLIT = ("QUADS", "QUAD_STRIP", "POLYGON")
"""Topologies whose primitives are split into triangles."""


class _StageCounter(Observer):
    """Watches a draw and counts; with a `primitive`, only that one.

    It draws the shapes itself, by the machine's own code, and leaves nothing of them to the machine: so what the
    shapes of one primitive change is known, after those before it and without those after it.
    """

    wants_shapes = True

    def __init__(self, watch: Watch, draw: Draw, primitive: int | None, every: bool) -> None:
        self._watch, self._drawing = watch, watch.machine.drawing
        self._runs, self._primitive = BlockRuns(watch), primitive
        self.primitives = PrimitiveCount(watch.machine.memory, draw.state, primitive)
        self.cover = CoverCount(draw.state, every)
        self.owners = 0
        """Primitives that have a shape."""
        self.shapes = self.passed = 0
        self.changed: dict[str, int] = {}
        """Samples of each target that changed, by its name."""
        self.plan: Plan | None = None
        self._going = False
        self._before: list[NDArray[np.uint8]] = []
        self._masks: list[NDArray[np.bool_]] = []

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        self.plan = plan
        region = self._watch.words(self._drawing.region, REGION.size // 4)
        count = int(self._watch.words(plan.lists[1], 1)[0])
        if not self._going:
            self.primitives.add(plan, count)
        self._going = int(region[REGION.NEXT // 4]) < count
        start, number = region_shapes(self._watch)
        shapes = self._watch.bytes(start, number * STRIDE).reshape(number, STRIDE)
        planes = shapes[:, :4].copy().view(np.int32)[:, 0]
        owners = np.array([primitive_of(self._watch, int(at)) for at in planes])
        mine = np.ones(number, bool) if self._primitive is None else owners == self._primitive
        self.shapes += int(mine.sum())
        # Each row of a list has planes of its own; the two triangles of a quad have one number.
        self.owners += len(distinct(planes[mine]))
        for shape in shapes[mine]:
            self.cover.add(plan, shape.view(np.int32).astype(np.int64), shape.view(np.int64))
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


class _CoverFinder(Observer):
    """Watches a draw until one of its shapes covers a pixel."""

    wants_shapes = True

    def __init__(self, watch: Watch, draw: Draw) -> None:
        self._watch, self.cover = watch, CoverCount(draw.state, every=False)

    def shapes_ready(self, plan: Plan) -> None:
        """The region has shapes."""
        start, number = region_shapes(self._watch)
        for shape in self._watch.bytes(start, number * STRIDE).reshape(number, STRIDE):
            if self.cover.covered:
                return
            self.cover.add(plan, shape.view(np.int32).astype(np.int64), shape.view(np.int64))


def covers_something(inspection: SwitchInspection, watch: Watch, address: Address) -> bool:
    """Whether a shape of a draw covers a pixel, as its funnel counts them; it ends at the first such shape.

    :raises UsageError: the address names no draw.
    """
    tick, draw = _draw_at(inspection, address)
    known = inspection.recorder.covering
    if tick not in known:
        player = inspection.player
        player.go(player.at(tick - 1))
        finder = _CoverFinder(watch, draw)
        player.play_to(player.at(tick), finder)
        known[tick] = finder.cover.covered > 0
    return known[tick]


def _draw_at(inspection: SwitchInspection, address: Address) -> tuple[int, Draw]:
    """The tick after a draw, and its record.

    :raises UsageError: the address names no draw.
    """
    tick = inspection.tick_of(address.place)
    draw = inspection.recorder.traces[tick - 1].what
    if not isinstance(draw, Draw):
        raise UsageError("this event is no draw", location=str(address))
    return tick, draw


def draw_why(inspection: SwitchInspection, watch: Watch, address: Address, every: bool = False) -> Funnel:
    """The funnel of a draw, or of one of its primitives. every: count covered pixels however many are looked at.

    :raises UsageError: the address names no draw, or no primitive of it.
    """
    tick, draw = _draw_at(inspection, address)
    trace = inspection.recorder.traces[tick - 1]
    player, drawing = inspection.player, watch.machine.drawing
    player.go(player.at(tick - 1))
    drawing.forget_passed()  # otherwise repeated draws add to the count
    counter = _StageCounter(watch, draw, address.primitive, every)
    player.play_to(player.at(tick), counter)
    count = counter.primitives
    if address.primitive is not None and not count.primitives:
        number = count.end - count.first if count.first >= 0 else 0
        raise UsageError(
            f"the draw has no primitive {address.primitive} that reaches raster", location=str(address),
            hint=there_are(number, "primitive", f"{trace.event.address}/t{max(count.first, 0)}"),
        )  # fmt: skip
    found = Funnel(address, trace.event, proved=counter.cover.complete)
    place = counter.cover.place
    explained = None
    if place is not None and not sum(counter.changed.values()) and trace.surfaces:
        explained = _example(inspection, watch, tick, trace.surfaces[0][0], place, address.primitive)
    if explained is not None and place is not None:
        found.example = f"for example at {place[0]},{place[1]}, primitive {explained.primitive}: {explained.fate}"
        found.proved = found.proved and explained.proved
    _fill(found, draw, counter)
    found.because = _reason(found, counter, draw.state, explained)
    return found


class _Filler:
    """Adds stages to a funnel, one after the other."""

    def __init__(self, found: Funnel) -> None:
        self.found = found

    def add(self, name: str, left: int, *lost: Loss, of_others: bool = False, came: int | None = None) -> None:
        """A stage that `left` passed. of_others: whether it counts other things than the stage before. came: how many
        entered, if it is not as many as passed the stage before."""
        stages = self.found.stages
        if came is None:
            came = stages[-1].passed if stages else left
        source = stages[-1].name if of_others and stages else ""
        stages.append(Stage(name, came, left, [loss for loss in lost if loss.count], source=source))


def _fill(found: Funnel, draw: Draw, counter: _StageCounter) -> None:
    plan, state, count = counter.plan, draw.state, counter.primitives
    filler = _Filler(found)
    add = filler.add
    if found.address.primitive is None:
        add("indices" if draw.indexed else "vertices", draw.count)
        add("vertices shaded", count.vertices, of_others=True)
    noun = "primitives"
    if (plan is None or plan.chain is None) and draw.topology_name in _SPLIT:
        add("primitives", count.wholes, of_others=True)
        noun = "triangles"
    add(noun, count.primitives, of_others=True)
    if plan is not None and plan.masks:
        noun = f"{noun}, one for each viewport,"
        add(noun, count.copies, of_others=True)
    broken = Loss(count.broken, f"{{has|have}} {NO_PLACE} in {{its|their}} positions")
    add(f"{noun} in the clip volume", count.copies - count.broken - count.outside, broken, *count.losses())
    culled = Loss(count.culled, "{shows|show} the side that is culled", culling_registers(state))
    add(f"{noun} that show", count.facing, culled, Loss(count.flat, f"{{has|have}} no area{count.flat_at}"))
    _add_shapes(filler, counter, state)
    if plan is not None and plan.output.tests:
        never = tests_that_never_pass(plan, state, counter.cover.kept)
        later = plan.output.write_key.discard_in_write
        add("samples that pass depth and stencil" if later else "samples that pass all tests", counter.passed, *never)
    reached = found.stages[-1].passed
    for name, number in counter.changed.items():
        same = Loss(max(reached - number, 0), _same(plan, number, found), unchanging(state, plan, name))
        found.stages.append(Stage(f"samples of {name} that changed", reached, number, _lost(same)))


def _lost(*losses: Loss) -> list[Loss]:
    return [loss for loss in losses if loss.count]


def _add_shapes(filler: _Filler, counter: _StageCounter, state: State) -> None:
    """The stages from primitives to the pixels that masks leave."""
    count, cover, plan = counter.primitives, counter.cover, counter.plan
    known = [Loss(number, *why) for why, number in count.beside.items()]
    gone = max(count.facing - counter.owners - sum(count.beside.values()), 0)
    filler.add("shapes", counter.shapes, *known, Loss(gone, *_beside(state, plan, count.viewports)), of_others=True)
    unit = "samples" if plan is not None and plan.multi else "pixels"
    name = f"{unit} {COVERED}" + ("" if cover.complete else ", at least")
    cut = [Loss(number, "{lies|lie} outside of the scissor", registers) for registers, number in cover.cut.items()]
    filler.add(name, cover.covered, *cut, came=cover.covered + sum(cover.cut.values()))
    if any(cover.masked.values()):
        masked = (Loss(number, *why) for why, number in cover.masked.items())
        filler.add(f"{unit} that masks leave", cover.kept, *masked)


def _same(plan: Plan | None, number: int, found: Funnel) -> str:
    """Why samples that reached a target may have changed nothing."""
    again = "" if found.address.primitive is not None or not number else ", or the draw writes there again"
    if plan is None:
        return f"{{leaves|leave}} the bytes that were there{again}"
    key = plan.output.write_key
    later = bool(key.discard_in_write)
    beyond = bool(plan.words[RASTER.DEPTH_KILL // 4]) and not plan.output.tests
    before = [
        text
        for text, on in (
            ("{fails|fail} the alpha test", later and key.alpha_function != NO_TEST),
            ("{is|are} killed by the program", later and key.kills),
            ("{is|are} left out by a sample mask", (later and (key.masks or key.to_coverage)) or key.left_out),
            ("{lies|lie} beyond the viewport's depths", beyond),
        )
        if on
    ]
    return f"{', '.join([*before, ''])}{'or ' if before else ''}{{leaves|leave}} the bytes that were there{again}"


def _beside(state: State, plan: Plan | None, viewports: set[int]) -> tuple[str, str]:
    """Why primitives that show have no shape, and the registers that cause it."""
    for n in sorted(viewports):
        empty = empty_scissor(state, plan.targets if plan is not None else [], n)
        if empty is not None and len(viewports) == 1:
            return empty
    reason = "{lies|lie} outside of what the scissor, the viewport and the surface clip leave, or between pixels"
    registers = [
        f"SET_SCISSOR_HORIZONTAL({n}), SET_SCISSOR_VERTICAL({n})"
        for n in sorted(viewports)
        if state.field("SET_SCISSOR_ENABLE", "V", n)
    ]
    if plan is not None and plan.words[RASTER.USER_PLANES // 4]:
        reason = f"{reason}, or outside user clip planes"
        registers.append("SET_USER_CLIP_ENABLE")
    return reason, ", ".join(registers)


def _reason(found: Funnel, counter: _StageCounter, state: State, example: Fragment | None) -> str:
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
    rejected = example.fate.removeprefix(REJECTED) if example is not None and not example.written else ""
    lost: list[Loss] = []
    for stage in found.stages:
        lost = stage.lost or lost
        if stage.stops_all and not stage.name.startswith("samples of"):
            told = ", ".join(map(str, lost)) if stage.lost else rejected or ", ".join(map(str, lost))
            return f"{NOTHING}no {stage.name}" + (f"; {told}" if told else "")
    if not counter.primitives.primitives:
        return f"{NOTHING}its vertices make no primitive"
    if all(not target.name.startswith("colour") for target in counter.plan.targets):
        masked = masked_colours(state)
        return f"{NOTHING}all channels are masked [{masked}]" if masked else f"{NOTHING}no colour has a target"
    if rejected:
        return f"{NOTHING}{rejected}"
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
