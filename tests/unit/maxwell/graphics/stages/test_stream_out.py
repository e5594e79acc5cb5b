"""Transform feedback: layouts, strides, what fits, streams, pointers and counters, holes in memory."""

from __future__ import annotations

import numpy as np
import pytest
from support.engine_host import Bench
from support.vertex_side import VertexSide

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.graphics.stages.stream_out import STREAM_OUT, StreamOut

VA, SIZE = 0x5_0000_0000, 0x8000
OUT = VA + 0x4000
SKIP = 0xFF
TRIANGLE_STRIP, POINTS = 5, 0


def bench(evaluator: str = "llvm") -> Bench:
    b = Bench(ThreeD, evaluator)
    b.map(VA, SIZE)
    b.memory.write(VA, np.arange(0x1000, dtype="<u4").tobytes())
    for number in range(16):
        b.write(B197["SET_VERTEX_ATTRIBUTE_A"].word + number, B197["SET_VERTEX_ATTRIBUTE_A"].encode(SOURCE=1))
    word = B197["SET_VERTEX_ATTRIBUTE_A"].encode(
        COMPONENT_BIT_WIDTHS=VERTEX.named("R32_G32_B32_A32").code, NUMERICAL_TYPE=4
    )
    b.write(B197["SET_VERTEX_ATTRIBUTE_A"].word, word)
    b(SET_VERTEX_STREAM_A_FORMAT__0=1 << 12 | 16)
    b.address("SET_VERTEX_STREAM_A_LOCATION_A", VA)
    b.address("SET_VERTEX_STREAM_LIMIT_A_A", VA + 0x3FFF)
    names = B197["SET_STATISTICS_COUNTER"].fields
    b.write(B197["SET_STATISTICS_COUNTER"].word, sum(f.mask for f in names))
    b(SET_STREAM_OUTPUT=1)
    return b


def buffer(b: Bench, n: int, va: int, size: int, stride: int, layout: list[int], stream: int = 0) -> None:
    b.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", va, n)
    names = {
        "BUFFER_ENABLE": 1, "BUFFER_SIZE": size, "CONTROL_STREAM": stream, "CONTROL_COMPONENT_COUNT": len(layout),
        "CONTROL_STRIDE": stride, "BUFFER_LOAD_WRITE_POINTER": 0,
    }  # fmt: skip
    b(**{f"SET_STREAM_OUT_{name}__{n}": v for name, v in names.items()})
    data = np.array(layout + [0] * (-len(layout) % 4), np.uint8).view("<u4")
    for i, word in enumerate(data.tolist()):
        b.write(B197["SET_STREAM_OUT_LAYOUT_SELECT"].word + 32 * n + i, word)


def run(b: Bench, op: int, count: int, stream: int = 0) -> int:
    b(BEGIN=op, DRAW_VERTEX_ARRAY=count, END=0)
    draw = next(r for r in reversed(b.host.log) if isinstance(r, Draw))
    side = VertexSide(b)
    shape = side.begin(draw)
    out = StreamOut(b.memory, b.host.engine, side.map - STREAM_OUT.size & -8)
    written = 0
    for piece in side.pieces():
        side.shade(shape, len(piece.numbers))
        state, counters = draw.state, b.engine.counters
        written += out.write(state, counters, side.input.vertices, side.input.primitives, stream)
    return written


def words(b: Bench, va: int, count: int) -> list[int]:
    return np.frombuffer(b.memory.read(va, 4 * count), "<u4").tolist()


