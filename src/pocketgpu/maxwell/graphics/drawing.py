"""Draws, put together: a plan (plans.py) and a draw become pixels, at once.

What a draw does natively is one call for most of them (native.py). Threads come in where a piece has many vertices or
large shapes; draws with tessellation, geometry programs or transform feedback go stage by stage (late_stages.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..engines import topology
from ..engines.base import EngineHost
from ..engines.constants import Binding
from ..engines.draws import Draw, Shader, shaders_of
from ..engines.report import Counters
from ..engines.state import State
from ..engines.windows import Scratch
from ..formats.srgb import srgb_tables
from ..sampling.store import Pools, Textures
from ..sass.work import LANES, VECTOR
from . import late_stages, native, quick_table, setup
from .late_stages import LateStages
from .native import WALK, walk
from .plan_words import PLAN_WORDS
from .plans import FIRST_VERTEX, MAX_PLANS, PIXEL, PLAN_ROOM, SECOND_VERTEX, Plan, make_plan, rounded
from .programs import Programs, StageProgram
from .quick_table import QuickTable, Rooms
from .raster import raster_shapes
from .raster_state import RasterEncoder
from .records import (
    ATTRIBUTE_SPACE,
    FRAGMENTS,
    MAP_WORDS,
    PATCH_LIST,
    PRIMITIVES,
    RASTER,
    REGION,
    VERTICES,
)
from .repeats import Repeats
from .stream_out import STREAM_OUT, StreamOut
from .vertex_input import VertexInput
from .vertex_records import INPUT, INPUT_PAGE, VertexRoom
from .vertex_stage import next_piece, run_vertices

MIB = 1 << 20
PROGRAMS_SIZE = 48 * MIB
REGION_SIZE = 24 * MIB
CAPACITY = 1 << 14
"""Places of a window: how many vertices are shaded before their primitives are drawn."""
SHARE_VERTICES = 512
"""Vertices of a piece from which threads may share them."""
SHARE_AREA = 48
"""REGION.AREA from which threads may share the pixels."""
_PLAN_PAIRS = np.unique(PLAN_WORDS // 2)
_STIPPLE, _SHAPES, _COME, _GONE, _AREA = (
    REGION.offsets[name] // 4 for name in ("STIPPLE", "SHAPES", "COME", "GONE", "AREA")
)
MOST_PRIMITIVES = 1 << 26
"""Primitives that a draw may bring to the clipper."""
MOST_AREA = 1 << 27
"""Pixels that the boxes of a draw's shapes may have together, in 256: those of the console's screen 37,000 times. Both
are far beyond what a frame has time for, and keep a draw from going on for hours."""
_PAGE_VECTORS = ATTRIBUTE_SPACE // 4 + 4
_THREAD_ROOM = max(INPUT_PAGE + _PAGE_VECTORS * VECTOR, late_stages.THREAD_ROOM)
AREA_SIZE = (
    PROGRAMS_SIZE + REGION_SIZE + late_stages.AREA_SIZE + MAX_PLANS * PLAN_ROOM
    + VertexRoom(0, CAPACITY, _PAGE_VECTORS).size + quick_table.AREA_SIZE + 8 * MIB
)  # fmt: skip
"""Bytes of the work area that drawing takes."""


class _Stopped(Exception):
    """The rest of a draw is left out; why, unless stages tell that."""


def _set_up_of(plan: Plan, kind: int) -> dict[str, Any]:
    """Static values of the set-up of a plan's primitives; the usual ones have the code without masks of viewports."""
    return {"kind": kind + 1, **({"masks": True} if plan.masks else {})}


