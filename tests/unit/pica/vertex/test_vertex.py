"""How vertices reach the program: attribute loaders, indices, fixed attributes and immediate mode.

Source: 3dbrew GPU/Internal Registers ("Geometry pipeline registers"); GBATEK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

VRAM = 0x18000000
MOV, ADD, MUL = 0x13, 0x00, 0x08
S8, U8, S16, F32 = range(4)
KINDS = {S8: np.int8, U8: np.uint8, S16: np.int16, F32: np.float32}
# A triangle that covers the whole target, as positions of its three vertices.
BIG = np.array([(-1, -1, -0.5, 1), (3, -1, -0.5, 1), (-1, 3, -0.5, 1)], np.float32)


def colored(gpu: Any) -> None:
    """Program: position v0, colour |v1 * c0 + c1|."""
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MUL, "r0", "c0", "v1"), gpu.op(ADD, "o1", "c1", "r0")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)


def scale(gpu: Any, factor: float, bias: float = 0.0) -> None:
    gpu.uniform(0, *[factor] * 4)
    gpu.uniform(1, *[bias] * 4)


# -- loading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_attribute_types_load_plain_values_and_missing_components_are_0_0_1(gpu: Any, kind: int, count: int) -> None:
    """Integers are not normalised: value v becomes 255 * (v / 255 + bias)."""
    values = {S8: [-100, 27, -1, 5], U8: [200, 1, 128, 255], S16: [-90, 120, 77, -3], F32: [-90.0, 120.0, 0.0, 7.0]}[
        kind
    ]
    colored(gpu)
    scale(gpu, 1 / 255, 0.0 if kind == U8 else 100 / 255)
    positions = gpu.place(BIG)
    one = np.array(values[:count], KINDS[kind]).tobytes()
    colors = gpu.place(one * 3)
    gpu.loaders(positions, [(F32, 4), (kind, count)], (positions, [0], 16), (colors, [1], len(one)))
    gpu.launch(3)
    bias = 0 if kind == U8 else 100
    expected = [*values[:count], *[0, 0, 0, 1][count:]]
    assert gpu.one_color() == [abs(round(v + bias)) for v in expected]


def test_16_bit_values_are_signed_and_whole(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 65280, 0.5)
    positions = gpu.place(BIG)
    colors = gpu.place(np.array([-32640, 32640 // 2, 0, -32640 // 2] * 3, np.int16))
    gpu.loaders(positions, [(F32, 4), (S16, 4)], (positions, [0], 16), (colors, [1], 8))
    gpu.launch(3)
    assert gpu.one_color() == [0, 191, 128, 64]


def test_base_register_holds_the_address_divided_by_eight(gpu: Any) -> None:
    """Its field is in units of 16 bytes from bit 1 on: 0x18000000 is stored as 0x03000000."""
    colored(gpu)
    scale(gpu, 1 / 255)
    gpu.memory.write(VRAM + 0x300000, BIG.tobytes() + bytes((1, 2, 3, 4) * 3))
    gpu.loaders(VRAM, [(F32, 4), (U8, 4)], (VRAM + 0x300000, [0], 16), (VRAM + 0x300030, [1], 4))
    gpu.write("ATTRIBBUFFERS_LOC", 0x03000000)
    gpu.launch(3)
    assert gpu.one_color() == [1, 2, 3, 4]


def test_paddings_and_stride_of_a_loader(gpu: Any) -> None:
    """Components of one loader: u8 x3, padding 4 (from a multiple of 4), position, padding 8; stride 60."""
    colored(gpu)
    scale(gpu, 1 / 255)
    record = lambda p: bytes((9, 8, 7)) + b"\xee" * 5 + p.tobytes() + b"\xee" * 36  # noqa: E731
    data = gpu.place(b"".join(record(p) for p in BIG))
    gpu.loaders(data, [(F32, 4), (U8, 3)], (data, [1, 12, 0, 13], 60))
    gpu.launch(3)
    assert gpu.one_color() == [9, 8, 7, 1]


@pytest.mark.parametrize(("code", "size"), [(12, 4), (13, 8), (14, 12), (15, 16)])
def test_padding_codes(gpu: Any, code: int, size: int) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(b"".join(p.tobytes() + b"\xee" * size + bytes((50, 60, 70, 80)) for p in BIG))
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0, code, 1], 20 + size))
    gpu.launch(3)
    assert gpu.one_color() == [50, 60, 70, 80]


@pytest.mark.parametrize(("code", "size"), [(12, 4), (13, 8), (14, 12), (15, 16)])
@pytest.mark.parametrize("before", [1, 2, 3, 4])
def test_padding_begins_at_a_multiple_of_4(make_gpu: Callable[..., Any], before: int, code: int, size: int) -> None:
    """The bytes after the padding need no alignment, so only the padding's own start moves them.

    Attribute 1 has `before` bytes; attribute 2, after the padding, has 3. With the choice "address" the padding begins
    where attribute 1 ends.
    """
    for alignment, start in (("element", 20), ("padding", 20), ("address", 16 + before)):
        gpu = make_gpu(vertex__alignment=alignment)
        gpu.program([
            gpu.op(MOV, "o0", "v0"), gpu.op(MUL, "r0", "c0", "v1"), gpu.op(MUL, "r1", "c0", "v2"),
            gpu.op(ADD, "o1", "r0", "r1"),
        ])  # fmt: skip
        gpu.outputs(0x03020100, 0x0B0A0908)
        gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
        scale(gpu, 1 / 255)
        records = b""
        for p in BIG:
            record = bytearray(p.tobytes() + bytes(range(10, 10 + before)) + b"\xee" * (32 - before))
            record[start + size : start + size + 3] = bytes((50, 60, 70))
            records += bytes(record)
        data = gpu.place(records)
        gpu.loaders(data, [(F32, 4), (U8, before), (U8, 3)], (data, [0, 1, code, 2], 48))
        gpu.launch(3)
        first = [*range(10, 10 + before), *[0, 0, 0, 1][before:]]
        assert gpu.one_color() == [a + b for a, b in zip(first, (50, 60, 70, 1), strict=True)], alignment


def test_attributes_are_aligned_to_their_elements(gpu: Any) -> None:
    """u8 x1, then s16 x2 (from 2), then f32 x4 (from 8)."""
    gpu.program([
        gpu.op(MOV, "o0", "v0"), gpu.op(MUL, "r0", "c0", "v1"), gpu.op(MUL, "r1", "c0", "v2"),
        gpu.op(ADD, "o1", "r0", "r1"),
    ])  # fmt: skip
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    scale(gpu, 1 / 255)
    pack = lambda p: bytes((11, 0xEE)) + np.array([20, 30], np.int16).tobytes() + b"\xee\xee" + p.tobytes()  # noqa: E731
    data = gpu.place(b"".join(pack(p) for p in BIG))
    gpu.loaders(data, [(F32, 4), (U8, 1), (S16, 2)], (data, [1, 2, 0], 24))
    gpu.launch(3)
    assert gpu.one_color() == [31, 30, 0, 2]


def test_twelve_loaders_and_a_component_list_of_twelve(gpu: Any) -> None:
    # Twelve attributes in one loader; then the same one a loader. Colour = v11 + v10.
    gpu.program([
        gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "r1", "v10"), gpu.op(ADD, "r0", "r1", "v11"), gpu.op(MUL, "o1", "c0",
        "r0"),
    ])  # fmt: skip
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0)
    scale(gpu, 1 / 255)
    formats = [(F32, 4)] + [(U8, 4)] * 11
    rows = [p.tobytes() + b"".join(bytes((i, 2 * i, 3 * i, 4 * i)) for i in range(1, 12)) for p in BIG]
    data = gpu.place(b"".join(rows))
    gpu.loaders(data, formats, (data, range(12), 60))
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [21, 42, 63, 84]
    each = [(data if i == 0 else data + 12 + 4 * i, [i], 60) for i in range(12)]
    gpu.put_color(np.zeros((16, 16), np.uint32))
    gpu.loaders(data, formats, *each)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [21, 42, 63, 84]


def test_loaders_without_components_are_skipped(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    gpu.loaders(
        data, [(F32, 4), (U8, 4)], (0x21000000, [], 16), (data, [0], 16), (0x22000000, [], 1), (data + 48, [1], 4)
    )
    gpu.launch(3)
    assert gpu.one_color() == [5, 6, 7, 8]


def test_later_loader_wins_when_two_name_an_attribute(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3) + bytes((50, 60, 70, 80) * 3))
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4), (data + 60, [1], 4))
    gpu.launch(3)
    assert gpu.one_color() == [50, 60, 70, 80]


def test_stride_zero_gives_every_vertex_the_same_data(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8)) + b"\xff" * 64)
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 0))
    gpu.launch(3)
    assert gpu.one_color() == [5, 6, 7, 8]


def test_permutation_names_the_input_register_of_each_attribute(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v7"), gpu.op(MOV, "o1", "v15")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(np.concatenate([np.tile([0.2, 0.4, 0.6, 0.8], (3, 1)), BIG], axis=1).astype(np.float32))
    gpu.loaders(data, [(F32, 4), (F32, 4)], (data, [0, 1], 32))
    gpu.inputs(2, permutation=0x7F)
    gpu.launch(3)
    assert gpu.one_color() == [51, 102, 153, 204]


def test_attribute_counts_are_stored_minus_one(gpu: Any) -> None:
    """With INPUTBUFFER_CONFIG saying one attribute, the second does not reach the program."""
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4))
    gpu.set(VSH_INPUTBUFFER_CONFIG=0xA0000001)
    gpu.launch(3)
    assert gpu.one_color() == [5, 6, 7, 8]
    gpu.set(VSH_INPUTBUFFER_CONFIG=0xA0000000, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [0, 0, 0, 0]


@pytest.mark.parametrize("first", [0, 1, 5, 1000])
def test_arrays_begin_at_the_vertex_offset(gpu: Any, first: int) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(bytes(20 * first) + b"".join(p.tobytes() + bytes((5, 6, 7, 8)) for p in BIG))
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0, 1], 20))
    gpu.launch(3, first)
    assert gpu.one_color() == [5, 6, 7, 8]


# -- indices ----------------------------------------------------------------------------------------------------------


def grid(gpu: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` vertices at random places with random colours."""
    random = np.random.default_rng(count)
    position = np.concatenate([random.uniform(-1, 1, (count, 2)), np.tile([-0.5, 1], (count, 1))], axis=1)
    return position, random.uniform(0, 1, (count, 4))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("spread", [10, 60, 250])
