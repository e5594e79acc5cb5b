"""Vertex arrays, permutation and fixed attributes: 0200, 02BB and 0232 (GPU/Commands of 2013, "CmdID 0x826F0200").

The 39 words are put together by the formulas of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from .commands import FCRAM, VRAM, Gpu, command, core, decoded, drawn, f24

S8, U8, S16, F32 = range(4)
BIG = [(-1, -1, -0.5), (3, -1, -0.5), (-1, 3, -0.5)]
POSITIONS, OTHERS = FCRAM + 0x200000, FCRAM + 0x210000
IDENTITY = (0x76543210, 0xFEDCBA98)


@dataclass(frozen=True)
class Entry:
    """An array: where it is, its type, elements and bytes of a vertex, and which attribute it is."""

    address: int
    kind: int
    elements: int
    stride: int
    index: int


POSITION = Entry(POSITIONS, F32, 3, 0xC, 0)


def arrays(gpu: Gpu, entries: Sequence[Entry], base: int = VRAM, total: int | None = None) -> list[int]:
    """The parameter structure of 826F0200 for `total` attributes, of which the entries are arrays; sends it."""
    total = total or len(entries)
    formats = 0
    for entry in entries:
        formats |= (entry.kind | entry.elements - 1 << 2) << (entry.index * 4)
    words = [
        base >> 3,
        formats & 0xFFFFFFFF,
        (0xF0000000 + (total << 28) & 0xFFFFFFFF) | ((0xFF << len(entries)) & 0xFF) << 16 | formats >> 32,
    ]
    for entry in entries:
        words += [entry.address - base, entry.index, 0x10000000 | entry.stride << 16]
    words += [0] * (39 - len(words))  # an unused entry is all zero
    command(gpu, 0x826F0200, *words)
    gpu.set(VSH_INPUTBUFFER_CONFIG=0xA0000000 | total - 1, VSH_NUM_ATTR=total - 1)
    return words


def permutation(gpu: Gpu, low: int = IDENTITY[0], high: int = IDENTITY[1]) -> None:
    command(gpu, 0x801F02BB, low, high)


def fixed(gpu: Gpu, index: int, x: float, y: float, z: float, w: float) -> None:
    """A fixed attribute: four 24-bit floats in three words, w first."""
    whole = f24(w) << 72 | f24(z) << 48 | f24(y) << 24 | f24(x)
    command(gpu, 0x803F0232, index, whole >> 64, whole >> 32 & 0xFFFFFFFF, whole & 0xFFFFFFFF)


def program(gpu: Gpu, source: int = 1, factor: float = 1.0, bias: float = 0.0) -> None:
    """Position v0, colour |v[source] * factor + bias|."""
    mov, mul, add = 0x13, 0x08, 0x00
    gpu.uniform(0, *[factor] * 4)
    gpu.uniform(1, *[bias] * 4)
    steps = [gpu.op(mov, "o0", "v0"), gpu.op(mul, "r0", "c0", f"v{source}"), gpu.op(add, "o1", "c1", "r0")]
    gpu.program(steps)
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)


def put(gpu: Gpu, address: int, values: Sequence[Sequence[float]], kind: type) -> None:
    gpu.memory.write(address, np.array(values, kind).tobytes())


@pytest.fixture
def ready(gpu: Gpu) -> Gpu:
    """A big triangle at POSITIONS, permutation and program in place."""
    put(gpu, POSITIONS, BIG, np.float32)
    permutation(gpu)
    program(gpu)
    return gpu


def color(gpu: Gpu) -> list[int]:
    """Draw three vertices; the colour of the target, the same all over."""
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    return gpu.one_color()


# -- the whole set ----------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.id.0x826F0200", "cmd.id.0x801F02BB", "cmd.id.0x803F0232")
@pytest.mark.row("cmd.set.826f0200.0", "cmd.set.826f0200.1", "cmd.set.826f0200.2")
def test_the_set_of_commands(ready: Gpu) -> None:
    """Arrays, permutation, then one 0232 for each attribute that is no array: here two of them.

    The program finds attributes 1, 2 and 3 in its registers 3, 1 and 2.
    """
    gpu = ready
    put(gpu, OTHERS, [(10, 20, 30)] * 3, np.int8)
    arrays(gpu, [POSITION, Entry(OTHERS, S8, 3, 3, 1)], total=4)
    permutation(gpu, 0x76542130)
    fixed(gpu, 2, 0.2, 0.4, 0.6, 0.8)
    fixed(gpu, 3, 1.0, 0.0, 0.0, 1.0)
    for source, factor, expected in (
        (3, 1 / 255, [10, 20, 30, 1]),
        (1, 1, [51, 102, 153, 204]),
        (2, 1, [255, 0, 0, 255]),
    ):
        program(gpu, source, factor)
        assert np.abs(np.subtract(color(gpu), expected)).max() <= 1
    assert not gpu.ids


# -- the 39 words -----------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.arrays.0x0")
@pytest.mark.parametrize("base", [VRAM, VRAM + 0x10, FCRAM, POSITIONS])
def test_word_0_is_the_base(ready: Gpu, base: int) -> None:
    """Divided by eight, in VRAM or not: the offsets of the entries count from it."""
    words = arrays(ready, [POSITION], base=base)
    program(ready, source=0)
    ready.launch(3)
    assert drawn(ready).all()
    assert words[0] == base >> 3
    assert int(decoded(0x200, words[0])["base"], 16) == base


@pytest.mark.row("cmd.arrays.0x1")
@pytest.mark.parametrize("number", [1, 7])
@pytest.mark.parametrize("kind", [S8, U8, S16, F32])
@pytest.mark.parametrize("elements", [1, 2, 3, 4])
def test_word_1_is_a_nibble_for_each_attribute(ready: Gpu, kind: int, elements: int, number: int) -> None:
    """The page has addresses here, put in by nibbles; they are formats: type in two bits, elements minus one in two.

    Signed types have negative values here and the unsigned one large values, so that none is taken for another.
    """
    values = ([210, 120, 130, 240] if kind == U8 else [-10, 20, -30, 40])[:elements]
    put(ready, OTHERS, [values] * 3, (np.int8, np.uint8, np.int16, np.float32)[kind])
    size = (1, 1, 2, 4)[kind] * elements
    between = [Entry(POSITIONS, F32, 3, 0xC, n) for n in range(1, number)]
    words = arrays(ready, [POSITION, *between, Entry(OTHERS, kind, elements, size, number)])
    assert words[1] >> 4 * number == kind | elements - 1 << 2
    program(ready, source=number, factor=1 / 255)
    assert color(ready) == [*map(abs, values), *[0, 0, 0, 1][elements:]]
    assert decoded(0x201, words[1])[f"type{number}"] == f"{kind} ({('s8', 'u8', 's16', 'f32')[kind]})"


@pytest.mark.row("cmd.arrays.0x2")
@pytest.mark.parametrize(("entries", "total"), [(1, 2), (2, 2), (2, 3), (3, 8), (8, 8)])
def test_word_2_counts_attributes_and_marks_the_fixed_ones(ready: Gpu, entries: int, total: int) -> None:
    """By the page's formula: attributes minus one on top, and a mask of eight that begins after the entries.

    The mask says which attributes are fixed; it has twelve bits today, of which the formula reaches eight.
    """
    gpu = ready
    put(gpu, OTHERS, [(100, 100, 100, 100)] * 3, np.uint8)
    rest = [Entry(OTHERS, U8, 4, 4, n) for n in range(1, entries)]
    words = arrays(gpu, [POSITION, *rest], total=total)
    for index in range(entries, total):
        fixed(gpu, index, *[(20 * index) / 1] * 4)
    for source in range(1, total):
        program(gpu, source, 1 / 255)
        expected = 100 if source < entries else 20 * source
        assert np.abs(np.subtract(color(gpu), expected)).max() <= 1
    assert words[2] >> 28 == total - 1
    told = decoded(0x202, words[2])
    assert told["count"] == f"{total - 1} (means {total})"
    assert told["fixed_mask"] == str(0xFF << entries & 0xFF)


@pytest.mark.row("cmd.arrays.0x3-0x26")
def test_words_3_to_38_are_twelve_entries(ready: Gpu) -> None:
    """Twelve arrays, each seen when its turn comes, and then two with ten unused entries of zero."""
    gpu = ready
    rest = []
    for n in range(1, 12):
        put(gpu, OTHERS + 0x100 * n, [(n, 2 * n, 3 * n, 4 * n)] * 3, np.uint8)
        rest.append(Entry(OTHERS + 0x100 * n, U8, 4, 4, n))
    for used in (11, 1):
        words = arrays(gpu, [POSITION, *rest[:used]])
        assert len(words) == 39 and (used == 11) == all(words[3 + 3 * n] for n in range(12))
        for source in range(1, used + 1):
            program(gpu, source, 1 / 255)
            assert color(gpu) == [source, 2 * source, 3 * source, 4 * source]
        assert [core(gpu, 0x200 + n) for n in range(39)] == words


# -- one entry --------------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.arrays.entry.0")
@pytest.mark.parametrize("offset", [0, 4, 0x1000, 0x07800000])
def test_entry_word_0_is_the_place_from_the_base(ready: Gpu, offset: int) -> None:
    """Relative to the first word, as the page says."""
    base, positions = FCRAM + 0x500000, FCRAM + 0x7FF0000
    put(ready, base + offset, [(9, 8, 7, 6)] * 3, np.uint8)
    put(ready, positions, BIG, np.float32)
    words = arrays(ready, [Entry(positions, F32, 3, 0xC, 0), Entry(base + offset, U8, 4, 4, 1)], base=base)
    program(ready, factor=1 / 255)
    assert color(ready) == [9, 8, 7, 6]
    assert words[6] == offset and decoded(0x206, 300)["offset"] == "300 bytes"


@pytest.mark.row("cmd.arrays.entry.1")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_entry_word_1_is_the_attribute(ready: Gpu, order: tuple[int, int]) -> None:
    """The page's entry index is the attribute that the array feeds, and need not be the number of the entry."""
    put(ready, OTHERS, [(9, 8, 7, 6)] * 3, np.uint8)
    both = [POSITION, Entry(OTHERS, U8, 4, 4, 1)]
    words = arrays(ready, [both[n] for n in order])
    program(ready, factor=1 / 255)
    assert color(ready) == [9, 8, 7, 6]
    assert (words[4], words[7]) == order
    assert decoded(0x204, 1)["component1"] == "1 (attribute 1)"


