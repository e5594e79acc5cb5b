"""Attributes in lanes against the Python decoders: formats, types, streams, limits, instances, pages."""

from __future__ import annotations

import numpy as np
import pytest
from support.engine_host import Bench, stream
from support.vertex_side import VertexSide

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.formats.channels import vertex_types
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape
from pocketgpu.maxwell.graphics.input.vertex_stage import run_vertices

VA, SIZE = 0x5_0000_0000, 0x8000
END = VA + SIZE


def bench(evaluator: str = "llvm", **choices: str) -> Bench:
    b = Bench(ThreeD, evaluator, **choices)
    b.map(VA, SIZE)
    b.memory.write(VA, np.random.default_rng(3).integers(0, 256, SIZE, np.uint8).tobytes())
    for number in range(32):
        method = B197[f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}"]
        b.write(method.word + number % 16, method.encode(SOURCE=1))
    return b


def attribute(b: Bench, number: int, format: int, type: int, stream: int = 0, offset: int = 0, swap: int = 0) -> None:
    method = B197[f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}"]
    fields = {"STREAM": stream, "OFFSET": offset, "COMPONENT_BIT_WIDTHS": format, "NUMERICAL_TYPE": type}
    b.write(method.word + number % 16, method.encode(**fields, SWAP_R_AND_B=swap))


def draw(b: Bench, count: int, first: int = 0, op: int = 0, instance: int = 0) -> Draw:
    b(SET_VERTEX_ARRAY_START=first, BEGIN=B197["BEGIN"].encode(OP=op, INSTANCE_ID=instance))
    b(DRAW_VERTEX_ARRAY=count, END=0)
    return next(record for record in reversed(b.host.log) if isinstance(record, Draw))


