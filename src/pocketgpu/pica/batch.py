"""Recorded draws, prepared and run.

Packets that share everything that matters here (state, target, textures, program) are prepared as one group, so the
cost in Python is per change of state, not per draw. Groups collect in a batch; the batch runs as one native call for
the vertex side and one for each thread on the fragment side. Within a list only draws write memory: one that reads
what an earlier draw of the batch writes, or that uses part of its target in another shape, makes the batch run first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from ..events import EventKind, EventLog
from ..facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS
from ..facts.switches import departures
from ..lanes import Engine
from ..memory import GuestMemory
from . import vertex_driver as driver
from .any_state import covers, general_words, unit_settings
from .fragment import draw_fragments, run_draws
from .geometry import FIXED, GEOMETRY_ON, VARIABLE, emit_vertices, geometry_choices, geometry_step
from .geometry_programs import GeometryPrograms
from .layout import (
    BANK_INDEX,
    GEOMETRY,
    KIND_ELEMENTS,
    MAX_PACKETS,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    UNIT_SIZE,
    WorkLayout,
)
from .layout import CONTROL as C
from .primitives import ASSEMBLY_CHOICES, assemble
from .registers import StaticRegisters, select_fields
from .registers import field as register_field
from .shader.interpreter import vertex_interpreter
from .shader.program import TooComplex
from .shader.rules import rules_of, with_end
from .shader.translate import program_of, vertex_program
from .state import KEY_IDS, KEY_MASKS, MODE_GAS, MODE_SHADOW, FragmentState, normalise
from .stats import Stats
from .targets import RenderTarget
from .texture import LEVELS
from .texture_cache import UNIT_IDS, Source, TextureCache
from .tiers import choose_tier
from .vertex_fetch import FETCH_CHOICES, shade_vertices
from .workers import Workers

_TARGET_IDS, _TARGET_MASKS = select_fields(
    [
        "COLORBUFFER_LOC.address", "DEPTHBUFFER_LOC.address", "FRAMEBUFFER_DIM.width", "FRAMEBUFFER_DIM.height",
        "FRAMEBUFFER_DIM.flip", "COLORBUFFER_FORMAT.format", "DEPTHBUFFER_FORMAT.format", "SCISSORTEST_MODE.mode",
        "SCISSORTEST_POS.x1", "SCISSORTEST_POS.y1", "SCISSORTEST_DIM.x2", "SCISSORTEST_DIM.y2",
        "COLOR_OPERATION.fragment_mode", "FRAMEBUFFER_BLOCK32.enable",
    ]
)  # fmt: skip
_PROGRAM_IDS, _PROGRAM_MASKS = select_fields(
    [*(f"{unit}_ENTRYPOINT.{half}" for unit in ("VSH", "GSH") for half in ("entry", "end")), "GSH_MISC0.mode"]
)
# What a group has in common: register words under their masks, and the versions of the program's banks.
GROUP_IDS = np.concatenate([KEY_IDS, _TARGET_IDS, _PROGRAM_IDS, UNIT_IDS])
GROUP_MASKS = np.concatenate([KEY_MASKS, _TARGET_MASKS, _PROGRAM_MASKS, np.full(len(UNIT_IDS), 0xFFFFFFFF, np.uint32)])
_KEY, _TARGET = slice(0, len(KEY_IDS)), slice(len(KEY_IDS), len(KEY_IDS) + len(_TARGET_IDS))
# States, targets, textures and plans that are remembered of each kind: far more than programs have.
MAX_PREPARED = 4096
# Pixels (in the boxes of triangles) that one submission may draw before it is taken to hang: 2,800 screens.
PIXEL_BUDGET = 1 << 28
# Switches that shape fragment code.
FRAGMENT_CHOICES = (
    "blend", "combiner", "depth", "fog", "gas", "lighting", "test", "texture.nearest", "texture.shadow_bias",
    "texture.shadow_equal", "texture.shadow_filter", "transfer.block32",
)  # fmt: skip


def _word(name: str) -> int:
    return int(getattr(PACKET, name)) // 4


_W = {
    name: _word(name)
    for name in (
        "SAME",
        "KIND",
        "GEOMETRY",
        "STATE",
        "UNITS",
        "COLOR",
        "TEXTURES",
        "RECT",
        "VERSIONS",
        "PROGRAM",
        "FIRST_TRIANGLE",
        "LEVELS",
        "FACES",
        "TOP_LEVELS",
    )
}
_CODE, _OPDESCS = (_W["VERSIONS"] + BANK_INDEX[bank] for bank in ("vs_code", "vs_opdescs"))
_PREPARED = slice(_W["COLOR"], PACKET.size // 4)
_PROGRAM_WORDS = slice(_W["PROGRAM"], _W["PROGRAM"] + 2)
_GEOMETRY_WORDS = slice(_W["GEOMETRY"], _W["GEOMETRY"] + 2)
_Program = tuple[bytes, bytes, int]


@dataclass
class _State:
    """A fragment state with its kernels, one for each combination of power-of-two textures."""

    state: FragmentState
    general: list[int]
    handles: dict[tuple[bool, ...], int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Target:
    """Where draws write: arena ranges, size, and the rectangle they may touch (x0, x1, y0, y1 in memory rows)."""

    color: tuple[int, int]
    depth: tuple[int, int]
    width: int
    height: int
    rect: tuple[int, int, int, int]
    block: int
    """Pixels along the side of what lies together in memory: 8, or 32 in block mode."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return (*self.color, *self.depth, self.width, self.height, self.block)

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """What draws write."""
        return [r for r in (self.color, self.depth) if r[1]]


