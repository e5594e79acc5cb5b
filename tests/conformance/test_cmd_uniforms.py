"""Uniforms: commands 02C0, 02C1 and 02B0 (GPU/Commands of 2013, "Types for CmdID 0x000F02C0").

What the page calls types are the numbers of float uniforms, and what it finds in each of them is how the programs of
its time used them: any program may use any uniform for anything. So every type is proved by what is there to know, that
as many uniforms as the page counts are set from that number on and no other one, and the uses that the page names by a
program that uses them so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from .commands import Gpu, command, core, decoded, drawn, f24, floats, pixel, vertices, wipe

COUNT = 96
F32 = 0x80000000
DP4, MUL, MOV, MOVA, ADD = 0x02, 0x08, 0x13, 0x12, 0x00
RED, GREEN, BLUE, ALPHA = range(4)


def upload(gpu: Gpu, first: int, *vectors: Sequence[float]) -> None:
    """Uniforms (x, y, z, w) from `first` on in full precision: 02C0, then all words by one 02C1."""
    words = [word for x, y, z, w in vectors for word in floats(w, z, y, x)]
    command(gpu, 0x000F02C0, F32 | first)
    command(gpu, len(words) - 1 << 20 | 0x000F02C1, *words)


def all_uniforms(gpu: Gpu) -> np.ndarray:
    """All 96 float uniforms as colours, (96, 4), 255 for 1.0: one column of the target for each."""
    gpu.target(COUNT, 8)
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOVA, "o0", "v1"), gpu.op(MOV, "o1", "c0", index=1)])
    edges = np.arange(COUNT + 1) / (COUNT / 2) - 1
    corners = [(n, y) for n in range(COUNT) for n, y in ((n, -1), (n + 1, -1), (n, 1), (n, 1), (n + 1, -1), (n + 1, 1))]
    points = np.array([(edges[n], y, -0.5, 1) for n, y in corners], np.float32)
    gpu.attributes(points, np.repeat(np.arange(COUNT, dtype=np.float32), 6)[:, None])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)
    gpu.launch(len(points))
    gpu.run()
    assert (gpu.color_words() == gpu.color_words()[0]).all()
    return gpu.pixels()[0]


def shade(number: int, of: int = 1) -> tuple[float, float, float, float]:
    """A colour that no other number has."""
    return (number + 1) / 255, (200 - number) / 255, (2 * of) / 255, 128 / 255


def expected(number: int, of: int = 1) -> list[int]:
    """The channels of `shade`."""
    return [number + 1, 200 - number, 2 * of, 128]


# -- index and data ---------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.id.0x000F02C0")
@pytest.mark.parametrize("number", [0, 7, 0x5C, 95])
def test_type_is_the_number_of_a_uniform(gpu: Gpu, number: int) -> None:
    """The page's type is an index; the top bit says that words are single floats, four for each uniform.

    Without it three words hold four floats of 24 bits. The number moves on by one after each whole uniform.
    """
    upload(gpu, number, shade(1))
    gpu.run()
    assert core(gpu, 0x2C0) == F32 | number + 1
    whole = sum(f24(value) << 24 * n for n, value in enumerate(shade(2)))
    other = (number + 3) % COUNT
    command(gpu, 0x000F02C0, other)
    command(gpu, 0x002F02C1, whole >> 64, whole >> 32 & 0xFFFFFFFF, whole & 0xFFFFFFFF)
    gpu.run()
    assert core(gpu, 0x2C0) == other + 1
    found = all_uniforms(gpu)
    assert found[number].tolist() == expected(1)
    assert np.abs(found[other] - expected(2)).max() <= 1
    assert not np.delete(found, [number, other], axis=0).any()
    assert decoded(0x2C0, F32 | number) == {"index": str(number), "f32": "yes"}


@pytest.mark.row("cmd.id.0xXXXF02C1")
@pytest.mark.parametrize("count", [1, 2, 3, 30, 64])
def test_list_of_entries(gpu: Gpu, count: int) -> None:
    """The digits that the page leaves out of the id count the words: entry after entry, four words each."""
    upload(gpu, 10, *(shade(n, count) for n in range(count)))
    found = all_uniforms(gpu)
    assert found[10 : 10 + count].tolist() == [expected(n, count) for n in range(count)]
    assert not found[:10].any() and not found[10 + count :].any()


@pytest.mark.parametrize(
    ("word", "channel"),
    [
        pytest.param(0, ALPHA, marks=pytest.mark.row("cmd.02c1.0")),
        pytest.param(1, BLUE, marks=pytest.mark.row("cmd.02c1.1")),
        pytest.param(2, GREEN, marks=pytest.mark.row("cmd.02c1.2")),
        (3, RED),
    ],
)
def test_floats_of_an_entry(gpu: Gpu, word: int, channel: int) -> None:
    """The page has entries of three floats; there are four, w, z, y, x, and nothing happens before the fourth."""
    values = [0.0] * 4
    values[word] = 0.6
    command(gpu, 0x000F02C0, F32 | 5)
    command(gpu, 0x002F02C1, *floats(*values[:3]))
    assert not all_uniforms(gpu)[5].any()
    assert core(gpu, 0x2C0) == F32 | 5
    command(gpu, 0x000F02C1, *floats(values[3]))
    found = all_uniforms(gpu)
    assert found[5].tolist() == [153 if n == channel else 0 for n in range(4)]
    assert core(gpu, 0x2C0) == F32 | 6


@pytest.mark.row("cmd.02c0.0x08")
@pytest.mark.parametrize(
    ("word", "uniform", "channel"),
    [
        pytest.param(0, 8, ALPHA, marks=pytest.mark.row("cmd.color.0")),
        pytest.param(1, 8, BLUE, marks=pytest.mark.row("cmd.color.1")),
        pytest.param(2, 8, GREEN, marks=pytest.mark.row("cmd.color.2")),
        pytest.param(3, 8, RED, marks=pytest.mark.row("cmd.color.3")),
        pytest.param(4, 9, ALPHA, marks=pytest.mark.row("cmd.color.4")),
        pytest.param(5, 9, BLUE, marks=pytest.mark.row("cmd.color.5")),
        (6, 9, GREEN),
        (7, 9, RED),
    ],
)
def test_colour_entry(gpu: Gpu, word: int, uniform: int, channel: int) -> None:
    """Two commands of 02C1 from number 8 on, as the page says; it has red first and perhaps alpha fourth.

    Alpha (w) is first and red (x) fourth; blue and green are where the page has them. The fifth and sixth float belong
    to the next uniform, which begins with alpha again.
    """
    values = [0.2] * 8
    values[word] = 0.8
    command(gpu, 0x000F02C0, F32 | 0x08)
    command(gpu, 0x002F02C1, *floats(*values[:3]))
    command(gpu, 0x004F02C1, *floats(*values[3:]))
    for number in (8, 9):
        gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", f"c{number}")])
        wipe(gpu)
        gpu.quad()
        gpu.run()
        assert pixel(gpu, 3, 3) == [204 if (number, n) == (uniform, channel) else 51 for n in range(4)]


# -- vertices in uniforms ---------------------------------------------------------------------------------------------


def draw_by_number(gpu: Gpu, count: int) -> None:
    """Draw `count` vertices whose positions are the uniforms from 20 on."""
    gpu.program([gpu.op(MOVA, "o0", "v0"), gpu.op(MOV, "o0", "c20", index=1), gpu.op(MOV, "o1", "v1")])
    gpu.attributes(np.arange(count, dtype=np.float32)[:, None], np.ones((count, 4), np.float32))
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)
    gpu.launch(count)


@pytest.mark.parametrize(
    ("word", "moved"),
    [
        pytest.param(3, "x", marks=pytest.mark.row("cmd.vertex.0")),
        pytest.param(2, "y", marks=pytest.mark.row("cmd.vertex.1")),
        pytest.param(1, "z", marks=pytest.mark.row("cmd.vertex.2")),
    ],
)
def test_vertex_entry(gpu: Gpu, word: int, moved: str) -> None:
    """The page has x, y, z as the words of a vertex; they are w, z, y, x, so that x is last. One coordinate moves."""
    gpu.set(DEPTH_COLOR_MASK=0x1F00)
    words = []
    for x, y in ((-1, -1), (0, -1), (-1, 0)):
        entry = [1.0, -0.25, y, x]
        entry[word] += {"x": 1.0, "y": 1.0, "z": -0.5}[moved]
        words += entry
    command(gpu, 0x000F02C0, F32 | 0x14)
    command(gpu, 0x00BF02C1, *floats(*words))
    draw_by_number(gpu, 3)
    seen = drawn(gpu)
    lower_left = (8 if moved == "y" else 0, 8 if moved == "x" else 0)
    assert tuple(np.argwhere(seen)[0]) == lower_left
    assert seen.sum() == seen[lower_left[0] : lower_left[0] + 8, lower_left[1] : lower_left[1] + 8].sum() > 20
    depth = 0.75 if moved == "z" else 0.25
    assert gpu.depth_words()[lower_left] & 0xFFFFFF == int(depth * 0xFFFFFF)


@pytest.mark.row("cmd.02c0.0x14")
@pytest.mark.parametrize("count", [3, 27, 30])
def test_geometry_vertices(make_gpu: Callable[..., Gpu], count: int) -> None:
    """Up to thirty vertices from number 20 on, in one command; the same picture as from an array."""
    rng = np.random.default_rng(count)
    points = np.round(rng.uniform(-1, 1, (count, 2)) * 64) / 64
    gpu, array = make_gpu(), make_gpu()
    upload(gpu, 0x14, *((x, y, -0.5, 1) for x, y in points))
    draw_by_number(gpu, count)
    vertices(array, points.tolist())
    array.set(PRIMITIVE_CONFIG=1, RESTART_PRIMITIVE=1)
    array.launch(count)
    assert (drawn(gpu) == drawn(array)).all()
    assert gpu.covered().any()
    assert core(gpu, 0x2C0) == F32 | 0x14 + count


# -- types ------------------------------------------------------------------------------------------------------------


def types() -> list[object]:
    """Number, how many entries belong together, and the row that says so."""
    listed = [
        ("0x00", (0x00,), 4), ("0x04", (0x04,), 4), ("0x0A", (0x0A,), 4), ("0x0B", (0x0B,), 3),
        ("0x0C", (0x0C, 0x0D), 3), ("0x0E", (0x0E,), 4), ("0x14", (0x14,), 30), ("0x4C", (0x4C,), 4),
        ("0x50", (0x50, 0x53, 0x56), 1), ("0x51", (0x51, 0x54, 0x57), 1), ("0x52", (0x52, 0x55, 0x58), 1),
        ("0x59", (0x59,), 1), ("0x5A", (0x5A,), 2), ("0x5C", (0x5C,), 1),
    ]  # fmt: skip
    return [
        pytest.param(number, count, id=f"{number:#04x}", marks=pytest.mark.row(f"cmd.02c0.{row}"))
        for row, numbers, count in listed
        for number in numbers
    ]


@pytest.mark.parametrize(("number", "count"), types())
def test_types_set_their_uniforms_and_no_others(gpu: Gpu, number: int, count: int) -> None:
    """As many as the page counts in a chunk, over a background that shows where they end."""
    upload(gpu, 0, *[(1, 1, 1, 1)] * 64)
    upload(gpu, 64, *[(1, 1, 1, 1)] * 32)
    upload(gpu, number, *(shade(n) for n in range(count)))
    gpu.run()
    assert core(gpu, 0x2C0) == F32 | number + count
    found = all_uniforms(gpu)
    assert found[number : number + count].tolist() == [expected(n) for n in range(count)]
    assert (np.delete(found, range(number, number + count), axis=0) == 255).all()


def masked(gpu: Gpu) -> list[int]:
    """Descriptors 1 to 4 write one component each; descriptor 0 all."""
    return [gpu.descriptor(), *(gpu.descriptor(mask=component) for component in "xyzw")]


def rows_times(gpu: Gpu, to: str, first: int, vector: str) -> list[int]:
    """A matrix in four uniforms times a vector."""
    return [gpu.op(DP4, to, f"c{first + n}", vector, desc=n + 1) for n in range(4)]


def moving(x: float = 0, y: float = 0) -> list[tuple[float, float, float, float]]:
    """Rows of a matrix that only moves."""
    return [(1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, 0), (0, 0, 0, 1)]


@pytest.mark.row("cmd.02c0.0x00", "cmd.02c0.0x04")
def test_two_matrices(gpu: Gpu) -> None:
    """Types 0 and 4 one after the other, four rows each: a matrix of the model, which may move it, and another one."""
    steps = [*rows_times(gpu, "r0", 4, "v0"), *rows_times(gpu, "o0", 0, "r0"), gpu.op(MOV, "o1", "v1")]
    gpu.program(steps, masked(gpu))
    for first, second, box in (
        ((1, 0), (0, 0), (8, 0)),
        ((0, 0), (0, 1), (0, 8)),
        ((1, 0), (0, 1), (8, 8)),
        ((0.5, 0.25), (0.25, 0.5), (6, 6)),
    ):
        upload(gpu, 0x00, *moving(*first))
        upload(gpu, 0x04, *moving(*second))
        gpu.quad(box=(-1, -1, 0, 0))
        seen = drawn(gpu)
        assert seen[box[1] : box[1] + 8, box[0] : box[0] + 8].all() and seen.sum() == 64


@pytest.mark.row("cmd.02c0.0x0A", "cmd.02c0.0x0B", "cmd.02c0.0x0C")
def test_texture_coordinates_through_a_matrix(gpu: Gpu) -> None:
    """Type 10 is a matrix for texture coordinates; 11 and 12 begin at its second and third row and replace them."""
    steps = [gpu.op(MOV, "o0", "v0"), *rows_times(gpu, "o2", 10, "v2")]
    gpu.program(steps, masked(gpu))
    texels = np.arange(64, dtype=np.uint32).reshape(8, 8) * 0x04000000 | 0xFF
    gpu.target(8, 8)
    gpu.texture(0, texels)
    gpu.show()

    def shown() -> np.ndarray:
        wipe(gpu)
        gpu.quad()
        gpu.run()
        return gpu.color_words()

    quarter = moving(0.25, 0.5)
    upload(gpu, 0x0A, *quarter)
    assert (shown() == np.roll(texels, (-4, -2), (0, 1))).all()
    upload(gpu, 0x0B, *moving(0.25, 0.125)[1:])
    assert (shown() == np.roll(texels, (-1, -2), (0, 1))).all()
    upload(gpu, 0x0C, (0, 0, 5, 0), (0, 0, 0, 1), (1, 1, 1, 1))  # neither s nor t
    assert (shown() == np.roll(texels, (-1, -2), (0, 1))).all()


@pytest.mark.row("cmd.02c0.0x59")
@pytest.mark.parametrize("value", [-90, 0, 7, 120])
def test_floats_made_of_whole_numbers(gpu: Gpu, value: int) -> None:
    """Type 89 gets whole numbers as floats: they arrive as such, signs too."""
    upload(gpu, 0x59, [value / 1] * 4)
    upload(gpu, 0, [120.0] * 4)
    upload(gpu, 1, [1 / 255] * 4)
    biased = [gpu.op(MOV, "r0", "c0"), gpu.op(ADD, "r0", "c89", "r0"), gpu.op(MUL, "o1", "c1", "r0")]
    gpu.program([gpu.op(MOV, "o0", "v0"), *biased])
    gpu.quad()
    gpu.run()
    assert pixel(gpu, 3, 3) == [value + 120] * 4


# -- booleans ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.id.0x000F02B0")
@pytest.mark.parametrize("number", range(16))
def test_booleans(gpu: Gpu, number: int) -> None:
    """The page guesses at textures; its value is sixteen booleans of the program, and 0x7FFF above them custom."""
    jump = gpu.flow(0x2D, 4, extra=number)
    mov = [gpu.op(MOV, "o1", "c0"), gpu.op(MOV, "o1", "c1")]
    gpu.program([gpu.op(MOV, "o0", "v0"), jump, mov[0], gpu.flow(0x22), mov[1]])
    upload(gpu, 0, (0, 0, 1, 1), (0, 1, 0, 1))
    for upper in (0, 0x7FFF0000):
        for value, color in ((1 << number, [0, 255, 0, 255]), (0xFFFF ^ 1 << number, [0, 0, 255, 255])):
            command(gpu, 0x000F02B0, upper | value)
            gpu.quad()
            gpu.run()
            assert pixel(gpu, 3, 3) == color
            assert core(gpu, 0x2B0) == upper | value
    assert decoded(0x2B0, 0x7FFF0000 | 5) == {"upper": "32767 (0x7fff)", "bools": "5"}
