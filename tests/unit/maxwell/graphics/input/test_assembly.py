"""Indices, slots and primitives of draws, against a slow model: all topologies, restarts, pieces, instances."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.engine_host import Bench
from support.vertex_side import VertexSide, model

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.threed import topology
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.graphics.records import PRIMITIVE_FLAGS, PRIMITIVE_ID, PROVOKING, V0, V1, V2, V3, V4, V5

VA = 0x5_0000_0000
INDICES = VA + 0x10000
SIZE = 0x20000
VERTICES = (V0, V1, V2, V3, V4, V5)
RESTARTS = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF}


def bench(evaluator: str = "llvm", **choices: str) -> Bench:
    b = Bench(ThreeD, evaluator, **choices)
    b.map(VA, SIZE)
    return b


def last_draw(b: Bench) -> Draw:
    draw = [record for record in b.host.log if isinstance(record, Draw)][-1]
    draw.choices = b.host.choices
    return draw


def indexed(b: Bench, op: int, values: np.ndarray, size: int, limit: int | None = None) -> Draw:
    b.memory.write(INDICES, values.astype(f"<u{size}").tobytes())
    b.address("SET_INDEX_BUFFER_A", INDICES)
    b.address("SET_INDEX_BUFFER_C", (INDICES + size * len(values) - 1) if limit is None else limit)
    b(SET_INDEX_BUFFER_E={1: 0, 2: 1, 4: 2}[size], SET_INDEX_BUFFER_F=0)
    b(BEGIN=op, DRAW_INDEX_BUFFER=len(values), END=0)
    return last_draw(b)


def seen(side: VertexSide, patches: bool = False) -> list[tuple[tuple[int, ...], int, int, int, int]]:
    """Primitives of a draw with numbers of vertices, and the instance."""
    out = []
    for piece in side.pieces():
        for row in piece.primitives:
            # A patch names a place in the list of slots.
            slots = [int(piece.slots[row[V0]])] if patches else [int(row[c]) for c in VERTICES]
            numbers = tuple(int(piece.numbers[s]) if 0 <= s < len(piece.numbers) else -1 for s in slots)
            instance = int(piece.instances[slots[0]])
            provoking = int(piece.numbers[row[PROVOKING]])
            out.append((numbers, provoking, int(row[PRIMITIVE_ID]), int(row[PRIMITIVE_FLAGS]), instance))
    return out


def expected(draw: Draw, last: bool, neighbours: bool, patch: int) -> list[tuple[tuple[int, ...], int, int, int]]:
    out, number = [], 0
    for run in draw.runs:
        found = model(draw.topology_name, len(run), last, neighbours, patch)
        for places, provoking, own, flags in found:
            vertices = tuple(int(run[p]) for p in places)
            out.append((vertices, int(run[provoking]), number + own, flags))
        number += max((own for _, _, own, _ in found), default=-1) + 1
    return out


def check(side: VertexSide, draw: Draw, last: bool, neighbours: bool, patch: int, instances: int = 1) -> None:
    side.begin(draw, instances=instances, neighbours=neighbours)
    found = seen(side, draw.topology_name == "PATCH")
    wanted = expected(draw, last, neighbours, patch)
    assert len(found) == len(wanted) * instances
    for i, (vertices, provoking, number, flags, instance) in enumerate(found):
        places, first, own, marks = wanted[i % len(wanted)]
        assert (vertices[: len(places)], provoking, number, flags) == (places, first, own, marks), i
        assert instance == draw.instance + i // len(wanted)


@pytest.mark.parametrize("op", sorted(topology.begin_names()))
def test_topologies(op: int) -> None:
    """Every topology: lengths around the smallest, cut into pieces and not, with and without restarts."""
    b, rng = bench(), random.Random(op)
    for case in range(24):
        last, neighbours, restarts = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5
        size, patch = rng.choice([1, 2, 4]), rng.randrange(1, 33)
        count = rng.randrange(1, 40) if case < 12 else rng.choice([255, 256, 257, rng.randrange(300, 1500)])
        top = rng.choice([3, 30, 254, 60000]) if size > 1 else rng.choice([3, 254])
        values = np.array([rng.randrange(top) for _ in range(count)], np.uint32)
        if restarts:
            for _ in range(rng.randrange(1, 1 + max(2, count // 40))):
                values[rng.randrange(count)] = RESTARTS[size]
        b(
            SET_PROVOKING_VERTEX=int(last), SET_PATCH=patch, SET_DA_PRIMITIVE_RESTART=int(restarts),
            SET_DA_PRIMITIVE_RESTART_INDEX=RESTARTS[size],
        )  # fmt: skip
        draw = indexed(b, op, values, size)
        check(VertexSide(b), draw, last, neighbours, patch)
        names = sum(topology.primitives(op, len(run), patch) for run in draw.runs)
        assert names == draw.primitives


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("neighbours", [False, True])
def test_every_topology_in_short_runs(last: bool, neighbours: bool) -> None:
    """Two runs, of an even and of an odd number of primitives, with either provoking vertex."""
    b = bench()
    b(SET_PROVOKING_VERTEX=int(last), SET_PATCH=3, SET_DA_PRIMITIVE_RESTART=1, SET_DA_PRIMITIVE_RESTART_INDEX=0xFF)
    side = VertexSide(b)
    for op in sorted(topology.begin_names()):
        values = np.array([*range(1, 15), 0xFF, *range(20, 36), 0xFF, *range(40, 51)])
        draw = indexed(b, op, values, 1)
        assert len(draw.runs) == 3
        check(side, draw, last, neighbours, 3)


def test_both_evaluators_agree() -> None:
    results = []
    for evaluator in ("llvm", "numpy"):
        b, rng = bench(evaluator), random.Random(5)
        side, out = VertexSide(b), []
        for op in (2, 5, 9, 13):
            b(SET_DA_PRIMITIVE_RESTART=1, SET_DA_PRIMITIVE_RESTART_INDEX=0xFFFF, SET_PROVOKING_VERTEX=1)
            values = np.array([rng.choice([0xFFFF, *range(30)]) for _ in range(300)])
            side.begin(indexed(b, op, values, 2))
            for piece in side.pieces():
                out.append((piece.numbers.tolist(), piece.primitives.tolist()))
        results.append(out)
    assert results[0] == results[1]


def test_instances_share_a_piece() -> None:
    """Small draws of several instances come in as few pieces as they fit in; numbers begin again with each."""
    b = bench()
    b(SET_VERTEX_ARRAY_START=7, BEGIN=5, DRAW_VERTEX_ARRAY=4, END=0)
    side = VertexSide(b)
    draw = last_draw(b)
    check(side, draw, False, False, 1, instances=150)
    side.begin(draw, instances=150)
    pieces = list(side.pieces())
    assert [len(p.numbers) for p in pieces] == [256, 256, 88]


def test_arrays_restart() -> None:
    """Arrays can restart as well, at a vertex number."""
    b = bench()
    b(SET_DA_PRIMITIVE_RESTART=1, SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY=1, SET_DA_PRIMITIVE_RESTART_INDEX=12)
    b(SET_VERTEX_ARRAY_START=5, BEGIN=3, DRAW_VERTEX_ARRAY=20, END=0)
    draw = last_draw(b)
    assert len(draw.runs) == 2
    check(VertexSide(b), draw, False, False, 1)


def test_narrow_ranges_are_shaded_once() -> None:
    """A mesh shades each vertex of its range once; far numbers each when they appear, the same one not twice."""
    b = bench()
    side = VertexSide(b)
    side.begin(indexed(b, 4, np.array([5, 6, 7, 7, 6, 8, 8, 6, 9]), 2))
    (piece,) = side.pieces()
    assert piece.numbers.tolist() == [5, 6, 7, 8, 9]
    far = np.array([5, 60000, 7, 7, 60000, 5])
    side.begin(indexed(b, 4, far, 2))
    (piece,) = side.pieces()
    assert piece.numbers.tolist() == [5, 60000, 7]
    assert piece.primitives[:, :3].tolist() == [[0, 1, 2], [2, 1, 0]]
    side.begin(indexed(b, 4, np.array([0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD]), 4))
    (piece,) = side.pieces()
    assert piece.numbers.tolist() == [0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF]


def test_indices_behind_the_limit_and_nowhere() -> None:
    """Indices past the limit are 0; so are those where nothing is mapped, which are counted."""
    b = bench()
    side = VertexSide(b)
    values = np.arange(1, 41)
    draw = indexed(b, 0, values, 4, limit=INDICES + 4 * 37 - 1)
    side.begin(draw)
    (piece,) = side.pieces()
    got = piece.numbers[piece.primitives[:, V0]].tolist()
    assert got == [*range(1, 38), 0, 0, 0] == draw.indices.tolist()
    assert b.memory.take_missed() == 0
    end = VA + SIZE
    b.memory.write(end - 8, np.arange(3, 7, dtype="<u2").tobytes())
    b.address("SET_INDEX_BUFFER_A", end - 8)
    b.address("SET_INDEX_BUFFER_C", end + 0x1000)
    b(SET_INDEX_BUFFER_E=1, BEGIN=0, DRAW_INDEX_BUFFER=10, END=0)
    side.begin(last_draw(b))
    (piece,) = side.pieces()
    assert piece.numbers[piece.primitives[:, V0]].tolist() == [3, 4, 5, 6, *[0] * 6]
    assert b.memory.take_missed() == 12
    for odd in (1, 2, 3):  # an index buffer need not begin at a multiple of its size
        b.memory.write(INDICES + odd, np.arange(7, 10, dtype="<u4").tobytes())
        b.address("SET_INDEX_BUFFER_A", INDICES + odd)
        b(SET_INDEX_BUFFER_E=2, BEGIN=0, DRAW_INDEX_BUFFER=3, END=0)
        side.begin(last_draw(b))
        (piece,) = side.pieces()
        assert piece.numbers[piece.primitives[:, V0]].tolist() == [7, 8, 9]


def test_inline_indices() -> None:
    b = bench()
    b(BEGIN=B197["BEGIN"].encode(OP=4))
    for index in (9, 3, 70000):
        b(DRAW_INLINE_INDEX=index)
    b(END=0)
    side = VertexSide(b)
    side.begin(last_draw(b))
    (piece,) = side.pieces()
    assert piece.numbers[piece.primitives[0, :3]].tolist() == [9, 3, 70000]
