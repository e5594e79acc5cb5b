"""The commands that the page of 2013 takes for the alpha function, 0107 and 0126, and blending, 0100 and 0101.

The page says that the word of 0107 holds the parameters of the alpha test. It holds those of the depth test, and the
masks of what is written; its tests here compare depths and show that alpha has no say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .commands import Gpu, command, core, decoded, drawn, pixel, unexplained, wipe

# General code draws any state, specialised code one: the rows hold for both.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

NEVER, ALWAYS, EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(8)
PASSES = {  # which of a smaller, an equal and a larger incoming depth are drawn
    NEVER: (0, 0, 0), ALWAYS: (1, 1, 1), EQUAL: (0, 1, 0), NOT_EQUAL: (1, 0, 1),
    LESS: (1, 0, 0), LESS_EQUAL: (1, 1, 0), GREATER: (0, 0, 1), GREATER_EQUAL: (0, 1, 1),
}  # fmt: skip
CLASSES = {NEVER: 0, ALWAYS: 1, GREATER: 2, GREATER_EQUAL: 2, EQUAL: 3, NOT_EQUAL: 3, LESS: 3, LESS_EQUAL: 3}
RGBA = 0xF00
HALF = 0x7FFFFF
"""What the depth buffer holds for z = -0.5."""


def compared(gpu: Gpu, alphas: tuple[float, float, float] = (1, 1, 1)) -> tuple[int, ...]:
    """Draw a smaller, an equal and a larger depth than is stored, one row each; which are seen."""
    gpu.put_depth(np.full((16, 16), HALF, np.uint32))
    for row, (z, alpha) in enumerate(zip((-0.25, -0.5, -0.75), alphas, strict=True)):
        gpu.quad(box=(-1, row / 2 - 1, 1, row / 2 - 0.5), z=z, color=(1, 1, 1, alpha))
    seen = drawn(gpu)
    rows = [seen[4 * row : 4 * row + 4] for row in range(3)]
    assert all(part.all() or not part.any() for part in rows)
    return tuple(int(part.all()) for part in rows)


def values(row: str) -> list[object]:
    return [pytest.param(n, marks=pytest.mark.row(f"{row}.{n}")) for n in range(8)]


@pytest.mark.row("cmd.alphafunc.bits.7-4")
@pytest.mark.parametrize("function", values("cmd.alphafunc.values"))
def test_compare_functions(gpu: Gpu, function: int) -> None:
    """The eight functions of bits 7-4 (three of them count), in the order of the page, compare depths, not alphas."""
    for unused in (0, 1 << 7):
        command(gpu, 0x00030107, RGBA | function << 4 | unused | 1)
        assert compared(gpu) == PASSES[function]
        assert compared(gpu, alphas=(0, 0.5, 0)) == PASSES[function]
    told = ("never", "always", "equal", "not equal", "less", "less or equal", "greater", "greater or equal")
    assert decoded(0x107, function << 4)["depth_function"] == f"{function} ({told[function]})"
    assert unexplained(0x107, 1 << 7) == 1 << 7
    assert core(gpu, 0x104) == 0  # the alpha test itself


@pytest.mark.row("cmd.alphafunc.bits.0")
def test_bit_0_switches_the_test_on(gpu: Gpu) -> None:
    """On and off as the page says, but it turns the depth test on and off."""
    command(gpu, 0x00030107, RGBA | NEVER << 4 | 1)
    assert compared(gpu) == (0, 0, 0)
    command(gpu, 0x00030107, RGBA | NEVER << 4)
    assert compared(gpu) == (1, 1, 1)
    assert decoded(0x107, 1)["depth_test"] == "yes" and decoded(0x107, 0)["depth_test"] == "no"


@pytest.mark.parametrize(
    "unused",
    [
        pytest.param(0xE, marks=pytest.mark.row("cmd.alphafunc.bits.3-1")),
        pytest.param(0xFFFFE000, marks=pytest.mark.row("cmd.alphafunc.bits.31-13")),
    ],
)
def test_bits_that_do_nothing(gpu: Gpu, unused: int) -> None:
    for function in (NEVER, LESS, GREATER_EQUAL):
        command(gpu, 0x000F0107, RGBA | function << 4 | 1 | unused)
        assert compared(gpu) == PASSES[function]
        assert core(gpu, 0x107) == RGBA | function << 4 | 1 | unused
    assert unexplained(0x107, 0xFFFFFFFF) & unused == unused


@pytest.mark.row("cmd.alphafunc.bits.11-8")
@pytest.mark.parametrize("mask", [0, 1, 2, 4, 8, 5, 15])
def test_bits_11_to_8_are_the_channels_that_are_written(gpu: Gpu, mask: int) -> None:
    """A question mark on the page: red, green, blue and alpha of the colour buffer, from bit 8 on."""
    wipe(gpu, 0x11223344)
    command(gpu, 0x000F0107, mask << 8)
    gpu.quad(color=(1, 1, 1, 1))
    gpu.run()
    assert pixel(gpu, 5, 5) == [0xFF if mask >> n & 1 else old for n, old in enumerate((0x11, 0x22, 0x33, 0x44))]


@pytest.mark.row("cmd.alphafunc.bits.12")
@pytest.mark.parametrize("test", [0, 1])
def test_bit_12_lets_depths_be_written(gpu: Gpu, test: int) -> None:
    """A question mark on the page: the depth of what is drawn is kept, whether depths are tested or not."""
    for bit, expected in ((0, 0x123456), (1, HALF)):
        gpu.put_depth(np.full((16, 16), 0x123456, np.uint32))
        command(gpu, 0x000F0107, bit << 12 | RGBA | ALWAYS << 4 | test)
        gpu.quad(z=-0.5)
        gpu.run()
        assert (gpu.depth_words() == expected).all()


@pytest.mark.row("cmd.id.0x00030107", "cmd.set.00030107.0", "cmd.set.00030107.1", "cmd.id.0x00080126")
@pytest.mark.parametrize("function", range(8))
def test_set_of_two(gpu: Gpu, function: int) -> None:
    """00030107 changes the two lower bytes, function and masks; 00080126 the top one, the function's class."""
    command(gpu, 0x000F0107, 0xAAAA0000)
    command(gpu, 0x000F0126, 0x55123456)
    command(gpu, 0x00030107, 0x55551000 | RGBA | function << 4 | 1)
    command(gpu, 0x00080126, CLASSES[function] << 24 | 0xFEDCBA)
    assert compared(gpu) == PASSES[function]
    assert core(gpu, 0x107) == 0xAAAA1000 | RGBA | function << 4 | 1
    assert core(gpu, 0x126) == CLASSES[function] << 24 | 0x123456


