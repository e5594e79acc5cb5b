"""Transform feedback: writes attributes of primitives into buffers, primitive by primitive, as lists.

A primitive is written if it fits into every buffer of its stream; otherwise it and all following ones are left out.
Strips are written as the lists that `assembly` makes of them.
Source: class header B197 (SET_STREAM_OUT_*); OpenGL 4.6, "Transform Feedback", for what fits and what queries count.
"""

from __future__ import annotations

import numpy as np

from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.records import PRIMITIVES, VERTICES
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import LANES
from pocketgpu.struct_words import Struct

BUFFERS = 4
LAYOUT_ENTRIES = 128
NOTHING = 0xFF
"""A layout's entry for a word that is not written."""

BUFFER = Struct("ADDRESS:2", "SIZE", "POINTER", "STRIDE", "COUNT", f"LAYOUT:{LAYOUT_ENTRIES}")
STREAM_OUT = Struct(f"BUFFER:{BUFFERS * BUFFER.size // 4}", "COUNT", "WRITTEN", "VERTICES", "PRIMITIVES")
"""Buffers of one stream, without gaps, and what to write. WRITTEN: primitives that fitted."""


@kernel(lanes=32, record=I32)
def stream_out(k: Lang, record: Value) -> None:
    """Write a list of primitives into buffers and advance their pointers. record: offset of a STREAM_OUT record."""
    get = lambda at: k.load(I32, record + at)
    vertices, primitives = get(STREAM_OUT.VERTICES), get(STREAM_OUT.PRIMITIVES)
    corners = k.load(I32, primitives + PRIMITIVES.KIND) + 1  # points, lines, triangles
    total = k.var(k.load(I32, primitives + PRIMITIVES.COUNT))
    for b in k.range(0, get(STREAM_OUT.COUNT)):
        at = record + b * BUFFER.size
        size, pointer, stride = (k.load(I32, at + w) for w in (BUFFER.SIZE, BUFFER.POINTER, BUFFER.STRIDE))
        room = k.select(size.below(pointer), 0, size - pointer)
        fitting = k.udiv(room, stride * corners)
        for _ in k.when((stride != 0) & fitting.below(total.value)):
            total.value = fitting
    k.store(I32, record + STREAM_OUT.WRITTEN, total.value)
    for b in k.range(0, get(STREAM_OUT.COUNT)):
        _write(k, record + b * BUFFER.size, vertices, primitives, corners, total.value * corners)


def _write(k: Lang, at: Value, vertices: Value, primitives: Value, corners: Value, count: Value) -> None:
    """Write `count` vertices into one buffer."""
    pages, size, map = (k.load(I32, vertices + w) for w in (VERTICES.PAGES, VERTICES.PAGE_SIZE, VERTICES.MAP))
    columns, column_stride = (k.load(I32, primitives + w) for w in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE))
    pointer, stride = k.load(I32, at + BUFFER.POINTER), k.load(I32, at + BUFFER.STRIDE)
    start = k.load(I64, at + BUFFER.ADDRESS) + k.to_i64(pointer, False)
    missed = k.var(k.splat(0))
    for t in k.range(0, count, LANES):
        n = k.iota() + t
        some = n < count
        primitive = k.udiv(n, k.splat(corners))
        corner = n - primitive * corners
        vertex = k.gather(I32, columns + corner * column_stride + (primitive << 2), some)
        column = pages + (vertex >> 5) * size + ((vertex & 31) << 2)
        target = k.to_i64(n) * k.to_i64(stride) + start
        for c in k.range(0, k.load(I32, at + BUFFER.COUNT)):
            entry = k.load(I32, at + BUFFER.LAYOUT + (c << 2))
            for _ in k.when(entry != NOTHING):
                value = k.gather(I32, column + k.load(I32, map + (entry << 2)), some)
                offset, mapped = page_table.translate(k, (target & -4) + k.to_i64(c << 2))
                good = mapped & some
                k.scatter(I32, offset, value, good)
                page_table.stamp(k, offset, good)
                missed.value = missed.value + k.select(some & ~mapped, 4, 0)
    total = k.reduce("add", missed.value)
    for _ in k.when(total != 0):
        page_table.miss(k, total)
    k.store(I32, at + BUFFER.POINTER, pointer + count * stride)


class StreamOut:
    """Transform feedback of one draw. at: arena offset of room for a STREAM_OUT record, a multiple of 8."""

    def __init__(self, memory: GpuMemory, engine: Engine, at: int) -> None:
        self.memory, self.engine, self.at = memory, engine, at
        self._words = memory.arena[at : at + STREAM_OUT.size].view(np.uint32)

    @staticmethod
    def on(state: State) -> bool:
        """Whether transform feedback is enabled."""
        return bool(state.field("SET_STREAM_OUTPUT", "ENABLE"))

    def write(self, state: State, counters: Counters, vertices: int, primitives: int, stream: int = 0) -> int:
        """Write a list of primitives, count it, advance the pointers; returns how many primitives were written.

        :param vertices, primitives: offsets of the VERTICES and PRIMITIVES records. stream: which one they belong to.
        """
        words = self._words
        used = [
            b
            for b in range(BUFFERS)
            if state.field("SET_STREAM_OUT_BUFFER_ENABLE", "V", b)
            and state.field("SET_STREAM_OUT_CONTROL_STREAM", "SELECT", b) == stream
        ]
        at = primitives + PRIMITIVES.COUNT
        needed = int(self.memory.arena[at : at + 4].view(np.int32)[0])
        counters.add("STREAMING_PRIMITIVES_NEEDED", needed, stream)
        if not used or not self.on(state):
            return 0
        for n, b in enumerate(used):
            self._fill(words[n * BUFFER.size // 4 :][: BUFFER.size // 4], state, b, counters.pointers[b])
        words[STREAM_OUT.COUNT // 4] = len(used)
        words[STREAM_OUT.VERTICES // 4], words[STREAM_OUT.PRIMITIVES // 4] = vertices, primitives
        self.memory.open_version()
        self.engine.get(stream_out)(self.at)
        for n, b in enumerate(used):
            counters.pointers[b] = int(words[(n * BUFFER.size + BUFFER.POINTER) // 4])
        written = int(words[STREAM_OUT.WRITTEN // 4])
        counters.add("STREAMING_PRIMITIVES_SUCCEEDED", written, stream)
        return written

    @staticmethod
    def _fill(words: np.ndarray[tuple[int], np.dtype[np.uint32]], state: State, b: int, pointer: int) -> None:
        address = state.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", b)
        count = min(state.field("SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", "MAX", b), LAYOUT_ENTRIES)
        values = {
            BUFFER.SIZE: state.word("SET_STREAM_OUT_BUFFER_SIZE", b), BUFFER.POINTER: pointer & 0xFFFFFFFF,
            BUFFER.STRIDE: state.word("SET_STREAM_OUT_CONTROL_STRIDE", b), BUFFER.COUNT: count,
            BUFFER.ADDRESS: address & 0xFFFFFFFF, BUFFER.ADDRESS + 4: address >> 32,
        }  # fmt: skip
        for place, v in values.items():
            words[place // 4] = v
        method = state.block["SET_STREAM_OUT_LAYOUT_SELECT"]
        first = method.word + b * (LAYOUT_ENTRIES // 4)
        layout = state.registers[first : first + LAYOUT_ENTRIES // 4].astype("<u4").view(np.uint8)
        words[BUFFER.LAYOUT // 4 :][:LAYOUT_ENTRIES] = layout
