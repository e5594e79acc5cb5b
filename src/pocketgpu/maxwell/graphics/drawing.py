"""Draws, put together: registers and programs become a plan, and a plan and a draw become pixels, at once.

A `Plan` is what a set of registers comes to with the programs that it names: records in the work area that the
kernels read, which code runs, where targets lie. It is kept, so that a draw that differs from an earlier one in
vertices and constants only has little to do in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...lanes import Engine
from ..engines.base import EngineHost
from ..engines.constants import Binding
from ..engines.draws import Draw, Shader, shaders_of
from ..engines.pixels import srgb_tables
from ..engines.report import Counters
from ..engines.state import State
from ..engines.windows import Scratch, Window
from ..sampling.store import Pools, Textures
from ..sass.work import VECTOR
from . import raster_state, setup
from .headers import Layout, layout_of
from .output_records import OUTPUT
from .output_state import Code, OutputState
from .plan_words import PLAN_WORDS
from .programs import Programs, StageLaunch, StageProgram
from .raster import raster_shapes
from .raster_state import PixelInputs
from .records import ATTRIBUTE_SPACE, FRAGMENTS, PRIMITIVES, RASTER, REGION, VERTICES, VIEWPORT, VIEWPORT_COUNT
from .stream_out import STREAM_OUT, StreamOut
from .targets import Target
from .vertex_input import InputShape, VertexInput, VertexPlan
from .vertex_records import INPUT, INPUT_PAGE, VertexRoom
from .vertex_stage import next_piece, run_vertices

MIB = 1 << 20
PROGRAMS_SIZE = 48 * MIB
REGION_SIZE = 24 * MIB
CAPACITY = 1 << 14
"""Places of a window: how many vertices are shaded before their primitives are drawn."""
MAX_PLANS = 256
_INPUT_TABLE = 8192  # bytes of PIXEL_INPUT records
VERTEX_A, VERTEX_B, CONTROL, EVALUATION, GEOMETRY, PIXEL = range(6)
_NO_PLACE = -1


def _round(size: int, to: int = 4096) -> int:
    return (size + to - 1) // to * to


_PLAN_ROOM = _round(RASTER.size) + _round(VIEWPORT.size * VIEWPORT_COUNT) + _round(OUTPUT.size) + _INPUT_TABLE
_PAGE_VECTORS = ATTRIBUTE_SPACE // 4 + 4
_THREAD_ROOM = INPUT_PAGE + _PAGE_VECTORS * VECTOR
AREA_SIZE = PROGRAMS_SIZE + REGION_SIZE + MAX_PLANS * _PLAN_ROOM + VertexRoom(0, CAPACITY, _PAGE_VECTORS).size + 8 * MIB
"""Bytes of the work area that drawing takes."""


@dataclass(eq=False)
class Plan:
    """What registers and programs come to. at: arena offset of its records."""

    at: int
    programs: dict[int, StageProgram]
    shape: InputShape
    outputs: Layout
    output: OutputState
    inputs: PixelInputs
    multi: bool
    rasters: bool
    layered: bool
    words: NDArray[np.int32]
    events: tuple[tuple[str, str], ...]
    vertex_plans: dict[tuple[int, int, bool], VertexPlan] = field(default_factory=dict)
    codes: tuple[int, int] = (0, 0)
    final: bool = False
    placed: int = _NO_PLACE
    """Value of GpuMemory.map_changes for which the targets' places in the records are right."""
    windows: tuple[Window, ...] = ()

    @property
    def viewports(self) -> int:
        return self.at + _round(RASTER.size)

    @property
    def output_record(self) -> int:
        return self.viewports + _round(VIEWPORT.size * VIEWPORT_COUNT)

    @property
    def table(self) -> int:
        return self.output_record + _round(OUTPUT.size)