def test_indexed_draws_equal_the_same_vertices_in_order(
    make_gpu: Callable[..., Any], wide: bool, mode: int, spread: int
) -> None:
    """Indices that lie close together and far apart, with repeats, in both sizes."""
    count = 50000 if wide and spread == 250 else 256
    indices = np.random.default_rng(spread).integers(0, count if spread == 250 else spread, 60)
    direct, indexed = make_gpu(32, 32), make_gpu(32, 32)
    position, color = grid(direct, count)
    direct.draw(position[indices], color[indices], mode=mode)
    indexed.draw(position, color, mode=mode, indices=indices, wide=wide)
    direct.run()
    indexed.run()
    assert direct.covered().any()
    assert (direct.color_words() == indexed.color_words()).all()


def test_indices_do_not_count_from_the_vertex_offset(gpu: Any) -> None:
    position = np.concatenate([BIG, np.zeros((20, 4), np.float32)])
    gpu.set(VERTEX_OFFSET=5)
    gpu.draw(position, indices=[0, 1, 2])
    gpu.run()
    assert gpu.covered().all()


@pytest.mark.parametrize(("wide", "last"), [(False, 0xFF), (True, 0xFFFF)])
def test_no_index_restarts_a_strip(gpu: Any, wide: bool, last: int) -> None:
    """The highest index is a vertex like others: here it closes the second triangle."""
    position = np.zeros((last + 1, 4), np.float32)
    position[:3] = [(-1, -1, -0.5, 1), (1, -1, -0.5, 1), (-1, 1, -0.5, 1)]
    position[last] = (1, 1, -0.5, 1)
    gpu.draw(position, mode=1, indices=[0, 1, 2, last], wide=wide)
    gpu.run()
    assert gpu.covered().all()


