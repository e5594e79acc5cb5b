"""Records of the vertex side in the work area: the draw, and its attributes.

A draw is processed in *pieces* of bounded size. A piece has a *window*: the numbers of the draw's vertices in order,
including restart numbers; numbers that the last piece left over come first. Each place of the window has a *slot*,
which holds its shaded vertex; several places can share one.
"""

from __future__ import annotations

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.records import (
    LINE_LIST,
    PATCH_LIST,
    POINT_LIST,
    PRIMITIVE_COLUMNS,
    PRIMITIVES,
    TRIANGLE_LIST,
    VERTICES,
)
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR
from pocketgpu.struct_words import Struct

INPUT = Struct(
    # the draw
    "SOURCE:2", "LIMIT:2",  # addresses of the first index and of the last byte that may be read, 64 bits each
    "FETCH_CAREFUL:2",  # handle
    "INDEX_BYTES",  # 0: vertices are counted from FIRST
    "INDEX_AT", "INDEX_ROOM",  # arena offset of the first index, and how many are contiguous there
    "FIRST", "COUNT", "INSTANCE", "INSTANCES", "BASE_VERTEX", "BASE_INSTANCE",
    "ID_OFFSET",  # the vertex number that a program reads is the number plus this
    "RESTARTS", "RESTART", "FIRST_PRIMITIVE",
    # its topology; see Topology
    "TOPOLOGY", "KIND", "STEP", "NEED", "NEED_LAST", "LAG", "HUB", "PARTS", "LAST_PROVOKES", "NEIGHBOURS",
    "QUAD_CUT",  # corner of a quad where the edge between its two triangles begins, 0 or 1
    # rooms, arena offsets
    "CAPACITY", "NUMBERS", "SLOTS", "SHADE", "SHADE_INSTANCES", "TABLE", "CARRY",
    # progress
    "POSITION", "DONE_INSTANCES", "CARRIED", "RUN_BASE", "RUN_DONE", "RUN_HUB", "PRIMITIVE", "MORE",
    # attributes and the vertex stage
    "LAUNCH", "ATTRIBUTES", "ATTRIBUTE_COUNT", "INPUT_VECTORS", "OUTPUT_VECTORS", "VERTEX_ID_AT", "INSTANCE_ID_AT",
    "INTEGER_ONE_AT",
    # results
    f"VERTICES:{VERTICES.size // 4}", f"PRIMITIVES:{PRIMITIVES.size // 4}",
)  # fmt: skip
"""One draw with all its instances, and its current piece."""

ATTRIBUTE = Struct(
    "HANDLE:2",  # of the kernel that fetches it where all elements are good
    "ADDRESS:2", "START:2", "LIMIT:2",  # of element 0; of the stream, and its last byte; 64 bits each
    "AT", "GOOD",  # arena offset of element 0; elements below GOOD are mapped and inside the limit
    "STRIDE", "INSTANCED", "FREQUENCY", "BYTES",
    "TO:4", "TYPE:4", "WORD:4", "LOW:4", "WIDTH:4",  # of each component: offset into the page; its formats.Channel
)  # fmt: skip
assert ATTRIBUTE.size % 8 == 0
"""An attribute that a program reads from a stream."""
CHANNEL_WORDS = ("TYPE", "WORD", "LOW", "WIDTH")
"""The words of ATTRIBUTE that describe components, four each, in the order of the fields of Channel."""
MAX_ATTRIBUTES = 32

# Room of a thread for the inputs of a vertex program: two vectors of element numbers, raw words, which lanes are in use
# (a ballot) and the base instance, then the page.
ELEMENTS, INSTANCE_NUMBERS, RAW, WANTED, INPUT_PAGE = (n * VECTOR for n in (0, 1, 2, 6, 7))
BASE_INSTANCE = WANTED + 4
TABLE_BITS = 14
MAX_PATCH = 32
CARRY_WORDS = 64


