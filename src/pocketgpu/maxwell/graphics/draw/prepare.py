"""`Preparer` prepares a draw in Python: it finds programs and plan, and sets up all that the draw reads.

Four parts are cached by the registers that were read for them (`ReadCache`): the enabled programs, the plan, the layout
of its vertices, and the plan of the vertex side. The rest is done for each draw: programs are bound to their constants
and textures, and targets are looked up in memory. All of it reads one `RecordingState`, which has in the end everything
that the draw depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.common.read_cache import ReadCache
from pocketgpu.maxwell.engines.common.state import RecordingState, State
from pocketgpu.maxwell.engines.common.windows import Scratch
from pocketgpu.maxwell.engines.threed import topology
from pocketgpu.maxwell.engines.threed.draws import Draw, Shader, shaders_of
from pocketgpu.maxwell.graphics.draw.plans import (
    FIRST_VERTEX,
    MAX_PLANS,
    PIXEL,
    PLAN_ROOM,
    SECOND_VERTEX,
    Plan,
    make_plan,
)
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape, VertexInput, VertexPlan
from pocketgpu.maxwell.graphics.programs.programs import Programs, StageProgram
from pocketgpu.maxwell.graphics.raster.raster_state import RasterEncoder
from pocketgpu.maxwell.graphics.records import MAP_WORDS, PATCH_LIST, PRIMITIVES, RASTER
from pocketgpu.maxwell.sampling.store import Pools, Textures

if TYPE_CHECKING:
    from pocketgpu.maxwell.graphics.stages.late_stages import LateStages

AREA_SIZE = MAX_PLANS * PLAN_ROOM + 8 * MAP_WORDS
"""Bytes of the work area for plans and maps."""
_MOST_PIPELINES = 1024
_BINDINGS = B197.values("SET_SAMPLER_BINDING")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A draw that is set up. read: its registers, with a record of the words that were read to prepare it."""

    plan: Plan
    shaders: tuple[Shader, ...]
    vertices: VertexPlan
    read: RecordingState


