"""Watching programs that a GM20B runs: launches of its compute class, stages of its draws.

    with watch_launches(gpu.grids.launcher, at=((0,), (5,))) as watch:
        gpu.submit(...)
    watch.traces

Draws must run on one thread, and on the interpreter: `gpu.drawing.tier = "general"` before the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from pocketgpu.inspect.stepping.company import ALONE, Company
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.lane_record import Listing
from pocketgpu.inspect.stepping.switch import listing_of
from pocketgpu.inspect.stepping.warps import MOST, Choose, LaneWatch
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.graphics.input.vertex_records import ELEMENTS, INPUT_PAGE, WANTED
from pocketgpu.maxwell.graphics.programs.programs import Programs, StageLaunch
from pocketgpu.maxwell.graphics.records import (
    FRAGMENTS,
    LANE_X,
    LANE_Y,
    PAGE_SLOTS,
    PRIMITIVE_ID,
    PRIMITIVES,
    VERTICES,
)
from pocketgpu.maxwell.graphics.stages.geometry import GEOMETRY
from pocketgpu.maxwell.graphics.stages.tessellation import TESSELLATION
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, WARP, WARPS
from pocketgpu.maxwell.sass.warp.interpreter import interpret_warp

Words = np.ndarray[Any, np.dtype[np.uint32]]


def thread_of(words: Words, at: tuple[Sequence[int], Sequence[int]]) -> Choose:
    """Chooses thread `at` (block, thread) of a launch; no warp if the grid has no such thread. words: of the arena."""
    place, thread = ((*(int(v) for v in one), 0, 0)[:3] for one in at)

    def choose(launch: int, slot: int, warp: int) -> int | None:
        grid, block = (words[(launch + word) // 4 :][:3].tolist() for word in (LAUNCH.GRID, LAUNCH.BLOCK))
        if any(v >= size for v, size in zip((*place, *thread), (*grid, *block), strict=True)):
            return None
        number, linear = (p[0] + s[0] * (p[1] + s[1] * p[2]) for p, s in ((place, grid), (thread, block)))
        return linear % LANES if (number, linear // LANES) == (int(words[(slot + BLOCK.NUMBER) // 4]), warp) else None

    return choose


def pixel_of(words: Words, x: int, y: int) -> Choose:
    """Chooses the lane of a pixel of the render target in warps of pixel programs that draw it."""
    lanes = {place: lane for lane, place in enumerate(zip(LANE_X, LANE_Y, strict=True))}

    def choose(launch: int, slot: int, warp: int) -> int | None:
        corner = int(words[(slot + BLOCK.NUMBER) // 4])
        lane = lanes.get((x - (corner & 0xFFFF), y - (corner >> 16)))
        covered = int(words[(int(words[(slot + BLOCK.FRAGMENTS) // 4]) + FRAGMENTS.COVERED) // 4])
        return lane if lane is not None and covered >> lane & 1 else None

    return choose


def vertex_of(words: Words, element: int) -> Choose:
    """Chooses the lane of a vertex in warps of the first vertex program.

    element: the number by which its attributes are fetched: its index plus SET_GLOBAL_BASE_VERTEX_INDEX.
    """

    def choose(launch: int, slot: int, warp: int) -> int | None:
        room = (int(words[(slot + BLOCK.IN_AT) // 4]) - INPUT_PAGE) // 4
        numbers, wanted = words[room + ELEMENTS // 4 :][:LANES].tolist(), int(words[room + WANTED // 4])
        return next((n for n, number in enumerate(numbers) if number == element and wanted >> n & 1), None)

    return choose


def thread_of_patch(words: Words, primitive: int, number: int) -> Choose:
    """Chooses thread `number` of the control program for a patch, by its primitive id."""

    def choose(launch: int, slot: int, warp: int) -> int | None:
        own = _ids(words, slot) == primitive
        own &= _invocations(words, slot) == number
        return _first(own & _active(words, launch, slot, warp))

    return choose


def point_of_patch(words: Words, stage: int, primitive: int, number: int) -> Choose:
    """Chooses point `number` of a patch in warps of the evaluation program.

    stage: offset of the TESSELLATION record.
    """

    def choose(launch: int, slot: int, warp: int) -> int | None:
        own = (_ids(words, slot) == primitive) & _active(words, launch, slot, warp)
        if not own.any():
            return None
        record = stage + TESSELLATION.VERTICES
        pages, size = (int(words[(record + at) // 4]) for at in (VERTICES.PAGES, VERTICES.PAGE_SIZE))
        first = (int(words[(slot + BLOCK.OUT_AT) // 4]) - pages) // size * LANES
        patches = words[int(words[(stage + TESSELLATION.POINT_PATCH) // 4]) // 4 :][: first + LANES]
        # The points of a patch lie side by side.
        lane = int(np.argmax(patches == patches[first + int(np.argmax(own))])) + number - first
        return lane if 0 <= lane < LANES and own[lane] else None

    return choose


def run_of_geometry(words: Words, stage: int, primitive: int, number: int) -> Choose:
    """Chooses run `number` of the geometry program for a primitive, by its id.

    It runs for each primitive that the tessellator makes of a patch, and as many times for each as the program says.
    stage: offset of the GEOMETRY record.
    """

    def choose(launch: int, slot: int, warp: int) -> int | None:
        invocations, primitives = (
            int(words[(stage + at) // 4]) for at in (GEOMETRY.INVOCATIONS, GEOMETRY.PRIMITIVES_IN)
        )
        count, columns, stride = (
            int(words[(primitives + at) // 4]) for at in (PRIMITIVES.COUNT, PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE)
        )
        rows = np.flatnonzero(words[(columns + PRIMITIVE_ID * stride) // 4 :][:count] == primitive)
        if number // invocations >= len(rows):
            return None
        wanted = int(rows[number // invocations]) * invocations + number % invocations
        lane = wanted - int(words[(slot + BLOCK.NUMBER) // 4])
        return lane if 0 <= lane < LANES and _active(words, launch, slot, warp)[lane] else None

    return choose


def _ids(words: Words, slot: int) -> Words:
    """The primitive ids of the lanes of a stage after the vertex stage."""
    page = int(words[(slot + BLOCK.IN_AT) // 4])
    return words[(page + PAGE_SLOTS) // 4 :][:LANES]


def _invocations(words: Words, slot: int) -> Words:
    return words[int(words[(slot + BLOCK.INVOCATIONS_AT) // 4]) // 4 :][:LANES]


def _active(words: Words, launch: int, slot: int, warp: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The lanes that a warp begins with."""
    at = slot + WARPS + warp * int(words[(launch + LAUNCH.WARP_STRIDE) // 4])
    found: np.ndarray[Any, np.dtype[np.bool_]] = int(words[(at + WARP.ACTIVE) // 4]) >> np.arange(LANES) & 1 != 0
    return found


def _first(lanes: np.ndarray[Any, np.dtype[np.bool_]]) -> int | None:
    return int(np.argmax(lanes)) if lanes.any() else None


@contextmanager
def watch_launches(
    launcher: Launcher, at: tuple[Sequence[int], Sequence[int]], *, number: int = 0, most: int = MOST,
    overrides: Forced | None = None, company: Company = ALONE,
) -> Iterator[LaneWatch]:
    """Watch thread `at` (block, thread) of launch `number`, counted from 0 from the start of this context.

    Its trace is in `traces` of the returned watch; there is none if no such thread ran. company: as for `LaneWatch`.
    """
    words = launcher.memory.arena.view(np.uint32)
    lane = "block {}, thread {}".format(*(",".join(map(str, one)) for one in at))
    watch = LaneWatch(
        launcher.engine, launcher.memory.arena, None, thread_of(words, at), name="", lane=lane, most=most,
        overrides=overrides, company=company, memory=launcher.memory,
    )  # fmt: skip
    made = 0
    with watch.on(launcher.record) as handle:

        def looks_on(code: Code, interpreter: int) -> int:
            nonlocal made
            made += 1
            if made - 1 != number:
                return interpreter
            watch.listing, watch.name = listing_of(code), code.name
            return handle

        before, launcher.watch = launcher.watch, looks_on
        try:
            yield watch
        finally:
            launcher.watch = before


@contextmanager
def watch_stage(
    programs: Programs, pipeline: int, choose: Choose, *, name: str = "", lane: str = "", most: int = MOST,
    runs: int = 1, overrides: Forced | None = None, company: Company = ALONE,
) -> Iterator[LaneWatch]:  # fmt: skip
    """Watch lanes of a stage in all draws within this context.

    programs: of the machine's draws (`gpu.drawing.programs`). pipeline: number of the stage: vertex A, vertex B,
    control, evaluation, geometry, pixel. choose: see `pixel_of`, `vertex_of`. runs: how many traces are kept.
    overrides: what-if, words for registers right before steps. company: as for `LaneWatch`.

    :raises UsageError: another watch is on the stage.
    """
    stage = programs.stages[pipeline]
    watch = LaneWatch(
        programs.engine, programs.memory.arena, None, choose, name=name, lane=lane, most=most, runs=runs,
        overrides=overrides, company=company, memory=programs.memory,
    )  # fmt: skip
    run = stage.words[LAUNCH.RUN // 4 : LAUNCH.RUN // 4 + 2].view(np.int64)
    listings: dict[Any, Listing] = {}
    with ExitStack() as stack:
        handle = stack.enter_context(watch.on(stage.record))

        def take(bound: StageLaunch) -> None:
            if bound is not stage or bound.program is None:
                return
            code = bound.program.code
            if code.key not in listings:
                listings[code.key] = listing_of(code)
            watch.listing = listings[code.key]
            watch.name = name or f"{bound.name} program {bound.program.address:#x}"
            if int(run[0]) == _interpreter(programs.engine):
                run[0] = handle

        before, programs.watch = programs.watch, take
        take(stage)
        try:
            yield watch
        finally:
            programs.watch = before
            if int(run[0]) == handle:
                run[0] = _interpreter(programs.engine)


def _interpreter(engine: Engine) -> int:
    return engine.handle(interpret_warp)


__all__ = [
    "pixel_of", "point_of_patch", "run_of_geometry", "thread_of", "thread_of_patch", "vertex_of", "watch_launches",
    "watch_stage",
]  # fmt: skip
