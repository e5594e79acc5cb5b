"""The store of prepared draws: the states that kernels can set up, and the draws that kernels have made.

A draw in an unknown state is prepared in Python (prepare.py) and passed to `note`, which gives the state an ENTRY. From
then on the kernel `quick` sets up its draws: those of the walk of a pushbuffer, which `quick` also makes, and those of
Python, which calls `find`.

What an entry depends on is in the entry, and `quick` compares it at each draw, so no entry has to be removed. All of
them are removed when mappings have changed, when rooms of programs have moved, and when plans are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT
from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import Engine, late
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.base import Registers
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import RecordingState, State
from pocketgpu.maxwell.engines.threed.draws import Draw, Shader
from pocketgpu.maxwell.graphics.draw.native import WALK, walk
from pocketgpu.maxwell.graphics.draw.plans import FIRST_VERTEX, PIXEL, SECOND_VERTEX, Plan
from pocketgpu.maxwell.graphics.draw.prepare import Prepared
from pocketgpu.maxwell.graphics.draw.quick_records import (
    ASKED,
    ASKED_WORDS,
    BANK,
    ENTRY,
    ENTRY_DATA,
    ENTRY_INPUT,
    ENTRY_KEY,
    ENTRY_ROOM,
    ENTRY_WALK,
    HASH,
    KEY_VECTORS,
    KEY_WORDS,
    LOG_SIZE,
    MOST_BANKS,
    MOST_CODE,
    MOST_COPIES,
    MOST_ENTRIES,
    MOST_READS,
    MOST_SPANS,
    MOST_WHOLES,
    MOST_WINDOWS,
    NEVER,
    PROBES,
    QUICK,
    READ,
    READ_FACTORS,
    READ_ROOM,
    SET_UP,
    SPAN,
    TABLE_BITS,
    TABLE_WORDS,
    WALKING,
    WHOLE_BYTES,
    factors,
    whole_vectors,
)
from pocketgpu.maxwell.graphics.input.vertex_input import MAX_COUNT
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.programs.programs import Programs
from pocketgpu.maxwell.host.layout import BOUND, CHANNEL, CHANNEL_LAYOUT, CONSTANT_GROUPS, CONSTANT_SLOTS
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import VERSION
from pocketgpu.maxwell.sampling.store import Textures
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

if TYPE_CHECKING:
    from pocketgpu.maxwell.graphics.input.vertex_input import VertexInput

quick = late("pocketgpu.maxwell.graphics.draw.quick", "quick")
_PARTS = (
    whole_vectors(QUICK.size), 4 * TABLE_WORDS, whole_vectors(SPAN.size * MOST_SPANS), LOG_SIZE,
    WHOLE_BYTES * MOST_WHOLES, READ_ROOM * MOST_READS, ENTRY_ROOM * MOST_ENTRIES,
)  # fmt: skip
AREA_SIZE = sum(_PARTS)
_MOST_SEEN = 1 << 14
_PATIENCE = 8
"""If there is no room for more entries, all are removed after so many times MOST_ENTRIES draws without one."""
_CURRENT, _TOUCHED, _ASKS = (QUICK.offsets[name] // 4 for name in ("CURRENT", "TOUCHED", "ASKS"))
_ASKED = [QUICK.offsets[name] // 4 for name in ASKED_WORDS]
_OVERRIDE = "SET_PRIMITIVE_TOPOLOGY_CONTROL"
_OVERRIDES = B197.values(f"{_OVERRIDE}.OVERRIDE")
_WORD = 0xFFFFFFFF


class _Key(NamedTuple):
    """What distinguishes entries: offset of the READ, the channel, the kind of draw, and the values of the READ's
    words."""

    read: int
    channel: int
    topology: int
    index_bytes: int
    words: bytes


@dataclass(frozen=True, eq=False)
class _QuickRead:
    """A READ in the work area. places: numbers of the registers; vectors: those of the file that have any of them."""

    at: int
    places: NDArray[np.int64]
    vectors: NDArray[np.int64]


@dataclass(eq=False)
class _QuickEntry:
    """Python's part of an ENTRY. code: SPAN records of programs. addresses, maps: of the programs, by stage."""

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

    NO_LIMIT = 0x7FFFFFFF
    """Of draws that kernels may make until the walk stops."""

    def __init__(
        self, memory: GpuMemory, engine: Engine, programs: Programs, textures: Textures, vertex_input: VertexInput,
        rooms: Rooms, at: int,
    ) -> None:  # fmt: skip
        self.memory, self.engine, self.programs, self.textures = memory, engine, programs, textures
        self.vertex_input, self.rooms = vertex_input, rooms
        self.at_once = True
        """Whether a state gets its entry at its first draw, or at its second."""
        self.made = 0
        """How many draws kernels have made without Python."""
        self.found = 0
        """How many draws of Python have found an entry."""
        starts = np.cumsum((at, *_PARTS)).tolist()
        self._at, self._table, self._spans, self._log, self._wholes, self._reads_at, self._entries_at = starts[:-1]
        self._factors = factors()
        self._slots = self._words(self._table, TABLE_WORDS)
        self._record = self._words(self._at, QUICK.size // 4)
        self._record[:] = 0
        self._quick = self._record.data
        self._passed = self._words(self._at + QUICK.PASSED, 2).view(np.int64)
        self._reads: dict[bytes, _QuickRead] = {}
        self._known: dict[int, _QuickEntry] = {}
        self._by_key: dict[_Key, _QuickEntry] = {}
        self._beyond = 0
        self._files: list[Registers] = []
        self._seen: set[int] = set()
        self._moves = self._map_changes = -1
        self._pools: dict[object, int] = {}
        self._asking: tuple[State | None, int, memoryview] = (None, 0, self._quick)
        """The registers of the last call, the offset of their channel, and its word QUICK."""
        self._begin()
        self.clear()

    def __repr__(self) -> str:
        return f"QuickTable({len(self._known)} entries, {self.made} draws made, {self.found} found)"

    def _words(self, at: int, count: int) -> NDArray[np.uint32]:
        return self.memory.arena[at : at + 4 * count].view(np.uint32)

    def _put(self, name: str, value: int) -> None:
        self._quick[QUICK.offsets[name] // 4] = value

    def _get(self, name: str) -> int:
        return int(self._quick[QUICK.offsets[name] // 4])

    def _begin(self) -> None:
        for name, value in (
            ("ON", 1), ("MOST", self.NO_LIMIT), ("ASKS", WALKING), ("TABLE", self._table), ("READS", self._reads_at),
            ("INPUT", self.vertex_input.room.input), ("WALK", self.rooms.walk), ("REGION", self.rooms.region),
            ("FRAGMENTS", self.rooms.fragments), ("BOOK", self.textures.book), ("SPANS", self._spans),
            ("LOG", self._log), ("LOG_END", self._log + LOG_SIZE), ("WHOLES", self._wholes),
        ):  # fmt: skip
            self._put(name, value)

    @property
    def reads(self) -> list[NDArray[np.int64]]:
        """The sets of registers that entries depend on, as numbers of words."""
        return [read.places for read in self._reads.values()]

    # -- on and off ---------------------------------------------------------------------------------------------------
    @property
    def on(self) -> bool:
        """Whether kernels may make draws without Python. If not, all draws come to Python, which still uses entries."""
        return bool(self._get("ON"))

    @on.setter
    def on(self, on: bool) -> None:
        self._put("ON", int(on))

    @property
    def most(self) -> int:
        """How many draws kernels may make until the walk of a pushbuffer stops."""
        return self._get("MOST")

    @most.setter
    def most(self, most: int) -> None:
        self._put("MOST", min(most, self.NO_LIMIT))

    def clear(self) -> None:
        """Remove all entries."""
        self.adopt()
        for known in (self._reads, self._known, self._by_key, self._seen, self._pools):
            known.clear()
        self._beyond = 0
        self._slots[:] = 0
        for name in ("CURRENT", "CHANGES", "READ_COUNT"):
            self._put(name, 0)
        self._moves, self._map_changes = self.programs.moves, self.memory.map_changes

    def follow(self) -> None:
        """Remove all entries if mappings have changed or rooms of programs have moved."""
        if self._map_changes != self.memory.map_changes or self._moves != self.programs.moves:
            self.clear()

    # -- draws made in Python -----------------------------------------------------------------------------------------
    def find(self, draw: Draw, state: State) -> Plan | None:
        """Set up a draw that has an entry. Returns its plan; None: the draw must be prepared.

        :param state: the live registers, which are those of the draw.
        """
        self.follow()
        if not self._known or draw.inline is not None or not 0 < draw.count <= MAX_COUNT:
            return None
        words = self._quick
        for place, value in zip(
            _ASKED,
            (draw.topology, draw.index_bytes, draw.first, draw.count, draw.instance, draw.first_primitive),
            strict=True,
        ):
            words[place] = value & _WORD
        words[_ASKS] = ASKED
        channel = self._channel_of(state)
        try:
            self.engine.get(quick)(self._at, channel)
            if words[_ASKS] != SET_UP:
                return None
        finally:
            words[_ASKS] = WALKING
        if self._asking[2][0] != self._at:
            self._start(channel)  # the channel was restored to a time before its first entry
        self.adopt()
        self.found += 1
        return self.current

    def interrupt(self) -> None:
        """To be called before Python sets up a draw itself, so that no entry counts as set up afterwards."""
        self.adopt()
        self._quick[_CURRENT] = 0

    def share_from(self, plan: Plan, area: int) -> None:
        """Set the area from which threads share pixels of a plan's draws (WALK.SHARE_AREA)."""
        for at, entry in self._known.items():
            if entry.plan is plan:
                self._words(at + ENTRY_WALK + WALK.SHARE_AREA, 1)[0] = area

    @property
    def current(self) -> Plan:
        """The plan of the entry that is set up."""
        return self._known[self._quick[_CURRENT]].plan

    # -- draws made by kernels ----------------------------------------------------------------------------------------
    def take(self, count: int, counters: Counters) -> tuple[NDArray[np.uint32], tuple[Registers, ...]]:
        """The LOGGED records of draws that kernels made, and the register files that they refer to. Counts samples."""
        memory, self.made = self.memory, self.made + count
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
        if self.textures.errors:
            self.textures.check()
        return words, files

    def adopt(self) -> None:
        """Notify the stages of what a kernel has set up for them."""
        if not self._quick[_TOUCHED]:
            return
        self._quick[_TOUCHED] = 0
        entry = self._known[self._quick[_CURRENT]]
        for n, stage in enumerate(self.programs.stages):
            program = entry.plan.programs.get(n)
            if program is not None:
                stage.adopt(program, entry.addresses[n], entry.maps[n])
            else:
                stage.adopt(None)

    # -- new states ---------------------------------------------------------------------------------------------------
    def note(self, prepared: Prepared, draw: Draw, state: State, walk_record: NDArray[np.int32]) -> None:
        """A plain draw was prepared and made, with final code: give its state an entry."""
        plan, channel = prepared.plan, self._channel_of(state)
        if prepared.vertices.waiting or draw.inline is not None or not channel or not self._can_set_up(plan):
            return
        self.follow()
        alone = self._is_alone(prepared.read)
        read = self._read_of(prepared.read)
        if plan.textures:
            self._note_textures()
        key = _Key(read.at, channel, draw.topology, draw.index_bytes, state.peek(read.places))
        if hash(key) not in self._seen and not self.at_once:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(hash(key))
            return
        code, known = self._code(prepared.shaders), self._by_key.get(key)
        if code is None or (known is not None and known.plan is plan and known.code == code):
            return  # the entry is right; the draw came to Python for another reason
        at, place = self._room(known, digest := self._digest(read, draw, state))
        if not at:
            return
        entry = self._make(at, prepared, draw, state, code, walk_record)
        if entry is None:
            return
        record = self._words(at, ENTRY_KEY // 4)
        for name, value in (
            ("HASH", digest), ("CHANNEL", channel), ("TOPOLOGY", draw.topology), ("INDEX_BYTES", draw.index_bytes),
            ("READ", read.at), ("ALONE", int(alone)),
        ):  # fmt: skip
            record[ENTRY.offsets[name] // 4] = value
        vectors = state.registers[:KEY_WORDS].reshape(KEY_VECTORS, LANES)[read.vectors]
        self._words(at + ENTRY_KEY, vectors.size)[:] = vectors.reshape(-1)
        self._known[at] = self._by_key[key] = entry
        if place is not None:
            self._slots[place] = at
        self._start(channel)

    def _can_set_up(self, plan: Plan) -> bool:
        """Whether an entry can contain all that is set up for a plan."""
        programs, stages = plan.programs, self.programs.stages
        return (
            FIRST_VERTEX not in programs and programs.keys() <= {SECOND_VERTEX, PIXEL}
            and all(stages[n].plain for n in programs)
        )  # fmt: skip

    def _is_alone(self, state: State) -> bool:
        """Whether the registers need nothing that only Python does."""
        return (
            conditions.plain(state) and not state.word("SET_STATISTICS_COUNTER")
            and state.field(_OVERRIDE, "OVERRIDE") == _OVERRIDES.USE_TOPOLOGY_IN_BEGIN_METHODS
        )  # fmt: skip

    def _read_of(self, read: RecordingState) -> _QuickRead:
        """The READ of the registers that were read, made if it does not exist."""
        places = read.places
        assert places[-1] < KEY_WORDS
        found = self._reads.get(places.tobytes())
        if found is not None:
            return found
        if len(self._reads) >= MOST_READS:
            self.clear()
        at = self._reads_at + len(self._reads) * READ_ROOM
        bits = np.packbits(read.read[:KEY_WORDS], bitorder="little").view("<u4")
        vectors = bits.nonzero()[0]
        words, count = self._words(at, READ_ROOM // 4), len(vectors)
        words[READ.COUNT // 4] = count
        words[READ.AT // 4 :][:count] = vectors * VECTOR
        words[READ.BITS // 4 :][:count] = bits[vectors]
        chosen = np.where(read.read[:KEY_WORDS], self._factors, 0).reshape(KEY_VECTORS, LANES)[vectors]
        words[READ_FACTORS // 4 :][: chosen.size] = chosen.reshape(-1)
        self._reads[places.tobytes()] = found = _QuickRead(at, places, vectors)
        self._put("READ_COUNT", len(self._reads))
        return found

    def _digest(self, read: _QuickRead, draw: Draw, state: State) -> int:
        """The hash that `quick` makes of a state."""
        total = int((state.values(read.places) * self._factors[read.places]).sum(dtype=np.uint32))
        return total + draw.topology + (draw.index_bytes << 8) & _WORD

    def _room(self, known: _QuickEntry | None, digest: int) -> tuple[int, int | None]:
        """The offset for an entry, and its place in the table unless it has one; 0 if there is no room."""
        if known is not None:
            return known.at, None
        if len(self._known) >= MOST_ENTRIES:
            # Removing all entries pays only if they are not needed again soon.
            self._beyond += 1
            if self._beyond > _PATIENCE * MOST_ENTRIES:
                self.clear()
            return 0, None
        first = (digest * HASH & _WORD) >> (32 - TABLE_BITS)
        places = (first + np.arange(PROBES)) % TABLE_WORDS
        free = (self._slots[places] == 0).nonzero()[0]
        if not len(free):
            return 0, None
        return self._entries_at + len(self._known) * ENTRY_ROOM, int(places[free[0]])

    def _channel_of(self, state: State) -> int:
        """Offset of the work area's part for the channel that has these registers; 0 if no channel has them."""
        if self._asking[0] is not state:
            at = state.registers.ctypes.data - self.memory.address - CHANNEL_LAYOUT.registers
            at = at if 0 < at < self.memory.size else 0
            self._asking = state, at, self._channel(at, CHANNEL.QUICK, 4).data
        return self._asking[1]

    def _channel(self, channel: int, word: int, size: int) -> NDArray[np.uint32]:
        return self._words(channel + CHANNEL_LAYOUT.state + word, size // 4)

    def _start(self, channel: int) -> None:
        """From now on, draws of a channel may be quick."""
        self._words(self._at + QUICK.WALK_CALL, 2).view(np.int64)[0] = self.engine.handle(walk)
        self._channel(channel, CHANNEL.QUICK_CALL, 8).view(np.int64)[0] = self.engine.handle(quick)
        self._channel(channel, CHANNEL.QUICK, 4)[0] = self._at

    def _code(self, shaders: Sequence[Shader]) -> list[tuple[int, int, int]] | None:
        """SPAN records of programs; None if one may have been written to."""
        spans = [self.programs.span(shader.stage, shader.address) for shader in shaders]
        if len(spans) > MOST_CODE:
            return None
        found = [self._span(*span) for span in spans if span is not None]
        return found if len(found) == len(spans) else None

    def _note_textures(self) -> None:
        """Record the versions of all sources of textures, and the pools that they are in."""
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
        self, at: int, prepared: Prepared, draw: Draw, state: State, code: list[tuple[int, int, int]],
        walk_record: NDArray[np.int32],
    ) -> _QuickEntry | None:  # fmt: skip
        """Fill an entry from what is set up now; None if it does not fit."""
        plan, vertices, shaders, stages = prepared.plan, prepared.vertices, prepared.shaders, self.programs.stages
        rows = self._banks(plan, state, shaders)
        if len(rows) > MOST_BANKS:
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
        return _QuickEntry(at, plan, code, addresses, {n: stages[n].maps for n in plan.programs})

    def _banks(self, plan: Plan, state: State, shaders: Sequence[Shader]) -> list[tuple[int, ...]]:
        """BANK records of what `StageLaunch.bind` fills. Draws find themselves what is bound."""
        rows: list[tuple[int, ...]] = []
        texture_bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        bound = self._channel_of(state) + CHANNEL_LAYOUT.bound
        for shader in shaders:
            stage = self.programs.stages[shader.stage]
            for bank, wanted in plan.programs[shader.stage].banks(texture_bank).items():
                there = shader.group < CONSTANT_GROUPS and bank < CONSTANT_SLOTS
                at = bound + (shader.group * CONSTANT_SLOTS + bank) * BOUND.size if there else 0
                values = {
                    "BOUND": at, "WANTED": wanted, "VERSION": NEVER & _WORD, "TARGET": stage.bank_at(bank),
                    "FILLED": stage.filled_at + 4 * bank,
                }  # fmt: skip
                rows.append(tuple(values.get(name, 0) for name in BANK.offsets))
        return rows


__all__ = ["AREA_SIZE", "QuickTable", "Rooms"]
