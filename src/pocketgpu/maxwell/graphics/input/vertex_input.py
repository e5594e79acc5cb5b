"""Registers of the vertex side of a draw: the map of a vertex program's inputs, streams, indices.

`InputShape` depends on few registers and on what a program reads. A `VertexPlan` depends on some more and is cached.
`VertexInput.begin` runs for every draw.
Source: class header B197 and the Python model in `engines.threed.vertices`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import astuple, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.read_cache import ReadCache
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed import topology
from pocketgpu.maxwell.engines.threed.topology import last_provokes
from pocketgpu.maxwell.engines.threed.vertices import ATTRIBUTES, SOURCES
from pocketgpu.maxwell.formats.channels import NUMBER_INTEGER
from pocketgpu.maxwell.formats.components import ABSENT
from pocketgpu.maxwell.graphics.input.fetch import channels_of, fetch, fetch_careful, fetch_general
from pocketgpu.maxwell.graphics.input.vertex_records import (
    ATTRIBUTE,
    CHANNEL_WORDS,
    INPUT,
    MAX_PATCH,
    TOPOLOGIES,
    Topology,
    VertexRoom,
)
from pocketgpu.maxwell.graphics.records import (
    MAP_WORDS,
    PAGE_DUMP,
    PAGE_ONE,
    PAGE_SLOTS,
    PAGE_ZERO,
    PRIMITIVES,
    VERTICES,
)
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

GENERIC, INSTANCE_ID, VERTEX_ID = 0x80, 0x2F8, 0x2FC
"""Addresses in attribute space of generic attributes, instance id and vertex id."""
_MOST_PLANS = 1024
MAX_COUNT = 1 << 24
"""The most vertices or indices of a draw, and the most instances."""
_EVERYWHERE = 1 << 31  # more than any contiguous index buffer or stream can have


@dataclass(frozen=True)
class Fetched:
    """An attribute that comes from a stream. to: page offsets of its components."""

    stream: int
    offset: int
    format: int
    type: int
    to: tuple[int, int, int, int]

    @property
    def bytes(self) -> int:
        return VERTEX[self.format].bytes


@dataclass(frozen=True, eq=False)
class InputShape:
    """The layout of the page of a vertex program's inputs. map: MAP_WORDS page offsets; vectors: size of the page."""

    map: NDArray[np.int32]
    vectors: int
    attributes: tuple[Fetched, ...]
    vertex_id_at: int
    instance_id_at: int
    integer_one_at: int

    @classmethod
    def of(cls, state: State, wanted: Collection[int] | None = None) -> InputShape:
        """The shape for the current registers.

        :param wanted: addresses in attribute space that the program reads, None: all.
        """
        wants = lambda address: wanted is None or address in wanted
        places: dict[int, int] = {}  # of attribute space to page offsets
        top = PAGE_SLOTS

        def slot() -> int:
            nonlocal top
            top += VECTOR
            return top - VECTOR

        integer_one = PAGE_DUMP
        found = []
        default = state.field("SET_ATTRIBUTE_DEFAULT", "GENERIC_VECTOR")
        for number in range(ATTRIBUTES):
            name, i = f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}", number & 15
            own = [GENERIC + 16 * number + 4 * c for c in range(4)]
            if not any(wants(a) for a in own):
                continue
            stream, format = state.field(name, "STREAM", i), state.field(name, "COMPONENT_BIT_WIDTHS", i)
            inactive = state.field(name, "SOURCE", i) == SOURCES.INACTIVE
            fed = state.field(f"SET_VERTEX_STREAM_{'AB'[stream >> 4]}_FORMAT", "ENABLE", stream & 15)
            if inactive or not fed or format not in VERTEX:
                if default or not inactive:
                    places[own[3]] = PAGE_ONE
                continue
            type, swap = state.field(name, "NUMERICAL_TYPE", i), state.field(name, "SWAP_R_AND_B", i)
            channels = channels_of(format, type)
            to = [PAGE_DUMP] * 4
            for c, channel in enumerate((2, 1, 0, 3) if swap else range(4)):
                if not wants(own[c]):
                    continue
                if channels.channels[channel].type != ABSENT:
                    to[channel] = places[own[c]] = slot()
                elif channel == 3 and channels.numbers == NUMBER_INTEGER:
                    integer_one = slot() if integer_one == PAGE_DUMP else integer_one
                    places[own[c]] = integer_one
                else:
                    places[own[c]] = PAGE_ONE if channel == 3 else PAGE_ZERO
            found.append(Fetched(stream, state.field(name, "OFFSET", i), format, type, (to[0], to[1], to[2], to[3])))
        ids = [slot() if wants(a) else PAGE_DUMP for a in (VERTEX_ID, INSTANCE_ID)]
        for address, at in zip((VERTEX_ID, INSTANCE_ID), ids, strict=True):
            if wants(address):
                places[address] = at
        table = np.full(MAP_WORDS, PAGE_ZERO, np.int32)
        for address, at in places.items():
            table[address // 4] = at
        return cls(table, top // VECTOR, tuple(found), ids[0], ids[1], integer_one)


@cache
def _topology_words(number: int, patch: int) -> dict[str, int]:
    t: Topology = TOPOLOGIES[topology.name(number)]
    step, need, last = (t.step, t.need, t.need_last) if t.step else (patch, patch, patch)
    return {
        "TOPOLOGY": number, "KIND": t.kind, "STEP": step, "NEED": need, "NEED_LAST": last, "LAG": t.lag,
        "HUB": int(t.hub), "PARTS": t.parts,
    }  # fmt: skip


class _NewRecord:
    """A record by names, in its own array."""

    def __init__(self, size: int, offsets: Mapping[str, int]) -> None:
        self.words = np.zeros(size // 4, np.uint32)
        self._offsets = offsets

    def put(self, name: str, v: int, n: int = 0) -> None:
        self.words[self._offsets[name] // 4 + n] = v & 0xFFFFFFFF

    def put_wide(self, name: str, v: int) -> None:
        self.put(name, v)
        self.put(name, v >> 32, 1)


def _piece(memory: GpuMemory, address: int, size: int) -> tuple[int, int]:
    """Arena offset of an address, and the number of contiguous bytes from there; 0, 0 if it is not mapped."""
    if size <= 0:
        return 0, 0
    size = min(size, _EVERYWHERE)
    offset = memory.offset_of(address, size)
    if offset is not None:
        return offset, size
    first, length = memory.spans(address, size)[0]
    return (0, 0) if first is None else (first, length)


@dataclass(frozen=True)
class _StreamPlaces:
    """The registers of an attribute's stream: words of FORMAT, of LIMIT, and of INSTANCE."""

    attribute: Fetched
    format: int
    limit: int
    instance: int

    @classmethod
    def of(cls, a: Fetched) -> _StreamPlaces:
        half, i = "AB"[a.stream >> 4], a.stream & 15
        names = (f"{half}_FORMAT", f"LIMIT_{half}_A", f"INSTANCE_{half}")
        methods = [B197[f"SET_VERTEX_STREAM_{name}"] for name in names]
        places = [m.word + i * m.stride for m in methods]
        return cls(a, *places)


@dataclass(eq=False)
class VertexPlan:
    """What registers determine on the vertex side, for draws of one topology with one kind of indices.

    The arena offsets of streams and indices are looked up again when registers or mappings have changed.
    """

    words: NDArray[np.uint32]
    entries: NDArray[np.uint32]
    sources: tuple[_StreamPlaces, ...]
    index_bytes: int
    uses_start: bool
    adds_base: bool
    tier: str
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbers of the registers with the addresses of streams and indices; `key`: their values at the last look-up."""
    key: bytes = b""
    changes: int = -1
    """`GpuMemory.map_changes` at the last look-up."""
    index_piece: tuple[int, int] = (0, 0)
    waiting: bool = False
    """Whether any attribute still uses general code."""


_INDEX_BASE, _INDEX_LIMIT = (B197[f"SET_INDEX_BUFFER_{c}"].word for c in "AC")


class VertexInput:
    """Fills the INPUT record of draws.

    :param room: the offsets of the work area's parts.
    """

    def __init__(self, memory: GpuMemory, engine: Engine, room: VertexRoom, choices: Mapping[str, str]) -> None:
        self.memory, self.engine, self.room = memory, engine, room
        self._adds_base = choices["draw.array_base_vertex"] == "add"
        self._quad_cut = int(choices["draw.quad_diagonal"] == "second")
        self._per_vertex = choices["draw.zero_frequency"] == "per-vertex"
        words = lambda at, size: memory.arena[at : at + size].view(np.uint32)
        self._input = words(room.input, INPUT.size)
        self._entries = words(room.attributes, ATTRIBUTE.size * ATTRIBUTES)
        self._plans: ReadCache[VertexPlan] = ReadCache(_MOST_PLANS)
        self._handles: dict[tuple[int, int, int], int] = {}
        self._asked: set[tuple[int, int, int]] = set()

    @property
    def vertices(self) -> int:
        """Offset of the VERTICES record."""
        return self.room.input + INPUT.VERTICES

    @property
    def primitives(self) -> int:
        """Offset of the PRIMITIVES record."""
        return self.room.input + INPUT.PRIMITIVES

    def kept_plan(
        self, state: State, topology: int, index_bytes: int, indexed: bool, shape: InputShape, launch: int,
        output_vectors: int, output_map: int, neighbours: bool = False, tier: str = "auto",
    ) -> VertexPlan:  # fmt: skip
        """The cached result of `plan` for these arguments, made at the first call."""
        asked = topology, index_bytes, indexed, shape, launch, output_vectors, output_map, neighbours, tier
        return self._plans.get(state, lambda read: self.plan(read, *asked), asked)

    def forget(self) -> None:
        """Drop all cached plans."""
        self._plans.clear()

    def plan(
        self, state: State, topology: int, index_bytes: int, indexed: bool, shape: InputShape, launch: int,
        output_vectors: int, output_map: int, neighbours: bool = False, tier: str = "auto",
    ) -> VertexPlan:  # fmt: skip
        """Make the plan: the part of a draw's vertex input that depends on registers and these arguments alone.

        :param index_bytes: size of an index in the index buffer, 0: no index buffer. indexed: whether there are indices
            (with 0 bytes: inline ones).
        :param launch: offset of the vertex stage's LAUNCH record. output_vectors: vectors in a page of its outputs.
            output_map: offset of the map of such a page.
        :param neighbours: whether a geometry program reads adjacent vertices of lines and triangles.
        """
        record, room = _NewRecord(INPUT.size, INPUT.offsets), self.room
        restart = state.field("SET_DA_PRIMITIVE_RESTART", "ENABLE")
        if not indexed:
            restart = restart and state.field("SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY", "ENABLE")
        restart_index = state.word("SET_DA_PRIMITIVE_RESTART_INDEX")
        patch = min(max(state.field("SET_PATCH", "SIZE"), 1), MAX_PATCH)
        topology_words = _topology_words(topology, patch)
        for name, v in (
            ("CAPACITY", room.capacity), ("NUMBERS", room.numbers), ("SLOTS", room.slots), ("SHADE", room.shade),
            ("SHADE_INSTANCES", room.shade_instances), ("TABLE", room.table), ("CARRY", room.carry),
            ("ATTRIBUTES", room.attributes), ("INDEX_BYTES", index_bytes or 4 * indexed), ("RESTARTS", restart),
            ("RESTART", restart_index), ("LAST_PROVOKES", last_provokes(state)),
            ("NEIGHBOURS", neighbours), ("QUAD_CUT", self._quad_cut), ("MORE", 1), ("LAUNCH", launch),
            ("INPUT_VECTORS", shape.vectors),
            ("OUTPUT_VECTORS", output_vectors), ("VERTEX_ID_AT", shape.vertex_id_at),
            ("INSTANCE_ID_AT", shape.instance_id_at), ("INTEGER_ONE_AT", shape.integer_one_at),
            ("ATTRIBUTE_COUNT", len(shape.attributes)), *topology_words.items(),
        ):  # fmt: skip
            record.put(name, int(v))
        for part, v in (
            (PRIMITIVES.KIND, topology_words["KIND"]), (PRIMITIVES.COLUMNS, room.columns),
            (PRIMITIVES.STRIDE, room.column_stride),
        ):  # fmt: skip
            record.put("PRIMITIVES", v, part // 4)
        for part, v in (
            (VERTICES.PAGES, room.pages), (VERTICES.PAGE_SIZE, output_vectors * VECTOR), (VERTICES.MAP, output_map)
        ):  # fmt: skip
            record.put("VERTICES", v, part // 4)
        record.put_wide("FETCH_CAREFUL", self.engine.handle(fetch_careful))
        return VertexPlan(
            record.words, _entries(shape), tuple(_StreamPlaces.of(a) for a in shape.attributes), index_bytes,
            indexed or bool(state.field("SET_DA_OUTPUT", "VERTEX_ID_USES_ARRAY_START")),
            indexed or self._adds_base, tier,
        )  # fmt: skip

    def begin(
        self, plan: VertexPlan, state: State, first: int, count: int, instance: int = 0, instances: int = 1,
        inline_at: int = 0, first_primitive: int = 0,
    ) -> None:  # fmt: skip
        """Set up the records for a draw.

        :param first, count: vertices, or indices. instance: the first one's number. inline_at: arena offset of 32-bit
            indices of the draw itself (inline indices). first_primitive: the number of the first primitive.
        :raises UsageError: count or instances is out of range (MAX_COUNT).
        """
        if not (0 < count <= MAX_COUNT and 0 < instances <= MAX_COUNT):
            raise UsageError(f"a draw of {count} vertices and {instances} instances is empty or too large")
        key = state.peek(plan.places)
        if plan.changes != self.memory.map_changes or key != plan.key or plan.waiting:
            read = state.recording()
            self._look_up(plan, read)
            plan.places, plan.changes = read.places, self.memory.map_changes
            plan.key = state.peek(plan.places)
        self._input[:] = plan.words
        self._entries[: len(plan.entries)] = plan.entries
        put, size = self._input.data, plan.index_bytes
        if size:
            source, limit = _address(state, _INDEX_BASE) + size * first, _address(state, _INDEX_LIMIT)
            at, room = plan.index_piece
            at, room = at + size * first, room - size * first
            put[_SOURCE], put[_SOURCE + 1] = source & 0xFFFFFFFF, source >> 32
            put[_LIMIT], put[_LIMIT + 1] = limit & 0xFFFFFFFF, limit >> 32
            if room > 0 and at % size == 0:
                put[_INDEX_AT], put[_INDEX_ROOM] = at, room // size
        elif inline_at:
            put[_INDEX_AT], put[_INDEX_ROOM] = inline_at, count
        put[_PRIMITIVE] = first_primitive
        put[_FIRST], put[_COUNT], put[_INSTANCE], put[_INSTANCES] = first, count, instance & 0xFFFFFFFF, instances
        if plan.adds_base:
            put[_BASE_VERTEX] = state.word("SET_GLOBAL_BASE_VERTEX_INDEX")
        put[_BASE_INSTANCE] = state.word("SET_GLOBAL_BASE_INSTANCE_INDEX")
        base_id = state.word("SET_VERTEX_ID_BASE")
        put[_ID_OFFSET] = base_id - (0 if plan.uses_start else first) & 0xFFFFFFFF

    def _look_up(self, plan: VertexPlan, state: State) -> None:
        """Look up the arena offsets of streams and indices, and choose the code that reads attributes."""
        at, memory = state.at, self.memory
        pieces: dict[int, tuple[int, int]] = {}
        put, e, plan.waiting = plan.entries.data, 0, False
        for source in plan.sources:
            a, word = source.attribute, source.format
            start, limit = _address(state, word + 1), _address(state, source.limit)
            stride, frequency, instanced = at(word) & _STRIDE, at(word + 3), at(source.instance) & 1
            if not frequency and self._per_vertex:
                instanced = 0
            piece = pieces.get(a.stream)
            if piece is None:
                piece = pieces[a.stream] = _piece(memory, start, limit + 1 - start)
            offset, spare = piece[0] + a.offset, piece[1] - a.offset - a.bytes
            good = 0 if spare < 0 else spare // stride + 1 if stride else 0xFFFFFFFF
            odd = offset | stride
            handle, final = self._handle(a.format, a.type, 1 if odd & 1 else 2 if odd & 2 else 4, plan.tier)
            plan.waiting |= not final
            address = start + a.offset
            put[e + _E_HANDLE], put[e + _E_HANDLE + 1] = handle & 0xFFFFFFFF, handle >> 32
            put[e + _E_ADDRESS], put[e + _E_ADDRESS + 1] = address & 0xFFFFFFFF, address >> 32
            put[e + _E_START], put[e + _E_START + 1] = start & 0xFFFFFFFF, start >> 32
            put[e + _E_LIMIT], put[e + _E_LIMIT + 1] = limit & 0xFFFFFFFF, limit >> 32
            put[e + _E_AT], put[e + _E_GOOD], put[e + _E_STRIDE] = offset, good, stride
            put[e + _E_INSTANCED], put[e + _E_FREQUENCY] = instanced, frequency
            e += ATTRIBUTE.size // 4
        if plan.index_bytes:
            base, limit = _address(state, _INDEX_BASE), _address(state, _INDEX_LIMIT)
            plan.index_piece = _piece(memory, base, limit + 1 - base)

    def _handle(self, format: int, type: int, align: int, tier: str) -> tuple[int, bool]:
        """The code for a format: the specialised one, or the general one until that is compiled; and whether it is
        final."""
        engine, code = self.engine, (format, type, align)
        if tier == "general":
            return engine.handle(fetch_general), True
        known = self._handles.get(code)
        if known is not None:
            return known, True
        static: dict[str, Any] = {"format": format, "type": type, "align": align}
        if tier == "auto":
            if code in self._asked:
                at_hand = engine.loaded(fetch, **static)
            else:  # without the general code, waiting would gain nothing
                at_hand = engine.has(fetch, **static) or not engine.has(fetch_general)
            if not at_hand:
                if code not in self._asked:
                    self._asked.add(code)
                    engine.later(fetch, **static)
                return engine.handle(fetch_general), False
        handle = self._handles[code] = engine.handle(fetch, **static)
        return handle, True


def _entries(shape: InputShape) -> NDArray[np.uint32]:
    """ATTRIBUTE records with everything that does not depend on streams."""
    entries = np.zeros((len(shape.attributes), ATTRIBUTE.size // 4), np.uint32)
    for entry, a in zip(entries, shape.attributes, strict=True):
        entry[:] = _format_words(a.format, a.type)
        channels = len(channels_of(a.format, a.type).channels)
        entry[ATTRIBUTE.TO // 4 :][:channels] = a.to[:channels]
    return entries.reshape(-1)


@cache
def _format_words(format: int, type: int) -> NDArray[np.uint32]:
    """The words of an ATTRIBUTE record that depend on the format."""
    entry = _NewRecord(ATTRIBUTE.size, ATTRIBUTE.offsets)
    entry.put("BYTES", VERTEX[format].bytes)
    for n, channel in enumerate(channels_of(format, type).channels):
        for name, number in zip(CHANNEL_WORDS, astuple(channel), strict=True):
            entry.put(name, number, n)
    return entry.words


def _address(state: State, word: int) -> int:
    """The 40-bit address in two words."""
    return (state.at(word) & 0xFF) << 32 | state.at(word + 1)


_STRIDE = B197["SET_VERTEX_STREAM_A_FORMAT"]["STRIDE"].mask
_E_HANDLE, _E_ADDRESS, _E_START, _E_LIMIT, _E_AT, _E_GOOD, _E_STRIDE, _E_INSTANCED, _E_FREQUENCY = (
    ATTRIBUTE.offsets[name] // 4
    for name in ("HANDLE", "ADDRESS", "START", "LIMIT", "AT", "GOOD", "STRIDE", "INSTANCED", "FREQUENCY")
)
_SOURCE, _LIMIT, _INDEX_AT, _INDEX_ROOM, _FIRST, _COUNT, _INSTANCE, _INSTANCES = (
    INPUT.offsets[name] // 4
    for name in ("SOURCE", "LIMIT", "INDEX_AT", "INDEX_ROOM", "FIRST", "COUNT", "INSTANCE", "INSTANCES")
)
_BASE_VERTEX, _BASE_INSTANCE, _ID_OFFSET, _PRIMITIVE = (
    INPUT.offsets[name] // 4 for name in ("BASE_VERTEX", "BASE_INSTANCE", "ID_OFFSET", "FIRST_PRIMITIVE")
)