class Drawing:
    """Runs the draws of one machine.

    :param area: arena offset and size (AREA_SIZE at least) of a part of the work area that nobody else uses.
    :param tier: "auto", or "specialised" or "general" to run one kind of code only.
    """

    def __init__(self, host: EngineHost, area: tuple[int, int], textures: Textures, tier: str = "auto") -> None:
        self.host, self.memory, self.engine, self.textures, self._tier = host, host.memory, host.engine, textures, tier
        self.threads = host.workers.threads
        if area[1] < AREA_SIZE:
            raise UsageError(f"{area[1]} bytes of work area are too few for draws: they take {AREA_SIZE}")
        at = rounded(area[0])

        def take(size: int) -> int:
            nonlocal at
            found, at = at, at + rounded(size)
            return found

        programs = (take(PROGRAMS_SIZE), PROGRAMS_SIZE)
        self.programs = Programs(self.memory, self.engine, host.events, programs, self.threads, textures)
        self.room = VertexRoom(take(0), CAPACITY, _PAGE_VECTORS)
        take(self.room.size)
        self.vertex_input = VertexInput(self.memory, self.engine, self.room, host.switches)
        self._raster = RasterEncoder(host.switches)
        self._plans_at = take(MAX_PLANS * PLAN_ROOM)
        self._region, self._scratch = take(REGION.size), take(setup.SCRATCH_SIZE)
        self._walk = take(native.WALK_SIZE)
        stream = take(STREAM_OUT.size)
        self._srgb = take(len(srgb_tables()))
        self._vertex_map, self._output_map = take(4 * MAP_WORDS), take(4 * MAP_WORDS)
        self._rooms = [take(_THREAD_ROOM) for _ in range(self.threads)]
        late = take(late_stages.AREA_SIZE)
        self.late = LateStages(
            self.memory, self.engine, self.programs.stages, host.workers, late, self._rooms, host.switches
        )
        self._fragments = [take(FRAGMENTS.size) for _ in range(self.threads)]
        shapes = take(REGION_SIZE)
        self.stream_out = StreamOut(self.memory, self.engine, stream)
        # Plain numbers go in and out of these quickly.
        self._walk_words = self._words(self._walk, native.WALK_SIZE // 4)
        self._walk_data, self._region_data = self._walk_words.data, self._words(self._region, REGION.size // 4).data
        self._lists = self.vertex_input.vertices, self.vertex_input.primitives
        """Offsets of the VERTICES and PRIMITIVES records of what vertex programs give."""
        self._primitives = self._words(self._lists[1], PRIMITIVES.size // 4).data
        self._passed = [self._words(offset + FRAGMENTS.PASSED, 2).view(np.int64) for offset in self._fragments]
        self._region_data[REGION.AT // 4], self._region_data[REGION.END // 4] = shapes, shapes + REGION_SIZE
        self._area = 0
        """REGION.AREA of all that was drawn stage by stage in the draw at hand."""
        self._repeats = Repeats(host)
        self.watch: Callable[[Plan], None] | None = None
        """Told of a plan whose shapes are in the region (`region`), before their pixels are drawn."""
        rooms = Rooms(self._walk, self._region, self._fragments[0])
        self.quick = QuickTable(
            self.memory, self.engine, self.programs, textures, self.vertex_input, rooms, take(quick_table.AREA_SIZE)
        )
        """Draws that kernels make."""
        self._plans: dict[Any, Plan] = {}
        self._seen: NDArray[np.uint32] | None = None
        self._shaders: tuple[Shader, ...] = ()
        self._plan: Plan | None = None
        """The plan of the last draw, where registers were those in `_seen` and programs those of `_shaders`."""
        self._begun: Plan | None = None
        """The plan that the stages were set up for."""
        srgb = srgb_tables()
        self.memory.arena[self._srgb : self._srgb + len(srgb)] = np.frombuffer(srgb, np.uint8)

    def _words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.memory.arena[at : at + 4 * count].view(np.int32)

    def forget_repeats(self) -> None:
        """Let no draw count as a repetition of the one before: the machine was changed in between."""
        self._repeats.note(None)

    @property
    def region(self) -> int:
        """Arena offset of the REGION record of the shapes at hand."""
        return self._region

    @property
    def fragments(self) -> int:
        """Arena offset of the first thread's FRAGMENTS record."""
        return self._fragments[0]

    @property
    def tier(self) -> str:
        """Which kind of code runs."""
        return self._tier

    @tier.setter
    def tier(self, tier: str) -> None:
        self._tier = tier
        self.quick.clear()

    # -- one draw -----------------------------------------------------------------------------------------------------
    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Draw. state: the live registers, which are those of the draw.

        What is wrong with a draw is an event; nothing is raised for what a guest asks.
        """
        if self.quick.taken:
            self.quick.interrupt()
            self._repeats.note(None)
        try:
            if self._plan is not None and self._repeats.is_one(draw):
                self._repeat(self._plan, draw, state, counters)
                return
            self._repeats.note(None)
            plan = self._plan_for(state, draw.place)
            if plan is not None:
                self._run(plan, draw, state, counters)
        except UsageError as error:
            self.host.report("fault", "draw.refused", f"{error.message}: nothing is drawn")

    def _run(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        for id, message in plan.output.events:
            self.host.report("fault", id, message)
        if plan.stores:
            self.memory.open_version()  # stores are newer than all that is copied now
        if not self._bind(plan, draw, state):
            return
        if plan.rasters:
            if plan.placed != self.memory.map_changes and not self._place(plan):
                return
            if not plan.final:
                plan.choose(self.engine, self.tier)
            for passed in self._passed:
                passed[0] = 0
        self._begin(plan, draw, state)
        for message in plan.left_out:
            self.host.report("warning", "draw.left_out", message)
        self._go(plan, draw, state, counters)
        simple = plan.chain is None and not plan.streams and not plan.stores and plan.rasters
        settled = plan.final and plan.placed == self.memory.map_changes and all(
            self.programs.stages[n].final for n in plan.programs
        )  # fmt: skip
        if simple and settled and not plan.output.events and not plan.left_out:
            self._repeats.note(draw)
            self._note_quick(plan, draw, state)

    def _repeat(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        """A draw like the one before it, but for its vertices."""
        stages = self.programs.stages
        for n in plan.programs:
            stages[n].begin_steps()
        if plan.textures:
            self.textures.begin()
        if plan.counts:
            for passed in self._passed:
                passed[0] = 0
        found = plan.vertex_plans[draw.topology, draw.index_bytes, draw.indexed]
        self.vertex_input.begin(
            found, state, draw.first, draw.count, draw.instance, 1, 0, draw.first_primitive
        )  # fmt: skip
        self._go(plan, draw, state, counters)
        self._repeats.note(draw)
        self._note_quick(plan, draw, state)

    def _note_quick(self, plan: Plan, draw: Draw, state: State) -> None:
        """A simple draw was made: kernels may make those like it."""
        if self.quick.on:
            vertices = plan.vertex_plans[draw.topology, draw.index_bytes, draw.indexed]
            self.quick.note(plan, vertices, draw, state, self._shaders, plan.walks[self._walk_key(plan)])

    def go_on(self, place: str, counters: Counters) -> None:
        """The rest of a draw that a kernel has begun: threads can share it, or a program fails."""
        self.quick.adopt()
        plan = self.quick.unfinished
        self._repeats.note(None)
        for passed in self._passed[1:]:
            passed[0] = 0
        for n in plan.programs:
            self.programs.stages[n].begin_steps(1)
        try:
            self._follow(plan, self._walk_data[native.STATUS >> 2])
        except _Stopped as stop:
            self._tell(stop)
        self._settle(plan, place, counters)

    def _go(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        """Run a draw that is set up."""
        region = self._region_data
        self._area = 0
        region[_STIPPLE] = region[_SHAPES] = region[_COME] = region[_GONE] = 0
        try:
            if plan.chain is None and not plan.streams and self.watch is None:
                self._walk_through(plan, counters)
            else:
                self._stage_by_stage(plan, state, counters)
        except _Stopped as stop:
            self._tell(stop)
        if region[_COME] and counters.any_running:
            counters.add("CLIPPER_INVOCATIONS", region[_COME])
            counters.add("CLIPPER_PRIMITIVES_GENERATED", region[_GONE])
        self._settle(plan, draw.place, counters)

    def _tell(self, stop: _Stopped) -> None:
        if stop.args:
            self.host.report("hang", "draw.hang", f"{stop}: the rest of the draw is left out")

    # -- the plan -----------------------------------------------------------------------------------------------------
    def _plan_for(self, state: State, place: str) -> Plan | None:
        registers, same = state.registers, self._plan is not None
        if self._seen is None:
            self._seen, same = registers.copy(), False
        else:
            changed = registers.view(np.uint64) != self._seen.view(np.uint64)
            if changed.any():
                if same and changed[_PLAN_PAIRS].any():
                    same = bool((registers[PLAN_WORDS] == self._seen[PLAN_WORDS]).all())
                np.copyto(self._seen, registers)
        if not same:
            self._shaders = tuple(shaders_of(state))
        programs: dict[int, StageProgram] = {}
        for shader in self._shaders:
            program = self.programs.find(shader.stage, shader.address, place)
            if program is None:
                return None
            programs[shader.stage] = program
        if same and self._plan is not None and programs == self._plan.programs:
            return self._plan
        self._plan = self._known(state, programs)
        return self._plan

    def _known(self, state: State, programs: dict[int, StageProgram]) -> Plan:
        """The plan for registers and programs, made if need be."""
        key = (state.registers[PLAN_WORDS].tobytes(), *programs.values())
        plan = self._plans.get(key)
        if plan is None:
            if not programs.keys() & {FIRST_VERTEX, SECOND_VERTEX}:
                raise UsageError("no vertex program is on")
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
                self.quick.clear()
            at = self._plans_at + len(self._plans) * PLAN_ROOM
            pixel = self.programs.stages[PIXEL].record if PIXEL in programs else 0
            plan = make_plan(self.memory, at, state, programs, self.host.switches, self._raster, {"PROGRAM": pixel})
            self._plans[key] = plan
        return plan

    # -- what a draw needs every time ---------------------------------------------------------------------------------
    def _bind(self, plan: Plan, draw: Draw, state: State) -> bool:
        """Programs with their constants and textures; whether all can run."""
        if plan.textures:
            self.textures.pools = Pools(
                state.address("SET_TEX_HEADER_POOL_A"), state.field("SET_TEX_HEADER_POOL_C", "MAXIMUM_INDEX"),
                state.address("SET_TEX_SAMPLER_POOL_A"), state.field("SET_TEX_SAMPLER_POOL_C", "MAXIMUM_INDEX"),
                joined=bool(state.field("SET_SAMPLER_BINDING")),
            )  # fmt: skip
            self.textures.begin()
        bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        tier = {"general": "interpreter"}.get(self.tier, self.tier)
        stages = self.programs.stages
        for shader in self._shaders:
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
        """Where the targets lie in the arena; whether they are there."""
        scratch = Scratch(self.host)
        windows = []
        for target in plan.targets:
            window = scratch.open(target.address, target.size, target.name)
            if window is None:
                return False
            windows.append(window)
        plan.place(windows, self._srgb, self.memory)
        return True

    def _begin(self, plan: Plan, draw: Draw, state: State) -> None:
        """The vertex side and the stages behind it, set up for a draw."""
        stages, chain = self.programs.stages, plan.chain
        first = stages[plan.first]
        first.set_map("IN_MAP", plan.shape.map)
        vertex = stages[SECOND_VERTEX if SECOND_VERTEX in plan.programs else FIRST_VERTEX]
        vertex.set_map("OUT_MAP", plan.vertices.written)
        if vertex is not first:
            first.chain(vertex)
        if plan is not self._begun:
            self._words(self._vertex_map, MAP_WORDS)[:] = plan.vertices.read
            self._begun = plan
        key = (draw.topology, draw.index_bytes, draw.indexed)
        found = plan.vertex_plans.get(key)
        if found is None:
            found = plan.vertex_plans[key] = self.vertex_input.plan(
                state, draw.topology, draw.index_bytes, draw.indexed, plan.shape, first.record,
                plan.vertices.vectors, self._vertex_map, chain is not None and chain.wants_neighbours,
                tier=self.tier,
            )  # fmt: skip
        self.vertex_input.begin(
            found, state, draw.first, draw.count, draw.instance, 1, self._inline(draw.inline), draw.first_primitive
        )  # fmt: skip
        lists = self._lists
        if chain is not None:
            self._words(self._output_map, MAP_WORDS)[:] = chain.output.read
            name = topology.name(draw.topology)
            reason = self.late.begin(chain, state, name, *lists, self.room.slots, self._output_map)
            if reason:
                raise UsageError(reason)
            lists = (self.late.vertices, self.late.primitives)
        elif self._primitives[PRIMITIVES.KIND // 4] == PATCH_LIST:
            raise UsageError("patches without a tessellation program")
        if plan.lists != lists:
            plan.words[RASTER.VERTICES // 4], plan.words[RASTER.PRIMITIVES // 4] = plan.lists = lists

    def _inline(self, indices: NDArray[np.uint32] | None) -> int:
        """Arena offset of indices that a draw brings itself."""
        if indices is None:
            return 0
        at = Scratch(self.host).put(indices)
        if at is None:
            raise UsageError(f"{len(indices)} indices have no room")
        return at

    # -- the run ------------------------------------------------------------------------------------------------------
    def _walk_through(self, plan: Plan, counters: Counters) -> None:
        """A draw with vertex programs only."""
        key = self._walk_key(plan)
        found = plan.walks.get(key)
        if found is None:
            found = plan.walks[key] = self._walk_record(plan, *key)
        self._walk_words[:] = found
        self.engine.get(walk)(self._walk)
        status = self._walk_data[native.STATUS >> 2]
        if status != native.DONE:
            self._follow(plan, status)
        if counters.any_running:
            counters.add("VS_INVOCATIONS", self._walk_data[WALK.SHADED >> 2])

    def _walk_key(self, plan: Plan) -> tuple[int, int, int]:
        """What WALK records of a plan differ in."""
        stages, kind = self.programs.stages, self._primitives[PRIMITIVES.KIND // 4]
        return (kind, stages[plan.first].slots[0], stages[PIXEL].slots[0] if PIXEL in plan.programs else 0)

    def _follow(self, plan: Plan, status: int) -> None:
        """Do what the walk of a draw has come back for, and let it go on, until it ends."""
        run = self.engine.get(walk)
        while status != native.DONE:
            if status == native.VERTICES_NEXT:
                self._shade(plan)
            elif status == native.SHAPES_NEXT:
                self._share_shapes(plan)
            elif status == native.NO_ROOM:
                raise _Stopped("a primitive has no room")
            else:
                self._check_area(MOST_AREA + 1)
            run(self._walk)
            status = self._walk_data[native.STATUS >> 2]

    def _walk_record(self, plan: Plan, kind: int, vertex_slot: int, pixel_slot: int) -> NDArray[np.int32]:
        """The WALK record of a plan's draws at their beginning."""
        engine, several = self.engine, self.threads > 1
        words = np.zeros(native.WALK_SIZE // 4, np.int32)
        words[:8].view(np.int64)[:] = (
            engine.handle(next_piece), engine.handle(run_vertices),
            engine.handle(setup.set_up, **_set_up_of(plan, min(kind, 2))),
            engine.handle(raster_shapes, multi=plan.multi),
        )  # fmt: skip
        for name, v in (
            ("INPUT", self.room.input), ("VERTEX_SLOT", vertex_slot), ("VERTEX_ROOM", self._rooms[0]),
            ("RASTER", plan.at), ("REGION", self._region), ("SCRATCH", self._scratch),
            ("PIXEL_SLOT", pixel_slot or self._scratch), ("FRAGMENTS", self._fragments[0]), ("RASTERS", plan.rasters),
            ("SHARE_VERTICES", SHARE_VERTICES if several else 1 << 30),
            ("SHARE_AREA", SHARE_AREA if several else 1 << 30), ("PHASE", native.PIECE), ("MOST_AREA", MOST_AREA),
        ):  # fmt: skip
            words[WALK.offsets[name] // 4] = v
        return words

    def _stage_by_stage(self, plan: Plan, state: State, counters: Counters) -> None:
        """A draw with more stages, or whose primitives go to memory."""
        streams, chosen = plan.streams, state.field("SET_RASTER_INPUT", "STREAM_SELECT")
        following, words = self.engine.get(next_piece), self._words(self.room.input, INPUT.size // 4)
        vertices, primitives = self._lists
        wanted: tuple[int, ...] = (0,)
        if plan.chain is not None:
            vertices, primitives = self.late.vertices, self.late.primitives
            wanted = tuple(range(late_stages.STREAMS)) if streams else (chosen,)
        while words[INPUT.MORE >> 2]:
            following(self.room.input)
            counters.add("VS_INVOCATIONS", self._shade(plan))
            lists = self.late.pieces(counters, wanted) if plan.chain is not None else iter((0,))
            for stream in lists:
                self._check_programs()
                if streams:
                    self.stream_out.write(state, counters, vertices, primitives, stream)
                if plan.rasters and (stream == chosen or plan.chain is None):
                    count, kind = self._words(primitives, 2).tolist()
                    self._rasterise(plan, kind, count)

    def _shade(self, plan: Plan) -> int:
        """Run the vertex program for the vertices of the piece; how many there are."""
        count = int(self._words(self._lists[0] + VERTICES.COUNT, 1)[0])
        run, record, stage = self.engine.get(run_vertices), self.room.input, self.programs.stages[plan.first]
        pages = -(-count // LANES)

        def part(number: int, parts: int) -> None:
            first, last = pages * number // parts, pages * (number + 1) // parts
            run(record, stage.slots[number], self._rooms[number], first, last)

        if pages:
            self.host.workers.run(part, ("vertices", stage.program), pages)
            self._check_programs()
        return count

    def _check_programs(self) -> None:
        if self.programs.hung:
            raise _Stopped

    def _check_area(self, area: int) -> None:
        if area > MOST_AREA:
            raise _Stopped(f"shapes of more than {MOST_AREA << 8} pixels")

    def _rasterise(self, plan: Plan, kind: int, count: int) -> None:
        """Shapes of a list of primitives, and their pixels."""
        make, region, following = self.engine.get(setup.set_up, **_set_up_of(plan, kind)), self._region_data, 0
        if region[_COME] > MOST_PRIMITIVES:
            raise _Stopped(f"more than {MOST_PRIMITIVES} primitives")
        while following < count:
            make(plan.at, self._region, self._scratch, following, count)
            after = region[REGION.NEXT // 4]
            if after <= following:
                raise _Stopped("a primitive has no room")
            following = after
            self._area += region[_AREA]
            self._check_area(self._area)
            self._share_shapes(plan)

    def _share_shapes(self, plan: Plan) -> None:
        """The pixels of the shapes in the region."""
        if self.watch is not None:
            self.watch(plan)
        run, area = self.engine.get(raster_shapes, multi=plan.multi), self._region_data[REGION.AREA // 4]
        slots = self.programs.stages[PIXEL].slots or [self._scratch] * self.threads

        def part(number: int, parts: int) -> None:
            run(plan.at, self._region, slots[number], self._fragments[number], number, parts)

        if plan.apart:
            self.host.workers.run(part, ("pixels", plan), area + 1)
        else:
            part(0, 1)
        self._check_programs()

    def _settle(self, plan: Plan, place: str, counters: Counters) -> None:
        """After the last pixel: memory that changed, counters, events."""
        if plan.rasters:
            for window in plan.windows:
                if window.pieces:
                    Scratch(self.host).close(window)
                else:
                    self.memory.touch(window.offset, window.size)
            if plan.counts:
                counters.add("ZPASS_PIXEL_CNT64", sum(int(passed[0]) for passed in self._passed))
        self.programs.settle(place, plan.programs)
        if plan.textures:
            self.textures.check()


__all__ = ["AREA_SIZE", "Drawing"]
