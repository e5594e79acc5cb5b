"""Vertex inputs that a guest can make up: any registers, any indices; nothing of its memory changes, all of it ends."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.engine_host import Bench
from support.vertex_side import VertexSide

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.draws import Draw
from pocketgpu.maxwell.engines.threed import ThreeD
from pocketgpu.maxwell.graphics.vertex_input import MAX_COUNT, PLAN_WORDS

VA, SIZE = 0x5_0000_0000, 0x10000


def test_any_registers() -> None:
    b, rng = Bench(ThreeD), random.Random(11)
    b.map(VA, SIZE)
    data = np.random.default_rng(1).integers(0, 256, SIZE, np.uint8)
    b.memory.write(VA, data.tobytes())
    offset = b.memory.offset_of(VA, SIZE)
    assert offset is not None
    side = VertexSide(b, page_vectors=200)
    pieces = 0
    for _ in range(150):
        words = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 1 << 32, len(PLAN_WORDS), np.uint64)
        b.registers[PLAN_WORDS] = words.astype(np.uint32)
        for name in ("LOCATION", "LIMIT_A", "LIMIT_B"):
            for half in "AB":
                full = f"SET_VERTEX_STREAM_{half}_LOCATION_A" if name == "LOCATION" else f"SET_VERTEX_STREAM_{name}_A"
                for i in range(16):
                    at = VA + rng.choice([rng.randrange(SIZE), -3, SIZE + 100, 1 << 33, -VA])
                    b.address(full, at & 0xFF_FFFF_FFFF, i)
        for half in "AB":
            for i in range(16):
                instanced = {f"SET_VERTEX_STREAM_INSTANCE_{half}__{i}": rng.randrange(2)}
                b(**instanced, **{f"SET_VERTEX_STREAM_{half}_FREQUENCY__{i}": rng.choice([0, 1, 3, 0xFFFFFFFF])})
        b.address("SET_INDEX_BUFFER_A", VA + rng.choice([0, 1, SIZE - 20, SIZE, 1 << 30]))
        b.address("SET_INDEX_BUFFER_C", VA + rng.choice([0, SIZE - 1, SIZE + 50, 1 << 34]))
        b(
            SET_INDEX_BUFFER_E=rng.randrange(3), SET_INDEX_BUFFER_F=rng.choice([0, 5, 0xFFFFFFFF]),
            SET_GLOBAL_BASE_VERTEX_INDEX=rng.choice([0, 7, 0x80000000, 0xFFFFFFFF]),
            SET_GLOBAL_BASE_INSTANCE_INDEX=rng.choice([0, 0xFFFFFFFF]),
            SET_VERTEX_ARRAY_START=rng.choice([0, 0xFFFFFFF0]),
            BEGIN=rng.randrange(15), **{rng.choice(["DRAW_INDEX_BUFFER", "DRAW_VERTEX_ARRAY"]): rng.randrange(1, 700)},
            END=0,
        )  # fmt: skip
        draw = next(record for record in reversed(b.host.log) if isinstance(record, Draw))
        shape = side.begin(draw, instances=rng.choice([1, 3]), tier=rng.choice(["general", "auto"]))
        for piece in side.pieces():
            side.shade(shape, len(piece.numbers))
            slots = piece.primitives[:, [0, 1, 2, 3, 6, 7, 8]]
            limit = side.room.capacity if draw.topology_name == "PATCH" else len(piece.numbers)
            assert not len(slots) or (slots.min() >= 0 and slots.max() < limit)
            pieces += 1
    assert pieces > 150
    assert np.array_equal(b.memory.arena[offset : offset + SIZE], data)


@pytest.mark.parametrize("count", [0, MAX_COUNT + 1, 0xFFFFFFFF])
def test_counts_that_are_none(count: int) -> None:
    b = Bench(ThreeD)
    b(BEGIN=B197["BEGIN"].encode(OP=4), DRAW_VERTEX_ARRAY=count, END=0)
    draw = next(record for record in reversed(b.host.log) if isinstance(record, Draw))
    with pytest.raises(UsageError):
        VertexSide(b).begin(draw)