@pytest.mark.row("cmd.id.0x00010107", "cmd.set.00010107.0", "cmd.set.00010107.1", "cmd.set.00010107.0.2")
@pytest.mark.row("cmd.id.0x00020107")
def test_set_of_three_by_single_bytes(gpu: Gpu) -> None:
    """Function, class and masks one after the other, with the same word: each command changes its own byte only."""
    command(gpu, 0x000F0107, 0xAAAAF000 | NEVER << 4 | 1)
    word = RGBA | GREATER << 4 | 1
    command(gpu, 0x00010107, word)
    gpu.run()
    assert core(gpu, 0x107) == 0xAAAAF000 | word & 0xFF
    assert compared(gpu) == (0, 0, 0)  # depths pass, but no channel is written yet
    command(gpu, 0x00080126, 2 << 24)
    command(gpu, 0x00020107, word)
    assert compared(gpu) == PASSES[GREATER]
    assert core(gpu, 0x107) == 0xAAAA0000 | word
    assert core(gpu, 0x126) >> 24 == 2
    # The other way round, masks first: the function of before stays.
    command(gpu, 0x00020107, 0)
    assert compared(gpu) == (0, 0, 0)
    command(gpu, 0x00020107, RGBA | LESS << 4)
    assert compared(gpu) == PASSES[GREATER]


CLASS_TEXT = ("never", "always", "greater", "other")


