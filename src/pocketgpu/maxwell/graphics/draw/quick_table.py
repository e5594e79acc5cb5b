"""Python's side of quick draws: which states kernels know, and what they have done.

Drawing tells `note` of each plain draw that it has made. A state that comes a second time gets an ENTRY; from then on
`quick.quick` makes its draws. Entries are never taken back one by one: what they depend on is in them, and `quick`
looks at it. All go where that is not so: mappings have changed, rooms have moved, plans were given up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.base import Registers
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.draws import Draw, Shader
from pocketgpu.maxwell.graphics.draw.native import walk
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.draw.quick import quick
from pocketgpu.maxwell.graphics.draw.quick_records import (
    ENTRY,
    ENTRY_DATA,
    ENTRY_INPUT,
    ENTRY_KEY,
    ENTRY_ROOM,
    ENTRY_WALK,
    HASH,
    KEY_WORDS,
    LOG_SIZE,
    MOST_BANKS,
    MOST_CODE,
    MOST_COPIES,
    MOST_ENTRIES,
    MOST_SPANS,
    MOST_WHOLES,
    MOST_WINDOWS,
    PROBES,
    QUICK,
    SPAN,
    TABLE_BITS,
    TABLE_WORDS,
    WHOLE_BYTES,
    factors,
    masks,
    whole_vectors,
)
from pocketgpu.maxwell.graphics.input.vertex_input import VertexPlan
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.programs.programs import Programs
from pocketgpu.maxwell.host.layout import CHANNEL, CHANNEL_LAYOUT
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import VERSION
from pocketgpu.maxwell.sampling.store import Textures

if TYPE_CHECKING:
    from pocketgpu.maxwell.graphics.input.vertex_input import VertexInput

_PARTS = (
    whole_vectors(QUICK.size), 4 * TABLE_WORDS, 4 * KEY_WORDS, 4 * KEY_WORDS, 4 * KEY_WORDS,
    whole_vectors(SPAN.size * MOST_SPANS), LOG_SIZE, WHOLE_BYTES * MOST_WHOLES, ENTRY_ROOM * MOST_ENTRIES,
)  # fmt: skip
AREA_SIZE = sum(_PARTS)
_MOST_SEEN = 1 << 14
_PATIENCE = 8
"""How often as many draws in states beyond the last entry must come, before all entries make room."""
_CURRENT = QUICK.CURRENT // 4
_OVERRIDE = "SET_PRIMITIVE_TOPOLOGY_CONTROL"


@dataclass(eq=False)
class _Entry:
    """What Python knows of an ENTRY. code: SPAN records of programs; addresses of these, and maps, by stage."""

    at: int
    plan: Plan
    code: list[tuple[int, int, int]]
    addresses: Mapping[int, int]
    maps: Mapping[int, Mapping[str, NDArray[np.int32]]]


@dataclass(frozen=True)
class Rooms:
    """Places of a draw's records in the work area."""

    walk: int
    region: int
    fragments: int


