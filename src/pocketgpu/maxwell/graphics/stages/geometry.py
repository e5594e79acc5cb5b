"""The geometry stage of a draw: it runs invocations in lanes, 32 a warp, and lists the primitives that they emit.

Lanes are the invocations of the first primitive, then those of the second and so on; 32 of them are a *group*. The e-th
vertex that lane n of group g emits is vertex (g * most + e) * 32 + n, so pages of output need no sorting. A
pass-through program emits nothing: each vertex of the primitive continues, with the words that the program writes
replaced.
Source: class header B197 and shader program headers; OpenGL 4.6, "Geometry Shaders", for order, streams and incomplete
strips, which are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import I32, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.topology import last_provokes
from pocketgpu.maxwell.graphics import records
from pocketgpu.maxwell.graphics.input.vertex_stage import clear_page
from pocketgpu.maxwell.graphics.programs.headers import Header, PageLayout
from pocketgpu.maxwell.graphics.programs.run_stage import run_stage
from pocketgpu.maxwell.graphics.records import (
    FLAG_BEGINS,
    FLAG_EDGE0,
    FLAG_EDGE1,
    FLAG_EDGE2,
    LINE_LIST,
    PAGE_SLOTS,
    POINT_LIST,
    PRIMITIVE_COLUMNS,
    PRIMITIVE_FLAGS,
    PRIMITIVES,
    PROVOKING,
    TRIANGLE_LIST,
    V0,
    V1,
    V2,
    V3,
    V4,
    V5,
    VERTICES,
)
from pocketgpu.maxwell.graphics.stages.chain import (
    INVOCATION_PAGE,
    INVOCATION_VECTORS,
    INVOCATIONS,
    TABLE,
    addresses_of,
)
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.stages.attributes import ENDS_STRIP
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, VECTOR
from pocketgpu.struct_words import Struct

GEOMETRY = Struct(
    "LAUNCH", "VERTICES_IN", "PRIMITIVES_IN",  # offsets of records; the latter two are the inputs
    "CORNERS", "COLUMNS:6",  # vertices of a primitive, and their columns
    "INVOCATIONS", "MOST",  # invocations of a primitive; the most vertices that one emits
    "OUTPUT_VECTORS", "EMITTED", "EMITTED_STRIDE",  # vectors with counts and words of emitted vertices, for each group
    "KIND", "LAST_PROVOKES",
    "FIRST",  # first lane of the batch
    "PASS",  # whether vertices pass through; then for each slot of a page its source in the input page, or -1
    "FROM:256",
    f"VERTICES:{VERTICES.size // 4}", f"PRIMITIVES:{PRIMITIVES.size // 4}",
)  # fmt: skip
_CORNER_COLUMNS = (V0, V1, V2, V3, V4, V5)
_TOPOLOGIES = SPH["VTG"]["OUTPUT_TOPOLOGY"].values
_KINDS = {
    _TOPOLOGIES.POINTLIST: POINT_LIST, _TOPOLOGIES.LINESTRIP: LINE_LIST, _TOPOLOGIES.TRIANGLESTRIP: TRIANGLE_LIST,
}  # fmt: skip
_EDGES = FLAG_EDGE0 | FLAG_EDGE1 | FLAG_EDGE2


def columns_of(k: Lang, vertices: Value, numbers: Value) -> Value:
    """Arena offsets of the columns of vertices in their pages, in lanes."""
    pages, size = k.load(I32, vertices + VERTICES.PAGES), k.load(I32, vertices + VERTICES.PAGE_SIZE)
    return pages + (numbers >> 5) * size + ((numbers & (LANES - 1)) << 2)


def _word(k: Lang, record: Value, name: str) -> Value:
    return k.load(I32, record + GEOMETRY.offsets[name])


@kernel(lanes=32, record=I32, slot=I32, room=I32, first=I32, last=I32)
def run_geometry(k: Lang, record: Value, slot: Value, room: Value, first: Value, last: Value) -> None:
    """Run groups first .. last-1 of the batch. slot, room: of the thread; THREAD_ROOM bytes."""
    get = lambda name: _word(k, record, name)
    vertices, primitives, launch = get("VERTICES_IN"), get("PRIMITIVES_IN"), get("LAUNCH")
    columns, stride = (k.load(I32, primitives + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    invocations, most, emitted_stride = get("INVOCATIONS"), get("MOST"), get("EMITTED_STRIDE")
    total = k.load(I32, primitives + PRIMITIVES.COUNT) * invocations
    pages, size = (k.load(I32, record + (GEOMETRY.VERTICES + w)) for w in (VERTICES.PAGES, VERTICES.PAGE_SIZE))
    page = room + INVOCATION_PAGE
    clear_page(k, page, k.i32(INVOCATION_VECTORS))
    put = lambda word, v: k.store(I32, slot + word, v)
    put(BLOCK.VERTICES_AT, room + TABLE)
    put(BLOCK.INVOCATIONS_AT, room + INVOCATIONS)
    put(BLOCK.IN_AT, page)
    for group in k.range(first, last):
        lane = get("FIRST") + (group << 5) + k.iota()
        some = lane < total
        lane = k.select(some, lane, total - 1)
        primitive = k.udiv(lane, k.splat(invocations))
        k.store(I32, room + INVOCATIONS, lane - primitive * invocations)
        column = lambda n, primitive=primitive: k.gather(I32, columns + n * stride + (primitive << 2))
        k.store(I32, page + PAGE_SLOTS, column(records.PRIMITIVE_ID))
        for corner in k.range(0, get("CORNERS")):
            number = column(k.load(I32, record + GEOMETRY.COLUMNS + (corner << 2)))
            k.store(I32, room + TABLE + corner * VECTOR, columns_of(k, vertices, number))
        out = pages + group * (most * size)
        for e in k.range(0, most):
            clear_page(k, out + e * size, get("OUTPUT_VECTORS"))
        emitted = get("EMITTED") + group * emitted_stride
        k.store(I32, emitted, k.splat(0))
        put(BLOCK.OUT_AT, out)
        put(BLOCK.EMITTED_AT, emitted)
        put(BLOCK.NUMBER, k.lane(lane, 0))
        run_stage(k, launch, slot, k.ballot(some))
        for _ in k.when(get("PASS") != 0):
            _pass_vertices(k, record, room, out, size, emitted, some)


def _pass_vertices(k: Lang, record: Value, room: Value, out: Value, size: Value, emitted: Value, some: Value) -> None:
    """Write the vertices of the primitives, combined with the program's outputs (in the first page)."""
    get = lambda name: _word(k, record, name)
    corners, vectors = get("CORNERS"), get("OUTPUT_VECTORS")
    for i in k.range(0, corners):
        corner = corners - 1 - i  # the first page last, because the others are made from it
        column = k.load(I32, room + TABLE + corner * VECTOR, LANES)
        for n in k.range(PAGE_SLOTS // VECTOR, vectors):
            source = k.load(I32, record + GEOMETRY.FROM + (n << 2))
            at = n * VECTOR
            own = lambda at=at: k.load(I32, out + at, LANES)
            theirs = lambda source=source, column=column: k.gather(I32, column + source)
            value: Value = k.branch(source < 0, own, theirs)
            k.store(I32, out + corner * size + at, value)
        k.store(I32, emitted + (corner + 1) * VECTOR, k.splat(0))
    k.store(I32, emitted, k.select(some, k.splat(corners), 0))


@kernel(lanes=32, record=I32, groups=I32, stream=I32)
def list_geometry(k: Lang, record: Value, groups: Value, stream: Value) -> None:
    """List the primitives of one stream that the first groups of the batch emitted, in order."""
    get = lambda name: _word(k, record, name)
    kind, most, invocations = get("KIND"), get("MOST"), get("INVOCATIONS")
    columns, stride = (k.load(I32, record + (GEOMETRY.PRIMITIVES + w)) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    primitives = get("PRIMITIVES_IN")
    ids, id_stride = (k.load(I32, primitives + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    total = k.load(I32, primitives + PRIMITIVES.COUNT) * invocations
    last_provokes = get("LAST_PROVOKES") != 0
    listed = k.var(0)
    lanes = k.min(groups << 5, total - get("FIRST"))
    for lane in k.range(0, lanes):
        group, n = lane >> 5, lane & (LANES - 1)
        words = get("EMITTED") + group * get("EMITTED_STRIDE") + (n << 2)
        count = k.min(k.load(I32, words), most)
        number = k.udiv(lane + get("FIRST"), invocations)
        id = k.load(I32, ids + records.PRIMITIVE_ID * id_stride + (number << 2))
        before, older, length = k.var(0), k.var(0), k.var(0)  # the two vertices before, and the length of the strip
        for e in k.range(0, count):
            word = k.load(I32, words + (e + 1) * VECTOR)
            for _ in k.when((word & 3) == stream):
                vertex = ((group * most + e) << 5) + n
                length.value = length.value + 1
                for _ in k.when(length.value > kind):
                    a, b = older.value, before.value
                    odd = (length.value & 1) == 0  # of triangles: the first has three vertices
                    triangle = kind == TRIANGLE_LIST
                    turned, swapped = triangle & odd & last_provokes, triangle & odd & ~last_provokes
                    first = k.select(triangle, k.select(turned, b, a), k.select(kind == LINE_LIST, b, vertex))
                    second = k.select(triangle, k.select(turned, a, k.select(swapped, vertex, b)), vertex)
                    third = k.select(swapped, b, vertex)
                    early = k.select(triangle, a, first)
                    begins = k.select((length.value == kind + 1) | (kind != LINE_LIST), FLAG_BEGINS | _EDGES, _EDGES)
                    at = columns + (listed.value << 2)
                    for column, v in (
                        (V0, first), (V1, second), (V2, third), (PROVOKING, k.select(last_provokes, vertex, early)),
                        (records.PRIMITIVE_ID, id), (PRIMITIVE_FLAGS, begins),
                    ):  # fmt: skip
                        k.store(I32, at + column * stride, v)
                    listed.value = listed.value + 1
                older.value = before.value
                before.value = vertex
                for _ in k.when((word & ENDS_STRIP) != 0):
                    length.value = 0
    k.store(I32, record + (GEOMETRY.PRIMITIVES + PRIMITIVES.COUNT), listed.value)
    k.store(I32, record + (GEOMETRY.VERTICES + VERTICES.COUNT), (groups * most) << 5)


def primitive_words(memory: GpuMemory, launch: int, vertices: int) -> NDArray[np.int32]:
    """Set how many vertices the primitives of a LAUNCH record's program have; returns the record's words."""
    words = memory.arena[launch : launch + LAUNCH.size].view(np.int32)
    words[LAUNCH.VERTICES // 4], words[LAUNCH.INVOCATION_INFO // 4] = vertices, vertices << 16
    return words


@dataclass(frozen=True)
class GeometryRoom:
    """Byte offsets of the rooms of a geometry stage, from a start that is a multiple of 128; they take `size` bytes.

    vectors: size of pages of output and lists together.
    """

    start: int
    vectors: int

    @property
    def record(self) -> int:
        return self.start

    @property
    def free(self) -> int:
        """Start of the pages."""
        return self.start + (GEOMETRY.size + VECTOR - 1) // VECTOR * VECTOR

    @property
    def size(self) -> int:
        return self.free - self.start + VECTOR * self.vectors


class GeometryStage:
    """Runs the geometry program of a draw, batch by batch.

    `vertices` and `primitives` are the offsets of the output records.
    """

    def __init__(
        self, memory: GpuMemory, engine: Engine, room: GeometryRoom, choices: Mapping[str, str] | None = None
    ) -> None:
        self.memory, self.engine, self.room = memory, engine, room
        self._skips_vertices = (choices or {}).get("geometry.skip_mask") == "vertex"
        self._words = memory.arena[room.record : room.record + GEOMETRY.size].view(np.int32)
        self.vertices, self.primitives = room.record + GEOMETRY.VERTICES, room.record + GEOMETRY.PRIMITIVES
        self.groups = 0
        """Groups of a batch."""

    def _put(self, name: str, v: int, n: int = 0) -> None:
        self._words[GEOMETRY.offsets[name] // 4 + n] = v

    @staticmethod
    def _most(header: Header, corners: int) -> int:
        return corners if header.pass_through else max(header.most_vertices, 1)

    def _groups(self, most: int, vectors: int) -> int:
        """How many groups fit: pages, words of vertices, and a list with a primitive for each vertex."""
        each = most * vectors + most + 1 + most * PRIMITIVE_COLUMNS
        return (self.room.vectors - PRIMITIVE_COLUMNS) // each

    def begin(
        self, state: State, header: Header, launch: int, output: PageLayout, output_map: int, vertices: int,
        primitives: int, kind: int, neighbours: bool, input_map: NDArray[np.int32],
    ) -> bool:  # fmt: skip
        """Set up for a draw. Returns whether there is room for it.

        :param header: of the program; launch: offset of its LAUNCH record, with IN_MAP set to `with_invocation` of the
            vertices' map and OUT_MAP to `output.written`; output_map: arena offset of `output.read`.
        :param vertices, primitives: offsets of the input records. kind, neighbours: of the primitives.
        :param input_map: offsets of the vertices' words in their pages (for pass-through programs).
        """
        corners = kind + 1
        if neighbours and kind != POINT_LIST:
            corners *= 2
        most, vectors = self._most(header, corners), output.vectors
        self.groups = self._groups(most, vectors)
        if self.groups < 1:
            return False
        pages = self.room.free
        emitted = pages + VECTOR * vectors * most * self.groups
        columns = emitted + VECTOR * (most + 1) * self.groups
        out_kind = kind if header.pass_through else _KINDS.get(header.topology, TRIANGLE_LIST)
        for name, v in (
            ("LAUNCH", launch), ("VERTICES_IN", vertices), ("PRIMITIVES_IN", primitives), ("CORNERS", corners),
            ("INVOCATIONS", header.threads), ("MOST", most), ("OUTPUT_VECTORS", vectors), ("EMITTED", emitted),
            ("EMITTED_STRIDE", VECTOR * (most + 1)), ("KIND", out_kind),
            ("LAST_PROVOKES", int(last_provokes(state))), ("FIRST", 0), ("PASS", int(header.pass_through)),
        ):  # fmt: skip
            self._put(name, v)
        for n, column in enumerate(_CORNER_COLUMNS):
            self._put("COLUMNS", column, n)
        for part, v in (
            (VERTICES.PAGES, pages), (VERTICES.PAGE_SIZE, VECTOR * vectors), (VERTICES.MAP, output_map)
        ):  # fmt: skip
            self._put("VERTICES", v, part // 4)
        for part, v in (
            (PRIMITIVES.KIND, out_kind), (PRIMITIVES.COLUMNS, columns),
            (PRIMITIVES.STRIDE, VECTOR * (most * self.groups + 1)),
        ):  # fmt: skip
            self._put("PRIMITIVES", v, part // 4)
        if header.pass_through:
            self._pass(state, header, output, input_map)
        # A pass-through program emits nothing; its outputs are first stored as those of the first vertex.
        of_launch = primitive_words(self.memory, launch, corners)
        of_launch[LAUNCH.OUT_STRIDE // 4] = VECTOR * vectors
        of_launch[LAUNCH.MOST_EMITTED // 4] = 1 if header.pass_through else header.most_vertices
        return True

    def _pass(self, state: State, header: Header, output: PageLayout, input_map: NDArray[np.int32]) -> None:
        """Set the source of each slot. The vertex is the source of words that the program does not write, and of those
        whose bit is set in SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK; by the choice, of all words whose bit is not set.
        """
        own = {address >> 2 for address in header.outputs}
        for n, address in enumerate(addresses_of(output), PAGE_SLOTS // VECTOR):
            word = address >> 2
            mask = state.word("SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK", word >> 5)
            marked = bool(mask >> (word & 31) & 1)
            taken = not marked if self._skips_vertices else marked or word not in own
            self._put("FROM", int(input_map[word]) if taken else -1, n)

    @property
    def incoming(self) -> int:
        """Primitives in the input list."""
        at = int(self._words[GEOMETRY.PRIMITIVES_IN // 4]) + PRIMITIVES.COUNT
        return int(self.memory.arena[at : at + 4].view(np.int32)[0])

    def start_piece(self) -> int:
        """Begin with the primitives that are in the list now; returns the number of their groups."""
        self._put("FIRST", 0)
        return -(-self.incoming * int(self._words[GEOMETRY.INVOCATIONS // 4]) // LANES)

    def start_batch(self, first: int) -> None:
        """Begin a batch with group `first` of the piece."""
        self._put("FIRST", first * LANES)