@pytest.mark.parametrize(
    ("kind", "near", "far"),
    [
        pytest.param(0, 0, 0, marks=pytest.mark.row("cmd.alphatype.0")),
        pytest.param(1, 100, 100, marks=pytest.mark.row("cmd.alphatype.1")),
        pytest.param(2, 0, 25, marks=pytest.mark.row("cmd.alphatype.2")),
        pytest.param(3, 25, 0, marks=pytest.mark.row("cmd.alphatype.3")),
    ],
)
def test_classes_of_functions(make_gpu: Callable[..., Gpu], kind: int, near: int, far: int) -> None:
    """What the page calls alpha types are classes of the depth function, written for gas and nothing else.

    Ordinary drawing does not look at them. Gas does when its arithmetic is the hypothesis "density": the depth density
    takes all of a fragment (always), nothing (never), or the more the deeper it lies inside, which way round says the
    class.
    """
    gpu = make_gpu()
    assert decoded(0x126, kind << 24)["function"] == f"{kind} ({CLASS_TEXT[kind]})"
    command(gpu, 0x00030107, RGBA | LESS << 4 | 1)
    command(gpu, 0x00080126, kind << 24)
    assert compared(gpu) == PASSES[LESS]
    gas = make_gpu(gas__hypothesis="density")
    gas.put_depth(np.full((16, 16), HALF, np.uint32))
    command(gas, 0x000F0126, 256)  # all of a fragment at the far end
    command(gas, 0x00010107, NOT_EQUAL << 4 | 1)
    command(gas, 0x00080126, kind << 24)
    gas.set(COLOR_OPERATION=0x00E40001)
    gas.quad(box=(-1, -1, 0, 1), z=-0.25, color=(100 / 255, 0, 0, 1))
    gas.quad(box=(0, -1, 1, 1), z=-0.75, color=(100 / 255, 0, 0, 1))
    gas.run()
    words = gas.color_words()
    assert (words & 0xFFFF == 100).all()
    deep = (words >> 16).astype(int)
    assert np.abs(deep[:, :8] - near).max() <= 1 and np.abs(deep[:, 8:] - far).max() <= 1


@pytest.mark.row("cmd.id.0x00020100")
def test_blending_on_by_byte_1_of_the_colour_operation(gpu: Gpu) -> None:
    """Of the page's word 0x00E40100 the mask lets byte 1 through: bit 8, blending instead of a logic operation."""
    command(gpu, 0x000F0100, 0x00AA0000)
    gpu.set(LOGIC_OP=0, BLEND_FUNC=0x01010000)  # clear; or the source as it is
    gpu.quad(color=(1, 0.4, 0.2, 1))
    gpu.run()
    assert pixel(gpu, 0, 0) == [0, 0, 0, 0]
    command(gpu, 0x00020100, 0x00E40100)
    gpu.quad(color=(1, 0.4, 0.2, 1))
    gpu.run()
    assert core(gpu, 0x100) == 0x00AA0100
    assert pixel(gpu, 0, 0) == [255, 102, 51, 255]
    assert decoded(0x100, 0x100)["blend_enable"] == "yes"


@pytest.mark.row("cmd.id.0x000F0101")
@pytest.mark.parametrize(
    ("word", "result"),
    [
        (0x01010000, [200, 100, 40, 128]),  # source
        (0x10100000, [20, 40, 60, 80]),  # what is there
        (0x11110000, [220, 140, 100, 208]),  # sum
        (0x76760000, [110, 70, 49, 104]),  # by source alpha: 128 and 127 parts of 255
        (0x11110101, [180, 60, 0, 48]),  # source minus what is there
        (0x11110202, [0, 0, 20, 0]),  # what is there minus source
        (0x11110403, [20, 40, 40, 128]),  # minimum of colours, maximum of alphas
    ],
)
def test_blend_function(gpu: Gpu, word: int, result: list[int]) -> None:
    """The page guesses at colours: equations in the lower half, factors of source and target in the upper one."""
    wipe(gpu, 0x14283C50)
    command(gpu, 0x00020100, 0x00E40100)
    command(gpu, 0x000F0101, word)
    gpu.quad(color=(200 / 255, 100 / 255, 40 / 255, 128 / 255))
    gpu.run()
    assert pixel(gpu, 8, 8) == result