def rows(shape: InputShape, pages: np.ndarray, number: int) -> np.ndarray:
    """(vertices, 4) words of an attribute."""
    at = [int(shape.map[(0x80 + 16 * number) // 4 + c]) // 128 for c in range(4)]
    return pages[at].T


def compare(side: VertexSide, record: Draw, instances: int = 1, tier: str = "auto") -> None:
    """Every attribute of every vertex is what the Python model says; NaN may be any NaN."""
    shape = side.begin(record, instances=instances, tier=tier)
    found = {number: [] for number in record.inputs}
    for piece in side.pieces():
        pages = side.shade(shape, len(piece.numbers))
        for number, parts in found.items():
            parts.append(rows(shape, pages, number))
    for number, parts in found.items():
        wanted = record.inputs[number]
        got = np.concatenate(parts)[: len(wanted)]
        assert len(got) == len(wanted)
        same = got == wanted.view(np.uint32)
        if wanted.dtype == np.float32:
            same |= np.isnan(wanted) & np.isnan(got.view(np.float32))
        assert same.all(), (number, np.argwhere(~same)[:3], got[~same][:3], wanted.view(np.uint32)[~same][:3])


FORMATS = [code for code, layout in VERTEX.items() if layout.bytes]


@pytest.mark.parametrize("format", FORMATS, ids=[VERTEX[code].name for code in FORMATS])
def test_formats(format: int) -> None:
    """Every type of a format, in the special and in the general code, at places of all alignments, R and B swapped."""
    b = bench()
    side = VertexSide(b)
    for type in vertex_types():
        variants = ((0, 0), (1, 1), (2, 0))
        for number, (offset, swap) in enumerate(variants):
            attribute(b, number, format, type, number, offset, swap)
            stream(b, number, VA + 64 * number, 20 - number * 2, 0x1000)
        record = draw(b, 70, first=3)
        compare(side, record, tier="general")
        for number in range(len(variants)):  # one alignment of special code for each type: that makes code enough
            if number != (format + type) % len(variants):
                method = B197["SET_VERTEX_ATTRIBUTE_A"]
                b.write(method.word + number, method.encode(SOURCE=1))
        compare(side, draw(b, 70, first=3), tier="specialised")


def test_both_evaluators_agree() -> None:
    pages = []
    for evaluator in ("llvm", "numpy"):
        b = bench(evaluator)
        for number, format in enumerate(FORMATS):
            attribute(b, number, format, 1 + number % 7, 0, number)
        stream(b, 0, VA, 37, SIZE)
        side = VertexSide(b)
        record = draw(b, 40)
        shape = side.begin(record, tier="specialised")
        (piece,) = side.pieces()
        pages.append(side.shade(shape, len(piece.numbers)))
    assert np.array_equal(*pages)


def test_limits_and_holes() -> None:
    """Elements that reach past the limit are zero; so is what nothing is mapped for, which is counted."""
    b = bench()
    side = VertexSide(b)
    attribute(b, 0, VERTEX.named("R32_G32_B32").code, 7)
    stream(b, 0, VA, 12, 12 * 40 + 11)
    compare(side, draw(b, 64))
    assert b.memory.take_missed() == 0
    stream(b, 0, END - 12 * 35 - 4, 12, 0x10000)
    record = draw(b, 40)
    compare(side, record)
    assert b.memory.take_missed() == record.missed == 12 * 40 - (12 * 35 + 4)
    stream(b, 0, VA, 0, 12)  # every vertex shows the same element
    compare(side, draw(b, 64))
    stream(b, 0, VA, 12, 11)  # no element fits
    compare(side, draw(b, 64))
    stream(b, 0, VA, 12, SIZE)
    b(SET_DA_PRIMITIVE_RESTART=0, SET_GLOBAL_BASE_VERTEX_INDEX=-3 & 0xFFFFFFFF)
    b.memory.write(VA + 0x4000, bytes(range(32)))
    b.address("SET_INDEX_BUFFER_A", VA + 0x4000)
    b.address("SET_INDEX_BUFFER_C", VA + 0x4000 + 31)
    b(BEGIN=0, DRAW_INDEX_BUFFER=32, END=0)  # the first three are far below 0
    compare(side, next(r for r in reversed(b.host.log) if isinstance(r, Draw)))


def test_streams_in_pieces() -> None:
    """Memory that is mapped page by page, the other way round."""
    b = bench()
    at = 0x6_0000_0000
    backing = b.memory.map(at, 0x4000).backing
    for page in range(4):
        b.memory.map(at + 0x8000 + 0x1000 * page, 0x1000, backing, 0x3000 - 0x1000 * page)
    b.memory.write(at, np.random.default_rng(4).integers(0, 256, 0x4000, np.uint8).tobytes())
    attribute(b, 3, VERTEX.named("R16_G16_B16_A16").code, 2, 18)
    stream(b, 18, at + 0x8000, 30, 0x4000)
    compare(VertexSide(b), draw(b, 500))
    assert b.memory.take_missed() == 0


@pytest.mark.parametrize("choice", ["per-vertex", "constant"])
def test_instances(choice: str) -> None:
    """Divisors count instances from the base instance on; a frequency of 0 is a choice."""
    b = bench(draw__zero_frequency=choice) if choice == "per-vertex" else bench()
    b(SET_GLOBAL_BASE_INSTANCE_INDEX=5)
    for number, frequency in enumerate((0, 1, 3)):
        attribute(b, number, VERTEX.named("R32_G32").code, 4, number)
        stream(b, number, VA, 8, SIZE, frequency)
    attribute(b, 3, VERTEX.named("R8_G8_B8_A8").code, 4, 3)
    stream(b, 3, VA + 0x100, 4, SIZE - 0x100)
    side = VertexSide(b)
    first = draw(b, 4)
    shape = side.begin(first, instances=20)
    (piece,) = side.pieces()
    pages = side.shade(shape, len(piece.numbers))
    for instance in range(20):
        record = first if not instance else draw(b, 4, instance=1)
        assert record.instance == instance
        for number, wanted in record.inputs.items():
            got = rows(shape, pages, number)[4 * instance : 4 * instance + 4]
            assert np.array_equal(got, wanted.view(np.uint32)), (instance, number)


def test_numbers_of_vertices_and_instances() -> None:
    b = bench()
    b(SET_VERTEX_ID_BASE=1000)
    side = VertexSide(b)
    for uses_start in (0, 1):
        b(SET_DA_OUTPUT=B197["SET_DA_OUTPUT"].encode(VERTEX_ID_USES_ARRAY_START=uses_start))
        record = draw(b, 3, first=7)
        shape = side.begin(record, instances=2)
        (piece,) = side.pieces()
        pages = side.shade(shape, len(piece.numbers))
        vertex, instance = (pages[int(shape.map[a // 4]) // 128] for a in (0x2FC, 0x2F8))
        assert vertex.tolist() == record.vertex_ids.tolist() * 2
        assert instance.tolist() == [0, 0, 0, 1, 1, 1]


def test_what_no_stream_gives() -> None:
    """Inactive attributes have the default vector, those of a stream that is off 0, 0, 0, 1; integers an integer 1."""
    b = bench()
    attribute(b, 1, VERTEX.named("R32_G32_B32_A32").code, 7, 9)  # stream 9 is off
    attribute(b, 2, VERTEX.named("R16_G16").code, 3)
    attribute(b, 3, VERTEX.named("R16_G16").code, 7)
    stream(b, 0, VA, 4, SIZE)
    one = 0x3F800000
    for generic in (0, 1):
        b(SET_ATTRIBUTE_DEFAULT=B197["SET_ATTRIBUTE_DEFAULT"].encode(GENERIC_VECTOR=generic))
        side = VertexSide(b)
        shape = side.begin(draw(b, 2))
        (piece,) = side.pieces()
        pages = side.shade(shape, len(piece.numbers))
        assert rows(shape, pages, 0).tolist() == [[0, 0, 0, one * generic]] * 2
        assert rows(shape, pages, 1).tolist() == [[0, 0, 0, one]] * 2
        assert rows(shape, pages, 2)[:, 2:].tolist() == [[0, 1]] * 2
        assert rows(shape, pages, 3)[:, 2:].tolist() == [[0, one]] * 2


def test_only_what_is_read() -> None:
    """A program that reads one component has a page of one slot."""
    b = bench()
    attribute(b, 0, VERTEX.named("R32_G32_B32_A32").code, 7)
    stream(b, 0, VA, 16, SIZE)
    record = draw(b, 4)
    shape = InputShape.of(record.state, {0x84})
    assert shape.vectors == 4 and len(shape.attributes) == 1
    side = VertexSide(b)
    side.begin(record, shape)
    (piece,) = side.pieces()
    pages = side.shade(shape, len(piece.numbers))
    assert np.array_equal(pages[3], record.inputs[0].view(np.uint32)[:, 1])


def test_threads_can_share_pages() -> None:
    """Pages shaded one by one, last first, are the same."""
    b = bench()
    attribute(b, 0, VERTEX.named("R32_G32_B32").code, 7)
    stream(b, 0, VA, 12, SIZE)
    side = VertexSide(b)
    record = draw(b, 200)
    shape = side.begin(record)
    (piece,) = side.pieces()
    whole = side.shade(shape, len(piece.numbers))
    pages = side.words(side.room.pages, whole.shape[0] * 32 * 7)
    before = pages.copy()
    pages[:] = -1
    run = side.engine.get(run_vertices)
    for page in reversed(range(7)):
        run(side.room.input, side.slot, side.thread_room, page, page + 1)
    assert np.array_equal(pages.reshape(7, -1, 32)[:6], before.reshape(7, -1, 32)[:6])