def test_index_size_is_chosen_by_bit_31(gpu: Any) -> None:
    position = np.concatenate([BIG, np.zeros((300, 4), np.float32)])
    gpu.draw(position, indices=[0, 0, 1, 0, 2, 0], wide=False)  # as 16 bits: 0, 1, 2
    gpu.run()
    assert not gpu.covered().any()
    gpu.draw(position, indices=[0, 0, 1, 0, 2, 0], wide=False)
    at = max(i for i, w in enumerate(gpu.list) if w == 0x000F0227) - 1
    gpu.list[at] |= 0x80000000
    gpu.run()
    assert gpu.covered().all()


# -- fixed and immediate attributes -----------------------------------------------------------------------------------


def test_fixed_attribute_words_begin_with_w(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v1")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    data = gpu.place(BIG)
    gpu.loaders(data, [(F32, 4), (F32, 4)], (data, [0], 16), fixed=2)
    # w = 1.0, z = 0.5, y = 0.25, x = 0.125
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, 0x3F00003E, 0x00003D00, 0x003C0000)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [32, 64, 128, 255]


@pytest.mark.parametrize("ids", [(0x233, 0x234, 0x235), (0x235, 0x235, 0x235), (0x234, 0x233, 0x233)])
def test_fixed_attribute_ids_are_one_fifo_and_the_index_moves_on(gpu: Any, ids: tuple[int, int, int]) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "r0", "v1"), gpu.op(ADD, "o1", "r0", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    data = gpu.place(BIG)
    gpu.loaders(data, [(F32, 4), (F32, 4), (F32, 4)], (data, [0], 16), fixed=6)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    for value in ((0.2, 0.0, 0.2, 0.5), (0.2, 0.2, 0.6, 0.5)):
        for number, part in zip(ids, gpu.packed(*value), strict=True):
            gpu.write(number, part)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert np.abs(np.subtract(gpu.one_color(), [102, 51, 204, 255])).max() <= 1
    assert gpu.peek("FIXEDATTRIB_INDEX") == 3


def test_fixed_attribute_index_drops_words_that_wait(gpu: Any) -> None:
    gpu.write("FIXEDATTRIB_INDEX", 2)
    gpu.write(0x233, 1, 2)
    gpu.write("FIXEDATTRIB_INDEX", 2)
    gpu.write(0x233, *gpu.packed(1, 0, 0, 1))
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    data = gpu.place(BIG)
    gpu.loaders(data, [(F32, 4)] * 3, (data, [0], 16), fixed=4)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [255, 0, 0, 255]


def test_attribute_both_fixed_and_loaded_is_loaded(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, *gpu.packed(255, 0, 255, 0))
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    gpu.loaders(data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4), fixed=2)
    gpu.launch(3)
    assert gpu.one_color() == [5, 6, 7, 8]


