"""Draws as records: triggers, instances, indices, vertex inputs, bindings."""

from __future__ import annotations

import numpy as np
import pytest
from support.engine_host import Bench, stream

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.threed import topology
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.engines.threed.vertices import MAX_VERTICES, decode
from pocketgpu.maxwell.host.layout import BOUND_WORDS, CONSTANT_SLOTS

VA = 0x5_0000_0000
INDICES = VA + 0x8000
TYPES = {name: number for number, name in (B197["SET_VERTEX_ATTRIBUTE_A"]["NUMERICAL_TYPE"].enum or {}).items()}


def bench(**choices: str) -> Bench:
    b = Bench(ThreeD, **choices)
    b.map(VA, 0x10000)
    return b


def draws(b: Bench) -> list[Draw]:
    return [record for record in b.host.log if isinstance(record, Draw)]


def begin(op: int, instance: int = 0) -> int:
    return B197["BEGIN"].encode(OP=op, INSTANCE_ID=instance)


def attribute(b: Bench, number: int, name: str, type: str, stream: int = 0, offset: int = 0, swap: int = 0) -> None:
    method = B197[f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}"]
    word = method.encode(
        STREAM=stream,
        OFFSET=offset,
        COMPONENT_BIT_WIDTHS=VERTEX.named(name).code,
        NUMERICAL_TYPE=TYPES[f"NUM_{type}"],
        SWAP_R_AND_B=swap,
    )
    b.write(method.word + number % 16, word)


def nothing_active(b: Bench) -> None:
    for number in range(32):
        method = B197[f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}"]
        b.write(method.word + number % 16, method.encode(SOURCE=1))


def test_arrays_and_instances() -> None:
    """BEGIN's instance field: 0 resets, 1 goes on, 2 keeps. Each DRAW is a record."""
    b = bench()
    b(SET_VERTEX_ARRAY_START=5)
    for instance in (0, 1, 1, 2, 1, 0):
        b(BEGIN=begin(5, instance), DRAW_VERTEX_ARRAY=7, END=0)
    b(BEGIN=begin(14, 0), DRAW_VERTEX_ARRAY=1, SET_VERTEX_ARRAY_START=9)
    b(DRAW_VERTEX_ARRAY=2, END=0)
    records = draws(b)
    assert [r.instance for r in records] == [0, 1, 2, 2, 3, 0, 0, 0]
    assert [(r.first, r.count) for r in records[-2:]] == [(5, 1), (9, 2)]
    assert records[0].topology_name == "TRIANGLE_STRIP" and records[-1].topology_name == "PATCH"
    assert records[0].indices.tolist() == [5, 6, 7, 8, 9, 10, 11]
    assert b.host.stats.draws == 8 and not list(b.host.events)