@pytest.mark.row("cmd.arrays.entry.2")
@pytest.mark.parametrize("stride", [12, 16, 40, 252])
def test_entry_word_2_is_one_component_and_the_bytes_of_a_vertex(ready: Gpu, stride: int) -> None:
    """The page's array type is the distance from one vertex to the next; the 1 on top counts components."""
    data = bytearray(3 * stride)
    for n, corner in enumerate(BIG):
        data[n * stride : n * stride + 12] = np.array(corner, np.float32).tobytes()
    ready.memory.write(POSITIONS, bytes(data))
    words = arrays(ready, [Entry(POSITIONS, F32, 3, stride, 0)])
    program(ready, source=0)
    ready.launch(3)
    assert drawn(ready).all()
    assert words[5] == 0x10000000 | stride << 16
    told = decoded(0x205, words[5])
    assert (told["stride"], told["count"]) == (f"{stride} bytes", "1")
    # Without the count the array is not read.
    arrays(ready, [Entry(POSITIONS, F32, 3, stride, 0)])
    command(ready, 0x000F0205, stride << 16)
    ready.set(RESTART_PRIMITIVE=1)
    ready.launch(3)
    assert not drawn(ready).any()


@pytest.mark.parametrize(
    ("stride", "kind", "elements", "values"),
    [
        pytest.param(2, S8, 2, [(120, -60)] * 3, marks=pytest.mark.row("cmd.arrays.type.0x2")),
        pytest.param(2, S16, 1, [(120,)] * 3, marks=pytest.mark.row("cmd.arrays.type.0x2")),
        pytest.param(3, S8, 3, [(127, -127, 64)] * 3, marks=pytest.mark.row("cmd.arrays.type.0x3")),
        pytest.param(4, S16, 2, [(200, -100)] * 3, marks=pytest.mark.row("cmd.arrays.type.0x4")),
        pytest.param(4, U8, 4, [(200, 100, 50, 25)] * 3, marks=pytest.mark.row("cmd.arrays.type.0x4")),
        pytest.param(12, F32, 3, [(0.5, 64.0, 255.0)] * 3, marks=pytest.mark.row("cmd.arrays.type.0xC")),
    ],
)
def test_array_types_are_strides(
    ready: Gpu, stride: int, kind: int, elements: int, values: Sequence[Sequence[float]]
) -> None:
    """What the page names normals (3), texture coordinates (4) and vertices (0xC) are 3, 4 and 12 bytes a vertex.

    The type that it cannot name, 2, is an array of two bytes a vertex. What a program makes of an array is its own
    choice: here a colour, half way up so that negative values show.
    """
    put(ready, OTHERS, values, (np.int8, np.uint8, np.int16, np.float32)[kind])
    arrays(ready, [POSITION, Entry(OTHERS, kind, elements, stride, 1)])
    program(ready, factor=0.5 / 255, bias=0.5)
    full = [*values[0], *[0, 0, 0, 1][elements:]]
    expected = [min(abs(value * 0.5 + 127.5), 255) for value in full]
    assert np.abs(np.subtract(color(ready), expected)).max() <= 1