class QuickTable:
    """The entries of one machine. at: a part of the work area of AREA_SIZE bytes, a multiple of a vector."""

    def __init__(
        self, memory: GpuMemory, engine: Engine, programs: Programs, textures: Textures, vertex_input: VertexInput,
        rooms: Rooms, at: int,
    ) -> None:  # fmt: skip
        self.memory, self.engine, self.programs, self.textures = memory, engine, programs, textures
        self.vertex_input, self.rooms = vertex_input, rooms
        self._on = True
        self.at_once = False
        """Whether a state gets its entry when it comes for the first time."""
        self.made = 0
        """Quick draws so far."""
        self.taken = False
        """Whether kernels have made draws since Python's last one."""
        self._touched = False
        starts = np.cumsum((at, *_PARTS)).tolist()
        self._at, self._table, plain, indexed, multipliers, self._spans, self._log, self._wholes, self._entries = (
            starts[:-1]
        )
        for place, words in zip((plain, indexed, multipliers), (*masks(), factors()), strict=True):
            self._words(place, KEY_WORDS)[:] = words
        self._masks, self._factors = masks(), factors()
        self._slots = self._words(self._table, TABLE_WORDS)
        self._record = self._words(self._at, QUICK.size // 4)
        self._record[:] = 0
        self._quick = self._record.data
        self._passed = self._words(self._at + QUICK.PASSED, 2).view(np.int64)
        self._known: dict[int, _Entry] = {}
        self._beyond = 0
        self._files: list[Registers] = []
        self._seen: set[tuple[int, int]] = set()
        self._moves = self._map_changes = -1
        self._pools: dict[object, int] = {}
        self._begin()
        self.clear()

    def _words(self, at: int, count: int) -> NDArray[np.uint32]:
        return self.memory.arena[at : at + 4 * count].view(np.uint32)

    def _put(self, name: str, value: int) -> None:
        self._quick[QUICK.offsets[name] // 4] = value

    def _get(self, name: str) -> int:
        return int(self._quick[QUICK.offsets[name] // 4])

    def _begin(self) -> None:
        plain = self._table + 4 * TABLE_WORDS
        for name, value in (
            ("TABLE", self._table), ("FACTORS", plain + 8 * KEY_WORDS), ("INPUT", self.vertex_input.room.input),
            ("WALK", self.rooms.walk), ("REGION", self.rooms.region), ("FRAGMENTS", self.rooms.fragments),
            ("BOOK", self.textures.book), ("SPANS", self._spans), ("LOG", self._log),
            ("LOG_END", self._log + LOG_SIZE), ("WHOLES", self._wholes),
        ):  # fmt: skip
            self._put(name, value)
        self._quick[QUICK.MASKS // 4], self._quick[QUICK.MASKS // 4 + 1] = plain, plain + 4 * KEY_WORDS

    # -- on and off ---------------------------------------------------------------------------------------------------
    @property
    def on(self) -> bool:
        """Whether draws may be quick."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self._on = on
        self.clear()

    def clear(self) -> None:
        """Forget all states."""
        self.adopt()
        self._known.clear()
        self._seen.clear()
        self._beyond = 0
        self._slots[:] = 0
        self._put("CURRENT", 0)
        self._put("CHANGES", 0)
        self._moves, self._map_changes = self.programs.moves, self.memory.map_changes

    def follow_maps(self) -> None:
        """Before channels go on: mappings may have changed."""
        if self._map_changes != self.memory.map_changes:
            self.clear()

    def interrupt(self) -> None:
        """Python makes a draw, and sets up what it needs."""
        self.adopt()
        self.taken = False
        self._quick[_CURRENT] = 0

    # -- what kernels have done ---------------------------------------------------------------------------------------
    def take(self, count: int, counters: Counters) -> tuple[NDArray[np.uint32], tuple[Registers, ...]]:
        """Records of draws that were made, and the register files that they name; counters hear of samples."""
        memory, self.made, self.taken = self.memory, self.made + count, True
        words = self._words(self._log, (self._get("LOG") - self._log) // 4).copy()
        for n in range(len(self._files), self._get("WHOLE_COUNT")):
            self._files.append(self._words(self._wholes + n * WHOLE_BYTES, WHOLE_BYTES // 4).copy())
        files = tuple(self._files)
        if len(files) > MOST_WHOLES // 2:
            self._files.clear()
            self._put("WHOLE_COUNT", 0)
        self._put("LOG", self._log)
        self._put("WORK", 0)
        memory.version = max(memory.version, int(self._words(VERSION, 1)[0]))
        if self._passed[0]:
            counters.add_passed(int(self._passed[0]))
            self._passed[0] = 0
        self._touched = True
        if self.textures.errors:
            self.textures.check()
        return words, files

    def adopt(self) -> None:
        """Have stages know what a kernel has set them up for."""
        if not self._touched:
            return
        self._touched = False
        if not self._get("TOUCHED"):
            return
        self._put("TOUCHED", 0)
        entry = self._known[self._get("CURRENT")]
        for n, stage in enumerate(self.programs.stages):
            program = entry.plan.programs.get(n)
            if program is not None:
                stage.adopt(program, entry.addresses[n], entry.maps[n])
            else:
                stage.adopt(None)

    @property
    def unfinished(self) -> Plan:
        """The plan of the draw that a kernel could not end."""
        return self._known[self._get("CURRENT")].plan

    # -- new states ---------------------------------------------------------------------------------------------------
    def note(
        self, plan: Plan, vertices: VertexPlan, draw: Draw, state: State, shaders: Sequence[Shader],
        walk_record: NDArray[np.int32],
    ) -> None:  # fmt: skip
        """A plain draw was made in this state, with everything as good as it gets."""
        if draw.method not in ("DRAW_VERTEX_ARRAY", "DRAW_INDEX_BUFFER") or vertices.waiting:
            return
        if self._moves != self.programs.moves or self._map_changes != self.memory.map_changes:
            self.clear()
        channel = state.registers.ctypes.data - self.memory.address - CHANNEL_LAYOUT.registers
        if not 0 < channel < self.memory.size or not self._is_plain(plan, state):
            return
        if plan.textures:
            self._note_textures(state)
        key = state.registers[:KEY_WORDS] & self._masks[draw.index_bytes != 0]
        digest = int((key * self._factors).sum(dtype=np.uint32)) + draw.topology + (draw.index_bytes << 8) & 0xFFFFFFFF
        groups = self._channel(channel, CHANNEL.GROUPS, ENTRY.USES_START - ENTRY.GROUPS)
        seen = (digest, hash(groups.tobytes()))
        if seen not in self._seen and not self.at_once:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(seen)
            return
        code = self._code(shaders)
        place = self._place(digest, channel, draw, groups, key)
        if code is None or place is None:
            return
        at = int(self._slots[place])
        if at and self._known[at].plan is plan and self._known[at].code == code:
            return  # it is as it should be, and there was another reason to ask Python
        if not at and len(self._known) >= MOST_ENTRIES:
            # To begin anew pays only if there are not as many states again.
            self._beyond += 1
            if self._beyond > _PATIENCE * MOST_ENTRIES:
                self.clear()
            return
        at = at or self._entries + len(self._known) * ENTRY_ROOM
        entry = self._make(at, plan, vertices, draw, state, shaders, code, walk_record)
        if entry is None:
            return
        record = self._words(entry.at, ENTRY_KEY // 4)
        for name, value in (
            ("HASH", digest), ("CHANNEL", channel), ("TOPOLOGY", draw.topology), ("INDEX_BYTES", draw.index_bytes)
        ):  # fmt: skip
            record[ENTRY.offsets[name] // 4] = value
        record[ENTRY.GROUPS // 4 : ENTRY.USES_START // 4] = groups
        self._words(entry.at + ENTRY_KEY, KEY_WORDS)[:] = key
        self._known[entry.at] = entry
        self._slots[place] = entry.at
        self._start(channel)

    def _channel(self, channel: int, word: int, size: int) -> NDArray[np.uint32]:
        return self._words(channel + CHANNEL_LAYOUT.state + word, size // 4)

    def _start(self, channel: int) -> None:
        """From now on, draws of a channel may be quick."""
        record = self._channel(channel, CHANNEL.QUICK, 4)
        if record[0] != self._at:
            self._words(self._at + QUICK.WALK_CALL, 2).view(np.int64)[0] = self.engine.handle(walk)
            self._channel(channel, CHANNEL.QUICK_CALL, 8).view(np.int64)[0] = self.engine.handle(quick)
            record[0] = self._at

    def _is_plain(self, plan: Plan, state: State) -> bool:
        """Whether nothing is asked that only Python can do."""
        return (
            set(plan.programs) <= {plan.first, 5} and plan.first == 1
            and all(self.programs.stages[n].plain for n in plan.programs)
            and conditions.plain(state) and not state.word("SET_STATISTICS_COUNTER")
            and not state.field(_OVERRIDE, "OVERRIDE")
        )  # fmt: skip

    def _place(
        self, digest: int, channel: int, draw: Draw, groups: NDArray[np.uint32], key: NDArray[np.uint32]
    ) -> int | None:
        """Where in the table the entry of a state is or goes; None if there is no room."""
        wanted = np.array([digest, channel, draw.topology, draw.index_bytes, *groups], np.uint32)
        first = (digest * HASH & 0xFFFFFFFF) >> (32 - TABLE_BITS)
        for n in range(PROBES):
            place = first + n & TABLE_WORDS - 1
            at = int(self._slots[place])
            if not at:
                return place
            if (self._words(at, len(wanted)) == wanted).all() and (self._words(at + ENTRY_KEY, KEY_WORDS) == key).all():
                return place
        return None

    def _code(self, shaders: Sequence[Shader]) -> list[tuple[int, int, int]] | None:
        """SPAN records of programs; None if any may have been written to."""
        spans = [self.programs.span(shader.stage, shader.address) for shader in shaders]
        if len(spans) > MOST_CODE:
            return None
        found = [self._span(*span) for span in spans if span is not None]
        return found if len(found) == len(spans) else None

    def _note_textures(self, state: State) -> None:
        """What of textures must be as it is for quick draws to read them."""
        found = self.textures.unchanged()
        if found is None or len(found[1]) > MOST_SPANS:
            self._put("CHANGES", 0)
            return
        changes, spans = found
        table = np.array([self._span(*span) for span in spans], np.uint32).reshape(-1)
        self._words(self._spans, len(table))[:] = table
        self._put("SPAN_COUNT", len(spans))
        self._put("POOLS", self._pools.setdefault(self.textures.pools, len(self._pools)))
        self._put("CHANGES", changes)

    def _span(self, offset: int, size: int) -> tuple[int, int, int]:
        """A SPAN record."""
        first = offset >> PAGE_SHIFT
        pages = ((offset + size - 1) >> PAGE_SHIFT) + 1 - first if size else 0
        return first, pages, self.memory.newest(offset, size)

    # -- entries ------------------------------------------------------------------------------------------------------
    def _make(
        self, at: int, plan: Plan, vertices: VertexPlan, draw: Draw, state: State, shaders: Sequence[Shader],
        code: list[tuple[int, int, int]], walk_record: NDArray[np.int32],
    ) -> _Entry | None:  # fmt: skip
        """The entry of a state that everything is set up for; None if it cannot be told in one."""
        stages = self.programs.stages
        rows = self._banks(plan, draw, state, shaders)
        if rows is None or len(rows) > MOST_BANKS:
            return None
        parts = [part for n in plan.programs for part in stages[n].parts()]
        if len(vertices.entries):
            parts.append((self.vertex_input.room.attributes, vertices.entries.nbytes))
        sizes = [whole_vectors(size) for _, size in parts]
        if len(parts) > MOST_COPIES or ENTRY_DATA + sum(sizes) > ENTRY_ROOM or len(plan.windows) > MOST_WINDOWS:
            return None
        words = self._words(at, ENTRY_ROOM // 4)
        words[:] = 0
        copies, arena, to = [], self.memory.arena, at + ENTRY_DATA
        for (source, _), size in zip(parts, sizes, strict=True):
            arena[to : to + size] = arena[source : source + size]
            copies.append((to, source, size))
            to += size
        index_at, index_room = vertices.index_piece if draw.index_bytes else (0, 0)
        slots = [stages[n].slots[0] for n in plan.programs]
        pools = self._pools.setdefault(self.textures.pools, len(self._pools)) if plan.textures else 0
        for name, value in (
            ("USES_START", vertices.uses_start), ("ADDS_BASE", vertices.adds_base), ("INDEX_AT", index_at),
            ("INDEX_ROOM", index_room), ("COUNTS", plan.counts), ("TEXTURED", plan.textures), ("POOLS", pools),
        ):  # fmt: skip
            words[ENTRY.offsets[name] // 4] = int(value)
        words[ENTRY.SLOTS // 4], words[ENTRY.SLOTS // 4 + 1] = slots[0], slots[-1]
        windows = [self._span(window.offset, window.size) for window in plan.windows]
        for count, name, table in (
            ("CODE_COUNT", "CODE", code), ("WINDOW_COUNT", "WINDOWS", windows), ("COPY_COUNT", "COPIES", copies),
            ("BANK_COUNT", "BANKS", rows),
        ):  # fmt: skip
            words[ENTRY.offsets[count] // 4] = len(table)
            flat = np.array(table, np.uint32).reshape(-1)
            words[ENTRY.offsets[name] // 4 :][: len(flat)] = flat
        record = words[ENTRY_INPUT // 4 :][: INPUT.size // 4]
        record[:] = vertices.words
        if draw.index_bytes:
            limit = state.address("SET_INDEX_BUFFER_C")
            record[INPUT.LIMIT // 4 : INPUT.LIMIT // 4 + 2] = limit & 0xFFFFFFFF, limit >> 32
        record[INPUT.INSTANCES // 4] = 1
        words[ENTRY_WALK // 4 :][: len(walk_record)] = walk_record.view(np.uint32)
        addresses = {shader.stage: shader.address for shader in shaders}
        return _Entry(at, plan, code, addresses, {n: stages[n].maps for n in plan.programs})

    def _banks(
        self, plan: Plan, draw: Draw, state: State, shaders: Sequence[Shader]
    ) -> list[tuple[int, ...]] | None:  # fmt: skip
        """BANK records of what `StageLaunch.bind` fills; None if a buffer is not in one piece."""
        rows: list[tuple[int, ...]] = []
        texture_bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        for shader in shaders:
            stage = self.programs.stages[shader.stage]
            bindings: Sequence[Binding | None] = ()
            if shader.group < len(draw.constants):
                bindings = draw.constants[shader.group]
            for bank, wanted in plan.programs[shader.stage].banks(texture_bank).items():
                binding = bindings[bank] if bank < len(bindings) else None
                size = 0 if binding is None else min(binding.size, wanted)
                offset = self.memory.offset_of(binding.address, size) if binding is not None and size else 0
                if offset is None or size & 3:
                    return None
                page, pages, _ = self._span(offset, size)
                rows.append((offset, stage.bank_at(bank), size, stage.filled_at + 4 * bank, page, pages, 0))
        return rows


__all__ = ["AREA_SIZE", "QuickTable", "Rooms"]