class Drawing:
    """Runs the draws of one machine.

    :param area: arena offset and size (AREA_SIZE at least) of a part of the work area that nobody else uses.
    :param tier: "auto", or "specialised" or "general" to run one kind of code only.
    """

    def __init__(
        self,
        host: EngineHost,
        area: tuple[int, int],
        textures: Textures,
        tier: str = "auto",
        region_size: int = REGION_SIZE,
    ) -> None:
        self.host, self.memory, self.engine, self.textures, self.tier = host, host.memory, host.engine, textures, tier
        self.threads = host.workers.threads
        at = _round(area[0])

        def take(size: int) -> int:
            nonlocal at
            found, at = at, at + _round(size)
            return found

        programs = take(PROGRAMS_SIZE)
        self.programs = Programs(
            self.memory, self.engine, host.events, (programs, PROGRAMS_SIZE), self.threads, textures
        )
        self.room = VertexRoom(take(0), CAPACITY, _PAGE_VECTORS)
        take(self.room.size)
        self.vertex_input = VertexInput(self.memory, self.engine, self.room, host.switches)
        self._vertex_map = take(4096)
        self._plans_at = take(MAX_PLANS * _PLAN_ROOM)
        self._region, self._scratch = take(REGION.size), take(setup.SCRATCH_SIZE)
        self._stream = take(STREAM_OUT.size)
        self._srgb = take(len(srgb_tables()))
        self._thread_rooms = [take(_THREAD_ROOM) for _ in range(self.threads)]
        self._fragments = [take(FRAGMENTS.size) for _ in range(self.threads)]
        self._shapes = take(0)
        self._region_size = min(region_size, area[0] + area[1] - self._shapes)
        if self._region_size < MIB:
            raise UsageError(f"{area[1]} bytes of work area are too few for draws")
        self.stream_out = StreamOut(self.memory, self.engine, self._stream)
        self.reset()

    def reset(self) -> None:
        """Forget everything: memory and registers are other ones now."""
        self._plans: dict[Any, Plan] = {}
        self._last: tuple[NDArray[np.uint32], tuple[Shader, ...]] | None = None
        srgb = srgb_tables()
        self.memory.arena[self._srgb : self._srgb + len(srgb)] = np.frombuffer(srgb, np.uint8)

    def _words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.memory.arena[at : at + 4 * count].view(np.int32)

    # -- one draw ---------------------------------------------------------------------------------------------------
    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Draw. state: the live registers, which are those of the draw.

        What is wrong with a draw is an event; nothing is raised for what a guest asks.
        """
        try:
            plan = self._plan_for(draw, state)
            if plan is not None:
                self._run(plan, draw, state, counters)
        except UsageError as error:
            self.host.report("fault", "draw.refused", f"{error.message}: nothing is drawn")

    def _run(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        host, memory = self.host, self.memory
        for id, message in plan.events:
            host.report("fault", id, message)
        if any(program.changes_memory for program in plan.programs.values()):
            memory.open_version()  # stores are newer than all that is copied now
        if not self._bind(plan, draw, state):
            return
        if plan.rasters and not self._place(plan):
            return
        self._choose(plan)
        self._vertices(plan, draw, state)
        if plan.rasters:
            for n in range(self.threads):
                at = self._fragments[n] + FRAGMENTS.PASSED
                self._words(at, 2)[:] = 0
        self._pieces(plan, state, counters)
        self._settle(plan, counters)

    # -- the plan ---------------------------------------------------------------------------------------------------
    def _plan_for(self, draw: Draw, state: State) -> Plan | None:
        registers = state.registers
        words = registers[PLAN_WORDS]
        if self._last is None or not np.array_equal(words, self._last[0]):
            self._last = (words, tuple(shaders_of(state)))
        programs: dict[int, StageProgram] = {}
        for shader in self._last[1]:
            program = self.programs.find(shader.stage, shader.address, self.host.place)
            if program is None:
                return None
            programs[shader.stage] = program
        key = (words.tobytes(), *programs.values())
        plan = self._plans.get(key)
        if plan is None:
            if not programs.keys() & {VERTEX_A, VERTEX_B}:
                self.host.report("fault", "draw.program", "no vertex program is on: nothing is drawn")
                return None
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._make(len(self._plans), state, programs)
        return plan

    def _make(self, number: int, state: State, programs: dict[int, StageProgram]) -> Plan:
        """A plan, with its records written."""
        at = self._plans_at + number * _PLAN_ROOM
        vertex = programs.get(VERTEX_B) or programs[VERTEX_A]
        first = programs.get(VERTEX_A) or vertex
        last = next(programs[n] for n in (GEOMETRY, EVALUATION, VERTEX_B, VERTEX_A) if n in programs)
        pixel = programs.get(PIXEL)
        header = None if pixel is None else pixel.header
        outputs = layout_of(last.header.outputs)
        layered = bool(state.field("SET_RT_LAYER", "CONTROL")) or bool(state.field("SET_RT_LAYER", "V"))
        output = OutputState.of(state, header, self.host.switches, layered)
        inputs = raster_state.pixel_inputs(state, {} if header is None else header.inputs, outputs.read)
        self._words(at, _PLAN_ROOM // 4)[:] = 0
        raster = self._words(at, RASTER.size // 4)
        plan = Plan(
            at, programs, InputShape.of(state, set(first.header.inputs)), outputs, output, inputs,
            False, bool(state.field("SET_RASTER_ENABLE")), layered, raster, output.events,
        )  # fmt: skip
        viewports = self._words(plan.viewports, VIEWPORT.size // 4 * VIEWPORT_COUNT)
        raster_state.encode(state, outputs.read, raster, viewports)
        targets = self._targets_of(plan)
        if targets:
            raster_state.limit(viewports, *self._least_size(output, targets))
        plan.multi = bool(raster[RASTER.SAMPLES // 4] > 1)
        if inputs.table.nbytes > _INPUT_TABLE:
            raise UsageError("a pixel program with more inputs than there are")
        self._words(plan.table, inputs.table.size)[:] = inputs.table
        registers = [] if header is None else header.target_registers
        values = {
            "VERTICES": self.vertex_input.vertices, "PRIMITIVES": self.vertex_input.primitives,
            "VIEWPORTS": plan.viewports, "INPUTS": plan.table, "INPUT_GROUPS": inputs.groups,
            "DEPTH_WANTED": int(output.zeta is not None), "OUTPUT": plan.output_record, "EARLY": int(output.early),
            "PROGRAM": 0 if pixel is None else self.programs.stages[PIXEL].record,
            "ALPHAS": raster_state.alpha_registers(registers),
        }  # fmt: skip
        for name, value in values.items():
            raster[RASTER.offsets[name] // 4] = value
        return plan

    @staticmethod
    def _targets_of(plan: Plan) -> list[Target]:
        return [*plan.output.colours, *([plan.output.zeta] if plan.output.zeta is not None else [])]

    @staticmethod
    def _least_size(output: OutputState, targets: Sequence[Target]) -> tuple[int, int]:
        """Pixels that all targets have."""
        key = output.test_key
        return min(t.width for t in targets) >> key.grid_x, min(t.height for t in targets) >> key.grid_y

    # -- what a draw needs every time ---------------------------------------------------------------------------------
    def _bind(self, plan: Plan, draw: Draw, state: State) -> bool:
        """Programs with their constants and textures; whether all can run."""
        assert self._last is not None
        if any(program.textures for program in plan.programs.values()):
            self.textures.pools = Pools(
                state.address("SET_TEX_HEADER_POOL_A"), state.field("SET_TEX_HEADER_POOL_C", "MAXIMUM_INDEX"),
                state.address("SET_TEX_SAMPLER_POOL_A"), state.field("SET_TEX_SAMPLER_POOL_C", "MAXIMUM_INDEX"),
                joined=bool(state.field("SET_SAMPLER_BINDING")),
            )  # fmt: skip
            self.textures.begin()
        bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        tier = {"general": "interpreter"}.get(self.tier, self.tier)
        for shader in self._last[1]:
            stage = self.programs.stages[shader.stage]
            if not stage.bind(plan.programs[shader.stage], self._bindings(draw, shader.group), bank, tier):
                return False
            stage.follow(state)
        pixel = self.programs.stages[PIXEL]
        if PIXEL in plan.programs:
            pixel.set_map("IN_MAP", plan.inputs.map)
            pixel.set(SAMPLES_AT=plan.at + RASTER.SAMPLE_X)
        return True

    @staticmethod
    def _bindings(draw: Draw, group: int) -> Sequence[Binding | None]:
        return draw.constants[group] if group < len(draw.constants) else ()

    def _place(self, plan: Plan) -> bool:
        """Where the targets lie in the arena; whether they are there."""
        if plan.placed == self.memory.map_changes:
            return True
        scratch = Scratch(self.host)
        windows = []
        for target in self._targets_of(plan):
            window = scratch.open(target.address, target.size, target.name)
            if window is None:
                return False
            windows.append(window)
        plan.windows = tuple(windows)
        offsets = [window.offset for window in windows]
        colours = len(plan.output.colours)
        zeta = offsets[colours] if plan.output.zeta is not None else 0
        record = plan.output.record(self._srgb, zeta, offsets[:colours])
        self._words(plan.output_record, len(record))[:] = record
        # Copies of targets that lie in pieces are made for one draw.
        plan.placed = self.memory.map_changes if not any(w.pieces for w in windows) else _NO_PLACE
        return True

    def _choose(self, plan: Plan) -> None:
        """Which code tests and writes: that for the plan's state, and general code until it is there."""
        if plan.final or not plan.rasters:
            return
        output, engine = plan.output, self.engine
        wanted = (output.tests, output.writes)
        handles, final = [], True
        for special, general, used in zip(output.codes(False), output.codes(True), wanted, strict=True):
            handle, ready = self._code(engine, special, general) if used else (0, True)
            handles.append(handle)
            final = final and ready
        at = RASTER.TEST // 4
        plan.words[at : at + 4].view(np.int64)[:] = handles
        plan.final = final

    def _code(self, engine: Engine, special: Code, general: Code) -> tuple[int, bool]:
        """(handle, whether that is the best there will be)."""
        (kernel, static), (_, fallback) = special, general
        if self.tier == "general":
            return engine.handle(kernel, **fallback), True
        if self.tier == "specialised" or engine.evaluator == "numpy" or engine.has(kernel, **static):
            return engine.handle(kernel, **static), True
        if engine.has(kernel, **fallback):
            engine.later(kernel, **static)
            return engine.handle(kernel, **fallback), False
        engine.later(kernel, **fallback)
        return engine.handle(kernel, **static), True

    def _vertices(self, plan: Plan, draw: Draw, state: State) -> None:
        """The vertex side set up for a draw."""
        stage = self._vertex_stage(plan)
        stage.set_map("IN_MAP", plan.shape.map)
        second = self.programs.stages[VERTEX_B] if VERTEX_B in plan.programs else stage
        if second is not stage:
            stage.chain(second)
        second.set_map("OUT_MAP", plan.outputs.written)
        self._words(self._vertex_map, len(plan.outputs.read))[:] = plan.outputs.read
        key = (draw.topology, draw.index_bytes, draw.indexed)
        found = plan.vertex_plans.get(key)
        if found is None:
            found = plan.vertex_plans[key] = self.vertex_input.plan(
                state, draw.topology, draw.index_bytes, draw.indexed, plan.shape, stage.record, plan.outputs.vectors,
                self._vertex_map, tier="general" if self.tier == "general" else "auto",
            )  # fmt: skip
        inline_at = 0
        if draw.inline is not None:
            inline_at = self._inline(draw.inline)
        self.vertex_input.begin(found, state, draw.first, draw.count, draw.instance, 1, inline_at)

    def _vertex_stage(self, plan: Plan) -> StageLaunch:
        """The vertex program that is run: the first of them, behind which the second runs."""
        return self.programs.stages[VERTEX_A if VERTEX_A in plan.programs else VERTEX_B]

    def _inline(self, indices: NDArray[np.uint32]) -> int:
        at = Scratch(self.host).put(indices)
        if at is None:
            raise UsageError(f"{len(indices)} indices have no room")
        return at

    # -- the run ----------------------------------------------------------------------------------------------------
    def _pieces(self, plan: Plan, state: State, counters: Counters) -> None:
        """Piece by piece: vertices, then shapes, then pixels."""
        record, engine = self.room.input, self.engine
        words = self._words(record, INPUT.size // 4)
        get = lambda place: int(words[place >> 2])
        following = engine.get(next_piece)
        streams = StreamOut.on(state)
        region = self._words(self._region, REGION.size // 4)
        region[REGION.STIPPLE // 4] = region[REGION.SHAPES // 4] = 0
        region[REGION.COME // 4] = region[REGION.GONE // 4] = 0
        region[REGION.AT // 4], region[REGION.END // 4] = self._shapes, self._shapes + self._region_size
        while get(INPUT.MORE):
            following(record)
            shaded = get(INPUT.VERTICES + VERTICES.COUNT)
            self._shade(plan, shaded)
            counters.add("VS_INVOCATIONS", shaded)
            if streams:
                self.stream_out.write(state, counters, self.vertex_input.vertices, self.vertex_input.primitives)
            if plan.rasters:
                self._rasterise(plan, get(INPUT.PRIMITIVES + PRIMITIVES.KIND), get(INPUT.PRIMITIVES + PRIMITIVES.COUNT))
        counters.add("CLIPPER_INVOCATIONS", int(region[REGION.COME // 4]))
        counters.add("CLIPPER_PRIMITIVES_GENERATED", int(region[REGION.GONE // 4]))

    def _shade(self, plan: Plan, count: int) -> None:
        run, record = self.engine.get(run_vertices), self.room.input
        stage = self._vertex_stage(plan)
        pages = (count + 31) // 32

        def part(number: int, parts: int) -> None:
            first, last = pages * number // parts, pages * (number + 1) // parts
            run(record, stage.slots[number], self._thread_rooms[number], first, last)

        self.host.workers.run(part, ("vertices", stage.program), count)

    def _rasterise(self, plan: Plan, kind: int, count: int) -> None:
        """Shapes of the primitives of a piece, and their pixels."""
        engine, region = self.engine, self._words(self._region, REGION.size // 4)
        make, run = engine.get(setup.set_up, kind=kind + 1), engine.get(raster_shapes, multi=plan.multi)
        slots = self.programs.stages[PIXEL].slots or [self._scratch] * self.threads

        def part(number: int, parts: int) -> None:
            run(plan.at, self._region, slots[number], self._fragments[number], number, parts)

        following = 0
        while following < count:
            before = int(region[REGION.SHAPES // 4])
            make(plan.at, self._region, self._scratch, following, count)
            after = int(region[REGION.NEXT // 4])
            if after <= following:
                raise UsageError("a primitive has no room")
            following = after
            made = int(region[REGION.SHAPES // 4]) - before
            if made:
                self.host.workers.run(part, ("pixels", plan), made)

    def _settle(self, plan: Plan, counters: Counters) -> None:
        """After the last pixel: memory that changed, counters, events."""
        for window in plan.windows if plan.rasters else ():
            Scratch(self.host).close(window)
        if plan.rasters and counters.running("ZPASS_PIXEL_CNT64"):
            passed = sum(int(self._words(at + FRAGMENTS.PASSED, 2).view(np.int64)[0]) for at in self._fragments)
            counters.add("ZPASS_PIXEL_CNT64", passed)
        self.programs.settle(self.host.place)
        self.textures.check()


__all__ = ["AREA_SIZE", "Drawing"]