def test_a_record_keeps_its_state() -> None:
    """Registers and bindings are those of the draw, however many writes follow."""
    b = bench()
    for i in range(400):
        b(SET_COLOR_CLEAR_VALUE__0=i, BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    for word in range(0x200, 0x600):
        b.registers[word] = 0xFFFFFFFF
    b(BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    records = draws(b)
    assert [r.state.word("SET_COLOR_CLEAR_VALUE") for r in records] == [*range(400), 0xFFFFFFFF]
    assert records[0].registers[0x300] == 0
    held = {id(r.snapshot.whole) for r in records}
    assert len(held) == 2  # nearly all share one whole copy


@pytest.mark.parametrize(("code", "size"), [(0, 1), (1, 2), (2, 4)])
def test_indices(code: int, size: int) -> None:
    """First and count in indices; the limit is the last byte; past it indices are 0."""
    b = bench()
    values = np.arange(20, 40)
    b.memory.write(INDICES, values.astype(f"<u{size}").tobytes())
    b.address("SET_INDEX_BUFFER_A", INDICES)
    b.address("SET_INDEX_BUFFER_C", INDICES + 10 * size - 1)
    b(SET_INDEX_BUFFER_E=code, SET_INDEX_BUFFER_F=3, SET_GLOBAL_BASE_VERTEX_INDEX=-21 & 0xFFFFFFFF)
    b(BEGIN=4, DRAW_INDEX_BUFFER=9, END=0)
    (record,) = draws(b)
    assert record.indices.tolist() == [23, 24, 25, 26, 27, 28, 29, 0, 0]
    assert record.base_vertex == -21
    assert record.vertex_numbers.tolist()[:3] == [2, 3, 4]
    assert record.vertex_numbers[-1] == (1 << 32) - 21
    assert record.primitives == 3


def test_an_index_size_that_is_none() -> None:
    b = bench()
    b(SET_INDEX_BUFFER_E=3, BEGIN=4, DRAW_INDEX_BUFFER=3, END=0)
    assert b.host.ids() == ["draw.index_size"] and not draws(b)


def test_restart() -> None:
    """The restart index is compared before the base is added, and cuts strips."""
    b = bench()
    b.memory.write(INDICES, bytes([1, 2, 3, 255, 4, 5, 6, 7]))
    b.address("SET_INDEX_BUFFER_A", INDICES)
    b.address("SET_INDEX_BUFFER_C", INDICES + 7)
    b(SET_DA_PRIMITIVE_RESTART=1, SET_DA_PRIMITIVE_RESTART_INDEX=255, SET_GLOBAL_BASE_VERTEX_INDEX=10)
    b(BEGIN=5, DRAW_INDEX_BUFFER=8, END=0)
    (record,) = draws(b)
    assert [run.tolist() for run in record.runs] == [[1, 2, 3], [4, 5, 6, 7]]
    assert record.primitives == 3
    assert record.vertex_numbers.tolist() == [11, 12, 13, 14, 15, 16, 17]
    assert record.vertex_ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    b(SET_DA_PRIMITIVE_RESTART_INDEX=0xFFFF, BEGIN=5, DRAW_INDEX_BUFFER=8, END=0)
    assert draws(b)[1].primitives == 6  # 255 is no 16-bit index


@pytest.mark.parametrize("restart", [0, 1])
@pytest.mark.parametrize("for_arrays", [0, 1])
def test_arrays_restart_if_both_methods_say_so(restart: int, for_arrays: int) -> None:
    b = bench()
    b(SET_DA_PRIMITIVE_RESTART=restart, SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY=for_arrays)
    b(SET_DA_PRIMITIVE_RESTART_INDEX=4, BEGIN=5, DRAW_VERTEX_ARRAY=9, END=0)
    (record,) = draws(b)
    wanted = [[0, 1, 2, 3], [5, 6, 7, 8]] if restart and for_arrays else [list(range(9))]
    assert [run.tolist() for run in record.runs] == wanted


def test_vertex_numbers_of_arrays() -> None:
    """Arrays count vertex ids from 0 unless told otherwise, and do not know a base vertex (a choice)."""
    for choice, first in (("ignore", 5), ("add", 105)):
        b = bench(draw__array_base_vertex=choice)
        b(SET_VERTEX_ARRAY_START=5, SET_GLOBAL_BASE_VERTEX_INDEX=100, SET_VERTEX_ID_BASE=1000)
        b(BEGIN=0, DRAW_VERTEX_ARRAY=2, END=0)
        b(SET_DA_OUTPUT=1 << 12, BEGIN=0, DRAW_VERTEX_ARRAY=2, END=0)
        assert [r.vertex_ids.tolist() for r in draws(b)] == [[1000, 1001], [1005, 1006]]
        assert draws(b)[0].vertex_numbers.tolist() == [first, first + 1]


def test_whole_draws_in_a_word() -> None:
    """BEGIN, draw and END at once: start, count and topology in one word."""
    b = bench()
    b.memory.write(INDICES, bytes(range(64)))
    b.address("SET_INDEX_BUFFER_A", INDICES)
    b.address("SET_INDEX_BUFFER_C", INDICES + 63)
    word = lambda name, start: B197[name].encode(  # noqa: E731
        **{"START_INDEX" if "ARRAY" in name else "FIRST": start}, COUNT=6, TOPOLOGY=4
    )
    names = [
        "DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST",
        "DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_SUBSEQUENT",
        *(f"DRAW_INDEX_BUFFER{n}_BEGIN_END_INSTANCE_{o}" for n in (8, 16, 32) for o in ("FIRST", "SUBSEQUENT")),
    ]
    for name in names:
        b(**{name: word(name, 2)})
    records = draws(b)
    assert [r.method for r in records] == names
    assert [r.index_bytes for r in records] == [0, 0, 1, 1, 2, 2, 4, 4]
    assert [r.instance for r in records] == [0, 1] * 4
    assert records[4].indices[0] == 0x0504
    assert all(r.primitives == 2 for r in records)


def test_indices_in_the_pushbuffer() -> None:
    """Words of one, two and four indices, with the ends cut by their alignment methods; drawn at END."""
    b = bench()
    b(BEGIN=4)
    b(DRAW_INLINE_INDEX=70000)
    b(DRAW_INLINE_INDEX=2)
    b(DRAW_INLINE_INDEX2X16=4 << 16 | 3)
    b(DRAW_INLINE_INDEX4X8=0x08070605, END=0)
    (record,) = draws(b)
    assert record.indices.tolist() == [70000, 2, 3, 4, 5, 6, 7, 8] and record.indexed
    b(BEGIN=4, SET_INLINE_INDEX2X16_ALIGN=1 << 31 | 2, DRAW_INLINE_INDEX2X16=11 << 16 | 10)
    b(DRAW_INLINE_INDEX2X16=13 << 16 | 12, END=0)
    b(BEGIN=4, SET_INLINE_INDEX4X8_ALIGN=3 << 30 | 3, DRAW_INLINE_INDEX4X8=0x04030201)
    b(DRAW_INLINE_INDEX4X8=0x08070605, END=0)
    b(BEGIN=4, END=0)
    assert [r.indices.tolist() for r in draws(b)[1:]] == [[11, 12], [4, 5, 6]]


def test_other_draws() -> None:
    """DRAW_AUTO counts out of bytes that were streamed; DRAW_ZERO_INDEX draws vertex 0 again and again."""
    b = bench()
    b(SET_DRAW_AUTO_STRIDE=12, SET_DRAW_AUTO_START=24, BEGIN=0, DRAW_AUTO=24 + 12 * 5 + 3, END=0)
    b(BEGIN=0, DRAW_ZERO_INDEX=4, END=0)
    b(SET_DRAW_AUTO_STRIDE=0, BEGIN=0, DRAW_AUTO=100, END=0)
    assert [r.indices.tolist() for r in draws(b)] == [[0, 1, 2, 3, 4], [0] * 4, []]


def test_topologies() -> None:
    """Separate topology state has numbers of its own, and wins when it is switched on."""
    names = topology.begin_names()
    assert len(names) == 15
    assert {topology.separate()[n] for n in (1, 2, 3, 4, 5, 10, 11, 12, 13, 14)} == {0, 1, 3, 4, 5, 10, 11, 12, 13, 14}
    b = bench()
    b(SET_PRIMITIVE_TOPOLOGY_CONTROL=1, SET_PRIMITIVE_TOPOLOGY=3, BEGIN=4, DRAW_VERTEX_ARRAY=9, END=0)
    assert draws(b)[0].topology_name == "LINE_STRIP"
    b(SET_PRIMITIVE_TOPOLOGY=0x99, BEGIN=4, DRAW_VERTEX_ARRAY=9, END=0)
    assert draws(b)[1].topology_name == "TRIANGLES" and b.host.ids() == ["draw.topology"]
    b(SET_PRIMITIVE_TOPOLOGY_CONTROL=0, BEGIN=15, DRAW_VERTEX_ARRAY=9, END=0)
    assert len(draws(b)) == 2


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("POINTS", [0, 1, 2, 3, 4, 5, 6, 7, 8]), ("LINES", [0, 0, 1, 1, 2, 2, 3, 3, 4]),
        ("LINE_LOOP", [0, 0, 2, 3, 4, 5, 6, 7, 8]), ("LINE_STRIP", [0, 0, 1, 2, 3, 4, 5, 6, 7]),
        ("TRIANGLES", [0, 0, 0, 1, 1, 1, 2, 2, 2]), ("TRIANGLE_STRIP", [0, 0, 0, 1, 2, 3, 4, 5, 6]),
        ("TRIANGLE_FAN", [0, 0, 0, 1, 2, 3, 4, 5, 6]), ("QUADS", [0, 0, 0, 0, 1, 1, 1, 1, 2]),
        ("QUAD_STRIP", [0, 0, 0, 0, 1, 1, 2, 2, 3]), ("POLYGON", [0, 0, 0, 1, 1, 1, 1, 1, 1]),
        ("LINELIST_ADJCY", [0, 0, 0, 0, 1, 1, 1, 1, 2]), ("LINESTRIP_ADJCY", [0, 0, 0, 0, 1, 2, 3, 4, 5]),
        ("TRIANGLELIST_ADJCY", [0, 0, 0, 0, 0, 0, 1, 1, 1]), ("TRIANGLESTRIP_ADJCY", [0, 0, 0, 0, 0, 0, 1, 1, 2]),
        ("PATCH", [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    ],
)  # fmt: skip
def test_primitives(name: str, wanted: list[int]) -> None:
    """How many primitives 0 to 8 vertices make."""
    number = next(n for n, known in topology.begin_names().items() if known == name)
    assert [topology.primitives(number, count, 3) for count in range(9)] == wanted


def test_faults() -> None:
    """Draws outside of BEGIN and END, counts that nobody could decode."""
    b = bench()
    b(DRAW_VERTEX_ARRAY=3, DRAW_INLINE_INDEX=1)
    assert b.host.ids() == ["draw.outside", "draw.outside"] and not draws(b)
    b(BEGIN=4, DRAW_ZERO_INDEX=0xFFFFFFFF, END=0)
    assert b.host.ids()[-1] == "draw.count"
    b(SET_STATISTICS_COUNTER=3, SET_DA_PRIMITIVE_RESTART=1, BEGIN=4, DRAW_INDEX_BUFFER=0xFFFFFFFF, END=0)
    (record,) = draws(b)
    assert record.count == 0xFFFFFFFF
    with pytest.raises(UsageError, match=str(MAX_VERTICES)):
        _ = record.inputs


ELEMENTS = np.random.default_rng(4).integers(0, 256, (64, 16), np.uint8)


@pytest.mark.parametrize("name", [layout.name for layout in VERTEX.values() if layout.bytes])
@pytest.mark.parametrize("type", ["SNORM", "UNORM", "SINT", "UINT", "USCALED", "SSCALED", "FLOAT"])
def test_formats(name: str, type: str) -> None:
    """Every size with every type, component by component."""
    layout = VERTEX.named(name)
    got = decode(ELEMENTS[:, : layout.bytes], layout, type.lower(), False)
    swapped = decode(ELEMENTS[:, : layout.bytes], layout, type.lower(), True)
    assert np.array_equal(swapped[:, [2, 1, 0, 3]], got, equal_nan=True)
    wanted = np.zeros((64, 4))
    wanted[:, 3] = 1
    for row, element in enumerate(ELEMENTS):
        value = int.from_bytes(element[: layout.bytes].tobytes(), "little")
        for c in layout.components:
            if c.name not in "RGBA":
                continue
            bits = value >> c.lo & (1 << c.width) - 1
            signed = bits - (bits >> (c.width - 1) << c.width)
            top = (1 << c.width) - 1
            if type == "FLOAT":
                if c.width == 32:
                    with np.errstate(invalid="ignore"):
                        one = float(np.uint32(bits).view(np.float32))
                elif c.width in (10, 11, 16):
                    one = float(np.uint16(bits << {16: 0, 11: 4, 10: 5}[c.width]).view(np.float16))
                else:
                    one = 0.0
            else:
                one = {
                    "SNORM": max(signed / (top >> 1) if top > 1 else signed, -1.0),
                    "UNORM": bits / top,
                    "SINT": signed,
                    "UINT": bits,
                    "USCALED": bits,
                    "SSCALED": signed,
                }[type]
            wanted[row, "RGBA".index(c.name)] = one
    assert got.dtype == {"SINT": np.int32, "UINT": np.uint32}.get(type, np.float32)
    with np.errstate(invalid="ignore"):
        exact = wanted.astype(np.float32) if got.dtype == np.float32 else wanted
    assert np.array_equal(got, exact, equal_nan=True)


def test_inputs() -> None:
    """Streams with strides and offsets, high stream and attribute numbers, inactive attributes left out."""
    b = bench()
    nothing_active(b)
    data = np.arange(60, dtype=np.float32)
    b.memory.write(VA, data.tobytes())
    stream(b, 0, VA, 24, 240)
    stream(b, 31, VA + 4, 8, 80)
    attribute(b, 0, "R32_G32_B32", "FLOAT", 0, 4)
    attribute(b, 20, "R32", "FLOAT", 31, 4)
    attribute(b, 3, "R32", "FLOAT", 9)  # of a stream that is off
    b(SET_VERTEX_ARRAY_START=2, BEGIN=4, DRAW_VERTEX_ARRAY=3, END=0)
    inputs = draws(b)[0].inputs
    assert sorted(inputs) == [0, 20]
    assert inputs[0].tolist() == [[6.0 * i + 1, 6.0 * i + 2, 6.0 * i + 3, 1.0] for i in (2, 3, 4)]
    assert inputs[20][:, 0].tolist() == [2.0 * i + 2 for i in (2, 3, 4)]


def test_instanced_streams() -> None:
    """The element is the base instance and the instance divided by the frequency; 0 is a choice."""
    for choice in ("constant", "per-vertex"):
        b = bench(draw__zero_frequency=choice)
        nothing_active(b)
        b.memory.write(VA, np.arange(64, dtype=np.float32).tobytes())
        for number, frequency in ((0, 1), (1, 3), (2, 0)):
            stream(b, number, VA, 4, 256, frequency)
            attribute(b, number, "R32", "FLOAT", number)
        b(SET_GLOBAL_BASE_INSTANCE_INDEX=10)
        for instance in (0, 1, 1, 1, 1):
            b(BEGIN=begin(0, instance), DRAW_VERTEX_ARRAY=2, END=0)
        found = [[draw.inputs[n][:, 0].tolist() for n in range(3)] for draw in draws(b)]
        last = [10.0, 10.0] if choice == "constant" else [0.0, 1.0]
        assert found[0] == [[10.0, 10.0], [10.0, 10.0], last]
        assert found[4] == [[14.0, 14.0], [11.0, 11.0], last]


def test_limits_and_holes() -> None:
    """Elements that reach past the inclusive limit, or lie where nothing is mapped, are zero; the latter is counted."""
    b = Bench(ThreeD)
    nothing_active(b)
    b.map(VA, np.full(0x400, 1.0, np.float32).tobytes())
    stream(b, 0, VA, 16, 16 * 3 + 15)
    attribute(b, 0, "R32_G32_B32_A32", "FLOAT")
    b(BEGIN=0, DRAW_VERTEX_ARRAY=5, END=0)
    (record,) = draws(b)
    assert record.inputs[0][:, 0].tolist() == [1, 1, 1, 0, 0] and record.missed == 0
    stream(b, 0, VA + 0xFF0, 16, 0x1000)
    b(BEGIN=0, DRAW_VERTEX_ARRAY=3, END=0)
    assert draws(b)[1].inputs[0][:, 0].tolist() == [1, 0, 0] and draws(b)[1].missed == 32


def test_wild_indices() -> None:
    """Indices all over 32 bits are looked up where the limit lets them, one by one."""
    b = bench()
    nothing_active(b)
    b.memory.write(VA, np.arange(4, dtype=np.float32).tobytes())
    indices = np.array([0, 0xFFFFFFFF, 3, 0x80000000, 1], "<u4")
    b.memory.write(INDICES, indices.tobytes())
    b.address("SET_INDEX_BUFFER_A", INDICES)
    b.address("SET_INDEX_BUFFER_C", INDICES + 19)
    stream(b, 0, VA, 16, 0x20_0000_0000)
    attribute(b, 0, "R32", "FLOAT")
    b(SET_INDEX_BUFFER_E=2, BEGIN=0, DRAW_INDEX_BUFFER=5, END=0)
    assert draws(b)[0].freeze().inputs[0][:, 0].tolist() == [0, 0, 0, 0, 0]
    assert draws(b)[0].missed == 8


def test_frozen_inputs_outlive_memory() -> None:
    b = bench()
    nothing_active(b)
    b.memory.write(VA, np.float32(7).tobytes())
    stream(b, 0, VA, 4, 4)
    attribute(b, 0, "R32", "FLOAT")
    for _ in range(2):
        b(BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    first, second = draws(b)
    first.freeze()
    b.memory.write(VA, np.float32(8).tobytes())
    assert first.inputs[0][0, 0] == 7 and second.inputs[0][0, 0] == 8


def test_constant_buffers() -> None:
    """A bind takes the selector as it is; unbinding is VALID 0, or all at once."""
    b = bench()
    bind = B197["BIND_GROUP_CONSTANT_BUFFER"]
    b.address("SET_CONSTANT_BUFFER_SELECTOR_B", VA + 0x100)
    b(SET_CONSTANT_BUFFER_SELECTOR_A=0x10000, BIND_GROUP_CONSTANT_BUFFER__0=bind.encode(VALID=1, SHADER_SLOT=0))
    b(BIND_GROUP_CONSTANT_BUFFER__4=bind.encode(VALID=1, SHADER_SLOT=17))
    b.address("SET_CONSTANT_BUFFER_SELECTOR_B", VA + 0x200)
    b(SET_CONSTANT_BUFFER_SELECTOR_A=64, BIND_GROUP_CONSTANT_BUFFER__4=bind.encode(VALID=1, SHADER_SLOT=3))
    b(BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    b(BIND_GROUP_CONSTANT_BUFFER__4=bind.encode(VALID=0, SHADER_SLOT=17))
    b(BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    b(UNBIND_ALL=0x11, BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    b(UNBIND_ALL=0x100, BEGIN=0, DRAW_VERTEX_ARRAY=1, END=0)
    held = [
        {(g, s): buffer for g, group in enumerate(r.constants) for s, buffer in enumerate(group) if buffer}
        for r in draws(b)
    ]
    first = {(0, 0): (VA + 0x100, 0x10000), (4, 17): (VA + 0x100, 0x10000), (4, 3): (VA + 0x200, 64)}
    assert held[0] == first
    assert held[1] == held[2] == {k: v for k, v in first.items() if k != (4, 17)}
    assert held[3] == {}
    assert b.host.stats.constbuf_binds == 4


def test_words_of_bindings() -> None:
    """What kernels read: valid or not, address, size; zeros for what is not bound, and for what no longer is."""
    b = bench()
    b.engine.attach(memoryview(np.zeros(5, np.uint32)), words := np.zeros(BOUND_WORDS, np.uint32))
    bind, at = B197["BIND_GROUP_CONSTANT_BUFFER"], 4 * (4 * CONSTANT_SLOTS + 3)
    b.address("SET_CONSTANT_BUFFER_SELECTOR_B", VA + 0x100)
    for size, valid in ((64, 1), (128, 1), (128, 0)):
        b(SET_CONSTANT_BUFFER_SELECTOR_A=size, BIND_GROUP_CONSTANT_BUFFER__4=bind.encode(VALID=valid, SHADER_SLOT=3))
        found = [1, (VA + 0x100) & 0xFFFFFFFF, VA >> 32, size] if valid else [0] * 4
        assert words[at : at + 4].tolist() == found
        assert not words[:at].any() and not words[at + 4 :].any()
        expected = Binding(VA + 0x100, size) if valid else None
        assert b.engine.constants.bindings[4][3] == expected


def test_shaders() -> None:
    """Stages that are on: address in the program region, registers, group of constants."""
    b = bench()
    b.address("SET_PROGRAM_REGION_A", 0x6_0000_0000)
    b(SET_PIPELINE_SHADER__1=0x11, SET_PIPELINE_PROGRAM__1=0x130, SET_PIPELINE_REGISTER_COUNT__1=8)
    b(SET_PIPELINE_SHADER__5=0x51, SET_PIPELINE_PROGRAM__5=0x530, SET_PIPELINE_BINDING__5=4)
    b(BEGIN=4, DRAW_VERTEX_ARRAY=3, END=0)
    first, second = draws(b)[0].shaders
    assert (first.stage, first.address, first.registers, first.group) == (1, 0x6_0000_0130, 8, 0)
    assert (second.stage, second.address, second.group) == (5, 0x6_0000_0530, 4)