@pytest.mark.row("cmd.arrays.type.0x3", "cmd.arrays.type.0x4", "cmd.arrays.type.0xC")
def test_usual_arrays_of_a_model(make_gpu: Callable[..., Gpu]) -> None:
    """Normals of 3 bytes, texture coordinates of 4 and positions of 12, each vertex with its own values."""
    gpu = make_gpu()
    put(gpu, POSITIONS, [(-1, -1, -0.5), (1, -1, -0.5), (-1, 1, -0.5), (1, 1, -0.5)], np.float32)
    put(gpu, OTHERS, [(127, 0, 0), (127, 0, 0), (0, 127, 0), (0, 127, 0)], np.int8)
    put(gpu, OTHERS + 64, [(0, 0), (1, 0), (0, 1), (1, 1)], np.int16)
    arrays(gpu, [POSITION, Entry(OTHERS, S8, 3, 3, 1), Entry(OTHERS + 64, S16, 2, 4, 2)])
    permutation(gpu)
    program(gpu, factor=1 / 127)
    gpu.set(PRIMITIVE_CONFIG=1 | 1 << 8, RESTART_PRIMITIVE=1)
    gpu.launch(4)
    gpu.run()
    red, green = gpu.pixels()[:, 4, 0].tolist(), gpu.pixels()[:, 4, 1].tolist()
    assert red == sorted(red, reverse=True) and green == sorted(green)
    assert red[0] > 240 and red[15] < 15 and green[0] < 15 and green[15] > 240
    program(gpu, source=2)
    gpu.set(PRIMITIVE_CONFIG=1 | 1 << 8, RESTART_PRIMITIVE=1)
    gpu.launch(4)
    gpu.run()
    u, v = gpu.pixels()[..., 0], gpu.pixels()[..., 1]
    assert (np.diff(u, axis=1) > 0).all() and (np.diff(v, axis=0) > 0).all()
    assert (np.diff(u, axis=0) == 0).all() and (np.diff(v, axis=1) == 0).all()


