"""Faults of a draw that its registers, inputs and programs show: (id of the rule, text) each.

What registers alone decide is computed once for equal registers (`ReadCache`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.facts.maxwell import B197
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.rules.switch.input_faults import Fault, input_faults
from pocketgpu.inspect.switch.primitives.causes import (
    empty_scissor,
    masked_colours,
    named,
    target_size,
    tests_that_never_pass,
    unchanging,
)
from pocketgpu.inspect.switch.resources import textures
from pocketgpu.inspect.switch.surfaces import targets_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.read_cache import ReadCache
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.output.targets import Target
from pocketgpu.maxwell.graphics.programs.stage_program import StageProgram
from pocketgpu.wording import agreed

_MOST_STATES = 4096
_BOTH = B197.values("OGL_SET_CULL_FACE").FRONT_AND_BACK
_CORNERS = 4  # a sample mask has a word for each pixel of a quad


@dataclass(frozen=True)
class _Standing:
    """The machine as it is now, for textures."""

    machine: GM20B


class DrawFaults:
    """Looks at draws. It has no state but its cache."""

    def __init__(self) -> None:
        self._states: ReadCache[tuple[Fault, ...]] = ReadCache(_MOST_STATES)
        self._viewports: ReadCache[tuple[Fault, ...]] = ReadCache(_MOST_STATES)
        self._textures: set[Any] = set()
        self._constants: dict[int, dict[int, int]] = {}

    def of(self, draw: Draw, plan: Plan | None, viewports: tuple[int, ...] = (0,)) -> tuple[Fault, ...]:
        """All faults. plan: of the draw; None if it has none. viewports: those that its primitives are drawn to."""
        found = list(self._states.get(draw.state, lambda state: tuple(_of_state(state))))
        if plan is None or plan.rasters:
            for n in viewports:
                found += self._viewports.get(draw.state, partial(_of_viewport, n=n), n)
        if plan is not None:
            found += _of_plan(draw.state, plan)
            found += input_faults(draw, plan)
        return tuple(found)

    def small_constants(self, draw: Draw, plan: Plan, names: tuple[str, ...]) -> Iterator[Fault]:
        """Constant buffers that end before a word that a program names."""
        groups = {shader.stage: shader.group for shader in draw.shaders}
        for stage, program in plan.programs.items():
            bindings = draw.constants[groups.get(stage, 0)]
            for slot, size in self._named(program).items():
                bound = bindings[slot] if slot < len(bindings) else None
                if bound is not None and bound.size < size:
                    yield "switch.constants-small", (
                        f"the {names[stage]} program reads c[{slot:#x}][{size - 4:#x}], and the buffer of that slot "
                        f"has {bound.size:#x} bytes"
                    )

    def bad_textures(self, machine: GM20B, draw: Draw) -> Iterator[Fault]:
        """Textures that a program names and that cannot be read; once for equal programs, pools and buffers."""
        state = draw.state
        last, pool = state.field("SET_TEX_HEADER_POOL_C", "MAXIMUM_INDEX"), state.address("SET_TEX_HEADER_POOL_A")
        key = tuple(shader.address for shader in draw.shaders), pool, last, draw.constants
        if key in self._textures or len(self._textures) >= _MOST_STATES:
            return
        self._textures.add(key)
        for one in textures(_Standing(machine), draw):
            name = f"the {one.stage} program names texture {one.number} at c[{one.bank:#x}][{one.at:#x}]"
            if one.number > last:
                yield "switch.texture-invalid", f"{name}, and the pool ends at {last} (SET_TEX_HEADER_POOL_C)"
            elif one.header is None:
                yield "switch.texture-invalid", f"{name}: {one.fault}"
            elif machine.memory.offset_of(one.header.address, 1) is None:
                yield "switch.texture-invalid", f"{name}, and nothing is mapped at its texels, {one.header.address:#x}"

    def _named(self, program: StageProgram) -> dict[int, int]:
        """The end of the last word that instructions name, by slot; reads at computed places are left out."""
        found = self._constants.get(id(program))
        if found is None:
            found = {}
            for step in program.steps:
                for source in step.sources:
                    if source.kind == "const":
                        found[source.n] = max(found.get(source.n, 0), (source.offset & ~3) + 4)
            self._constants[id(program)] = found
        return found


def _of_state(state: State) -> Iterator[Fault]:
    """Faults that registers alone show."""
    try:
        targets = targets_of(state)
    except UsageError:
        return  # the machine reports it
    if not state.field("SET_RASTER_ENABLE"):
        if not state.field("SET_STREAM_OUTPUT", "ENABLE"):
            text = "raster is off, and so is transform feedback (SET_RASTER_ENABLE, SET_STREAM_OUTPUT)"
            yield "switch.raster-off", text
        return
    if state.field("OGL_SET_CULL", "ENABLE") and state.field("OGL_SET_CULL_FACE") == _BOTH:
        yield "switch.cull-both", f"both sides of polygons are culled ({named(state, 'OGL_SET_CULL_FACE')})"
    if not targets:
        yield "switch.no-target", "the draw has neither a colour nor a depth target (SET_CT_SELECT, SET_ZT_SELECT)"
    depth = state.field("SET_DEPTH_TEST", "ENABLE") and state.field("SET_DEPTH_WRITE", "ENABLE")
    writes = bool(depth or state.field("SET_STENCIL_TEST", "ENABLE")) and any(t.slot is None for t in targets)
    masked = masked_colours(state)
    if masked and not writes and targets:
        yield "switch.writes-nothing", f"all channels are masked, and depth and stencil are not written ({masked})"
    masks = [state.field("SET_SAMPLE_MASK_X0_Y0"), *(state.field(f"SET_SAMPLE_MASK_{n}") for n in _OTHER_CORNERS)]
    if state.field("SET_SAMPLE_MASK", "RASTER_OUT_ENABLE") and not any(masks):
        yield "switch.sample-mask", "the sample mask keeps no sample (SET_SAMPLE_MASK_X0_Y0 and the three after it)"
    yield from _overlaps(targets)


_OTHER_CORNERS = ("X1_Y0", "X0_Y1", "X1_Y1")
assert len(_OTHER_CORNERS) + 1 == _CORNERS


def _of_viewport(state: State, n: int) -> tuple[Fault, ...]:
    """Faults of viewport `n` and of its scissor."""
    return tuple(_viewport(state, n))


def _viewport(state: State, n: int) -> Iterator[Fault]:
    """A scissor that keeps nothing; a viewport without numbers or area, or beside the target."""
    try:
        targets = targets_of(state)
    except UsageError:
        return  # the machine reports it
    if not state.field("SET_RASTER_ENABLE"):
        return
    scissor = empty_scissor(state, targets, n)
    if scissor is not None:
        text, register = scissor
        yield "switch.scissor-empty", f"primitives {agreed(text, 2)} ({register})"
    size = target_size(state, targets)
    if not state.field("SET_VIEWPORT_SCALE_OFFSET", "ENABLE"):
        return
    names = [f"SET_VIEWPORT_{part}_{axis}" for part in ("SCALE", "OFFSET") for axis in "XYZ"]
    values = {name: state.float(name, n) for name in names}
    wrong = [f"{name}({n}) is {value}" for name, value in values.items() if not math.isfinite(value)]
    if wrong:
        yield "switch.viewport-number", f"the viewport is no place: {', '.join(wrong)}"
        return
    for place, axis in enumerate("XY"):
        scale, offset = abs(values[f"SET_VIEWPORT_SCALE_{axis}"]), values[f"SET_VIEWPORT_OFFSET_{axis}"]
        if not scale:
            yield "switch.viewport-empty", f"the viewport has no area (SET_VIEWPORT_SCALE_{axis}({n}) is 0)"
        elif size is not None and (offset + scale <= 0 or offset - scale >= size[place]):
            yield "switch.viewport-outside", (
                f"the viewport goes from {offset - scale:g} to {offset + scale:g} along {axis.lower()}, beside the "
                f"target of {sized(*size)} (SET_VIEWPORT_SCALE_{axis}({n}), SET_VIEWPORT_OFFSET_{axis}({n}))"
            )


def _overlaps(targets: list[Target]) -> Iterator[Fault]:
    ranges = [(target.name, Range(target.address, target.size)) for target in targets]
    for n, (name, one) in enumerate(ranges):
        for other_name, other in ranges[n + 1 :]:
            if one.overlaps(other):
                yield "switch.target-overlap", f"the {name} at {one} and the {other_name} at {other} overlap"


def _of_plan(state: State, plan: Plan) -> Iterator[Fault]:
    """Faults that show once the program's outputs are known."""
    for loss in tests_that_never_pass(plan, state, 0):
        yield "switch.never-passes", f"samples {loss.reason} ({loss.register})"
    for target in plan.output.colours:
        registers = unchanging(state, plan, target.name)
        if registers:
            yield "switch.blend-nothing", f"blending leaves the {target.name} as it is ({registers})"


__all__ = ["DrawFaults", "Fault"]
