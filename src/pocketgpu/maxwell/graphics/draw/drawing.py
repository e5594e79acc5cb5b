"""`Drawing` runs draws: it has each draw set up, and runs it to its last pixel.

A draw in a known state is set up by a kernel (quick_table.py). Any other draw is prepared in Python (prepare.py). Most
draws then run in one native call (native.py). Threads share a piece with many vertices, and large shapes. Draws with
tessellation, geometry programs or transform feedback run stage by stage (late_stages.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.lanes import late
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import Scratch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.formats.srgb import srgb_tables
from pocketgpu.maxwell.graphics.draw import native, prepare, quick_table
from pocketgpu.maxwell.graphics.draw.crew import CREW, HELP_AREA, Crew
from pocketgpu.maxwell.graphics.draw.native import WALK, walk
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan, rounded
from pocketgpu.maxwell.graphics.draw.prepare import Preparer
from pocketgpu.maxwell.graphics.draw.quick_table import QuickTable, Rooms
from pocketgpu.maxwell.graphics.input.vertex_input import VertexInput
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT, INPUT_PAGE, VertexRoom
from pocketgpu.maxwell.graphics.primitives.layout import SCRATCH_SIZE
from pocketgpu.maxwell.graphics.programs.programs import Programs
from pocketgpu.maxwell.graphics.records import ATTRIBUTE_SPACE, FRAGMENTS, PRIMITIVES, REGION, VERTICES
from pocketgpu.maxwell.graphics.stages import chain
from pocketgpu.maxwell.graphics.stages.stream_out import STREAM_OUT, StreamOut
from pocketgpu.maxwell.sampling.store import Textures
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

if TYPE_CHECKING:
    from pocketgpu.maxwell.graphics.stages.late_stages import LateStages

next_piece = late("pocketgpu.maxwell.graphics.input.vertex_stage", "next_piece")
run_vertices = late("pocketgpu.maxwell.graphics.input.vertex_stage", "run_vertices")
set_up = late("pocketgpu.maxwell.graphics.primitives.setup", "set_up")
raster_shapes = late("pocketgpu.maxwell.graphics.raster.pixel_blocks", "raster_shapes")
MIB = 1 << 20
PROGRAMS_SIZE = 48 * MIB
REGION_SIZE = 24 * MIB
CAPACITY = 1 << 14
"""Places of a window: how many vertices are shaded before their primitives are drawn."""
SHARE_VERTICES = 512
"""Threads may share the vertices of a piece with at least so many."""
SHARE_AREA = 48
"""Threads may share the pixels if REGION.AREA is at least this; more for plans whose pixels are quick."""
_STIPPLE, _SHAPES, _COME, _GONE, _AREA = (
    REGION.offsets[name] // 4 for name in ("STIPPLE", "SHAPES", "COME", "GONE", "AREA")
)
MOST_PRIMITIVES = 1 << 26
"""The most primitives of a draw that enter the clipper."""
MOST_AREA = 1 << 27
"""The most pixels in the boxes of a draw's shapes, in units of 256: 37,000 times those of the console's screen. Both
limits are far beyond what a frame has time for. They prevent a draw from running for hours."""
_PAGE_VECTORS = ATTRIBUTE_SPACE // 4 + 4
_THREAD_ROOM = max(INPUT_PAGE + _PAGE_VECTORS * VECTOR, chain.THREAD_ROOM)
AREA_SIZE = (
    PROGRAMS_SIZE + REGION_SIZE + chain.AREA_SIZE + prepare.AREA_SIZE
    + VertexRoom(0, CAPACITY, _PAGE_VECTORS).size + quick_table.AREA_SIZE + 8 * MIB
)  # fmt: skip
"""Bytes of the work area that drawing takes."""


def spare(area: tuple[int, int]) -> tuple[int, int]:
    """The part of an area that `Drawing` does not use: arena offset and bytes, starting at a multiple of 4096."""
    start = rounded(rounded(area[0]) + AREA_SIZE)
    return start, sum(area) - start


class _Stopped(Exception):
    """Raised to leave out the rest of a draw. Its argument is the reason, unless the stages report that themselves."""


def _set_up_of(plan: Plan, kind: int) -> dict[str, Any]:
    """Static values of the set-up of a plan's primitives. `masks` is left out if false, so that most draws share one
    kernel."""
    return {"kind": kind + 1, **({"masks": True} if plan.masks else {})}


class Drawing:
    """Runs the draws of one machine.

    :param area: arena offset and size (AREA_SIZE at least) of a part of the work area for its exclusive use.
    :param tier: "auto", or "specialised" or "general" to run one kind of code only.
    """

    def __init__(self, host: EngineHost, area: tuple[int, int], textures: Textures, tier: str = "auto") -> None:
        self.host, self.memory, self.engine, self.textures = host, host.memory, host.engine, textures
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
        self.vertex_input = VertexInput(self.memory, self.engine, self.room, host.choices)
        prepared = take(prepare.AREA_SIZE)
        self._region, self._scratch = take(REGION.size), take(SCRATCH_SIZE)
        self._walk = take(native.WALK_SIZE)
        self.crew = Crew(self.memory, self.engine, host.workers, take(CREW.size))
        stream = take(STREAM_OUT.size)
        srgb, tables = take(len(srgb_tables())), srgb_tables()
        self.memory.arena[srgb : srgb + len(tables)] = np.frombuffer(tables, np.uint8)
        self._rooms = [take(_THREAD_ROOM) for _ in range(self.threads)]
        self._late = take(chain.AREA_SIZE)
        self._fragments = [take(FRAGMENTS.size) for _ in range(self.threads)]
        shapes = take(REGION_SIZE)
        self.stream_out = StreamOut(self.memory, self.engine, stream)
        # Reading and writing these as Python ints is fast.
        self._walk_words = self.memory.words(self._walk, native.WALK_SIZE // 4)
        self._walk_data = self._walk_words.data
        self._region_data = self.memory.words(self._region, REGION.size // 4).data
        self._lists = self.vertex_input.vertices, self.vertex_input.primitives
        """Offsets of the VERTICES and PRIMITIVES records with the vertex program's output."""
        self._primitives = self.memory.words(self._lists[1], PRIMITIVES.size // 4).data
        self._passed = [self.memory.words(offset + FRAGMENTS.PASSED, 2).view(np.int64) for offset in self._fragments]
        self._region_data[REGION.AT // 4], self._region_data[REGION.END // 4] = shapes, shapes + REGION_SIZE
        self._area = 0
        """REGION.AREA of everything drawn stage by stage in the current draw."""
        rooms = Rooms(self._walk, self._region, self._fragments[0])
        self.quick = QuickTable(
            self.memory, self.engine, self.programs, textures, self.vertex_input, rooms, take(quick_table.AREA_SIZE)
        )
        """The store of prepared draws."""
        self.preparer = Preparer(
            host, self.programs, textures, self.vertex_input, lambda: self.late, prepared, srgb, self.quick.clear
        )
        self.preparer.tier = tier
        self.plan: Plan | None = None
        """The plan of the last draw that had all its programs, apart from draws that kernels make without Python."""

    def __repr__(self) -> str:
        return f"Drawing(tier={self.tier!r}, {self.quick!r})"

    @cached_property
    def late(self) -> LateStages:
        """What runs the stages between the vertex program and the raster."""
        from pocketgpu.maxwell.graphics.stages.late_stages import LateStages  # most programs have no such stages

        return LateStages(
            self.memory, self.engine, self.programs.stages, self.host.workers, self._late, self._rooms,
            self.host.choices,
        )  # fmt: skip

    def forget(self) -> None:
        """Drop everything that was prepared."""
        self.preparer.forget()

    @property
    def region(self) -> int:
        """Arena offset of the REGION record of the current shapes."""
        return self._region

    @property
    def fragments(self) -> int:
        """Arena offset of the first thread's FRAGMENTS record."""
        return self._fragments[0]

    @property
    def pixel_slots(self) -> Sequence[int]:
        """Arena offsets of the slots of the pixel program, one for each thread; unused room if there is no program."""
        return self.programs.stages[PIXEL].slots or [self._scratch] * self.threads

    @property
    def passed(self) -> int:
        """Samples of the last draw that passed all tests."""
        return sum(int(passed[0]) for passed in self._passed)

    def forget_passed(self) -> None:
        """Set the count of passed samples to 0."""
        for passed in self._passed:
            passed[0] = 0

    @property
    def tier(self) -> str:
        """Which kind of code runs."""
        return self.preparer.tier

    @tier.setter
    def tier(self, tier: str) -> None:
        self.preparer.tier = tier
        self.quick.clear()

    # -- one draw -----------------------------------------------------------------------------------------------------
    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Run a draw. state: the live registers, which are those of the draw.

        Errors of the guest become events; none is raised.
        """
        try:
            # A watcher of programs is notified when they are bound, so every draw is prepared for it.
            plan = self.quick.find(draw, state) if self.programs.watch is None else None
            if plan is not None:
                self._go_found(plan, draw, state, counters)
            else:
                self.quick.interrupt()
                self._prepare_and_go(draw, state, counters)
        except UsageError as error:
            self.host.report("fault", "draw.refused", f"{error.message}: nothing is drawn")
        self.quick.follow()  # rooms of programs may have moved

    def _go_found(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        """Run a draw that a kernel has set up for the first thread of the host."""
        self.plan = plan
        self.preparer.map_vertices(plan)
        self._begin_other_threads(plan)
        self._go(plan, draw, state, counters)

    def _begin_other_threads(self, plan: Plan) -> None:
        """Do for the other threads what a kernel has done for the first."""
        if self.threads > 1:
            for passed in self._passed[1:]:
                passed[0] = 0
            for n in plan.programs:
                self.programs.stages[n].begin_steps(1)

    def _prepare_and_go(self, draw: Draw, state: State, counters: Counters) -> None:
        """Prepare a draw in Python, run it, and add it to the store."""
        read = state.recording()
        found = self.preparer.plan_of(read, draw.place)
        if found is None:
            return
        plan, shaders = found
        self.plan = plan
        for id, message in plan.output.events:
            self.host.report("fault", id, message)
        if plan.stores:
            self.memory.open_version()  # so that stores are newer than all copies made now
        prepared = self.preparer.prepare(plan, shaders, draw, state, read)
        if prepared is None:
            return
        self.forget_passed()
        for message in plan.left_out:
            self.host.report("warning", "draw.left_out", message)
        self._go(plan, draw, state, counters)
        plain = plan.chain is None and not plan.streams and not plan.stores and plan.rasters
        settled = plan.final and plan.placed == self.memory.map_changes and all(
            self.programs.stages[n].final for n in plan.programs
        )  # fmt: skip
        reports = plan.output.events or plan.left_out or self.programs.watch is not None
        if plain and settled and not reports:
            self.quick.note(prepared, draw, state, self._walk_of(plan))

    def go_on(self, place: str, counters: Counters) -> None:
        """Run the rest of a draw that a kernel has begun: threads can share it, or a program has failed."""
        self.quick.adopt()
        plan = self.plan = self.quick.current
        self._begin_other_threads(plan)
        try:
            self._follow(plan, self._walk_data[native.STATUS >> 2])
        except _Stopped as stop:
            self._report(stop)
        self._finish(plan, place, counters)

    def _go(self, plan: Plan, draw: Draw, state: State, counters: Counters) -> None:
        """Run a draw that is set up."""
        region = self._region_data
        self._area = 0
        region[_STIPPLE] = region[_SHAPES] = region[_COME] = region[_GONE] = 0
        try:
            if plan.chain is None and not plan.streams and not self._is_looked_at():
                self._walk_through(plan, counters)
            else:
                self._stage_by_stage(plan, state, counters)
        except _Stopped as stop:
            self._report(stop)
        if region[_COME] and counters.any_running:
            counters.add("CLIPPER_INVOCATIONS", region[_COME])
            counters.add("CLIPPER_PRIMITIVES_GENERATED", region[_GONE])
        self._finish(plan, draw.place, counters)

    def _is_looked_at(self) -> bool:
        """Whether an observer has `wants_shapes`."""
        observers = self.host.observers
        return bool(observers) and any(one.wants_shapes for one in observers)

    def _report(self, stop: _Stopped) -> None:
        if stop.args:
            self.host.report("hang", "draw.hang", f"{stop}: the rest of the draw is left out")

    # -- the run ------------------------------------------------------------------------------------------------------
    def _walk_through(self, plan: Plan, counters: Counters) -> None:
        """A draw with vertex programs only."""
        self._walk_words[:] = self._walk_of(plan)
        self.engine.get(walk)(self._walk)
        status = self._walk_data[native.STATUS >> 2]
        if status != native.DONE:
            self._follow(plan, status)
        if counters.any_running:
            counters.add("VS_INVOCATIONS", self._walk_data[WALK.SHADED >> 2])

    def _walk_of(self, plan: Plan) -> NDArray[np.int32]:
        """The WALK record for the start of a plan's draws."""
        stages, kind = self.programs.stages, self._primitives[PRIMITIVES.KIND // 4]
        key = kind, stages[plan.first].slots[0], stages[PIXEL].slots[0] if PIXEL in plan.programs else 0
        found = plan.walks.get(key)
        if found is None:
            found = plan.walks[key] = self._walk_record(plan, *key)
        return found

    def _follow(self, plan: Plan, status: int) -> None:
        """Do what the native call returned for, and continue it, until the draw ends."""
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
        """A WALK record for primitives of a kind and slots of the programs."""
        engine, several = self.engine, self.threads > 1
        words = np.zeros(native.WALK_SIZE // 4, np.int32)
        words[:8].view(np.int64)[:] = (
            engine.handle(next_piece), engine.handle(run_vertices),
            engine.handle(set_up, **_set_up_of(plan, min(kind, 2))),
            engine.handle(raster_shapes, multi=plan.multi),
        )  # fmt: skip
        for name, v in (
            ("INPUT", self.room.input), ("VERTEX_SLOT", vertex_slot), ("VERTEX_ROOM", self._rooms[0]),
            ("RASTER", plan.at), ("REGION", self._region), ("SCRATCH", self._scratch),
            ("PIXEL_SLOT", pixel_slot or self._scratch), ("FRAGMENTS", self._fragments[0]), ("RASTERS", plan.rasters),
            ("SHARE_VERTICES", SHARE_VERTICES if several else 1 << 30),
            ("SHARE_AREA", max(plan.share_area, SHARE_AREA) if several else 1 << 30), ("PHASE", native.PIECE),
            ("MOST_AREA", MOST_AREA), *self._crew_of(plan, pixel_slot),
        ):  # fmt: skip
            words[WALK.offsets[name] // 4] = v
        return words

    def _crew_of(self, plan: Plan, pixel_slot: int) -> tuple[tuple[str, int], ...]:
        """The words of WALK about a helper."""
        if not (self.crew.able and plan.apart):
            return ()
        slot = self.programs.stages[PIXEL].slots[1] if pixel_slot else self._scratch
        return (
            ("CREW", self.crew.at), ("SECOND_SLOT", slot), ("SECOND_FRAGMENTS", self._fragments[1]),
            ("HELP_AREA", HELP_AREA), ("PAIR", int(self.threads == 2)),
        )  # fmt: skip

    def _stage_by_stage(self, plan: Plan, state: State, counters: Counters) -> None:
        """A draw with more stages, or whose primitives go to memory."""
        streams, chosen = plan.streams, state.field("SET_RASTER_INPUT", "STREAM_SELECT")
        following, words = self.engine.get(next_piece), self.memory.words(self.room.input, INPUT.size // 4)
        vertices, primitives = self._lists
        wanted: tuple[int, ...] = (0,)
        if plan.chain is not None:
            vertices, primitives = self.late.vertices, self.late.primitives
            wanted = tuple(range(chain.STREAMS)) if streams else (chosen,)
        while words[INPUT.MORE >> 2]:
            following(self.room.input)
            counters.add("VS_INVOCATIONS", self._shade(plan))
            lists = self.late.pieces(counters, wanted) if plan.chain is not None else iter((0,))
            for stream in lists:
                self._check_programs()
                if streams:
                    self.stream_out.write(state, counters, vertices, primitives, stream)
                if plan.rasters and (stream == chosen or plan.chain is None):
                    count, kind = self.memory.words(primitives, 2).tolist()
                    self._rasterise(plan, kind, count)

    def _shade(self, plan: Plan) -> int:
        """Run the vertex program for the vertices of the piece; returns their number."""
        count = int(self.memory.words(self._lists[0] + VERTICES.COUNT, 1)[0])
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
        make, region, following = self.engine.get(set_up, **_set_up_of(plan, kind)), self._region_data, 0
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
        for one in self.host.observers:
            if one.wants_shapes:
                one.shapes_ready(plan)
        run, area = self.engine.get(raster_shapes, multi=plan.multi), self._region_data[REGION.AREA // 4]
        slots = self.pixel_slots

        def part(number: int, parts: int) -> None:
            run(plan.at, self._region, slots[number], self._fragments[number], number, parts)

        if plan.apart:
            workers, kind = self.host.workers, ("pixels", plan)
            workers.run(part, kind, area + 1)
            self._share_from(plan, workers.least(kind))
        else:
            part(0, 1)
        self._check_programs()

    def _share_from(self, plan: Plan, area: int) -> None:
        """Let kernels draw shapes of less than this area by themselves: asking Python whether threads should share them
        takes longer than many shapes do."""
        area = min(max(area, SHARE_AREA), MOST_AREA)
        if self.threads > 1 and not plan.share_area <= 2 * area <= 4 * plan.share_area:
            plan.share_area = area
            for words in plan.walks.values():
                words[WALK.SHARE_AREA // 4] = area
            self.quick.share_from(plan, area)

    def _finish(self, plan: Plan, place: str, counters: Counters) -> None:
        """After the last pixel: record changed memory, count, report events."""
        if plan.rasters:
            for window in plan.windows:
                if window.pieces:
                    Scratch(self.host).close(window)
                else:
                    self.memory.touch(window.offset, window.size)
            if plan.counts:
                counters.add("ZPASS_PIXEL_CNT64", sum(int(passed[0]) for passed in self._passed))
        self.programs.tell_failures(place, plan.programs)
        if plan.textures:
            self.textures.check()


__all__ = ["AREA_SIZE", "Drawing", "spare"]
