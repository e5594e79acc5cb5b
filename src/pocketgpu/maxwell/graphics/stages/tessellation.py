"""The tessellation stages of a draw: control programs, the tessellator, evaluation programs.

Patches are processed in batches. The threads of a patch are adjacent lanes of a warp, which has as many patches as fit;
thread n writes vertex n. Then the tessellator lists points and primitives of as many patches as there is room for, and
the evaluation program runs for the points, 32 at a time, across patches. Without a control program the levels come from
registers and the vertices of a patch are those of the vertex program.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pocketgpu.lanes import F32, I32, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.topology import last_provokes
from pocketgpu.maxwell.graphics import records
from pocketgpu.maxwell.graphics.input.vertex_stage import clear_page
from pocketgpu.maxwell.graphics.programs.headers import Header, PageLayout
from pocketgpu.maxwell.graphics.programs.run_stage import run_stage
from pocketgpu.maxwell.graphics.records import (
    LINE_LIST,
    MAP_WORDS,
    PAGE_SLOTS,
    POINT_LIST,
    PRIMITIVE_COLUMNS,
    PRIMITIVES,
    TRIANGLE_LIST,
    V0,
    VERTICES,
)
from pocketgpu.maxwell.graphics.stages.chain import (
    INVOCATION_PAGE,
    INVOCATION_VECTORS,
    INVOCATIONS,
    LEVEL_LAYOUT,
    LEVELS,
    PATCHES,
    TABLE,
)
from pocketgpu.maxwell.graphics.stages.geometry import columns_of, primitive_words
from pocketgpu.maxwell.graphics.stages.tessellator import (
    ISOLINES,
    MOST_POINTS,
    MOST_PRIMITIVES,
    OUT_POINTS,
    TURNED,
    PatchSink,
    Tessellator,
)
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, VECTOR
from pocketgpu.struct_words import Struct

BATCH = 128
"""Patches of a batch."""
TESSELLATION = Struct(
    "VERTICES_IN", "PRIMITIVES_IN", "SLOTS", "PATCH_VERTICES",  # inputs; the list of slots that patches refer to
    "CONTROL", "THREADS", "PER_WARP",  # LAUNCH record of the control program, 0: none; patches of a warp
    "CONTROL_VECTORS", "CONTROL_PAGES", "CONTROL_SIZE",  # its pages of vertices: vectors, the first, bytes of each
    "PATCH_VECTORS", "PATCH_PAGES", "PATCH_SIZE", f"LEVEL_AT:{LEVELS}",  # pages of patches; offsets of levels there
    f"LEVELS:{LEVELS}",  # f32, if there is no control program
    "EVALUATION", "OUTPUT_VECTORS",
    "DOMAIN", "SPACING", "OUTPUT", "LAST_PROVOKES",
    "FIRST", "COUNT", "NEXT",  # patches of the batch, and the next one in it
    "MOST_POINTS", "MOST_PRIMITIVES", "POINT_U", "POINT_V", "POINT_PATCH",  # room, and columns of points
    f"VERTICES:{VERTICES.size // 4}", f"PRIMITIVES:{PRIMITIVES.size // 4}",
)  # fmt: skip


def _word(k: Lang, record: Value, name: str) -> Value:
    return k.load(I32, record + TESSELLATION.offsets[name])


def _column(k: Lang, record: Value, column: int) -> Value:
    """Offset of a column of the input patches."""
    primitives = _word(k, record, "PRIMITIVES_IN")
    columns, stride = (k.load(I32, primitives + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    return columns + stride * column


def _patch_columns(k: Lang, record: Value, patch: Value) -> Value:
    """Offsets of the columns of patches (lanes, numbers in the batch) in their pages."""
    return _word(k, record, "PATCH_PAGES") + (patch >> 5) * _word(k, record, "PATCH_SIZE") + ((patch & 31) << 2)


def _input_columns(k: Lang, record: Value, patch: Value, n: Value) -> Value:
    """Offsets of the columns of vertex n of patches (lanes, numbers in the batch)."""
    place = k.gather(I32, _column(k, record, V0) + ((_word(k, record, "FIRST") + patch) << 2))
    slot = k.gather(I32, _word(k, record, "SLOTS") + ((place + n) << 2))
    return columns_of(k, _word(k, record, "VERTICES_IN"), slot)


@kernel(lanes=32, record=I32, first=I32)
def begin_patches(k: Lang, record: Value, first: Value) -> None:
    """Begin a batch with patch `first` of the piece."""
    total = k.load(I32, _word(k, record, "PRIMITIVES_IN") + PRIMITIVES.COUNT)
    for name, v in (("FIRST", first), ("COUNT", k.clamp(total - first, 0, BATCH)), ("NEXT", k.i32(0))):
        k.store(I32, record + TESSELLATION.offsets[name], v)
    made = _word(k, record, "CONTROL") != 0
    for page in k.range(0, BATCH // LANES):
        at = _word(k, record, "PATCH_PAGES") + page * _word(k, record, "PATCH_SIZE")
        clear_page(k, at, _word(k, record, "PATCH_VECTORS"))
        for n in range(0, 4 * LEVELS, 4):
            level = k.load(I32, record + (TESSELLATION.LEVELS + n))
            k.store(I32, at + k.load(I32, record + (TESSELLATION.LEVEL_AT + n)), k.splat(k.select(made, 0, level)))


@kernel(lanes=32, record=I32, slot=I32, room=I32, first=I32, last=I32)
def run_control(k: Lang, record: Value, slot: Value, room: Value, first: Value, last: Value) -> None:
    """Run warps first .. last-1 of the control program, PER_WARP patches each. room: THREAD_ROOM bytes."""
    get = lambda name: _word(k, record, name)
    threads, per, count, launch = get("THREADS"), get("PER_WARP"), get("COUNT"), get("CONTROL")
    page = room + INVOCATION_PAGE
    clear_page(k, page, k.i32(INVOCATION_VECTORS))
    put = lambda word, v: k.store(I32, slot + word, v)
    put(BLOCK.VERTICES_AT, room + TABLE)
    put(BLOCK.INVOCATIONS_AT, room + INVOCATIONS)
    put(BLOCK.PATCHES_AT, room + PATCHES)
    put(BLOCK.IN_AT, page)
    lane = k.iota()
    own = k.udiv(lane, k.splat(threads))
    for warp in k.range(first, last):
        patch = warp * per + own
        some = (patch < count) & (own < per)
        patch = k.select(some, patch, count - 1)
        k.store(I32, room + INVOCATIONS, lane - own * threads)
        k.store(I32, room + PATCHES, _patch_columns(k, record, patch))
        ids = _column(k, record, records.PRIMITIVE_ID) + ((get("FIRST") + patch) << 2)
        k.store(I32, page + PAGE_SLOTS, k.gather(I32, ids))
        for n in k.range(0, get("PATCH_VERTICES")):
            k.store(I32, room + TABLE + n * VECTOR, _input_columns(k, record, patch, n))
        out = get("CONTROL_PAGES") + warp * get("CONTROL_SIZE")
        clear_page(k, out, get("CONTROL_VECTORS"))
        put(BLOCK.OUT_AT, out)
        put(BLOCK.NUMBER, get("FIRST") + warp * per)
        run_stage(k, launch, slot, k.ballot(some))


@kernel(lanes=32, record=I32)
def tessellate(k: Lang, record: Value) -> None:
    """Make points and primitives of the next patches of the batch, as many as there is room for."""
    get = lambda name: _word(k, record, name)
    columns, stride = (
        k.load(I32, record + (TESSELLATION.PRIMITIVES + w)) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE)
    )
    sink = PatchSink(k, (get("POINT_U"), get("POINT_V"), get("POINT_PATCH")), columns, stride)
    tessellator = Tessellator(k, sink, get("DOMAIN"), get("SPACING"), get("OUTPUT"), get("LAST_PROVOKES") != 0)
    following, count = k.var(get("NEXT")), get("COUNT")
    points, primitives = get("MOST_POINTS") - MOST_POINTS, get("MOST_PRIMITIVES") - MOST_PRIMITIVES
    ids = _column(k, record, records.PRIMITIVE_ID)

    def more() -> Value:
        return (following.value < count) & (sink.count.value <= points) & (sink.listed.value <= primitives)

    for _ in k.loop(more):
        patch = following.value
        place = get("PATCH_PAGES") + (patch >> 5) * get("PATCH_SIZE") + ((patch & 31) << 2)
        levels = [
            k.load(F32, place + k.load(I32, record + (TESSELLATION.LEVEL_AT + n))) for n in range(0, 4 * LEVELS, 4)
        ]
        tessellator.run(levels, patch, k.load(I32, ids + ((get("FIRST") + patch) << 2)))
        following.value = patch + 1
    k.store(I32, record + TESSELLATION.NEXT, following.value)
    k.store(I32, record + (TESSELLATION.VERTICES + VERTICES.COUNT), sink.count.value)
    k.store(I32, record + (TESSELLATION.PRIMITIVES + PRIMITIVES.COUNT), sink.listed.value)


def _evaluated(k: Lang, record: Value, column: Value, patch: Value, n: Value) -> Value:
    """Offsets of the columns of vertex n of patches, for evaluation programs; column: of their first threads."""
    made = _word(k, record, "CONTROL") != 0
    found: Value = k.branch(made, lambda: column + (n << 2), lambda: _input_columns(k, record, patch, n))
    return found


@kernel(lanes=32, record=I32, slot=I32, room=I32, first=I32, last=I32)
def run_evaluation(k: Lang, record: Value, slot: Value, room: Value, first: Value, last: Value) -> None:
    """Run pages first .. last-1 of the evaluation program. room: THREAD_ROOM bytes."""
    get = lambda name: _word(k, record, name)
    launch, threads, per = get("EVALUATION"), get("THREADS"), get("PER_WARP")
    made = get("CONTROL") != 0
    count = k.load(I32, record + (TESSELLATION.VERTICES + VERTICES.COUNT))
    pages, size = (k.load(I32, record + (TESSELLATION.VERTICES + w)) for w in (VERTICES.PAGES, VERTICES.PAGE_SIZE))
    page = room + INVOCATION_PAGE
    clear_page(k, page, k.i32(INVOCATION_VECTORS))
    put = lambda word, v: k.store(I32, slot + word, v)
    put(BLOCK.VERTICES_AT, room + TABLE)
    put(BLOCK.PATCHES_AT, room + PATCHES)
    put(BLOCK.IN_AT, page)
    vertices = k.select(made, threads, get("PATCH_VERTICES"))
    for p in k.range(first, last):
        at = p << 7
        some = k.iota() + (p << 5) < count
        patch = k.load(I32, get("POINT_PATCH") + at, LANES)
        patch = k.select(some, patch, k.lane(patch, 0))
        ids = _column(k, record, records.PRIMITIVE_ID) + ((get("FIRST") + patch) << 2)
        k.store(I32, page + PAGE_SLOTS, k.gather(I32, ids))
        for n, name in enumerate(("POINT_U", "POINT_V"), 1):
            k.store(I32, page + (PAGE_SLOTS + n * VECTOR), k.load(I32, get(name) + at, LANES))
        k.store(I32, room + PATCHES, _patch_columns(k, record, patch))
        warp = k.udiv(patch, k.splat(per))
        column = get("CONTROL_PAGES") + warp * get("CONTROL_SIZE") + (((patch - warp * per) * threads) << 2)
        for vertex in k.range(0, vertices):
            found = _evaluated(k, record, column, patch, vertex)
            k.store(I32, room + TABLE + vertex * VECTOR, found)
        out = pages + p * size
        clear_page(k, out, get("OUTPUT_VECTORS"))
        put(BLOCK.OUT_AT, out)
        put(BLOCK.NUMBER, get("FIRST") + k.lane(patch, 0))
        run_stage(k, launch, slot, k.ballot(some))


@dataclass(frozen=True)
class TessellationRoom:
    """Byte offsets of the rooms of the tessellation stages, from a start that is a multiple of 128.

    vectors: size of pages, points and lists together.
    """

    start: int
    vectors: int

    @property
    def record(self) -> int:
        return self.start

    @property
    def level_map(self) -> int:
        """Offset of the map of patches without a control program, after the record."""
        return (TESSELLATION.size + VECTOR - 1) // VECTOR * VECTOR

    @property
    def free(self) -> int:
        """Start of the pages."""
        return self.start + self.level_map + 4 * MAP_WORDS

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.free - self.start + VECTOR * self.vectors


class TessellationStage:
    """Runs the tessellation stages of a draw. `vertices` and `primitives` are the output records.

    For each piece of patches: `begin_patches` for a batch, `run_control` for its `control_warps` warps, then
    `tessellate` and `run_evaluation` until `left` is 0.
    """

    def __init__(
        self, memory: GpuMemory, engine: Engine, room: TessellationRoom, choices: Mapping[str, str] | None = None
    ) -> None:
        self.memory, self.engine, self.room = memory, engine, room
        self._turned = (choices or {}).get("tessellation.winding") == "v-up"
        self._words = memory.arena[room.record : room.record + TESSELLATION.size].view(np.int32)
        self.vertices = room.record + TESSELLATION.VERTICES
        self.primitives = room.record + TESSELLATION.PRIMITIVES
        self.kind = TRIANGLE_LIST
        self._level_map = room.record + room.level_map
        memory.arena[self._level_map :][: 4 * MAP_WORDS].view(np.int32)[:] = LEVEL_LAYOUT.read

    def _put(self, name: str, v: int, n: int = 0) -> None:
        self._words[TESSELLATION.offsets[name] // 4 + n] = v

    def _get(self, name: str) -> int:
        return int(self._words[TESSELLATION.offsets[name] // 4])

    def begin(
        self, state: State, patch_vertices: int, vertices: int, primitives: int, slots: int, evaluation: int,
        output: PageLayout, output_map: int, control: int = 0, header: Header | None = None,
        control_output: PageLayout | None = None, patches: PageLayout | None = None,
    ) -> bool:  # fmt: skip
        """Set up for a draw. Returns whether there is room for it.

        :param patch_vertices: of an input patch. vertices, primitives, slots: offsets of the vertex side's records and
            of its list of slots.
        :param evaluation, control: offsets of the programs' LAUNCH records (control 0: there is none). Their IN_MAP is
            `with_invocation` of the map of the inputs, OUT_MAP that of their outputs, PATCH_MAP that of patches
            (without a control program it is set here).
        :param output: of the evaluation program; output_map: arena offset of `output.read`.
        :param header, control_output, patches: of the control program: header, vertices, words of patches. Without one
            patches have LEVEL_LAYOUT.
        """
        threads = min(header.threads, LANES) if header is not None else 1
        per = LANES // threads
        of_launch = primitive_words(self.memory, evaluation, threads if control else patch_vertices)
        if control:
            primitive_words(self.memory, control, patch_vertices)
        else:
            of_launch[LAUNCH.PATCH_MAP // 4] = self._level_map
        control_vectors = control_output.vectors if control_output is not None else 0
        patches = patches or LEVEL_LAYOUT
        patch_vectors = patches.vectors
        at = self.room.free
        control_pages, at = at, at + VECTOR * control_vectors * -(-BATCH // per)
        patch_pages, at = at, at + VECTOR * patch_vectors * (BATCH // LANES)
        # The rest of the room: pages of outputs, three columns of points, and lists with two primitives for each point.
        each = output.vectors + 3 + 2 * PRIMITIVE_COLUMNS
        groups = ((self.room.start + self.room.size - at) // VECTOR - 2 * (3 + PRIMITIVE_COLUMNS)) // each
        if groups * LANES < MOST_POINTS:
            return False
        domain = state.field("SET_TESSELLATION_PARAMETERS", "DOMAIN_TYPE")
        out = state.field("SET_TESSELLATION_PARAMETERS", "OUTPUT_PRIMITIVES")
        self.kind = POINT_LIST if out == OUT_POINTS else LINE_LIST if domain == ISOLINES else TRIANGLE_LIST
        if self._turned:
            out = TURNED.get(out, out)
        for name, v in (
            ("VERTICES_IN", vertices), ("PRIMITIVES_IN", primitives), ("SLOTS", slots),
            ("PATCH_VERTICES", patch_vertices), ("CONTROL", control), ("THREADS", threads), ("PER_WARP", per),
            ("CONTROL_VECTORS", control_vectors), ("CONTROL_PAGES", control_pages),
            ("CONTROL_SIZE", VECTOR * control_vectors), ("PATCH_VECTORS", patch_vectors), ("PATCH_PAGES", patch_pages),
            ("PATCH_SIZE", VECTOR * patch_vectors), ("EVALUATION", evaluation), ("OUTPUT_VECTORS", output.vectors),
            ("DOMAIN", domain), ("SPACING", state.field("SET_TESSELLATION_PARAMETERS", "SPACING")), ("OUTPUT", out),
            ("LAST_PROVOKES", int(last_provokes(state))), ("MOST_POINTS", groups * LANES),
            ("MOST_PRIMITIVES", 2 * groups * LANES),
        ):  # fmt: skip
            self._put(name, v)
        for n, name in enumerate(_LEVEL_REGISTERS):
            self._put("LEVELS", state.word(name) - (state.word(name) >> 31 << 32), n)
            self._put("LEVEL_AT", int(patches.read[n]), n)
        pages, at = at, at + VECTOR * output.vectors * groups
        for name in ("POINT_U", "POINT_V", "POINT_PATCH"):
            self._put(name, at)
            at += VECTOR * (groups + 1)
        for part, v in (
            (VERTICES.PAGES, pages), (VERTICES.PAGE_SIZE, VECTOR * output.vectors), (VERTICES.MAP, output_map)
        ):  # fmt: skip
            self._put("VERTICES", v, part // 4)
        for part, v in (
            (PRIMITIVES.KIND, self.kind), (PRIMITIVES.COLUMNS, at), (PRIMITIVES.STRIDE, VECTOR * (2 * groups + 1)),
        ):  # fmt: skip
            self._put("PRIMITIVES", v, part // 4)
        return True

    @property
    def control_warps(self) -> int:
        """Warps of the control program in the batch."""
        return -(-self._get("COUNT") // self._get("PER_WARP")) if self._get("CONTROL") else 0

    @property
    def left(self) -> int:
        """Patches of the batch that are not tessellated yet."""
        return self._get("COUNT") - self._get("NEXT")

    @property
    def pages(self) -> int:
        """Pages of points that `tessellate` made."""
        return -(-int(self._words[(TESSELLATION.VERTICES + VERTICES.COUNT) // 4]) // LANES)


_LEVEL_REGISTERS = (
    *(f"SET_TESSELLATION_LOD_{name}" for name in ("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")),
    *(f"SET_TG_LOD_INTERIOR_{name}" for name in "UV"),
)