def counted(b: Bench, stream: int = 0) -> tuple[int, int]:
    enum = {name: number for number, name in B197["SET_REPORT_SEMAPHORE_D"]["REPORT"].enum.items()}
    names = ("STREAMING_PRIMITIVES_NEEDED", "STREAMING_PRIMITIVES_SUCCEEDED")
    return tuple(b.engine.counters.read(enum[name], stream)[1] for name in names)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_layout_and_order(evaluator: str) -> None:
    """Strips become lists; skipped words and the rest of the stride keep what they had; w of the attribute, then x."""
    b = bench(evaluator)
    b(SET_PROVOKING_VERTEX=1)
    b.memory.write(OUT, np.full(200, 7, "<u4").tobytes())
    buffer(b, 0, OUT, 400, 20, [0x8C // 4, SKIP, 0x80 // 4])
    assert run(b, TRIANGLE_STRIP, 5) == 3
    got = np.array(words(b, OUT, 50)).reshape(-1, 5)
    order = [0, 1, 2, 2, 1, 3, 2, 3, 4]
    assert got[:9].tolist() == [[4 * v + 3, 7, 4 * v, 7, 7] for v in order]
    assert got[9].tolist() == [7] * 5
    assert b.engine.counters.pointers[0] == 9 * 20 and counted(b) == (3, 3)


def test_only_whole_primitives_in_all_buffers() -> None:
    """The buffer with the least room decides; the next draw goes on where this one stopped."""
    b = bench()
    buffer(b, 0, OUT, 4 * 3 * 4, 4, [0x80 // 4])  # room for four triangles
    buffer(b, 2, OUT + 0x800, 8 * 3 * 2 + 23, 8, [0x84 // 4, 0x88 // 4])  # for two, and nearly a third
    buffer(b, 1, OUT + 0x1000, 0, 4, [0x80 // 4], stream=1)  # of another stream
    assert run(b, TRIANGLE_STRIP, 3) == 1
    assert run(b, TRIANGLE_STRIP, 7) == 1
    assert run(b, TRIANGLE_STRIP, 3) == 0
    assert counted(b) == (7, 2) and b.engine.counters.pointers == [24, 0, 48, 0]
    assert words(b, OUT, 7) == [0, 4, 8, 0, 4, 8, words(b, OUT + 24, 1)[0]]
    assert words(b, OUT + 0x800, 12) == [1, 2, 5, 6, 9, 10] * 2
    assert run(b, POINTS, 300, stream=1) == 0  # no room at all


def test_pieces_and_the_pointer() -> None:
    """A draw of several pieces, from a loaded pointer on; the pointer may stand beyond the end."""
    b = bench()
    buffer(b, 3, OUT, 0x2000, 4, [0x80 // 4])
    b(SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER__3=16)
    assert run(b, POINTS, 700) == 700
    assert words(b, OUT, 5) == [0, 0, 0, 0, 0] and words(b, OUT + 16, 700) == [4 * v for v in range(700)]
    b(SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER__3=0xFFFFFFF0)
    assert run(b, POINTS, 10) == 0
    b(SET_STREAM_OUTPUT=0, SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER__3=0)
    assert run(b, POINTS, 10) == 0 and counted(b) == (720, 700)


def test_nothing_outside_of_memory() -> None:
    """Buffers that reach beyond what is mapped: the rest is lost and counted; nothing else is touched."""
    b = bench()
    before = b.memory.arena[: b.memory.work_offset].copy()
    buffer(b, 0, VA + SIZE - 40, 0x1000, 16, [0x80 // 4, 0x84 // 4])
    assert run(b, POINTS, 20) == 20
    assert [words(b, VA + SIZE - 40 + 16 * v, 2) for v in range(3)] == [[4 * v, 4 * v + 1] for v in range(3)]
    assert b.memory.take_missed() == 17 * 8
    offset = b.memory.offset_of(VA, SIZE)
    after = b.memory.arena[: b.memory.work_offset].copy()
    changed = np.flatnonzero(before[offset:] != after[offset:])  # in front of it is the GPU's bookkeeping
    assert set(changed) <= set(range(SIZE - 40, SIZE))
    buffer(b, 0, VA + SIZE - 40, 0xFFFFFFFF, 0xFFFFFFF0, [0x80 // 4] * 128)  # absurd strides end, too
    run(b, POINTS, 20)