def immediate(gpu: Any, vertices: Sequence[Sequence[Sequence[float]]], ids: Sequence[int] = (0x233,)) -> None:
    """Vertices of attributes through FIXEDATTRIB_INDEX 15, as drivers do it."""
    gpu.set(GEOSTAGE_CONFIG2=1, START_DRAW_FUNC0=0, FIXEDATTRIB_INDEX=15)
    words = [w for vertex in vertices for attribute in vertex for w in gpu.packed(*attribute)]
    for i, w in enumerate(words):
        gpu.write(ids[i % len(ids)], w)
    gpu.set(START_DRAW_FUNC0=1, GEOSTAGE_CONFIG2=0)


def plain(gpu: Any, attributes: int = 2, mode: int = 0) -> None:
    gpu.program([gpu.op(MOV, f"o{i}", f"v{i}") for i in range(2)])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1 | mode << 8, RESTART_PRIMITIVE=1)
    gpu.inputs(attributes)


@pytest.mark.parametrize("ids", [(0x233,), (0x233, 0x234, 0x235), (0x235, 0x234)])
def test_immediate_vertices_draw(gpu: Any, ids: tuple[int, ...]) -> None:
    plain(gpu)
    immediate(gpu, [(p, (1, 0, 0.5, 1)) for p in BIG.tolist()], ids)
    assert gpu.one_color() == [255, 0, 128, 255]