# -- permutation and fixed attributes ---------------------------------------------------------------------------------


@pytest.mark.row("cmd.02bb.0-1", "cmd.id.0x801F02BB")
@pytest.mark.parametrize("register", range(1, 16))
def test_permutation_is_a_nibble_for_each_attribute(ready: Gpu, register: int) -> None:
    """Sixteen nibbles in two words: nibble n is the input register in which the program finds attribute n."""
    put(ready, OTHERS, [(9, 8, 7, 6)] * 3, np.uint8)
    arrays(ready, [POSITION, Entry(OTHERS, U8, 4, 4, 1)])
    permutation(ready, register << 4, 0)
    program(ready, source=register, factor=1 / 255)
    assert color(ready) == [9, 8, 7, 6]
    assert decoded(0x2BB, register << 4)["input1"] == str(register)


@pytest.mark.row("cmd.02bb.0-1")
def test_second_word_of_the_permutation(ready: Gpu) -> None:
    """Attributes from eight on."""
    put(ready, OTHERS, [(9, 8, 7, 6)] * 3, np.uint8)
    nothing = [Entry(POSITIONS, F32, 3, 0xC, n) for n in range(1, 8)]
    arrays(ready, [POSITION, *nothing, Entry(OTHERS, U8, 4, 4, 8)])
    permutation(ready, 0x11111110, 0x0000000F)
    program(ready, source=15, factor=1 / 255)
    assert color(ready) == [9, 8, 7, 6]


