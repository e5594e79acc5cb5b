"""The vertex side: attributes, indices, immediate mode, outputs of the program, a few of its instructions.

Source: 3dbrew GPU/Internal Registers ("Geometry pipeline registers"), GPU/Shader Instruction Set; GBATEK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

VRAM = 0x18000000
MOV, ADD, MUL, DP4, MAX, MIN, RCP, RSQ, SGE, SLT, MOVA = 0x13, 0x00, 0x08, 0x02, 0x0C, 0x0D, 0x0E, 0x0F, 0x09, 0x0A, 0x12
LOOP, END = 0x29, 0x22 << 26
S8, U8, S16, F32 = range(4)
KINDS = {S8: np.int8, U8: np.uint8, S16: np.int16, F32: np.float32}
# A triangle that covers the whole target, as positions of its three vertices.
BIG = np.array([(-1, -1, -0.5, 1), (3, -1, -0.5, 1), (-1, 3, -0.5, 1)], np.float32)


def word(*nibbles: int) -> int:
    return sum(n << 4 * i for i, n in enumerate(nibbles))


def loaders(gpu: Any, base: int, formats: Sequence[tuple[int, int]], *loaders: tuple[int, Sequence[int], int], fixed: int = 0) -> None:
    """Attribute formats (type, count) and loaders (address, component nibbles, stride)."""
    f = sum((kind | count - 1 << 2) << 4 * i for i, (kind, count) in enumerate(formats))
    gpu.write("ATTRIBBUFFERS_LOC", base >> 3)
    gpu.write(0x201, f & 0xFFFFFFFF, f >> 32 | fixed << 16 | len(formats) - 1 << 28, each=True)
    words = []
    for address, nibbles, stride in loaders:
        n = word(*nibbles)
        words += [address - base, n & 0xFFFFFFFF, n >> 32 | stride << 16 | len(nibbles) << 28]
    gpu.write(0x203, *(words + [0] * 36)[:36], each=True)
    gpu.inputs(len(formats))


def colored(gpu: Any) -> None:
    """Program: position v0, colour |v1 * c0 + c1|."""
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MUL, "r0", "c0", "v1"), gpu.op(ADD, "o1", "c1", "r0")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)


def scale(gpu: Any, factor: float, bias: float = 0.0) -> None:
    gpu.uniform(0, *[factor] * 4)
    gpu.uniform(1, *[bias] * 4)


def shown(gpu: Any) -> list[int]:
    """The colour of the target, which must be one colour all over."""
    gpu.run()
    pixels = gpu.pixels().reshape(-1, 4)
    assert (pixels == pixels[0]).all()
    return pixels[0].tolist()


# -- loading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_attribute_types_load_plain_values_and_missing_components_are_0_0_1(gpu: Any, kind: int, count: int) -> None:
    """Integers are not normalised: value v becomes 255 * (v / 255 + bias)."""
    values = {S8: [-100, 27, -1, 5], U8: [200, 1, 128, 255], S16: [-90, 120, 77, -3], F32: [-90.0, 120.0, 0.0, 7.0]}[kind]
    colored(gpu)
    scale(gpu, 1 / 255, 0.0 if kind == U8 else 100 / 255)
    positions = gpu.place(BIG)
    one = np.array(values[:count], KINDS[kind]).tobytes()
    colors = gpu.place(one * 3)
    loaders(gpu, positions, [(F32, 4), (kind, count)], (positions, [0], 16), (colors, [1], len(one)))
    gpu.launch(3)
    bias = 0 if kind == U8 else 100
    expected = [*values[:count], *[0, 0, 0, 1][count:]]
    assert shown(gpu) == [abs(round(v + bias)) for v in expected]


def test_16_bit_values_are_signed_and_whole(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 65280, 0.5)
    positions = gpu.place(BIG)
    colors = gpu.place(np.array([-32640, 32640 // 2, 0, -32640 // 2] * 3, np.int16))
    loaders(gpu, positions, [(F32, 4), (S16, 4)], (positions, [0], 16), (colors, [1], 8))
    gpu.launch(3)
    assert shown(gpu) == [0, 191, 128, 64]


def test_base_register_holds_the_address_divided_by_eight(gpu: Any) -> None:
    """Its field is in units of 16 bytes from bit 1 on: 0x18000000 is stored as 0x03000000."""
    colored(gpu)
    scale(gpu, 1 / 255)
    gpu.memory.write(VRAM + 0x300000, BIG.tobytes() + bytes((1, 2, 3, 4) * 3))
    loaders(gpu, VRAM, [(F32, 4), (U8, 4)], (VRAM + 0x300000, [0], 16), (VRAM + 0x300030, [1], 4))
    gpu.write("ATTRIBBUFFERS_LOC", 0x03000000)
    gpu.launch(3)
    assert shown(gpu) == [1, 2, 3, 4]


def test_paddings_and_stride_of_a_loader(gpu: Any) -> None:
    """Components of one loader: u8 x3, padding 4 (from a multiple of 4), position, padding 8; stride 60."""
    colored(gpu)
    scale(gpu, 1 / 255)
    record = lambda p: bytes((9, 8, 7)) + b"\xee" * 5 + p.tobytes() + b"\xee" * 36  # noqa: E731
    data = gpu.place(b"".join(record(p) for p in BIG))
    loaders(gpu, data, [(F32, 4), (U8, 3)], (data, [1, 12, 0, 13], 60))
    gpu.launch(3)
    assert shown(gpu) == [9, 8, 7, 1]


@pytest.mark.parametrize(("code", "size"), [(12, 4), (13, 8), (14, 12), (15, 16)])
def test_padding_codes(gpu: Any, code: int, size: int) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(b"".join(p.tobytes() + b"\xee" * size + bytes((50, 60, 70, 80)) for p in BIG))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0, code, 1], 20 + size))
    gpu.launch(3)
    assert shown(gpu) == [50, 60, 70, 80]


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
    loaders(gpu, data, [(F32, 4), (U8, 1), (S16, 2)], (data, [1, 2, 0], 24))
    gpu.launch(3)
    assert shown(gpu) == [31, 30, 0, 2]


def test_twelve_loaders_and_a_component_list_of_twelve(gpu: Any) -> None:
    # Twelve attributes in one loader; then the same one a loader. Colour = v11 + v10.
    gpu.program([
        gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "r1", "v10"), gpu.op(ADD, "r0", "r1", "v11"), gpu.op(MUL, "o1", "c0", "r0"),
    ])  # fmt: skip
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0)
    scale(gpu, 1 / 255)
    formats = [(F32, 4)] + [(U8, 4)] * 11
    rows = [p.tobytes() + b"".join(bytes((i, 2 * i, 3 * i, 4 * i)) for i in range(1, 12)) for p in BIG]
    data = gpu.place(b"".join(rows))
    loaders(gpu, data, formats, (data, range(12), 60))
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [21, 42, 63, 84]
    each = [(data if i == 0 else data + 12 + 4 * i, [i], 60) for i in range(12)]
    gpu.put_color(np.zeros((16, 16), np.uint32))
    loaders(gpu, data, formats, *each)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [21, 42, 63, 84]


def test_loaders_without_components_are_skipped(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (0x21000000, [], 16), (data, [0], 16), (0x22000000, [], 1), (data + 48, [1], 4))
    gpu.launch(3)
    assert shown(gpu) == [5, 6, 7, 8]


def test_later_loader_wins_when_two_name_an_attribute(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3) + bytes((50, 60, 70, 80) * 3))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4), (data + 60, [1], 4))
    gpu.launch(3)
    assert shown(gpu) == [50, 60, 70, 80]


def test_stride_zero_gives_every_vertex_the_same_data(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8)) + b"\xff" * 64)
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 0))
    gpu.launch(3)
    assert shown(gpu) == [5, 6, 7, 8]


def test_permutation_names_the_input_register_of_each_attribute(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v7"), gpu.op(MOV, "o1", "v15")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(np.concatenate([np.tile([0.2, 0.4, 0.6, 0.8], (3, 1)), BIG], axis=1).astype(np.float32))
    loaders(gpu, data, [(F32, 4), (F32, 4)], (data, [0, 1], 32))
    gpu.inputs(2, permutation=0x7F)
    gpu.launch(3)
    assert shown(gpu) == [51, 102, 153, 204]


def test_attribute_counts_are_stored_minus_one(gpu: Any) -> None:
    """With INPUTBUFFER_CONFIG saying one attribute, the second does not reach the program."""
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4))
    gpu.set(VSH_INPUTBUFFER_CONFIG=0xA0000001)
    gpu.launch(3)
    assert shown(gpu) == [5, 6, 7, 8]
    gpu.set(VSH_INPUTBUFFER_CONFIG=0xA0000000, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [0, 0, 0, 0]


@pytest.mark.parametrize("first", [0, 1, 5, 1000])
def test_arrays_begin_at_the_vertex_offset(gpu: Any, first: int) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    data = gpu.place(bytes(20 * first) + b"".join(p.tobytes() + bytes((5, 6, 7, 8)) for p in BIG))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0, 1], 20))
    gpu.launch(3, first)
    assert shown(gpu) == [5, 6, 7, 8]


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
    loaders(gpu, data, [(F32, 4), (F32, 4)], (data, [0], 16), fixed=2)
    # w = 1.0, z = 0.5, y = 0.25, x = 0.125
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, 0x3F00003E, 0x00003D00, 0x003C0000)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [32, 64, 128, 255]


@pytest.mark.parametrize("ids", [(0x233, 0x234, 0x235), (0x235, 0x235, 0x235), (0x234, 0x233, 0x233)])
def test_fixed_attribute_ids_are_one_fifo_and_the_index_moves_on(gpu: Any, ids: tuple[int, int, int]) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "r0", "v1"), gpu.op(ADD, "o1", "r0", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    data = gpu.place(BIG)
    loaders(gpu, data, [(F32, 4), (F32, 4), (F32, 4)], (data, [0], 16), fixed=6)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    for value in ((0.2, 0.0, 0.2, 0.5), (0.2, 0.2, 0.6, 0.5)):
        for number, part in zip(ids, gpu.packed(*value), strict=True):
            gpu.write(number, part)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert np.abs(np.subtract(shown(gpu), [102, 51, 204, 255])).max() <= 1
    assert gpu.peek("FIXEDATTRIB_INDEX") == 3


def test_fixed_attribute_index_drops_words_that_wait(gpu: Any) -> None:
    gpu.write("FIXEDATTRIB_INDEX", 2)
    gpu.write(0x233, 1, 2)
    gpu.write("FIXEDATTRIB_INDEX", 2)
    gpu.write(0x233, *gpu.packed(1, 0, 0, 1))
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    data = gpu.place(BIG)
    loaders(gpu, data, [(F32, 4)] * 3, (data, [0], 16), fixed=4)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [255, 0, 0, 255]


def test_attribute_both_fixed_and_loaded_is_loaded(gpu: Any) -> None:
    colored(gpu)
    scale(gpu, 1 / 255)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, *gpu.packed(255, 0, 255, 0))
    data = gpu.place(BIG.tobytes() + bytes((5, 6, 7, 8) * 3))
    loaders(gpu, data, [(F32, 4), (U8, 4)], (data, [0], 16), (data + 48, [1], 4), fixed=2)
    gpu.launch(3)
    assert shown(gpu) == [5, 6, 7, 8]


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
    assert shown(gpu) == [255, 0, 128, 255]


def test_immediate_vertices_in_one_entry(gpu: Any) -> None:
    plain(gpu)
    gpu.set(FIXEDATTRIB_INDEX=15)
    words = [w for p in BIG.tolist() for a in (p, (0, 1, 0, 1)) for w in gpu.packed(*a)]
    gpu.write(0x233, *words)
    assert shown(gpu) == [0, 255, 0, 255]


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
    assert shown(gpu) == [0, 0, 255, 255]


def test_immediate_vertex_has_as_many_attributes_as_register_242_says(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v2")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)
    gpu.inputs(3)
    immediate(gpu, [(p, (0, 0, 0, 0), (0, 1, 1, 1)) for p in BIG.tolist()])
    assert shown(gpu) == [0, 255, 255, 255]


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


# -- outputs ----------------------------------------------------------------------------------------------------------


def test_enabled_output_registers_are_numbered_without_gaps(gpu: Any) -> None:
    """Registers o0 and o2 enabled: attribute 1 of the rasteriser is o2."""
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "c0"), gpu.op(MOV, "o2", "c1"), gpu.op(MOV, "o3", "c0")])
    gpu.uniform(0, 1, 1, 1, 1)
    gpu.uniform(1, 0, 0.2, 0.4, 0.6)
    gpu.outputs(0x03020100, 0x0B0A0908, enabled=0b0101)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(BIG)
    loaders(gpu, data, [(F32, 4)], (data, [0], 16))
    gpu.launch(3)
    assert shown(gpu) == [0, 51, 102, 153]


def test_output_total_counts_from_one(gpu: Any) -> None:
    """SH_OUTMAP_TOTAL of 1 is one output: the colour, second, is not mapped and so white."""
    gpu.draw(BIG, color=(0, 0, 0, 0))
    gpu.write("SH_OUTMAP_TOTAL", 1)
    gpu.launch(3)
    assert shown(gpu) == [255] * 4


def test_highest_output_registers_can_be_used(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o15", "v0"), gpu.op(MOV, "o9", "c0")])
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.outputs(0x0B0A0908, 0x03020100, enabled=1 << 15 | 1 << 9)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(BIG)
    loaders(gpu, data, [(F32, 4)], (data, [0], 16))
    gpu.launch(3)
    assert shown(gpu) == [51, 102, 153, 204]


def test_components_map_one_by_one_and_31_is_nothing(gpu: Any) -> None:
    gpu.draw(BIG, color=(0.2, 0.4, 0.6, 0.8))
    gpu.outputs(0x03020100, 0x1F08091F)  # x and w dropped; y is green, z is red
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [153, 102, 255, 255]


def test_later_map_of_a_semantic_wins(gpu: Any) -> None:
    gpu.draw(BIG, color=(0.2, 0.4, 0.6, 0.8), uv0=(1, 0, 1, 0))
    gpu.outputs(0x03020100, 0x0B0A0908, 0x0B0A0908)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [255, 0, 255, 0]


def test_unmapped_colour_is_one_and_passes_the_alpha_test(gpu: Any) -> None:
    gpu.draw(BIG, color=(0, 0, 0, 0))
    gpu.outputs(0x03020100)
    gpu.set(FRAGOP_ALPHA_TEST=0x1 | 7 << 4 | 255 << 8, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    gpu.put_color(np.full((16, 16), 0x12345678, np.uint32))
    assert shown(gpu) == [255] * 4


def test_colours_become_positive_and_at_most_one_before_interpolation(gpu: Any) -> None:
    # Left vertices -0.5, right ones +0.5: the same everywhere. Left 3 (cut to 1), right 1: also.
    gpu.quad(color=[(-0.5, 3, -3, 1), (0.5, 1, 1, -1), (-0.5, 3, -3, 1), (0.5, 1, 1, -1)])
    pixels = shown(gpu)
    assert pixels[0] in (127, 128)
    assert pixels[1:] == [255, 255, 255]


# -- the program ------------------------------------------------------------------------------------------------------


def result(gpu: Any, code: Sequence[int], descriptors: Sequence[int] | None = None) -> list[int]:
    """The colour that a program (from v0: position) leaves in o1."""
    gpu.draw(BIG)
    gpu.list = gpu.list[: max(i for i, w in enumerate(gpu.list) if w == 0x000F025E) - 1]
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.program([gpu.op(MOV, "o0", "v0"), *code], descriptors)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    return shown(gpu)


@pytest.mark.parametrize(("x", "y", "z", "rounds", "after"), [(0, 5, 1, 1, 6), (3, 0, 2, 4, 8), (7, 10, 0, 8, 10)])
def test_loop_runs_one_round_more_and_counts_after_the_last_too(
    gpu: Any, x: int, y: int, z: int, rounds: int, after: int
) -> None:
    """LOOP i0 = (x, y, z): x + 1 rounds, aL starts at y and grows by z after each."""
    for number in range(96):
        gpu.uniform(number, *[number / 255] * 4)
    gpu.uniform(95, *[10 / 255] * 4)
    gpu.set(VSH_INTUNIFORM_I0=x | y << 8 | z << 16)
    code = [
        gpu.op(MOV, "r0", "c0"),
        gpu.flow(LOOP, to=3, extra=0),  # after the two MOVs: the body is instruction 3
        gpu.op(ADD, "r0", "c95", "r0"),
        gpu.op(MOV, "r1", "c0", index=3),
        gpu.op(MOV, "o1", "r0", desc=1),
        gpu.op(MOV, "o1", "r1", desc=2),
    ]
    colors = result(gpu, code, [gpu.descriptor(), gpu.descriptor("xy"), gpu.descriptor("zw")])
    assert colors == [10 * rounds, 10 * rounds, after, after]


def test_address_registers_index_uniforms(gpu: Any) -> None:
    for number in range(96):
        gpu.uniform(number, *[number / 255] * 4)
    gpu.uniform(1, 7.9, -3.9, 200, -200)
    code = [
        gpu.op(MOVA, "r0", "c1"), gpu.op(MOV, "o1", "c20", desc=1, index=1), gpu.op(MOV, "o1", "c20", desc=2, index=2),
        gpu.op(MOV, "r1", "c1", desc=3), gpu.op(MOVA, "r0", "r1"), gpu.op(MOV, "o1", "c20", desc=4, index=1),
        gpu.op(MOV, "o1", "c94", desc=5, index=2),
    ]  # fmt: skip
    d = gpu.descriptor
    # a0 = (7, -3), cut toward zero; then (200, 90): 200 is out of range and counts as 0, 94 + 90 wraps to 56
    gpu.uniform(1, 7.9, -3.9, 200, 90)
    colors = result(gpu, code, [d(), d("x"), d("y"), d("xyzw", "zwzw"), d("z"), d("w")])
    assert colors == [27, 17, 20, (94 + 90) % 128]


def test_uniform_index_past_the_last_is_one(gpu: Any) -> None:
    gpu.uniform(0, 0, 0, 0, 0)
    gpu.uniform(1, 20, 0, 0, 0)
    assert result(gpu, [gpu.op(MOVA, "r0", "c1"), gpu.op(MOV, "o1", "c90", index=1)]) == [255] * 4


INF, NAN = float("inf"), float("nan")


def test_zero_times_infinity_is_zero_but_nan_stays(gpu: Any) -> None:
    gpu.uniform(0, 0.0, INF, 0.0, NAN)
    gpu.uniform(1, INF, 0.0, NAN, 0.0)
    gpu.uniform(2, 0.2, 0.2, 0.2, 0.2)
    # r0 = c0 * c1 = (0, 0, NaN, NaN); r0 == r0 as SGE(r0, r0): 1, 1, 0, 0; colour = that * 0.8 ... + |0.2|
    code = [
        gpu.op(MOV, "r1", "c1"), gpu.op(MUL, "r0", "c0", "r1"), gpu.op(SGE, "r2", "r0", "r0"),
        gpu.op(MUL, "o1", "c2", "r2"),
    ]  # fmt: skip
    assert result(gpu, code) == [51, 51, 0, 0]


def test_infinity_minus_infinity_is_nan(gpu: Any) -> None:
    gpu.uniform(0, INF, INF, 1, -INF)
    code = [
        gpu.op(MOV, "r1", "c0"), gpu.op(ADD, "r0", "c0", "r1", desc=1), gpu.op(SGE, "o1", "r0", "r0"),
    ]  # fmt: skip
    assert result(gpu, code, [gpu.descriptor(), gpu.descriptor(negative="t")]) == [0, 0, 255, 0]


def test_maximum_and_minimum_take_the_second_operand_when_one_is_nan(gpu: Any) -> None:
    """MAX is s > t ? s : t, so max(0, NaN) is NaN and max(NaN, 0) is 0; MIN likewise."""
    gpu.uniform(0, 0.2, NAN, 0.6, 0.4)
    gpu.uniform(1, NAN, 0.2, 0.4, 0.6)
    gpu.uniform(2, 1, 1, 1, 1)
    gpu.uniform(3, 0, 0, 0, 0)
    for code, expected in ((MAX, [255, 51, 153, 153]), (MIN, [255, 51, 102, 102])):
        program = [
            gpu.op(MOV, "r1", "c1"), gpu.op(MOV, "r9", "c3"), gpu.op(code, "r0", "c0", "r1"),
            # NaN is shown as 1: (r0, or 0 for NaN) + (1 - (r0 >= r0))
            gpu.op(SGE, "r2", "r0", "r0"), gpu.op(MAX, "r3", "r0", "r9"), gpu.op(ADD, "r6", "c2", "r2", desc=1),
            gpu.op(ADD, "o1", "r3", "r6"),
        ]  # fmt: skip
        assert result(gpu, program, [gpu.descriptor(), gpu.descriptor(negative="t")]) == expected


@pytest.mark.parametrize(
    ("code", "inputs", "expected"),
    [
        (RCP, [4.0, 0.0, -0.0, INF], [0.25, INF, INF, 0.0]), (RCP, [-INF, -2.0, NAN, 1.0], [0.0, -0.5, NAN, 1.0]),
        (RSQ, [4.0, 0.0, -1.0, INF], [0.5, INF, NAN, 0.0]), (RSQ, [-INF, 0.25, NAN, 1.0], [NAN, 2.0, NAN, 1.0]),
    ],
)  # fmt: skip
def test_reciprocals_of_special_values(gpu: Any, code: int, inputs: list[float], expected: list[float]) -> None:
    """Seen by comparing with the expected value: 0.2 where equal (or both NaN), 0 elsewhere."""
    d = gpu.descriptor
    swizzles = [d("xyzw"[i], "xyzw"[i] * 4) for i in range(4)]
    gpu.uniform(0, *inputs)
    gpu.uniform(1, *[0.0 if e != e else e for e in expected])
    gpu.uniform(2, *[1.0 if e != e else 0.0 for e in expected])
    gpu.uniform(3, *[0.2] * 4)
    gpu.uniform(4, *[1.0] * 4)
    program = [
        *(gpu.op(code, "r0", "c0", desc=1 + i) for i in range(4)),
        gpu.op(SGE, "r1", "c1", "r0"), gpu.op(MOV, "r4", "c1"),
        gpu.op(SGE, "r3", "r0", "r4"), gpu.op(MUL, "r1", "r1", "r3"),  # equal
        gpu.op(SGE, "r5", "r0", "r0"), gpu.op(ADD, "r5", "c4", "r5", desc=5),  # is NaN
        gpu.op(MUL, "r5", "c2", "r5"), gpu.op(MAX, "r1", "r1", "r5"), gpu.op(MUL, "o1", "c3", "r1"),
    ]  # fmt: skip
    assert result(gpu, program, [d(), *swizzles, d(negative="t")]) == [51] * 4


def test_swizzle_negation_and_mask(gpu: Any) -> None:
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.uniform(1, 1, 1, 1, 1)
    code = [
        gpu.op(MOV, "o1", "c0", desc=1), gpu.op(MOV, "r0", "c0", desc=2), gpu.op(ADD, "o1", "c1", "r0", desc=3),
    ]  # fmt: skip
    d = gpu.descriptor
    # o1.xz = c0.wx; o1.yw = 1 - c0.zy
    assert result(gpu, code, [d(), d("xz", "wzxy"), d("xyzw", "zzyy"), d("yw", t="xyzw", negative="t")]) == [
        204, 102, 51, 153,
    ]  # fmt: skip


def test_entry_point_counts_instructions(gpu: Any) -> None:
    gpu.draw(BIG)
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.program([END, END, END, gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "c0")], entry_point=3)
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert shown(gpu) == [51, 102, 153, 204]