class Preparer:
    """Prepares the draws of one machine.

    :param at: arena offset of AREA_SIZE bytes. srgb: of `srgb_tables`.
    :param late: returns what runs the stages of a chain.
    :param given_up: called before plans are dropped and their records reused.
    """

    def __init__(
        self, host: EngineHost, programs: Programs, textures: Textures, vertex_input: VertexInput,
        late: Callable[[], LateStages], at: int, srgb: int, given_up: Callable[[], None],
    ) -> None:  # fmt: skip
        self.host, self.memory, self.engine = host, host.memory, host.engine
        self.programs, self.textures, self.vertex_input, self.late = programs, textures, vertex_input, late
        self.tier = "auto"
        self._raster = RasterEncoder(host.choices)
        self._srgb, self._given_up = srgb, given_up
        self._vertex_map, self._output_map, self._plans_at = at, at + 4 * MAP_WORDS, at + 8 * MAP_WORDS
        self._lists = vertex_input.vertices, vertex_input.primitives
        """Offsets of the VERTICES and PRIMITIVES records with the vertex program's output."""
        self._pipelines: ReadCache[tuple[Shader, ...]] = ReadCache(_MOST_PIPELINES)
        self._plans: ReadCache[Plan] = ReadCache(MAX_PLANS)
        self._shapes: ReadCache[InputShape] = ReadCache(_MOST_PIPELINES)
        self._mapped: Plan | None = None
        """The plan whose map of vertices is in the work area."""

    def forget(self) -> None:
        """Drop everything that was prepared."""
        self._given_up()
        self._pipelines.clear()
        self._plans.clear()
        self._shapes.clear()
        self.vertex_input.forget()
        self._mapped = None
        for stage in self.programs.stages:
            stage.adopt(None)

    # -- the plan -----------------------------------------------------------------------------------------------------
    def plan_of(self, state: State, place: str) -> tuple[Plan, tuple[Shader, ...]] | None:
        """The plan for registers and the programs that they select; None, and an event, if a program is missing.

        :param place: of the draw, for events.
        :raises UsageError: no vertex program is on, or a target would not fit into the address space.
        """
        shaders = self._pipelines.get(state, lambda read: tuple(shaders_of(read)))
        programs: dict[int, StageProgram] = {}
        for shader in shaders:
            program = self.programs.find(shader.stage, shader.address, place)
            if program is None:
                return None
            programs[shader.stage] = program
        inputs = tuple(programs.items())
        plan = self._plans.find(state, inputs)
        if plan is None:
            read = state.recording()
            plan = self._make_plan(read, programs)
            self._plans.add(read, plan, inputs)
            state.note(read.places)
        return plan, shaders

    def _make_plan(self, state: State, programs: Mapping[int, StageProgram]) -> Plan:
        if not programs.keys() & {FIRST_VERTEX, SECOND_VERTEX}:
            raise UsageError("no vertex program is on")
        if self._plans.full:
            self._given_up()
            self._plans.clear()
        at = self._plans_at + len(self._plans) * PLAN_ROOM
        pixel = self.programs.stages[PIXEL].record if PIXEL in programs else 0
        # Plans with the same vertices share one shape, so that they share what is made of it.
        wanted = frozenset(programs[min(programs)].header.inputs)
        shape = self._shapes.get(state, lambda read: InputShape.of(read, wanted), wanted)
        return make_plan(self.memory, at, state, programs, shape, self.host.choices, self._raster, {"PROGRAM": pixel})

    # -- what a draw needs every time ---------------------------------------------------------------------------------
    def prepare(
        self, plan: Plan, shaders: tuple[Shader, ...], draw: Draw, state: State, read: RecordingState
    ) -> Prepared | None:  # fmt: skip
        """Set everything up for a draw; None, and an event, if it is impossible.

        :param state: the live registers. read: the same, with a record of what `plan_of` has read.
        :raises UsageError: something of the draw is out of range.
        """
        if not self._bind(plan, shaders, draw, read):
            return None
        if plan.rasters:
            if plan.placed != self.memory.map_changes and not self._place(plan):
                return None
            if not plan.final:
                plan.choose(self.engine, self.tier)
        return Prepared(plan, shaders, self._begin(plan, draw, state, read), read)

    def _bind(self, plan: Plan, shaders: Sequence[Shader], draw: Draw, state: State) -> bool:
        """Bind programs to their constants and textures. Returns whether all can run."""
        if plan.textures:
            self.textures.pools = Pools(
                state.address("SET_TEX_HEADER_POOL_A"), state.field("SET_TEX_HEADER_POOL_C", "MAXIMUM_INDEX"),
                state.address("SET_TEX_SAMPLER_POOL_A"), state.field("SET_TEX_SAMPLER_POOL_C", "MAXIMUM_INDEX"),
                joined=state.field("SET_SAMPLER_BINDING") == _BINDINGS.VIA_HEADER_BINDING,
            )  # fmt: skip
            self.textures.begin()
        bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        tier = {"general": "interpreter"}.get(self.tier, self.tier)
        stages = self.programs.stages
        for shader in shaders:
            bindings: Sequence[Binding | None] = ()
            if shader.group < len(draw.constants):
                bindings = draw.constants[shader.group]
            stage = stages[shader.stage]
            if not stage.bind(plan.programs[shader.stage], bindings, bank, tier):
                return False
            stage.follow(state)
        if PIXEL in plan.programs:
            stages[PIXEL].set_map("IN_MAP", plan.inputs.map)
            stages[PIXEL].set(SAMPLES_AT=plan.at + RASTER.SAMPLE_X)
        return True

    def _place(self, plan: Plan) -> bool:
        """Look up the targets in the arena. Returns whether they are mapped."""
        scratch = Scratch(self.host)
        windows = []
        for target in plan.targets:
            window = scratch.open(target.address, target.size, target.name)
            if window is None:
                return False
            windows.append(window)
        plan.place(windows, self._srgb, self.memory)
        return True

    def map_vertices(self, plan: Plan) -> None:
        """Set VERTICES.MAP to the outputs of a plan's vertex program."""
        if plan is not self._mapped:
            self.memory.words(self._vertex_map, MAP_WORDS)[:] = plan.vertices.read
            self._mapped = plan

    def _begin(self, plan: Plan, draw: Draw, state: State, read: RecordingState) -> VertexPlan:
        """Set up the vertex side and the stages after it for a draw."""
        stages, chain = self.programs.stages, plan.chain
        first = stages[plan.first]
        first.set_map("IN_MAP", plan.shape.map)
        vertex = stages[SECOND_VERTEX if SECOND_VERTEX in plan.programs else FIRST_VERTEX]
        vertex.set_map("OUT_MAP", plan.vertices.written)
        if vertex is not first:
            first.chain(vertex)
        self.map_vertices(plan)
        vertices = self.vertex_input.kept_plan(
            read, draw.topology, draw.index_bytes, draw.indexed, plan.shape, first.record,
            plan.vertices.vectors, self._vertex_map, chain is not None and chain.wants_neighbours, self.tier,
        )  # fmt: skip
        self.vertex_input.begin(
            vertices, state, draw.first, draw.count, draw.instance, 1, self._inline(draw.inline), draw.first_primitive
        )  # fmt: skip
        read.note(vertices.places)
        lists = self._lists
        if chain is not None:
            self.memory.words(self._output_map, MAP_WORDS)[:] = chain.output.read
            name, slots = topology.name(draw.topology), self.vertex_input.room.slots
            late = self.late()
            reason = late.begin(chain, state, name, *lists, slots, self._output_map)
            if reason:
                raise UsageError(reason)
            lists = (late.vertices, late.primitives)
        elif self.memory.words(self._lists[1] + PRIMITIVES.KIND, 1)[0] == PATCH_LIST:
            raise UsageError("patches without a tessellation program")
        if plan.lists != lists:
            plan.words[RASTER.VERTICES // 4], plan.words[RASTER.PRIMITIVES // 4] = plan.lists = lists
        return vertices

    def _inline(self, indices: NDArray[np.uint32] | None) -> int:
        """Arena offset of a draw's inline indices."""
        if indices is None:
            return 0
        at = Scratch(self.host).put(indices)
        if at is None:
            raise UsageError(f"{len(indices)} indices have no room")
        return at


__all__ = ["AREA_SIZE", "Prepared", "Preparer"]
