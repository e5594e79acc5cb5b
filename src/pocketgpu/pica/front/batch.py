"""Prepares and runs recorded draws: draw packets become groups, groups become batches.

Consecutive packets with the same state, target, textures and program are prepared as one group, so Python's cost is
per change of state, not per draw. A batch collects groups. It usually takes one native call for the vertex side (more
if the triangle area is full) and then one call per thread for the fragment side. Within a command list only draws
write memory. The batch runs before a draw is added that reads what the batch writes, that writes to the same memory
with another layout, or whose textures do not fit in the cache. Draws that read their own target run one packet at a
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from pocketgpu.events import EventLog
from pocketgpu.facts.choices import departures
from pocketgpu.facts.pica_enums import GEOMETRY_MODE
from pocketgpu.lanes import Engine, late
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.layout import (
    GEOMETRY,
    GROUP,
    KIND_ELEMENTS,
    MAX_PACKETS,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    WorkLayout,
)
from pocketgpu.pica.core.observer import Observer, Run, tell_written
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.core.stats import Stats
from pocketgpu.pica.core.tiers import Tiered
from pocketgpu.pica.fragment.general_words import is_rare
from pocketgpu.pica.fragment.state import FragmentState
from pocketgpu.pica.front.draw_target import DrawTarget, color_format
from pocketgpu.pica.front.plans import (
    GROUP_IDS,
    GROUP_MASKS,
    PREPARED,
    TARGET_IDS,
    TARGET_PART,
    TEXTURES_AT,
    PreparedDraw,
    prepare,
)
from pocketgpu.pica.front.targets import RenderTarget
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.primitives.geometry_programs import GeometryPrograms
from pocketgpu.pica.shader.limits import BREAK_OUTSIDE
from pocketgpu.pica.shader.shader_choices import geometry_choices, rules_of
from pocketgpu.pica.texture.cache import TextureCache
from pocketgpu.pica.vertex import vertex_run
from pocketgpu.pica.vertex.programs import VertexProgram, VertexPrograms
from pocketgpu.workers import Workers

draw_fragments = late("pocketgpu.pica.fragment.kernel", "draw_fragments")
run_draws = late("pocketgpu.pica.fragment.kernel", "run_draws")
assemble = late("pocketgpu.pica.primitives.assembly", "assemble")
emit_vertices = late("pocketgpu.pica.primitives.geometry", "emit_vertices")
geometry_step = late("pocketgpu.pica.primitives.geometry", "geometry_step")
shade_vertices = late("pocketgpu.pica.vertex.fetch", "shade_vertices")
# Limit of each cache (states, targets, textures, plans); far more than programs use.
MAX_PREPARED = 4096
# Pixels (in the bounding boxes of triangles) that one submission may draw before it counts as a hang: 2,800 screens.
PIXEL_BUDGET = 1 << 28
# Choices that affect fragment code.
FRAGMENT_CHOICES = (
    "blend", "combiner", "depth", "fog", "gas", "lighting", "test", "texture.nearest", "texture.shadow_bias",
    "texture.shadow_equal", "texture.shadow_filter", "transfer.block32",
)  # fmt: skip
# Those that affect assembly, and the code that fetches vertices.
ASSEMBLY_CHOICES = ("clip.depth_range", "viewport.offset_sign", "raster.cull_0_3", "vertex.immediate_strip")
FETCH_CHOICES = (
    "vertex.alignment", "vertex.repeated_attribute", "vertex.fixed_and_loaded", "vertex.immediate_inputs",
)  # fmt: skip


_GEOMETRY_WORDS = slice(PACKET.GEOMETRY // 4, PACKET.GEOMETRY // 4 + 2)
# Control words that are zero at the start of a batch's vertex side.
_VERTEX_START = slice(C.VERTEX_ENTRY // 4, C.TRIANGLES // 4 + 1)
_ZEROS = np.zeros(C.size // 4, np.int32).data
_VERTICES, _EMITTED, _TRIANGLES, _AREA, _VERTEX_STATUS, _VERTEX_ENTRY, _VERTEX_FAULTS = (
    int(getattr(C, name)) // 4
    for name in ("VERTICES", "EMITTED", "TRIANGLES", "AREA", "VERTEX_STATUS", "VERTEX_ENTRY", "VERTEX_FAULTS")
)
_GROUP_WORDS = slice(GROUP.WORDS // 4, GROUP.WORDS // 4 + len(GROUP_IDS))


@dataclass
class _StateKernels:
    """A fragment state with its kernels, one for each combination of power-of-two textures."""

    state: FragmentState
    handles: dict[tuple[bool, ...], Tiered] = field(default_factory=dict)


@dataclass
class _DrawPlan:
    """What equal packets of this machine share. words: the prepared words of their heads, with the offsets of textures,
    which change."""

    prepared: PreparedDraw
    state: _StateKernels
    program: VertexProgram
    words: np.ndarray
    used: int = -1  # the last power cycle in which packets used this plan
    # Version and epoch of memory and generation of the texture cache that the texture offsets are for.
    stamp: tuple[int, int, int] = (-1, -1, -1)


class DrawRunner:
    """Prepares and runs the packets that the command list walk recorded."""

    def __init__(
        self, memory: GuestMemory, engine: Engine, layout: WorkLayout, control: np.ndarray, events: EventLog,
        stats: Stats, threads: int, choices: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.memory, self.engine, self.layout, self.events = memory, engine, layout, events
        self.stats, self.choices = stats, choices
        # Only choices that differ from the default change the code.
        self._chosen = departures(choices, *FRAGMENT_CHOICES)
        self._departures = departures(choices)
        self.fetch_choices = departures(choices, *FETCH_CHOICES)
        self.assembly_choices = departures(choices, *ASSEMBLY_CHOICES)
        self._words = control.data
        self.static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        self._workers = Workers(threads)
        self.textures = TextureCache(memory, engine, layout, choices)
        self._states: dict[FragmentState, _StateKernels] = {}
        self.tier = "auto"
        rules = rules_of(choices)
        self._vertex_programs = VertexPrograms(engine, memory.arena, layout, rules)
        self.geometry_programs = GeometryPrograms(engine, memory.arena, layout, rules)
        self._geometry_choices = geometry_choices(choices)
        self._staged = False  # whether any draw had a geometry shader
        self._plans: dict[tuple[bytes, int], _DrawPlan] = {}
        self._cycle = 0  # number of power cycles
        self._drawn_to: dict[bytes, DrawTarget] = {}  # since power-on
        self._batch = _DrawBatch()
        self.observers: tuple[Observer, ...] = ()
        """These run the fragment side of a batch, and are notified of what draws wrote."""
        self.pixels = 0  # in the bounding boxes of all triangles since the caller last set it to 0
        words = memory.arena[layout.packets : layout.packets + MAX_PACKETS * PACKET_SIZE].view(np.int32)
        packets = words.reshape(MAX_PACKETS, -1)
        self._heads = packets[:, : PACKET_REGISTERS // 4]
        self._registers = packets[:, PACKET_REGISTERS // 4 :].view(np.uint32)
        self._shaders = packets.view(np.int64)[:, PACKET.PROGRAM // 8]
        groups = memory.arena[layout.groups : layout.groups + MAX_PACKETS * GROUP.size].reshape(MAX_PACKETS, -1)
        self._group_heads = groups[:, : GROUP.WORDS].view(np.int64)
        self._group_words = groups.view(np.uint32)[:, _GROUP_WORDS]
        run_list = memory.arena[layout.run_list : layout.run_list + 16 * MAX_PACKETS].view(np.int64)
        self._run_list = run_list.reshape(MAX_PACKETS, 2)
        self._run_words = run_list.data
        threads = self._workers.threads
        self._counters = memory.words(layout.counters, threads).data
        self._no_fragments = np.zeros(threads, np.int32).data
        self._packet_offsets = np.arange(MAX_PACKETS) * PACKET_SIZE + layout.packets

    def reset(self) -> None:
        """Power cycle: no draw has happened yet. Prepared plans and code stay valid."""
        self._cycle += 1
        self._drawn_to.clear()
        self.rewind()

    @property
    def states(self) -> int:
        """Different fragment states for which code was asked for."""
        return len(self._states)

    def rewind(self) -> None:
        """The core is restored to an earlier state: the batch is empty."""
        self._batch.clear()
        self._staged = False
        vars(self).pop("_geometry_stage", None)  # it stored a handle in the geometry unit, which may be gone

    @property
    def exhausted(self) -> bool:
        """Whether a submission exceeds the draw budgets; its remaining draws are skipped."""
        words = self._words
        return (
            self.pixels > PIXEL_BUDGET
            or words[_VERTICES] > vertex_run.VERTEX_BUDGET
            or words[_EMITTED] > vertex_run.VERTEX_BUDGET
        )

    def _get(self, offset: int) -> int:
        word: int = self._words[offset >> 2]
        return word

    def _set(self, offset: int, value: int) -> None:
        self._words[offset >> 2] = value

    # -- caches -----------------------------------------------------------------------------------------------------
    def color_targets(self) -> list[RenderTarget]:
        """The colour buffers of all draws so far, each once, in order of their first draw."""
        found = []
        for raw, target in self._drawn_to.items():
            words = np.frombuffer(raw, np.uint32).tolist()
            get = StaticRegisters(dict(zip(TARGET_IDS.tolist(), words, strict=True)))
            start = get.bytes("COLORBUFFER_LOC.address") & ~63
            blocks = self.choices["transfer.block32"] if target.block == 32 else ""
            found.append(RenderTarget(start, target.width, target.height, color_format(get), blocks))
        return list(dict.fromkeys(found))

    # -- preparing --------------------------------------------------------------------------------------------------
    def run(self, count: int, place: str, start: int = 0) -> None:
        """Run recorded packets start .. count-1. `place` names the frame, for events."""
        started = perf_counter()
        groups = self._get(C.GROUPS)
        for number in range(groups):
            if number and self.exhausted:
                break
            low, high, first, end = self._group_heads[number].tolist()
            first, end = max(first, start), min(end, count)
            if first >= end:
                continue
            at = f"{place}/d{self.stats.draws}"
            self.stats.draws += end - first
            started = self._group(self._group_words[number], first, end, (low, high), at, started)
        self._run_batch(started)
        self._vertex_programs.forget_places()

    def _group(self, row: np.ndarray, first: int, end: int, reads: tuple[int, int], at: str, started: float) -> float:
        """Prepare packets first .. end-1, which share `row`; returns the time when the last run ended."""
        program = self._vertex_programs.of(self._heads[first], self._registers[first])
        key = (row.tobytes(), program.number)
        plan = self._plans.get(key)
        if plan is None:
            self._bound()
            plan = self._plans[key] = self._plan(key[0], program)
        draw = plan.prepared
        for kind, id, message in draw.events:
            self.events.report(kind, id, message, at, end - first)
        target = draw.target
        if target is None:
            return started
        if plan.used != self._cycle:
            plan.used = self._cycle
            self._drawn_to[row[TARGET_PART].tobytes()] = target
        ranges = draw.ranges
        if reads[0] < reads[1]:
            extent = self.memory.extent_of(reads[0])
            if extent is not None:
                ranges = [*ranges, (extent[0], reads[1] - reads[0])]
        # Textures that had room in this generation of the cache still have it.
        fits = plan.stamp[2] == self.textures.generation or self.textures.fits(draw.textures.values())
        if self._batch.groups and (not fits or self._batch.conflicts(target, ranges)):
            started = self._run_batch(started)
        if not fits:
            self.textures.drop()
        handle = self._handle(plan.state, draw.powers)
        if draw.geometry is not None:
            if not self._ready_geometry(draw.geometry, first, end, at):
                return started
            self._staged = True
        shade = program.handle(self.tier)
        alone = self._batch.self_conflict(target, ranges)
        for packet_first, packet_end in [(p, p + 1) for p in range(first, end)] if alone else [(first, end)]:
            if alone:
                started = self._run_batch(started)
            stamp = (self.memory.version, self.memory.epoch, self.textures.generation)
            if plan.stamp != stamp:
                for unit, source in draw.textures.items():
                    plan.words[TEXTURES_AT + unit] = self.textures.rows(source)
                plan.stamp = (*stamp[:2], self.textures.generation)
            self._heads[packet_first:packet_end, PREPARED] = plan.words
            self._shaders[packet_first:packet_end] = shade
            self._batch.add(packet_first, packet_end, handle, target, program)
        self._batch.place = at
        return started

    def _ready_geometry(self, mode: int, first: int, end: int, at: str) -> bool:
        """Prepare the geometry stage of equal packets; returns whether they can be drawn."""
        if mode not in GEOMETRY_MODE:
            message = f"geometry shader mode {mode} is not known; the draw is left out"
            self.events.report("warning", "draw.left-out", message, at, end - first)
            return False
        if mode == GEOMETRY_MODE.VARIABLE and (self._heads[first:end, PACKET.KIND // 4] != KIND_ELEMENTS).any():
            message = "a geometry shader has primitives of variable size, but there is no index list with their sizes"
            self.events.report("fault", "draw.no-sizes", message, at)
        self.geometry_programs.tier = self.tier
        handle = self.geometry_programs.handle(self._heads[first], self._registers[first])
        self._heads[first:end, _GEOMETRY_WORDS] = np.array([handle], np.int64).view(np.int32)
        return True

    def _bound(self) -> None:
        """Clear caches that exceed MAX_PREPARED; their entries can be made again."""
        for kept in (self._plans, self._states, self.textures.described):
            if len(kept) > MAX_PREPARED:
                kept.clear()

    def _plan(self, row: bytes, program: VertexProgram) -> _DrawPlan:
        """The plan of all packets with this row and vertex program."""
        prepared = prepare(row, self.memory, self.textures, self._departures)
        state = self._state(prepared.state)
        return _DrawPlan(prepared, state, program, prepared.words.copy())

    def _state(self, state: FragmentState) -> _StateKernels:
        known = self._states.get(state)
        if known is None:
            known = self._states[state] = _StateKernels(state)
        return known

    def _handle(self, state: _StateKernels, powers_of_two: tuple[bool, ...]) -> int:
        """The fragment kernel for a state: specialised code if it is available, else general code, which draws the same
        until the specialised code is compiled."""
        known = state.handles.get(powers_of_two)
        if known is not None:
            return known.handle(self.tier)
        special: dict[str, Any] = {
            "words": state.state.words, "powers_of_two": powers_of_two, "choices": self._chosen, **self.static,
        }  # fmt: skip
        rare: dict[str, Any] = {"rare": True} if is_rare(state.state) else {}
        general = {**special, "words": None, "powers_of_two": (), **rare}
        code = Tiered(self.engine, (draw_fragments, special), (draw_fragments, general))
        state.handles[powers_of_two] = code
        return code.handle(self.tier)

    def fragment_code(self, packet: int) -> dict[str, Any]:
        """Static arguments of the specialised `draw_fragments` for a recorded packet's state."""
        registers = self._registers[packet]
        row = (registers[GROUP_IDS] & GROUP_MASKS).tobytes()
        draw = prepare(row, self.memory, self.textures, self._departures)
        return {"words": draw.state.words, "powers_of_two": draw.powers, "choices": self._chosen, **self.static}

    def drawn(self, entry: int) -> int:
        """The packet number of a run list entry."""
        return (int(self._run_list[entry, 1]) - self.layout.packets) // PACKET_SIZE

    # -- running ----------------------------------------------------------------------------------------------------
    def _run_batch(self, started: float) -> float:
        """Run the batch; returns the time now."""
        batch = self._batch
        if not batch.groups:
            return started
        count = 0
        programs: list[tuple[int, VertexProgram]] = []
        for first, end, handle, program in batch.groups:
            if end - first == 1:  # arrays of one row take longer
                self._run_words[2 * count] = handle
                self._run_words[2 * count + 1] = self.layout.packets + first * PACKET_SIZE
            else:
                entries = self._run_list[count : count + end - first]
                entries[:, 0] = handle
                entries[:, 1] = self._packet_offsets[first:end]
            count += end - first
            programs.append((count, program))
        words = self._words
        vertices, shade, build = self._vertex_side
        geometry = self._geometry_stage if self._staged else 0  # only draws with a geometry stage call it
        words[_VERTEX_START] = _ZEROS[_VERTEX_START]
        drawn = 0
        while True:
            vertices(count, shade, geometry, build)
            status, entry = words[_VERTEX_STATUS], words[_VERTEX_ENTRY]
            if status == vertex_run.INEXACT:
                self._shade_exactly(entry, next(program for end, program in programs if entry < end))
                continue
            now = perf_counter()
            self.stats.seconds["vertex"] += now - started
            started = self._raster(drawn, count if status == vertex_run.DONE else entry + 1, batch, now)
            if status != vertex_run.FULL or self.exhausted:
                break
            drawn = entry
            self._heads[self.drawn(entry), PACKET.FIRST_TRIANGLE // 4] = 0
        if status == vertex_run.HUNG:
            kind = "vertex" if self._get(C.VERTEX_STAGE) == vertex_run.SHADE else "geometry"
            reasons = self._get(C.HANG)
            if reasons & BREAK_OUTSIDE:
                message = f"a {kind} program comes to a BREAK outside of any loop"
                self.events.report("hang", "shader.break", message, batch.place)
            if reasons & ~BREAK_OUTSIDE:
                message = f"a {kind} program does not come to an end"
                self.events.report("hang", "shader.endless", message, batch.place)
        if words[_VERTEX_FAULTS]:
            words[_VERTEX_FAULTS] = 0
            message = "vertices or indices lie outside memory; they read as 0"
            self.events.report("fault", "vertex.unmapped", message, batch.place)
        self.stats.vertices = words[_VERTICES]
        batch.clear()
        return started

    @cached_property
    def _geometry_stage(self) -> int:
        """The handle of the geometry stage. Stores the handle of what EMIT calls in the geometry unit."""
        self._store_emit_handle()
        return self.engine.handle(geometry_step, **self._geometry_choices, **self.static)

    def _store_emit_handle(self) -> None:
        at = self.layout.geometry + GEOMETRY.EMIT
        self.memory.arena[at : at + 8].view(np.int64)[0] = self.engine.handle(emit_vertices, **self.static)

    @cached_property
    def _vertex_side(self) -> tuple[Callable[..., None], int, int]:
        """The loop over draws, and the handles of the code it calls."""
        shade = self.engine.handle(shade_vertices, **self.static, choices=self.fetch_choices)
        build = self.engine.handle(assemble, **self.static, choices=self.assembly_choices)
        return self.engine.get(vertex_run.run_vertices, **self.static), shade, build

    @cached_property
    def _fragment_side(self) -> Callable[..., None]:
        return self.engine.get(run_draws, **self.static)

    def _shade_exactly(self, entry: int, program: VertexProgram) -> None:
        """Shade a piece again with the unit's exact multiplication rule; assembly continues with the result."""
        self._shade(int(self._run_list[entry, 1]), self._get(C.VERTEX_START), self._get(C.PIECE), program)
        self._set(C.VERTEX_STAGE, vertex_run.SHADED)

    def _shade(self, packet: int, start: int, count: int, program: VertexProgram) -> None:
        shade = self.engine.get(shade_vertices, **self.static, choices=self.fetch_choices)
        shade(packet, start, count, program.handle(self.tier, exact=True))

    def shade_alone(self, packet: int, start: int, count: int) -> None:
        """Shade some vertices of a recorded packet and do nothing else with them, so that a caller can read the rows
        and records in the work area. The rows hold all of them only if there are at most CHUNK."""
        program = self._vertex_programs.of(self._heads[packet], self._registers[packet])
        self._shade(int(self._packet_offsets[packet]), start, count, program)
        self._vertex_programs.forget_places()

    def emit_alone(self, packet: int, start: int) -> None:
        """Run one step of a packet's geometry stage on the last shaded piece; see `geometry_step`. The packet's mode
        must be a valid one."""
        self._store_emit_handle()
        self.geometry_programs.tier = self.tier
        # A skipped packet has not been prepared.
        handle = self.geometry_programs.handle(self._heads[packet], self._registers[packet])
        self._heads[packet, _GEOMETRY_WORDS] = np.array([handle], np.int64).view(np.int32)
        step = self.engine.get(geometry_step, **self._geometry_choices, **self.static)
        step(int(self._packet_offsets[packet]), start)

    def _raster(self, first: int, end: int, batch: _DrawBatch, started: float) -> float:
        """The fragment side of run list entries first .. end-1; empties the triangle area. Returns the time now."""
        words = self._words
        triangles, area = words[_TRIANGLES], words[_AREA]
        self.pixels += area
        if triangles:
            run = self._fragment_side
            if self._workers.threads == 1 and not self.observers:
                run(first, end, 0, 1)
            else:
                code = tuple(handle for _, _, handle, _ in batch.groups)

                def draw_parts(low: int, high: int) -> None:
                    self._workers.run(lambda part, parts: run(low, high, part, parts), code, area)

                draw: Run = draw_parts
                for one in reversed(self.observers):
                    draw = partial(_asked, one, draw)
                draw(first, end)
            self.memory.touch_all(batch.ranges)
            if self.observers:
                tell_written(self.observers, batch.ranges)
            self.stats.triangles += triangles
            self.stats.fragments += sum(self._counters)
            self._counters[:] = self._no_fragments
        words[_TRIANGLES] = words[_AREA] = 0
        now = perf_counter()
        self.stats.seconds["raster"] += now - started
        return now


def _asked(observer: Observer, run: Run, first: int, end: int) -> None:
    observer.fragments(first, end, run)


class _DrawBatch:
    """Groups of draws that run together, and the ranges they write."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.groups: list[tuple[int, int, int, VertexProgram]] = []
        self.ranges: set[tuple[int, int]] = set()
        self._shapes: set[tuple[int, ...]] = set()
        self.place = ""

    def add(self, first: int, end: int, handle: int, target: DrawTarget, program: VertexProgram) -> None:
        self.groups.append((first, end, handle, program))
        if target.shape not in self._shapes:
            self._shapes.add(target.shape)
            self.ranges.update(target.ranges)

    def conflicts(self, target: DrawTarget, reads: list[tuple[int, int]]) -> bool:
        """Whether draws must wait: they read what the batch writes, or write to it with another layout."""
        if not self.groups:
            return False
        others = reads if target.shape in self._shapes else [*reads, *target.ranges]
        return _overlap(others, self.ranges)

    @staticmethod
    def self_conflict(target: DrawTarget, reads: list[tuple[int, int]]) -> bool:
        """Whether draws read what they write themselves: each must then wait for the one before."""
        return _overlap(reads, target.ranges)


def _overlap(some: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]) -> bool:
    for a, m in some:
        for b, n in others:
            if a < b + n and b < a + m and m and n:
                return True
    return False
