"""Where the vertex input of a draw has its rooms."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pocketgpu.maxwell.graphics.input.vertex_records import (
    ATTRIBUTE,
    CARRY_WORDS,
    INPUT,
    MAX_ATTRIBUTES,
    TABLE_BITS,
    VertexRoom,
)
from pocketgpu.maxwell.graphics.records import PRIMITIVE_COLUMNS
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR


@pytest.mark.parametrize("capacity", [LANES, 256, 1024])
@pytest.mark.parametrize("page_vectors", [0, 3, 40])
def test_rooms_come_one_after_the_other(capacity: int, page_vectors: int) -> None:
    room = VertexRoom(1 << 20, capacity, page_vectors)
    parts = [
        (room.input, INPUT.size), (room.attributes, ATTRIBUTE.size * MAX_ATTRIBUTES), (room.carry, 4 * CARRY_WORDS),
        (room.table, 4 << TABLE_BITS), (room.numbers, 4 * capacity), (room.slots, 4 * capacity),
        (room.shade, 4 * capacity), (room.shade_instances, 4 * capacity),
        (room.columns, room.column_stride * PRIMITIVE_COLUMNS), (room.pages, 4 * capacity * page_vectors),
        (room.start + room.size, 0),
    ]  # fmt: skip
    assert parts[0][0] == room.start and room.column_stride >= 4 * capacity
    for (at, size), (after, _) in pairwise(parts):
        assert at % VECTOR == 0 and at + size <= after
    assert room.size < sum(size for _, size in parts) + len(parts) * 2 * VECTOR
