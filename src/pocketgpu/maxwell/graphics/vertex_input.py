"""What the vertex side needs of a draw, from registers: the map of a vertex program's inputs, streams, indices.

`InputShape` depends on few registers and on what a program reads; it is kept and used again. `fill` is what every draw
takes. Source: class header B197 and the Python model in `engines.vertices`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...facts.maxwell.formats import VERTEX
from ...lanes import Engine
from ..engines import topology
from ..engines.draws import Draw
from ..engines.state import State
from ..engines.vertices import ATTRIBUTES, SINT, UINT
from ..memory import GpuMemory
from ..sass.work import VECTOR
from .fetch import components, fetch, fetch_careful, fetch_general
from .records import MAP_WORDS, PAGE_DUMP, PAGE_ONE, PAGE_SLOTS, PAGE_ZERO, PRIMITIVES, VERTICES
from .vertex_records import ATTRIBUTE, INPUT, MAX_PATCH, TOPOLOGIES, Topology, VertexRoom

GENERIC, INSTANCE_ID, VERTEX_ID = 0x80, 0x2F8, 0x2FC
"""Where attribute space has generic attributes and what a vertex is numbered."""
_EVERYWHERE = 1 << 31  # more than any index buffer or stream can have in one piece
_MASK40 = 0xFF_FFFF_FFFF


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
    """The page of a vertex program's inputs. map: MAP_WORDS page offsets; vectors: of the page."""

    map: NDArray[np.int32]
    vectors: int
    attributes: tuple[Fetched, ...]
    vertex_id_at: int
    instance_id_at: int
    integer_one_at: int

    @classmethod
    def of(cls, state: State, wanted: Collection[int] | None = None) -> InputShape:
        """The shape that registers ask for.

        :param wanted: addresses in attribute space that the program reads, None: all that there are.
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
            inactive = bool(state.field(name, "SOURCE", i))
            fed = state.field(f"SET_VERTEX_STREAM_{'AB'[stream >> 4]}_FORMAT", "ENABLE", stream & 15)
            if inactive or not fed or format not in VERTEX:
                if default or not inactive:
                    places[own[3]] = PAGE_ONE
                continue
            type, swap = state.field(name, "NUMERICAL_TYPE", i), state.field(name, "SWAP_R_AND_B", i)
            bits = components(VERTEX[format])
            to = [PAGE_DUMP] * 4
            for c, channel in enumerate((2, 1, 0, 3) if swap else range(4)):
                if not wants(own[c]):
                    continue
                if bits[channel][1]:
                    to[channel] = places[own[c]] = slot()
                elif channel == 3 and type in (SINT, UINT):
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


class _Words:
    """A record by names."""

    def __init__(self, words: NDArray[np.uint32], offsets: Mapping[str, int]) -> None:
        self._words, self._offsets = words.data, offsets

    def put(self, name: str, v: int, n: int = 0) -> None:
        self._words[self._offsets[name] // 4 + n] = v & 0xFFFFFFFF

    def put_wide(self, name: str, v: int) -> None:
        at = self._offsets[name] // 4
        self._words[at], self._words[at + 1] = v & 0xFFFFFFFF, v >> 32 & 0xFFFFFFFF


def _piece(memory: GpuMemory, address: int, size: int) -> tuple[int, int]:
    """Arena offset of an address, and how many of the bytes from there on lie in one piece; 0, 0 if none do."""
    if size <= 0:
        return 0, 0
    size = min(size, _EVERYWHERE)
    offset = memory.offset_of(address, size)
    if offset is not None:
        return offset, size
    first, length = memory.spans(address, size)[0]
    return (0, 0) if first is None else (first, length)


class VertexInput:
    """Fills the INPUT record of draws.

    :param room: where everything lies. launch: offset of the LAUNCH record of the vertex stage.
    """

    def __init__(self, memory: GpuMemory, engine: Engine, room: VertexRoom, switches: Mapping[str, str]) -> None:
        self.memory, self.engine, self.room, self.switches = memory, engine, room, switches
        arena = memory.arena
        words = lambda at, size: arena[at : at + size].view(np.uint32)
        self.words = words(room.input, INPUT.size)
        self._input = _Words(self.words, INPUT.offsets)
        self._entries = [
            _Words(words(room.attributes + i * ATTRIBUTE.size, ATTRIBUTE.size), ATTRIBUTE.offsets)
            for i in range(ATTRIBUTES)
        ]
        self.words[:] = 0
        for name, at in (
            ("CAPACITY", room.capacity), ("NUMBERS", room.numbers), ("SLOTS", room.slots), ("SHADE", room.shade),
            ("SHADE_INSTANCES", room.shade_instances), ("TABLE", room.table), ("CARRY", room.carry),
            ("ATTRIBUTES", room.attributes),
        ):  # fmt: skip
            self._input.put(name, at)
        for place, at in ((PRIMITIVES.COLUMNS, room.columns), (PRIMITIVES.STRIDE, room.column_stride)):
            self._input.put("PRIMITIVES", at, place // 4)

    @property
    def vertices(self) -> int:
        """Offset of the VERTICES record."""
        return self.room.input + INPUT.VERTICES

    @property
    def primitives(self) -> int:
        """Offset of the PRIMITIVES record."""
        return self.room.input + INPUT.PRIMITIVES

    def fill(
        self, draw: Draw, shape: InputShape, launch: int, output_vectors: int, output_map: int, instances: int = 1,
        neighbours: bool = False, inline_at: int = 0, tier: str = "auto",
    ) -> None:  # fmt: skip
        """Set the record up for a draw and as many instances, counted from the draw's own.

        :param launch: offset of the vertex stage's LAUNCH record. output_vectors, output_map: of its pages of outputs.
        :param neighbours: whether a geometry program wants the neighbours of lines and triangles.
        :param inline_at: arena offset of the indices, where the draw brings its own.
        """
        state, put, wide = draw.state, self._input.put, self._input.put_wide
        base_vertex = draw.base_vertex if draw.indexed or self.switches["draw.array_base_vertex"] == "add" else 0
        uses_start = draw.indexed or state.field("SET_DA_OUTPUT", "VERTEX_ID_USES_ARRAY_START")
        restart = draw.restart
        size = 4 if draw.inline is not None else draw.index_bytes
        source, limit, at, amount = 0, 0, 0, 0
        if draw.inline is not None:
            at, amount = inline_at, draw.count
        elif size:
            source = state.address("SET_INDEX_BUFFER_A") + size * draw.first
            limit = state.address("SET_INDEX_BUFFER_C")
            at, length = _piece(self.memory, source, min(limit + 1 - source, size * draw.count))
            amount = length // size if at % size == 0 else 0
        wide("SOURCE", source)
        wide("LIMIT", limit)
        for name, v in (
            ("INDEX_BYTES", size), ("INDEX_AT", at), ("INDEX_ROOM", amount), ("FIRST", draw.first),
            ("COUNT", draw.count), ("INSTANCE", draw.instance), ("INSTANCES", instances), ("BASE_VERTEX", base_vertex),
            ("BASE_INSTANCE", draw.base_instance),
            ("ID_OFFSET", state.word("SET_VERTEX_ID_BASE") - (0 if uses_start else draw.first)),
            ("RESTARTS", int(restart is not None)), ("RESTART", restart or 0), ("FIRST_PRIMITIVE", 0),
            ("LAST_PROVOKES", state.field("SET_PROVOKING_VERTEX")), ("NEIGHBOURS", int(neighbours)),
            ("POSITION", 0), ("DONE_INSTANCES", 0), ("CARRIED", 0), ("RUN_BASE", 0), ("RUN_DONE", 0), ("RUN_HUB", 0),
            ("MORE", 1), ("LAUNCH", launch), ("INPUT_VECTORS", shape.vectors), ("OUTPUT_VECTORS", output_vectors),
            ("VERTEX_ID_AT", shape.vertex_id_at), ("INSTANCE_ID_AT", shape.instance_id_at),
            ("INTEGER_ONE_AT", shape.integer_one_at), ("ATTRIBUTE_COUNT", len(shape.attributes)),
        ):  # fmt: skip
            put(name, v)
        patch = min(max(state.field("SET_PATCH", "SIZE"), 1), MAX_PATCH)
        words = _topology_words(draw.topology, patch)
        for name, v in words.items():
            put(name, v)
        put("PRIMITIVES", words["KIND"], PRIMITIVES.KIND // 4)
        for place, v in (
            (VERTICES.PAGES, self.room.pages), (VERTICES.PAGE_SIZE, output_vectors * VECTOR), (VERTICES.MAP, output_map)
        ):  # fmt: skip
            put("VERTICES", v, place // 4)
        wide("FETCH_CAREFUL", self.engine.handle(fetch_careful))
        self._fill_attributes(state, shape, draw.base_instance, tier)

    def _fill_attributes(self, state: State, shape: InputShape, base_instance: int, tier: str) -> None:
        pieces: dict[int, tuple[int, int]] = {}
        for entry, a in zip(self._entries, shape.attributes, strict=False):
            half, i = "AB"[a.stream >> 4], a.stream & 15
            start = state.address(f"SET_VERTEX_STREAM_{half}_LOCATION_A", i)
            limit = state.address(f"SET_VERTEX_STREAM_LIMIT_{half}_A", i)
            stride = state.field(f"SET_VERTEX_STREAM_{half}_FORMAT", "STRIDE", i)
            frequency = state.word(f"SET_VERTEX_STREAM_{half}_FREQUENCY", i)
            instanced = state.field(f"SET_VERTEX_STREAM_INSTANCE_{half}", "IS_INSTANCED", i)
            if not frequency and self.switches["draw.zero_frequency"] == "per-vertex":
                instanced = 0
            if a.stream not in pieces:
                pieces[a.stream] = _piece(self.memory, start, limit + 1 - start)
            at, room = pieces[a.stream]
            spare = room - a.offset - a.bytes
            good = 0 if spare < 0 else spare // stride + 1 if stride else 0xFFFFFFFF
            align = 4 if not (at + a.offset | stride) & 3 else 2 if not (at + a.offset | stride) & 1 else 1
            entry.put_wide("HANDLE", self._handle(a, align, tier))
            for name, v in (("ADDRESS", start + a.offset), ("START", start), ("LIMIT", limit)):
                entry.put_wide(name, v)
            for name, v in (
                ("AT", at + a.offset), ("GOOD", good), ("STRIDE", stride), ("INSTANCED", instanced),
                ("FREQUENCY", frequency), ("BASE_INSTANCE", base_instance), ("BYTES", a.bytes), ("TYPE", a.type),
            ):  # fmt: skip
                entry.put(name, v)
            for n, (lo, width) in enumerate(components(VERTEX[a.format])):
                entry.put("TO", a.to[n], n)
                entry.put("LO", lo, n)
                entry.put("WIDTH", width, n)

    def _handle(self, a: Fetched, align: int, tier: str) -> int:
        """The code for a format: its own, or for the time being the general one."""
        static: dict[str, Any] = {"format": a.format, "type": a.type, "align": align}
        engine = self.engine
        if tier == "general":
            return engine.handle(fetch_general)
        if tier == "auto" and not engine.has(fetch, **static) and engine.has(fetch_general):
            engine.later(fetch, **static)
            return engine.handle(fetch_general)
        return engine.handle(fetch, **static)