def test_immediate_vertices_in_one_entry(gpu: Any) -> None:
    plain(gpu)
    gpu.set(FIXEDATTRIB_INDEX=15)
    words = [w for p in BIG.tolist() for a in (p, (0, 1, 0, 1)) for w in gpu.packed(*a)]
    gpu.write(0x233, *words)
    assert gpu.one_color() == [0, 255, 0, 255]


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_immediate_primitives_equal_arrays(make_gpu: Callable[..., Any], mode: int) -> None:
    """In every primitive mode, culling on: a strip turns every second triangle round here too."""
    positions = np.round(np.random.default_rng(mode).uniform(-1, 1, (30, 2)) * 64) / 64
    position = np.concatenate([positions, np.tile([-0.5, 1], (30, 1))], axis=1)
    color = np.random.default_rng(9).integers(0, 65, (30, 4)) / 64
    arrays, now = make_gpu(), make_gpu()
    for gpu in (arrays, now):
        gpu.set(FACECULLING_CONFIG=2)
    arrays.draw(position, color, mode=mode)
    plain(now, mode=mode)
    immediate(now, list(zip(position.tolist(), color.tolist(), strict=True)))
    arrays.run()
    now.run()
    assert arrays.covered().any()
    assert (arrays.color_words() == now.color_words()).all()


def test_immediate_attributes_go_through_the_permutation(gpu: Any) -> None:
    plain(gpu)
    gpu.inputs(2, permutation=0x01)
    immediate(gpu, [((0, 0, 1, 1), p) for p in BIG.tolist()])
    assert gpu.one_color() == [0, 0, 255, 255]


def test_immediate_vertex_has_as_many_attributes_as_register_242_says(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)
    gpu.inputs(3)
    immediate(gpu, [(p, (0, 0, 0, 0), (0, 1, 1, 1)) for p in BIG.tolist()])
    assert gpu.one_color() == [0, 255, 255, 255]


def test_state_may_change_between_immediate_primitives(gpu: Any) -> None:
    plain(gpu)
    left = [(-1, -1, -0.5, 1), (0, -1, -0.5, 1), (-1, 1, -0.5, 1), (0, -1, -0.5, 1), (0, 1, -0.5, 1), (-1, 1, -0.5, 1)]
    right = [(x + 1, y, z, w) for x, y, z, w in left]
    immediate(gpu, [(p, (1, 0, 0, 1)) for p in left])
    gpu.set(DEPTH_COLOR_MASK=0x200)
    immediate(gpu, [(p, (1, 1, 1, 1)) for p in right])
    gpu.run()
    assert (gpu.color_words()[:, :8] == 0xFF0000FF).all()
    assert (gpu.color_words()[:, 8:] == 0x00FF0000).all()


def test_unfinished_immediate_vertex_draws_nothing(gpu: Any) -> None:
    plain(gpu)
    immediate(gpu, [(p, (1, 1, 1, 1)) for p in BIG.tolist()[:2]] + [(BIG[2].tolist(),)])
    gpu.run()
    assert not gpu.covered().any()


def test_many_immediate_vertices(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(64, 64)
    plain(gpu)
    gpu.set(FIXEDATTRIB_INDEX=15)
    for x, y in [(x, y) for y in range(8) for x in range(8)]:
        corner = [((x + i * 1.0) / 4 - 1, (y + j * 1.0) / 4 - 1) for i, j in ((0, 0), (1, 0), (0, 1))]
        words = [w for p in corner for a in ((*p, -0.5, 1), (1, 1, 1, 1)) for w in gpu.packed(*a)]
        gpu.write(0x233, *words)
    gpu.run()
    # Each cell of 8x8 pixels is covered below its diagonal: 36 pixels less those whose centre is on it.
    counts = gpu.covered().reshape(8, 8, 8, 8).sum(axis=(1, 3))
    assert len(set(counts.ravel().tolist())) == 1
    assert 24 <= counts[0, 0] <= 36
