"""The vertex side of draws on a bench: pieces as arrays, and a slow model of topologies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import I32, Lang, Value, kernel
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape, VertexInput
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT, INPUT_PAGE, VertexRoom
from pocketgpu.maxwell.graphics.input.vertex_stage import next_piece, run_vertices
from pocketgpu.maxwell.graphics.records import PRIMITIVE_COLUMNS, PRIMITIVES, VERTICES
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, DONE, LAUNCH, VECTOR, WARP, WARPS

from .engine_host import Bench

Primitive = tuple[tuple[int, ...], int, int, int]
"""Places of the vertices, of the provoking one, number among the primitives of a draw, flags."""
EDGES = 7
BEGINS = 8


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def copy_page(k: Lang, launch: Value, slot: Value, warp: Value) -> None:
    """A program that copies its whole page of inputs. LAUNCH.REGISTERS: vectors of it."""
    source, to = k.load(I32, slot + BLOCK.IN_AT), k.load(I32, slot + BLOCK.OUT_AT)
    active = k.mask_of(k.load(I32, slot + WARPS + WARP.ACTIVE))
    for i in k.range(0, k.load(I32, launch + LAUNCH.REGISTERS)):
        v = k.load(I32, source + i * VECTOR, 32)
        k.store(I32, to + i * VECTOR, v, active)
    k.store(I32, slot + WARPS + WARP.STATE, DONE)


@dataclass
class Piece:
    """What `next_piece` made: numbers and instances of slots, columns of primitives (count, columns)."""

    numbers: NDArray[np.uint32]
    instances: NDArray[np.int32]
    primitives: NDArray[np.int32]
    slots: NDArray[np.int32]


class VertexSide:
    """Rooms for draws of a bench."""

    def __init__(self, bench: Bench, capacity: int = 256, page_vectors: int = 64) -> None:
        self.bench, self.engine, self.arena = bench, bench.host.engine, bench.memory.arena
        start = bench.host.scratch[0]
        self.launch, self.slot, self.map, self.thread_room = start, start + 4096, start + 28672, start + 32768
        self.room = VertexRoom(start + 131072, capacity, page_vectors)
        assert self.room.size < bench.host.scratch[1] - 131072
        self.input = VertexInput(bench.memory, self.engine, self.room, bench.host.choices)

    def words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.arena[at : at + 4 * count].view(np.int32)

    def begin(
        self, draw: Draw, shape: InputShape | None = None, instances: int = 1, tier: str = "auto", **more: Any
    ) -> InputShape:
        shape = shape or InputShape.of(draw.state)
        inline_at = 0
        if draw.inline is not None:
            inline_at = self.slot - 4096 + 2048  # after the launch record
            self.words(inline_at, len(draw.inline))[:] = draw.inline.view(np.int32)
        state = draw.state
        self.words(self.map, len(shape.map))[:] = shape.map
        self.plan = self.input.plan(
            state, draw.topology, draw.index_bytes, draw.indexed, shape, self.launch, shape.vectors, self.map,
            tier=tier, **more,
        )  # fmt: skip
        self.input.begin(self.plan, state, draw.first, draw.count, draw.instance, instances, inline_at)
        launch = self.words(self.launch, LAUNCH.size // 4)
        launch[:] = 0
        launch[LAUNCH.RUN // 4 : LAUNCH.RUN // 4 + 2].view(np.int64)[0] = self.engine.handle(copy_page)
        launch[LAUNCH.REGISTERS // 4] = shape.vectors
        launch[LAUNCH.SLICE // 4] = launch[LAUNCH.TURNS // 4] = 1
        self.words(self.slot, BLOCK.size // 4)[:] = 0
        return shape

    def _of_input(self, at: int) -> int:
        return int(self.words(self.room.input + at, 1)[0])

    def pieces(self) -> Iterator[Piece]:
        run = self.engine.get(next_piece)
        while self._of_input(INPUT.MORE):
            run(self.room.input)
            used = self._of_input(INPUT.VERTICES + VERTICES.COUNT)
            count = self._of_input(INPUT.PRIMITIVES + PRIMITIVES.COUNT)
            stride = self.room.column_stride
            columns = [self.words(self.room.columns + i * stride, count) for i in range(PRIMITIVE_COLUMNS)]
            yield Piece(
                self.words(self.room.shade, used).view(np.uint32).copy(),
                self.words(self.room.shade_instances, used).copy(),
                np.stack(columns, axis=1),
                self.words(self.room.slots, self.room.capacity).copy(),
            )

    def shade(self, shape: InputShape, vertices: int) -> NDArray[np.uint32]:
        """The pages of the piece: (vectors, vertices)."""
        pages = (vertices + 31) // 32
        self.engine.get(run_vertices)(self.room.input, self.slot, self.thread_room, 0, pages)
        words = self.words(self.room.pages, pages * shape.vectors * 32).view(np.uint32)
        return (
            words.reshape(pages, shape.vectors, 32).transpose(1, 0, 2).reshape(shape.vectors, -1)[:, :vertices].copy()
        )


def page_of(side: VertexSide, shape: InputShape) -> NDArray[np.uint32]:
    """The page of inputs of the last warp."""
    at = side.thread_room + INPUT_PAGE
    return side.words(at, shape.vectors * 32).view(np.uint32).reshape(shape.vectors, 32).copy()


def model(topology: str, n: int, last: bool, neighbours: bool, patch: int) -> list[Primitive]:
    """Primitives of a run of n vertices, one by one. Numbers count from 0 in the run."""
    out: list[Primitive] = []

    def add(vertices: tuple[int, ...], first: int, final: int, number: int, flags: int = EDGES | BEGINS) -> None:
        out.append((vertices, final if last else first, number, flags))

    def halves(a: int, b: int, c: int, d: int, first: int, final: int, number: int) -> None:
        add((a, b, c), first, final, number, 1 | 2 | BEGINS)
        add((a, c, d), first, final, number, 2 | 4)

    match topology:
        case "POINTS":
            for i in range(n):
                add((i,), i, i, i)
        case "LINES":
            for i in range(n // 2):
                add((2 * i, 2 * i + 1), 2 * i, 2 * i + 1, i)
        case "LINE_STRIP" | "LINE_LOOP":
            pairs = [(i, i + 1) for i in range(n - 1)]
            if topology == "LINE_LOOP" and n > 1:
                pairs.append((n - 1, 0))
            for i, (a, b) in enumerate(pairs):
                add((a, b), a, b, i, EDGES | (BEGINS if i == 0 else 0))
        case "TRIANGLES":
            for i in range(n // 3):
                add((3 * i, 3 * i + 1, 3 * i + 2), 3 * i, 3 * i + 2, i)
        case "TRIANGLE_STRIP":
            for i in range(n - 2):
                even = (i, i + 1, i + 2)
                odd = (i + 1, i, i + 2) if last else (i, i + 2, i + 1)
                add(odd if i % 2 else even, i, i + 2, i)
        case "TRIANGLE_FAN":
            for i in range(n - 2):
                add((0, i + 1, i + 2) if last else (i + 1, i + 2, 0), i + 1, i + 2, i)
        case "QUADS":
            for i in range(n // 4):
                a = 4 * i
                halves(a, a + 1, a + 2, a + 3, a, a + 3, i)
        case "QUAD_STRIP":
            for i in range((n - 2) // 2):
                a = 2 * i
                halves(a, a + 1, a + 3, a + 2, a, a + 3, i)
        case "POLYGON":
            for i in range(n - 2):
                flags = 2 | (1 | BEGINS if i == 0 else 0) | (4 if i == n - 3 else 0)
                add((0, i + 1, i + 2), 0, 0, 0, flags)
        case "LINELIST_ADJCY":
            for i in range(n // 4):
                a = 4 * i
                line = (a, a + 1, a + 2, a + 3) if neighbours else (a + 1, a + 2)
                add(line, a + 1, a + 2, i)
        case "LINESTRIP_ADJCY":
            for i in range(n - 3):
                line = (i, i + 1, i + 2, i + 3) if neighbours else (i + 1, i + 2)
                add(line, i + 1, i + 2, i, EDGES | (BEGINS if i == 0 else 0))
        case "TRIANGLELIST_ADJCY":
            for i in range(n // 6):
                a = 6 * i
                add(tuple(range(a, a + 6)) if neighbours else (a, a + 2, a + 4), a, a + 4, i)
        case "TRIANGLESTRIP_ADJCY":
            total = (n - 4) // 2
            for i in range(total):
                a = 2 * i
                across = {
                    (a, a + 2): a - 2 if i else 1,
                    (a + 2, a + 4): a + 6 if i < total - 1 else a + 5,
                    (a, a + 4): a + 3,
                }
                corners = (a, a + 2, a + 4)
                if i % 2:
                    corners = (a + 2, a, a + 4) if last else (a, a + 4, a + 2)
                x, y, z = corners
                xy, yz, zx = (across[min(pair), max(pair)] for pair in ((x, y), (y, z), (z, x)))
                add((x, xy, y, yz, z, zx) if neighbours else corners, a, a + 4, i)
        case "PATCH":
            for i in range(n // patch):
                add((patch * i,), patch * i, patch * i, i, BEGINS)
        case _:
            raise AssertionError(topology)
    return out