@pytest.mark.row("cmd.0232.0", "cmd.id.0x803F0232")
@pytest.mark.parametrize("entries", [1, 2, 3])
def test_fixed_attribute_index_comes_after_the_arrays(ready: Gpu, entries: int) -> None:
    """First the attributes that are arrays, then the fixed ones: the index of a fixed one counts from all of them."""
    put(ready, OTHERS, [(1, 1, 1, 1)] * 3, np.uint8)
    arrays(ready, [POSITION, *(Entry(OTHERS, U8, 4, 4, n) for n in range(1, entries))], total=entries + 2)
    for number, value in enumerate((0.2, 0.6)):
        fixed(ready, number + entries, value, value, value, value)
    for number, value in enumerate((51, 153)):
        program(ready, source=number + entries)
        assert np.abs(np.subtract(color(ready), value)).max() <= 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param(1, [0, 0, 128, 204], marks=pytest.mark.row("cmd.0232.1")),
        pytest.param(2, [0, 102, 0, 0], marks=pytest.mark.row("cmd.0232.2")),
        pytest.param(3, [51, 0, 0, 0], marks=pytest.mark.row("cmd.0232.3")),
    ],
)
def test_fixed_attribute_words(ready: Gpu, word: int, expected: list[int]) -> None:
    """Question marks on the page: four 24-bit floats, w first, end to end in 96 bits.

    Seen with one word and zeros for the others: the first has w, and sign and exponent of z, so that 0.75 becomes 0.5;
    the second nearly all of y; the third x.
    """
    whole = f24(0.8) << 72 | f24(0.75) << 48 | f24(0.4) << 24 | f24(0.2)
    words = [whole >> 64, whole >> 32 & 0xFFFFFFFF, whole & 0xFFFFFFFF]
    arrays(ready, [POSITION], total=2)
    command(ready, 0x803F0232, 1, *words)
    assert np.abs(np.subtract(color(ready), [51, 102, 191, 204])).max() <= 1
    command(ready, 0x803F0232, 1, *(part if n == word - 1 else 0 for n, part in enumerate(words)))
    assert np.abs(np.subtract(color(ready), expected)).max() <= 1