@dataclass
class _Plan:
    """What packets that agree in everything have in common. target None: they are left out. words: the prepared part of
    their heads, but for where textures lie just now."""

    events: list[tuple[EventKind, str, str]]
    target: _Target | None = None
    state: _State | None = None
    powers: tuple[bool, ...] = ()
    program: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int32))
    textures: dict[int, Source] = field(default_factory=dict)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    words: np.ndarray = field(default_factory=lambda: np.zeros(_PREPARED.stop - _PREPARED.start, np.int32))
    stamp: tuple[int, int] = (-1, -1)  # versions of memory and texture cache for which the textures in `words` hold


def make_target(memory: GuestMemory, get: StaticRegisters) -> _Target | str:
    """The render target that registers describe, or why there is none."""
    width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
    block = 32 if get("FRAMEBUFFER_BLOCK32.enable") else 8
    texels = (width & -block) * ((height + block - 1) & -block)
    if not texels:
        return f"render target of width {width}: nothing can be drawn"
    ranges = []
    color = FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), 4)]
    depth = DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format"))
    mode = get("COLOR_OPERATION.fragment_mode")
    if mode in (MODE_GAS, MODE_SHADOW):  # these count in words of their own
        color = FRAMEBUFFER_COLOR_FORMATS[0]
    if mode == MODE_SHADOW:
        depth = None
    for name, format in (("COLORBUFFER", color), ("DEPTHBUFFER", depth)):
        if format is None:
            ranges.append((0, 0))
            continue
        pa, size = get(f"{name}_LOC.address") << 3, texels * (format.bits // 8)
        offset = memory.offset_of(pa & ~63, size)
        if offset is None:
            return f"{name} {pa:#010x}..{pa + size:#010x} leaves memory; the draw is left out"
        ranges.append((offset, size))
    rect = [0, (width & -block) - 1, 0, height - 1]
    if get("SCISSORTEST_MODE.mode") == 3:
        x1, x2 = get("SCISSORTEST_POS.x1"), get("SCISSORTEST_DIM.x2")
        ys = (get("SCISSORTEST_POS.y1"), get("SCISSORTEST_DIM.y2"))
        if get("FRAMEBUFFER_DIM.flip"):
            ys = (height - 1 - ys[1], height - 1 - ys[0])
        rect = [max(rect[0], x1), min(rect[1], x2), max(rect[2], ys[0]), min(rect[3], ys[1])]
    return _Target(ranges[0], ranges[1], width, height, (rect[0], rect[1], rect[2], rect[3]), block)


class DrawRunner:
    """Prepares and runs the packets that the command list walk recorded."""

    def __init__(
        self, memory: GuestMemory, engine: Engine, layout: WorkLayout, control: np.ndarray, events: EventLog,
        stats: Stats, threads: int, switches: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.memory, self.engine, self.layout, self.events = memory, engine, layout, events
        self.stats, self.switches = stats, switches
        # Only choices that differ from the default shape code.
        self._chosen = departures(switches, *FRAGMENT_CHOICES)
        self._fetch_choices = departures(switches, *FETCH_CHOICES)
        self._assembly_choices = departures(switches, *ASSEMBLY_CHOICES)
        self._rules = rules_of(switches)
        self._control = control
        self._static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        self._workers = Workers(threads)
        self.textures = TextureCache(memory, engine, layout, switches)
        self._states: dict[bytes, _State] = {}
        self._targets: dict[bytes, _Target | str] = {}
        self._programs: dict[_Program, dict[bool, int] | str] = {}
        self.tier = "auto"
        self._geometry_programs = GeometryPrograms(engine, memory.arena, layout, self._rules)
        self._geometry_choices = geometry_choices(switches)
        self._staged = False  # whether any draw had a geometry shader
        self._queued: set[Any] = set()
        self._plans: dict[tuple[bytes, _Program], _Plan] = {}
        # Programs by where this run's packets have them: the same place holds another one in the next run.
        self._present: dict[tuple[int, int, int, int], tuple[_Program, dict[bool, int] | str]] = {}
        self._batch = _Batch()
        self.pixels = 0  # in the boxes of all triangles since the caller last set it to 0
        words = memory.arena[layout.packets : layout.packets + MAX_PACKETS * PACKET_SIZE].view(np.int32)
        packets = words.reshape(MAX_PACKETS, -1)
        self._heads = packets[:, : PACKET_REGISTERS // 4]
        self._registers = packets[:, PACKET_REGISTERS // 4 :].view(np.uint32)
        self._reads = packets[:, PACKET.READ_LOW // 4 : PACKET.READ_HIGH // 4 + 2].view(np.int64)
        run_list = memory.arena[layout.run_list : layout.run_list + 16 * MAX_PACKETS].view(np.int64)
        self._run_list = run_list.reshape(MAX_PACKETS, 2)
        self._counters = memory.arena[layout.counters : layout.counters + 4096].view(np.int32)

    @property
    def exhausted(self) -> bool:
        """Whether a submission has drawn more than any program does; the rest of it is left out."""
        vertices = max(self._get(C.VERTICES), self._get(C.EMITTED))
        return self.pixels > PIXEL_BUDGET or vertices > driver.VERTEX_BUDGET

    def _get(self, offset: int) -> int:
        return int(self._control[offset >> 2])

    def _set(self, offset: int, value: int) -> None:
        self._control[offset >> 2] = value

    # -- looking things up ------------------------------------------------------------------------------------------
    def _state(self, key: np.ndarray) -> _State:
        raw = key.tobytes()
        known = self._states.get(raw)
        if known is None:
            state = normalise(key, self.switches)
            known = self._states[raw] = _State(state, general_words(state))
        return known

    def _target(self, key: np.ndarray) -> _Target | str:
        raw = key.tobytes()
        known = self._targets.get(raw)
        if known is None:
            registers = StaticRegisters(dict(zip(_TARGET_IDS.tolist(), key.tolist(), strict=True)))
            known = self._targets[raw] = make_target(self.memory, registers)
        return known

    def color_targets(self) -> list[RenderTarget]:
        """The colour buffers of all draws so far, each once, in order of their first draw."""
        found = []
        for raw, target in self._targets.items():
            if isinstance(target, _Target):
                words = np.frombuffer(raw, np.uint32).tolist()
                get = StaticRegisters(dict(zip(_TARGET_IDS.tolist(), words, strict=True)))
                color = FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), 4)]
                start = get("COLORBUFFER_LOC.address") << 3 & ~63
                blocks = self.switches["transfer.block32"] if target.block == 32 else ""
                found.append(RenderTarget(start, target.width, target.height, color, blocks))
        return list(dict.fromkeys(found))

    def _program(self, packet: int) -> tuple[_Program, dict[bool, int] | str]:
        """A packet's vertex program and its handles (exact or not), or why it cannot run."""
        head, entry = self._heads[packet], self._register(packet, "VSH_ENTRYPOINT.entry")
        place = (int(head[_CODE]), int(head[_OPDESCS]), entry, self._register(packet, "VSH_ENTRYPOINT.end"))
        if place not in self._present:
            self._present[place] = self._find_program(*place)
        return self._present[place]

    def _register(self, packet: int, name: str) -> int:
        """A field of a packet's registers."""
        named = register_field(name)
        return named.field.raw(int(self._registers[packet, named.register.offset]))

    def _find_program(
        self, code: int, descriptors: int, entry: int, end: int
    ) -> tuple[_Program, dict[bool, int] | str]:
        arena = self.memory.arena
        words = with_end(arena[code : code + 2048].tobytes(), end, self._rules)
        key = (words, arena[descriptors : descriptors + 512].tobytes(), entry)
        known = self._programs.get(key)
        if known is None:
            try:
                program_of(*key, self._rules)
                known = {False: self._compile(key, exact=False)}
            except TooComplex:  # the interpreter runs anything, slowly
                interpreter = self.engine.handle(vertex_interpreter, control=self.layout.control, rules=self._rules)
                known = {False: interpreter, True: interpreter}
            self._programs[key] = known
        return key, known

    def _compile(self, key: _Program, exact: bool) -> int:
        code, descriptors, entry = key
        return self.engine.handle(
            vertex_program, code=code, descriptors=descriptors, entry=entry, exact=exact, control=self.layout.control,
            rules=self._rules,
        )  # fmt: skip

    # -- preparing --------------------------------------------------------------------------------------------------
    def run(self, count: int, place: str) -> None:
        """Run the first `count` packets. `place` names the frame, for events."""
        started = perf_counter()
        heads = self._heads[:count]
        starts = np.flatnonzero(heads[:, _W["SAME"]] == 0)
        rows = self._registers[starts[:, None], GROUP_IDS] & GROUP_MASKS
        lows = np.minimum.reduceat(self._reads[:count, 0], starts).tolist()
        highs = np.maximum.reduceat(self._reads[:count, 1], starts).tolist()
        firsts = starts.tolist()
        for row, low, high, first, end in zip(rows, lows, highs, firsts, [*firsts[1:], count], strict=True):
            if self.exhausted:
                break
            at = f"{place}/d{self.stats.draws}"
            self.stats.draws += end - first
            started = self._group(row, first, end, (low, high), at, started)
        self._run_batch(started)
        self._present.clear()

    def _group(self, row: np.ndarray, first: int, end: int, reads: tuple[int, int], at: str, started: float) -> float:
        """Prepare packets first .. end-1, which share `row`; returns the start of the running phase."""
        key, program = self._program(first)
        plan = self._plans.get((row.tobytes(), key))
        if plan is None:
            self._bound()
            plan = self._plans[row.tobytes(), key] = self._plan(row, first, key, program)
        for kind, id, message in plan.events:
            self.events.report(kind, id, message, at, end - first)
        if plan.target is None:
            return started
        ranges = plan.ranges
        extent = self.memory.extent_of(reads[0])
        if extent is not None and reads[0] < reads[1]:
            ranges = [*ranges, (extent[0], reads[1] - reads[0])]
        present = plan.stamp == (self.memory.version, self.textures.generation)
        fits = present or self.textures.fits(plan.textures.values())
        if self._batch.conflicts(plan.target, ranges) or not fits:
            started = self._run_batch(started)
        if not fits:
            self.textures.drop()
        assert plan.state is not None
        handle = self._handle(plan.state, plan.powers)
        if self._register(first, "GEOSTAGE_CONFIG.mode") == GEOMETRY_ON:
            if not self._ready_geometry(first, end, at):
                return started
            self._staged = True
        alone = self._batch.self_conflict(plan.target, ranges)
        for packet_first, packet_end in [(p, p + 1) for p in range(first, end)] if alone else [(first, end)]:
            if alone:
                started = self._run_batch(started)
            if plan.stamp != (self.memory.version, self.textures.generation):
                for unit, source in plan.textures.items():
                    plan.words[_W["TEXTURES"] - _PREPARED.start + unit] = self.textures.rows(source)
                plan.stamp = (self.memory.version, self.textures.generation)
            heads = self._heads[packet_first:packet_end]
            heads[:, _PREPARED] = plan.words
            heads[:, _PROGRAM_WORDS] = plan.program
            self._batch.add(packet_first, packet_end, handle, plan.target, key)
        self._batch.place = at
        return started

    def _ready_geometry(self, first: int, end: int, at: str) -> bool:
        """Prepare the geometry stage of packets that agree; whether they can be drawn."""
        mode = self._register(first, "GSH_MISC0.mode")
        if mode > FIXED:
            message = f"geometry shader mode {mode} is not known; the draw is left out"
            self.events.report("warning", "draw.left-out", message, at, end - first)
            return False
        if mode == VARIABLE and (self._heads[first:end, _W["KIND"]] != KIND_ELEMENTS).any():
            message = "a geometry shader wants primitives of varying size, but no index list says how large they are"
            self.events.report("fault", "draw.no-sizes", message, at)
        self._geometry_programs.tier = self.tier
        handle = self._geometry_programs.handle(self._heads[first], self._registers[first])
        self._heads[first:end, _GEOMETRY_WORDS] = np.array([handle], np.int64).view(np.int32)
        return True

    def _bound(self) -> None:
        """Forget what was prepared when a guest has made very much of it; all of it can be made again."""
        for kept in (self._plans, self._states, self._targets, self.textures.described):
            if len(kept) > MAX_PREPARED:
                kept.clear()

    def _plan(self, row: np.ndarray, packet: int, key: _Program, program: dict[bool, int] | str) -> _Plan:
        """What all packets with this row and vertex program have in common."""
        state, target = self._state(row[_KEY]), self._target(row[_TARGET])
        events: list[tuple[EventKind, str, str]] = [("warning", id, message) for id, message in state.state.missing]
        problem = target if isinstance(target, str) else program if isinstance(program, str) else None
        if problem is not None:
            return _Plan([*events, ("fault", "draw.left-out", problem)])
        assert isinstance(target, _Target) and isinstance(program, dict)
        plan = _Plan(events, target, program=np.array([program[False]], np.int64).view(np.int32))

        def put(name: str, values: Sequence[int], at: int = 0) -> None:
            start = _W[name] - _PREPARED.start + at
            plan.words[start : start + len(values)] = values

        put("COLOR", (target.color[0], target.depth[0], target.width, target.height))
        put("RECT", target.rect)
        put("TEXTURES", (self.memory.guard_offset,) * 3)
        powers = [True, True, True]
        for unit in state.state.units:
            source = self.textures.describe(self._registers[packet], unit)
            if source is None:
                message = f"the texture of unit {unit} leaves memory or has no size; it is black"
                plan.events.append(("fault", "texture.unmapped", message))
                continue
            plan.textures[unit] = source
            plan.ranges += source.ranges
            powers[unit] = source.power_of_two
            words = source.level_words
            put("LEVELS", np.cumsum([0, *words[:-1]]).tolist(), LEVELS * unit)
            put("FACES", [sum(words)], unit)
            put("TOP_LEVELS", [source.levels - 1], unit)
        put("STATE", state.general)
        for unit in state.state.units:
            put("UNITS", unit_settings(state.state, unit, powers[unit]), unit * UNIT_SIZE // 4)
        plan.state, plan.powers = state, tuple(powers)
        return plan

    def _handle(self, state: _State, powers_of_two: tuple[bool, ...]) -> int:
        """The fragment kernel for a state: specialised code if it can be had at once, else general code, which draws
        the same while the other is being made."""
        known = state.handles.get(powers_of_two)
        if known is not None:
            return known
        special: dict[str, Any] = {
            "words": state.state.words, "powers_of_two": powers_of_two, "switches": self._chosen, **self._static,
        }  # fmt: skip
        general = {**special, "words": None, "powers_of_two": ()}
        key = (state.state.words, powers_of_two)
        covered, asked = covers(state.state), key in self._queued
        if choose_tier(self.engine, draw_fragments, special, general, covered, self.tier, asked):
            self._queued.add(key)
            return self.engine.handle(draw_fragments, **general)
        state.handles[powers_of_two] = self.engine.handle(draw_fragments, **special)
        return state.handles[powers_of_two]

    # -- running ----------------------------------------------------------------------------------------------------
    def _run_batch(self, started: float) -> float:
        """Run what is batched; returns the time now."""
        batch = self._batch
        if not batch.groups:
            return started
        count = 0
        keys: list[tuple[int, _Program]] = []
        for first, end, handle, key in batch.groups:
            entries = self._run_list[count : count + end - first]
            entries[:, 0] = handle
            entries[:, 1] = np.arange(first, end) * PACKET_SIZE + self.layout.packets
            count += end - first
            keys.append((count, key))
        shade = self.engine.handle(shade_vertices, **self._static, switches=self._fetch_choices)
        geometry = self._geometry_stage if self._staged else 0  # only draws that have the stage ask for it
        build = self.engine.handle(assemble, **self._static, switches=self._assembly_choices)
        vertices = self.engine.get(driver.run_vertices, **self._static)
        for name in ("VERTEX_ENTRY", "VERTEX_START", "VERTEX_STAGE", "TRIANGLES"):
            self._set(getattr(C, name), 0)
        drawn = 0
        while True:
            vertices(count, shade, geometry, build)
            status, entry = self._get(C.VERTEX_STATUS), self._get(C.VERTEX_ENTRY)
            if status == driver.INEXACT:
                self._shade_exactly(entry, next(key for end, key in keys if entry < end))
                continue
            now = perf_counter()
            self.stats.seconds["vertex"] += now - started
            started = self._raster(drawn, count if status == driver.DONE else entry + 1, batch, now)
            if status != driver.FULL or self.exhausted:
                break
            drawn = entry
            packet = (int(self._run_list[entry, 1]) - self.layout.packets) // PACKET_SIZE
            self._heads[packet, _W["FIRST_TRIANGLE"]] = 0
        if status == driver.HUNG:
            kind = "vertex" if self._get(C.VERTEX_STAGE) == driver.SHADE else "geometry"
            self.events.report("hang", "shader.endless", f"a {kind} program does not come to an end", batch.place)
        if self._get(C.VERTEX_FAULTS):
            self._set(C.VERTEX_FAULTS, 0)
            message = "vertices or indices lie outside memory; they read as 0"
            self.events.report("fault", "vertex.unmapped", message, batch.place)
        self.stats.vertices = self._get(C.VERTICES)
        batch.clear()
        return started

    @cached_property
    def _geometry_stage(self) -> int:
        """The handle of the geometry stage, which knows the handle of what EMIT calls."""
        at = self.layout.geometry + GEOMETRY.EMIT
        self.memory.arena[at : at + 8].view(np.int64)[0] = self.engine.handle(emit_vertices, **self._static)
        return self.engine.handle(geometry_step, **self._geometry_choices, **self._static)

    def _shade_exactly(self, entry: int, key: _Program) -> None:
        """Shade a piece again with the unit's own rule for products; go on with assembling it."""
        handles = self._programs[key]
        assert isinstance(handles, dict)
        if True not in handles:
            handles[True] = self._compile(key, exact=True)
        shade = self.engine.get(shade_vertices, **self._static, switches=self._fetch_choices)
        shade(int(self._run_list[entry, 1]), self._get(C.VERTEX_START), self._get(C.PIECE), handles[True])
        self._set(C.VERTEX_STAGE, driver.SHADED)

    def _raster(self, first: int, end: int, batch: _Batch, started: float) -> float:
        """The fragment side of run list entries first .. end-1; empties the triangle area. Returns the time now."""
        triangles = self._get(C.TRIANGLES)
        self.pixels += self._get(C.AREA)
        if triangles:
            run = self.engine.get(run_draws, **self._static)
            self._workers.run(lambda part, parts: run(first, end, part, parts), self._get(C.AREA) >= _WORTH_THREADS)
            for offset, size in batch.ranges:
                self.memory.touch(offset, size)
            self.stats.triangles += triangles
            self.stats.fragments += int(self._counters.sum())
            self._counters[:] = 0
        self._set(C.TRIANGLES, 0)
        self._set(C.AREA, 0)
        now = perf_counter()
        self.stats.seconds["raster"] += now - started
        return now


# Pixels in the boxes of a batch's triangles from which waking the other threads pays.
_WORTH_THREADS = 4096


class _Batch:
    """Groups of draws that run together, and what they write."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.groups: list[tuple[int, int, int, _Program]] = []
        self.ranges: set[tuple[int, int]] = set()
        self._shapes: set[tuple[int, ...]] = set()
        self.place = ""

    def add(self, first: int, end: int, handle: int, target: _Target, key: _Program) -> None:
        self.groups.append((first, end, handle, key))
        if target.shape not in self._shapes:
            self._shapes.add(target.shape)
            self.ranges |= set(target.ranges)

    def conflicts(self, target: _Target, reads: list[tuple[int, int]]) -> bool:
        """Whether draws must wait: they read what the batch writes, or write there in another shape."""
        if not self.groups:
            return False
        others = reads if target.shape in self._shapes else [*reads, *target.ranges]
        return _overlap(others, self.ranges)

    @staticmethod
    def self_conflict(target: _Target, reads: list[tuple[int, int]]) -> bool:
        """Whether draws read what they themselves write: each must then see the one before it finished."""
        return _overlap(reads, target.ranges)


def _overlap(some: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]) -> bool:
    for a, m in some:
        for b, n in others:
            if a < b + n and b < a + m and m and n:
                return True
    return False