@dataclass(frozen=True)
class Topology:
    """How the length of an unbroken run of vertices determines its primitives.

    Primitive i needs the places from step * i - lag, and the run's first one if `hub`. A run that may continue must
    have `need` places for the first primitive, one that has ended `need_last`. parts: primitives in the list for each.
    """

    name: str
    kind: int
    step: int
    need: int
    need_last: int
    lag: int = 0
    hub: bool = False
    parts: int = 1


def _lists(kind: int, *names: tuple[str, int]) -> list[Topology]:
    return [Topology(name, kind, n, n, n) for name, n in names]


TOPOLOGIES = {
    t.name: t
    for t in (
        *_lists(POINT_LIST, ("POINTS", 1)),
        *_lists(LINE_LIST, ("LINES", 2), ("LINELIST_ADJCY", 4)),
        *_lists(TRIANGLE_LIST, ("TRIANGLES", 3), ("TRIANGLELIST_ADJCY", 6)),
        Topology("LINE_LOOP", LINE_LIST, 1, 2, 2, hub=True),
        Topology("LINE_STRIP", LINE_LIST, 1, 2, 2),
        Topology("LINESTRIP_ADJCY", LINE_LIST, 1, 4, 4),
        Topology("TRIANGLE_STRIP", TRIANGLE_LIST, 1, 3, 3),
        Topology("TRIANGLE_FAN", TRIANGLE_LIST, 1, 3, 3, lag=-1, hub=True),
        Topology("QUADS", TRIANGLE_LIST, 4, 4, 4, parts=2),
        Topology("QUAD_STRIP", TRIANGLE_LIST, 2, 4, 4, parts=2),
        # Whether an edge to the first vertex is the last one is only known with the next vertex.
        Topology("POLYGON", TRIANGLE_LIST, 1, 4, 3, lag=-1, hub=True),
        # The same holds for the neighbour of the last triangle.
        Topology("TRIANGLESTRIP_ADJCY", TRIANGLE_LIST, 2, 7, 6, lag=2),
        Topology("PATCH", PATCH_LIST, 0, 0, 0),
    )
}
"""By NVIDIA's name. A patch has as many vertices as SET_PATCH says."""


@dataclass(frozen=True)
class VertexRoom:
    """Byte offsets of the rooms of one draw, from a start that is a multiple of 128; they take `size` bytes.

    capacity: places of a window. page_vectors: the most vectors of a page of outputs.
    """

    start: int
    capacity: int
    page_vectors: int

    def _take(self, n: int) -> int:
        """Start of room n."""
        column = VECTOR * (self.capacity // LANES + 1)
        sizes = (
            INPUT.size, ATTRIBUTE.size * MAX_ATTRIBUTES, 4 * CARRY_WORDS, 4 << TABLE_BITS,
            column, column, column, column, column * PRIMITIVE_COLUMNS,
            VECTOR * self.page_vectors * (self.capacity // LANES), 0,
        )  # fmt: skip
        return self.start + sum((size + VECTOR - 1) // VECTOR * VECTOR for size in sizes[:n])

    @property
    def input(self) -> int:
        """The INPUT record."""
        return self._take(0)

    @property
    def attributes(self) -> int:
        return self._take(1)

    @property
    def carry(self) -> int:
        return self._take(2)

    @property
    def table(self) -> int:
        return self._take(3)

    @property
    def numbers(self) -> int:
        return self._take(4)

    @property
    def slots(self) -> int:
        return self._take(5)

    @property
    def shade(self) -> int:
        return self._take(6)

    @property
    def shade_instances(self) -> int:
        return self._take(7)

    @property
    def columns(self) -> int:
        """Columns of primitives, `column_stride` bytes apart."""
        return self._take(8)

    @property
    def column_stride(self) -> int:
        return VECTOR * (self.capacity // LANES + 1)

    @property
    def pages(self) -> int:
        """Pages of outputs."""
        return self._take(9)

    @property
    def size(self) -> int:
        return self._take(10) - self.start
