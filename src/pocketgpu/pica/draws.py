"""The 3D core as Python drives it: a command list in, pixels in memory out.

The compiled walk records draws as packets. `_flush` prepares all of them at once (state, render target, textures,
program), runs the vertex side packet by packet and then the fragment side as one native call for each thread. Within a
list only draws write memory, so order matters only between draws: one that reads what an earlier one of the same batch
writes, or that uses part of its target in another shape, makes the batch so far run first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from ..errors import UsageError
from ..events import EventLog
from ..facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS
from ..facts.memory_map import MEMORY
from ..lanes import Engine
from ..memory import GuestMemory
from . import command_list as walk
from .fragment import draw_fragments, run_draws
from .layout import BANK_INDEX, KIND_ARRAYS, INLINE_SIZE, KIND_IMMEDIATE, MAX_PACKETS, MAX_PIECE, PACKET, PACKET_REGISTERS, PACKET_SIZE, REGISTER_COUNT
from .layout import CONTROL as C
from .layout import WorkLayout
from .primitives import assemble
from .registers import StaticRegisters, select_fields
from .shader.program import TooComplex
from .shader.translate import program_of, vertex_program
from .state import FragmentState, keys_of, normalise
from .stats import Stats
from .texture_cache import TextureCache
from .vertex_fetch import shade_vertices
from .workers import Workers

_TARGET_IDS, _TARGET_MASKS = select_fields(
    [
        "COLORBUFFER_LOC.address", "DEPTHBUFFER_LOC.address", "FRAMEBUFFER_DIM.width", "FRAMEBUFFER_DIM.height",
        "FRAMEBUFFER_DIM.flip", "COLORBUFFER_FORMAT.format", "DEPTHBUFFER_FORMAT.format", "SCISSORTEST_MODE.mode",
        "SCISSORTEST_POS.x1", "SCISSORTEST_POS.y1", "SCISSORTEST_DIM.x2", "SCISSORTEST_DIM.y2",
    ]
)  # fmt: skip
_PROGRAM_IDS, _PROGRAM_MASKS = select_fields(["VSH_ENTRYPOINT.entry"])
# Vertices that one submission may shade before it is taken to hang.
VERTEX_BUDGET = 1 << 24


@dataclass
class _State:
    """A fragment state with its kernels, one for each combination of power-of-two textures."""

    state: FragmentState
    handles: dict[tuple[bool, ...], int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Target:
    """Where a draw writes: arena ranges, size, and the rectangle it may touch (x0, x1, y0, y1 in memory rows)."""

    color: tuple[int, int]
    depth: tuple[int, int]
    width: int
    height: int
    rect: tuple[int, int, int, int]
    shape: tuple[int, ...]


def _word(name: str) -> int:
    return int(getattr(PACKET, name)) // 4


class Core3D:
    """Runs command lists on guest memory. `place` names where we are, for events ("f0")."""

    def __init__(
        self, memory: GuestMemory, engine: Engine, events: EventLog, stats: Stats, threads: int, switches: Mapping[str, str]
    ) -> None:
        self.memory, self.engine, self.events, self.stats, self.switches = memory, engine, events, stats, switches
        self.place = ""
        self.layout = WorkLayout(memory.work_offset, memory.work_size)
        self._static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        self._workers = Workers(threads)
        self.textures = TextureCache(memory, engine, self.layout)
        self._states: dict[bytes, _State] = {}
        self._targets: dict[bytes, _Target | str] = {}
        self._programs: dict[tuple[bytes, bytes, int], dict[bool, int] | str] = {}
        arena, layout = memory.arena, self.layout
        words = lambda offset, count: arena[offset : offset + 4 * count].view(np.int32)  # noqa: E731
        self.control = words(layout.control, C.size // 4)
        self.registers = words(layout.registers, REGISTER_COUNT).view(np.uint32)
        packets = words(layout.packets, MAX_PACKETS * PACKET_SIZE // 4).reshape(MAX_PACKETS, -1)
        self._heads = packets[:, : PACKET_REGISTERS // 4]
        self._packet_registers = packets[:, PACKET_REGISTERS // 4 :].view(np.uint32)
        self._run_list = arena[layout.run_list : layout.run_list + 16 * MAX_PACKETS].view(np.int64)
        self._counters = words(layout.counters, 1024)
        arena[layout.effects : layout.effects + 0x400] = walk.EFFECT_TABLE
        regions = words(layout.regions, 3 * len(memory.regions)).view(np.uint32)
        assert len(memory.regions) == len(MEMORY) == 4
        regions[:] = [v for region, offset in memory.regions for v in (region.base, region.size, offset)]
        self.reset_control()

    def reset_control(self) -> None:
        """Forget staged words, versions and carried vertices; banks and registers stay."""
        self.control[:] = 0
        self._set("DIRTY", (1 << len(BANK_INDEX)) - 1)
        self._set("POOL_TOP", self.layout.pool)

    def bank(self, name: str) -> np.ndarray:
        """The live words of a bank (uint32); call `touch_banks` after writing."""
        from .layout import BANKS

        offset = self.layout.bank(name)
        return self.memory.arena[offset : offset + 4 * BANKS[BANK_INDEX[name]].words].view(np.uint32)

    def touch_banks(self) -> None:
        """All banks have new contents."""
        self._set("DIRTY", (1 << len(BANK_INDEX)) - 1)

    def _get(self, name: str) -> int:
        return int(self.control[getattr(C, name) // 4])

    def _set(self, name: str, value: int) -> None:
        self.control[getattr(C, name) // 4] = value

    # -- command lists ----------------------------------------------------------------------------------------------
    def run_list(self, offset: int, size: int, complete: bool = True) -> bool:
        """Run the command list at an arena range; returns whether it raised the P3D interrupt.

        complete: the list ought to end with FINALIZE; if not, that is a hang of the console.
        """
        started = perf_counter()
        for name, value in (("POSITION", offset), ("END", offset + size), ("ENTRY_INDEX", 0), ("JUMPS", 0), ("WORDS", 0),
                            ("INTERRUPTS", 0), ("IGNORED", 0), ("HANG", 0), ("STAGED_FIXED", 0), ("IMMEDIATE_OPEN", 0)):  # fmt: skip
            self._set(name, value)
        run = self.engine.get(walk.walk, **self._static)
        self._vertices = 0
        status = walk.FULL
        while status == walk.FULL:
            before = (self._get("POSITION"), self._get("ENTRY_INDEX"), self._get("PACKETS"))
            self._set("STATUS", walk.RUNNING)
            run()
            status = self._get("STATUS")
            self.stats.seconds["list"] += perf_counter() - started
            self._flush()
            started = perf_counter()
            if status == walk.FULL and before == (self._get("POSITION"), self._get("ENTRY_INDEX"), 0):
                status = walk.BUDGET  # no room even for one draw: cannot happen with the pool's size
            if self._vertices > VERTEX_BUDGET:
                self.events.report("hang", "list.endless", f"the command list draws more than {VERTEX_BUDGET} vertices", self.place)
                break
        if status == walk.UNMAPPED_JUMP:
            address = self._get("FAULT") & 0xFFFFFFFF
            self.events.report("fault", "list.unmapped-jump", f"command list jumps to {address:#010x}, where no memory is", self.place)
        elif status == walk.BUDGET:
            self.events.report("hang", "list.endless", "the command list does not come to an end (it jumps in circles?)", self.place)
        elif status == walk.ENDED and complete and not self._get("INTERRUPTS"):
            self.events.report("hang", "list.no-finalize", "the command list ends without FINALIZE: no P3D interrupt", self.place)
        return self._get("INTERRUPTS") > 0

    def run_words(self, words: Sequence[int] | np.ndarray) -> bool:
        """Run command-list words that lie in no guest memory; returns whether the P3D interrupt was raised.

        :raises UsageError: more words than the scratch area holds.
        """
        data = np.asarray(words, np.uint32)
        place = self.memory.arena[self.layout.inline : self.layout.inline + data.nbytes]
        if data.nbytes > INLINE_SIZE:
            raise UsageError(f"a list of {len(data)} words is too long: at most {INLINE_SIZE // 4} go in at once")
        place[:] = data.view(np.uint8)
        return self.run_list(self.layout.inline, data.nbytes, complete=False)

    # -- preparing draws --------------------------------------------------------------------------------------------
    def _state(self, key: np.ndarray) -> _State:
        raw = key.tobytes()
        known = self._states.get(raw)
        if known is None:
            known = self._states[raw] = _State(normalise(key, self.switches))
        return known

    def _target(self, key: np.ndarray) -> _Target | str:
        """The render target of a packet, or why there is none."""
        raw = key.tobytes()
        known = self._targets.get(raw)
        if known is None:
            known = self._targets[raw] = self._make_target(StaticRegisters(dict(zip(_TARGET_IDS.tolist(), key.tolist(), strict=True))))
        return known

    def _make_target(self, get: StaticRegisters) -> _Target | str:
        width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
        tiles = (width >> 3) * ((height + 7) >> 3)
        if not tiles:
            return f"render target of width {width}: nothing can be drawn"
        ranges = []
        color = FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), 4)]
        depth = DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format"))
        for name, format in (("COLORBUFFER", color), ("DEPTHBUFFER", depth)):
            if format is None:
                ranges.append((0, 0))
                continue
            pa, size = get(f"{name}_LOC.address") << 3, tiles * 64 * (format.bits // 8)
            offset = self.memory.offset_of(pa & ~63, size)
            if offset is None:
                return f"{name} {pa:#010x}..{pa + size:#010x} leaves memory; the draw is left out"
            ranges.append((offset, size))
        rect = [0, (width & ~7) - 1, 0, height - 1]
        if get("SCISSORTEST_MODE.mode") == 3:
            x1, x2 = get("SCISSORTEST_POS.x1"), get("SCISSORTEST_DIM.x2")
            ys = (get("SCISSORTEST_POS.y1"), get("SCISSORTEST_DIM.y2"))
            if get("FRAMEBUFFER_DIM.flip"):
                ys = (height - 1 - ys[1], height - 1 - ys[0])
            rect = [max(rect[0], x1), min(rect[1], x2), max(rect[2], ys[0]), min(rect[3], ys[1])]
        shape = (*ranges[0], *ranges[1], width, height)
        return _Target(ranges[0], ranges[1], width, height, (rect[0], rect[1], rect[2], rect[3]), shape)

    def _program(self, packet: int) -> dict[bool, int] | str:
        """Handles of a packet's vertex program (exact or not), or why it cannot run."""
        head, arena = self._heads[packet], self.memory.arena
        versions = _word("VERSIONS")
        place = lambda bank, size: arena[(o := int(head[versions + BANK_INDEX[bank]])) : o + size].tobytes()  # noqa: E731
        entry = int(self._packet_registers[packet, _PROGRAM_IDS[0]] & _PROGRAM_MASKS[0])
        key = (place("vs_code", 2048), place("vs_opdescs", 512), entry)
        known = self._programs.get(key)
        if known is None:
            try:
                program_of(*key)
                known = {}
            except TooComplex as error:
                known = f"vertex program not translated: {error}; its draws are left out"
            self._programs[key] = known
        if isinstance(known, dict) and False not in known:
            known[False] = self._compile(key, exact=False)
        self._program_key = key
        return known

    def _compile(self, key: tuple[bytes, bytes, int], exact: bool) -> int:
        code, descriptors, entry = key
        return self.engine.handle(
            vertex_program, code=code, descriptors=descriptors, entry=entry, exact=exact, control=self.layout.control
        )

    # -- running them -----------------------------------------------------------------------------------------------
    def _flush(self) -> None:
        """Run all recorded packets and empty the list."""
        count = self._get("PACKETS")
        if count:
            self._run_packets(count)
        self._set("PACKETS", 0)
        self._set("IMMEDIATE_OPEN", 0)
        # A new pool: every bank must be copied again for the next packet.
        self._set("POOL_TOP", self.layout.pool)
        self.touch_banks()

    def _reads(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest physical address that each packet's vertices and indices may be read from."""
        regs = self._packet_registers[:count].astype(np.int64)
        base = (regs[:, 0x200] & 0x1FFFFFFE) * 8
        offsets = base[:, None] + (regs[:, 0x203:0x227:3] & 0x0FFFFFFF)
        active = (regs[:, 0x205:0x227:3] >> 28) > 0
        stride = (regs[:, 0x205:0x227:3] >> 16) & 0xFF
        kinds = self._heads[:count, _word("KIND")]
        arrays = kinds == KIND_ARRAYS
        last = np.where(arrays, regs[:, 0x22A] + regs[:, 0x228], 0x10000)
        low = np.where(active, offsets, 1 << 40).min(axis=1)
        high = np.where(active, offsets + stride * last[:, None] + 256, 0).max(axis=1)
        index = base + (regs[:, 0x227] & 0x0FFFFFFF)
        low = np.where(arrays, low, np.minimum(low, index))
        high = np.where(arrays, high, np.maximum(high, index + 2 * regs[:, 0x228]))
        immediate = kinds == KIND_IMMEDIATE
        return np.where(immediate, 1 << 40, low), np.where(immediate, 0, high)

    def _run_packets(self, count: int) -> None:
        started = perf_counter()
        registers = self._packet_registers[:count]
        keys = keys_of(registers)
        targets = np.ascontiguousarray(registers[:, _TARGET_IDS] & _TARGET_MASKS)
        lows, highs = self._reads(count)
        batch = _Batch()
        for packet in range(count):
            place = f"{self.place}/d{self.stats.draws}"
            self.stats.draws += 1
            state, target, program = self._state(keys[packet]), self._target(targets[packet]), self._program(packet)
            for id, message in state.state.missing:
                self.events.report("warning", id, message, place)
            problem = target if isinstance(target, str) else program if isinstance(program, str) else None
            if problem is not None:
                self.events.report("fault", "draw.left-out", problem, place)
                continue
            assert isinstance(target, _Target) and isinstance(program, dict)
            if any(id == "pica.geometry-shader" for id, _ in state.state.missing):
                continue
            sources = [self.textures.describe(registers[packet], unit) for unit in state.state.units]
            reads = [(s.offset, s.size) for s in sources if s is not None]
            low = self.memory.extent_of(int(lows[packet]))
            if low is not None:
                reads.append((low[0], int(highs[packet]) - int(lows[packet])))
            if batch.conflicts(target, reads):
                started = self._draw_batch(batch, started)
            self._prepare(packet, state, target, sources, place, batch)
            started = self._vertex_side(packet, program, batch, started)
        self._draw_batch(batch, started)

    def _prepare(self, packet: int, state: _State, target: _Target, sources: list, place: str, batch: _Batch) -> None:
        """Fill in the packet's head and choose its fragment kernel."""
        head = self._heads[packet]
        color = _word("COLOR")
        head[color : color + 4] = target.color[0], target.depth[0], target.width, target.height
        rect = _word("RECT")
        head[rect : rect + 4] = target.rect
        powers = [True, True, True]
        textures = _word("TEXTURES")
        for unit, source in zip(state.state.units, sources, strict=True):
            if source is None:
                self.events.report("fault", "texture.unmapped", f"texture of unit {unit} leaves memory; it is black", place)
                head[textures + unit] = self.memory.guard_offset
                continue
            head[textures + unit] = self.textures.rows(source)
            powers[unit] = source.power_of_two
        combination = tuple(powers)
        handle = state.handles.get(combination)
        if handle is None:
            handle = state.handles[combination] = self.engine.handle(
                draw_fragments, words=state.state.words, powers_of_two=combination, **self._static
            )
        batch.add(packet, handle, target)

    def _vertex_side(self, packet: int, program: dict[bool, int], batch: _Batch, started: float) -> float:
        """Shade and assemble one packet; runs the batch when the triangle area fills up. Returns the phase's start."""
        head = self._heads[packet]
        registers = self._packet_registers[packet]
        offset = self.layout.packets + packet * PACKET_SIZE
        if head[_word("RESTART")]:
            self._set("CARRY", 0)
            self._set("CARRY_PARITY", 0)
        if head[_word("KIND")] == KIND_IMMEDIATE:
            total = int(head[_word("IMMEDIATE_COUNT")]) // ((int(registers[0x242]) & 15) + 1)
        else:
            total = min(int(registers[0x228]), VERTEX_BUDGET + 1)
        self._vertices += total
        self.stats.vertices += total
        head[_word("FIRST_TRIANGLE")] = self._get("TRIANGLES")
        shade, build = self.engine.get(shade_vertices, **self._static), self.engine.get(assemble, **self._static)
        for start in range(0, total if self._vertices <= VERTEX_BUDGET else 0, MAX_PIECE):
            piece = min(MAX_PIECE, total - start)
            self._set("NAN_PRODUCTS", 0)
            shade(offset, start, piece, program[False])
            if self._get("NAN_PRODUCTS"):
                if True not in program:
                    program[True] = self._compile(self._program_key, exact=True)
                shade(offset, start, piece, program[True])
            self._set("NEXT_PRIMITIVE", 0)
            while True:
                build(offset, piece)
                head[_word("LAST_TRIANGLE")] = self._get("TRIANGLES")
                if self._get("NEXT_PRIMITIVE") < 0:
                    break
                started = self._draw_batch(batch, started, keep=packet)
                head[_word("FIRST_TRIANGLE")] = 0
            if self._get("HANG"):
                self.events.report("hang", "shader.endless", "a vertex program does not come to an end", self.place)
                self._set("HANG", 0)
                break
        head[_word("LAST_TRIANGLE")] = self._get("TRIANGLES")
        if self._get("VERTEX_FAULTS"):
            self._set("VERTEX_FAULTS", 0)
            self.events.report("fault", "vertex.unmapped", "vertices or indices outside memory; they read as 0", self.place)
        return started

    def _draw_batch(self, batch: _Batch, started: float, keep: int | None = None) -> float:
        """The fragment side of a batch. keep: a packet whose triangles go on afterwards. Returns the time now."""
        middle = perf_counter()
        self.stats.seconds["vertex"] += middle - started
        count, triangles = len(batch.entries), self._get("TRIANGLES")
        if triangles and count:
            self._run_list[: 2 * count] = [
                v for packet, handle in batch.entries for v in (handle, self.layout.packets + packet * PACKET_SIZE)
            ]
            run = self.engine.get(run_draws, **self._static)
            self._workers.run(lambda part, parts: run(count, part, parts), triangles > 1)
            for offset, size in batch.ranges:
                self.memory.touch(offset, size)
        self.stats.triangles += triangles
        self.stats.fragments += int(self._counters.sum())
        self._counters[:] = 0
        self._set("TRIANGLES", 0)
        kept = [entry for entry in batch.entries if entry[0] == keep]
        batch.clear()
        batch.entries += kept
        now = perf_counter()
        self.stats.seconds["raster"] += now - middle
        return now


class _Batch:
    """Draws that run together, and what they write."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.entries: list[tuple[int, int]] = []
        self.ranges: set[tuple[int, int]] = set()
        self._shapes: set[tuple[int, ...]] = set()

    def add(self, packet: int, handle: int, target: _Target) -> None:
        self.entries.append((packet, handle))
        self.ranges |= {r for r in (target.color, target.depth) if r[1]}
        self._shapes.add(target.shape)

    def conflicts(self, target: _Target, reads: list[tuple[int, int]]) -> bool:
        """Whether a draw must wait: it reads what the batch writes, or writes there in another shape."""
        if not self.entries:
            return False
        others = reads if target.shape in self._shapes else [*reads, target.color, target.depth]
        return any(a < d + n and d < a + m for a, m in others for d, n in self.ranges if m)
