"""Texture information and format, commands 0081 and 008E (GPU/Commands of 2013, "Texture info parameter structure").

Every test sends the ten words of the page in one entry and looks at what is drawn with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from .commands import BLACK, FCRAM, VRAM, Gpu, command, core, decoded, unexplained

# General code draws any state, specialised code one: the rows hold for both.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

ADDRESS = FCRAM + 0x1000000
BORDER = 0x44332211
"""Red in the low byte."""
CLAMP, TO_BORDER, REPEAT, MIRROR = range(4)
S, T = 12, 8
"""Lowest bits of the wrap fields, in the order that is so; the page has them the other way round."""


def info(
    gpu: Gpu, size: tuple[int, int] = (8, 8), params: int = REPEAT << S | REPEAT << T, lod: int = 0,
    address: int = ADDRESS, faces: Sequence[int] = (0, 0, 0, 0, 0), form: int = 0, border: int = BORDER,
) -> None:  # fmt: skip
    """The texture information of ten words, then the format, and texture unit 0 shown as it is."""
    width, height = size
    command(gpu, 0x809F0081, border, width << 16 | height, params, lod, address >> 3, *faces)
    command(gpu, 0x000F008E, form)
    gpu.show()


def texels(gpu: Gpu, words: np.ndarray, address: int = ADDRESS) -> np.ndarray:
    """Put an RGBA8 image (rows from t = 0 on) into memory; its channels."""
    height, width = words.shape
    data = np.zeros(height * width, "<u4")
    data[gpu.order(width, height)] = words[::-1]
    gpu.memory.write(address, data.tobytes())
    return (words[..., None] >> np.array([24, 16, 8, 0], np.uint32) & 0xFF).astype(int)


def noise(width: int, height: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, (height, width), np.uint64).astype(np.uint32)


def seen(gpu: Gpu, u: tuple[float, float] = (0, 1), v: tuple[float, float] = (0, 1)) -> np.ndarray:
    """Channels of the target with the texture stretched over it from edge to edge."""
    gpu.span(*u, *v)
    gpu.run()
    assert not gpu.ids
    return gpu.pixels()


# -- the ten words ----------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.id.0x809F0081", "cmd.texinfo.4")
@pytest.mark.parametrize("address", [VRAM + 0x100000, ADDRESS])
def test_texture_information_sets_a_whole_texture(gpu: Gpu, address: int) -> None:
    """One entry of ten words; the fifth is the address divided by eight, in VRAM or elsewhere."""
    expected = texels(gpu, noise(16, 16), address)
    info(gpu, (16, 16), address=address)
    assert (seen(gpu) == expected).all()
    assert [core(gpu, 0x81 + n) for n in range(10)] == [BORDER, 0x100010, 0x2200, 0, address >> 3, 0, 0, 0, 0, 0]


@pytest.mark.row("cmd.texinfo.0")
def test_word_0_is_the_border_colour(gpu: Gpu) -> None:
    """A question mark on the page: red, green, blue and alpha from the low byte, seen where wrapping says so."""
    texels(gpu, noise(8, 8))
    info(gpu, params=TO_BORDER << S | TO_BORDER << T, border=BORDER)
    assert (seen(gpu, (1, 2)) == [0x11, 0x22, 0x33, 0x44]).all()
    assert decoded(0x81, BORDER) == {"r": "17", "g": "34", "b": "51", "a": "68"}


@pytest.mark.row("cmd.texinfo.1")
@pytest.mark.parametrize(("width", "height"), [(16, 8), (8, 16), (32, 16), (8, 8)])
def test_word_1_is_the_size(gpu: Gpu, width: int, height: int) -> None:
    """The page has the width in the low half; it is the height that stands there, and the width in the high half."""
    gpu.target(width, height)
    expected = texels(gpu, noise(width, height))
    info(gpu, (width, height))
    assert (seen(gpu) == expected).all()
    assert decoded(0x82, 16 << 16 | 8) == {"height": "8", "width": "16"}
    if width != height:  # the page's reading gives another picture
        command(gpu, 0x000F0082, height << 16 | width)
        assert (seen(gpu) != expected).any()


@pytest.mark.row("cmd.texinfo.2")
def test_word_2_holds_the_parameters(gpu: Gpu) -> None:
    """The same texture outside of it, with two different third words."""
    colors = texels(gpu, noise(8, 8))
    gpu.target(8, 8)
    info(gpu, params=REPEAT << S | REPEAT << T)
    assert (seen(gpu, (1, 2)) == colors).all()
    info(gpu, params=CLAMP << S | REPEAT << T)
    assert (seen(gpu, (1, 2)) == colors[:, 7:]).all()


def chain(gpu: Gpu, colors: Sequence[int], size: int = 64) -> None:
    """A texture whose levels have one colour each, one after the other in memory."""
    levels = [np.full((size >> n) ** 2, color, "<u4").tobytes() for n, color in enumerate(colors)]
    gpu.memory.write(ADDRESS, b"".join(levels))


SHADES = (0x10101010, 0x50505050, 0x90909090, 0xD0D0D0D0)


@pytest.mark.row("cmd.texinfo.3")
@pytest.mark.parametrize(
    ("bias", "most", "least", "expected"),
    [(0, 3, 0, 0), (1, 3, 0, 1), (2, 3, 0, 2), (2, 1, 0, 1), (0, 3, 2, 2), (-1, 3, 0, 0), (9, 3, 0, 3)],
)
def test_word_3_is_the_level_of_detail(gpu: Gpu, bias: int, most: int, least: int, expected: int) -> None:
    """A question mark on the page: bias in 1/256 (signed, bits 12-0), highest level (19-16), lowest level (27-24)."""
    chain(gpu, SHADES)
    word = least << 24 | most << 16 | bias * 256 & 0x1FFF
    info(gpu, (64, 64), lod=word)
    # A quarter of the texture is one texel a pixel: level 0 without a bias.
    gpu.span(0, 0.25, 0, 0.25)
    gpu.run()
    assert (gpu.color_words() == SHADES[expected]).all()
    assert decoded(0x84, word) == {"min_level": str(least), "max_level": str(most), "bias": str(bias)}


DIRECTIONS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


@pytest.mark.row("cmd.texinfo.5-9", "cmd.texparams.30-28")
@pytest.mark.parametrize("face", range(6))
def test_words_5_to_9_are_the_other_faces_of_a_cube(gpu: Gpu, face: int) -> None:
    """A question mark on the page: with texture kind 1, -X, +Y, -Y, +Z, -Z; the low 22 bits of their addresses."""
    addresses = [ADDRESS + 0x1000 * n for n in range(6)]
    for n, address in enumerate(addresses):
        gpu.memory.write(address, np.full(64, SHADES[0] + n, "<u4").tobytes())
    # What stands above the 22 bits does not count.
    faces = [address >> 3 & 0x3FFFFF | 0xFFC00000 for address in addresses[1:]]
    info(gpu, params=1 << 28, faces=faces)
    gpu.quad(uv0=[(*DIRECTIONS[face], 1)] * 4)
    gpu.run()
    assert (gpu.color_words() == SHADES[0] + face).all()


# -- texture parameters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unused",
    [
        pytest.param(1, marks=pytest.mark.row("cmd.texparams.0")),
        pytest.param(1 << 3, marks=pytest.mark.row("cmd.texparams.3")),
        pytest.param(7 << 25, marks=pytest.mark.row("cmd.texparams.27-25")),
        pytest.param(1 << 31, marks=pytest.mark.row("cmd.texparams.31")),
    ],
)
def test_parameter_bits_that_do_nothing(gpu: Gpu, unused: int) -> None:
    """Usually 0: they are kept, reported as unexplained, and change nothing that is drawn."""
    expected = texels(gpu, noise(16, 16))
    info(gpu, (16, 16), params=REPEAT << S | REPEAT << T | unused)
    assert (seen(gpu) == expected).all()
    assert core(gpu, 0x83) == 0x2200 | unused
    assert unexplained(0x83, 0xFFFFFFFF) & unused == unused


@pytest.mark.row("cmd.texparams.1")
def test_bit_1_filters_what_is_enlarged(gpu: Gpu) -> None:
    """From black texels to white ones, four pixels a texel: a hard edge, or steps between them."""
    texels(gpu, np.tile(np.repeat(np.array([0, 0xFFFFFFFF], np.uint32), 4), (8, 1)))
    hard, soft = [0] * 8 + [255] * 8, [0] * 6 + [32, 96, 159, 223] + [255] * 6
    # The last case: the bit for shrinking has no say here.
    for bits, expected in ((0, hard), (1 << 1, soft), (1 << 2, hard)):
        info(gpu, params=CLAMP << S | CLAMP << T | bits)
        assert np.abs(seen(gpu, (0.25, 0.75))[8, :, 0] - expected).max() <= 1
    assert decoded(0x83, 2)["mag_filter"] == "1 (linear)" and decoded(0x83, 0)["mag_filter"] == "0 (nearest)"


@pytest.mark.row("cmd.texparams.2")
def test_bit_2_filters_what_is_shrunk(gpu: Gpu) -> None:
    """Columns of 32 texels, black and white in turn, over sixteen pixels: one of them, or the mean of both."""
    texels(gpu, np.tile(np.array([0, 0xFFFFFFFF], np.uint32), (32, 16)))
    # The last case: the bit for enlarging has no say here.
    for bits, expected in ((0, 255), (1 << 2, 127), (1 << 1, 255)):
        info(gpu, (32, 32), params=REPEAT << S | REPEAT << T | bits)
        assert np.abs(seen(gpu)[..., 0] - expected).max() <= 1
    assert decoded(0x83, 4)["min_filter"] == "1 (linear)" and decoded(0x83, 0)["min_filter"] == "0 (nearest)"


@pytest.mark.row("cmd.texparams.24")
def test_bit_24_mixes_levels(gpu: Gpu) -> None:
    """Half way between level 0 and level 1: the nearer of them, or both."""
    chain(gpu, SHADES)
    for bit, expected in ((1 << 24, 0x30), (0, 0x50)):
        info(gpu, (64, 64), params=REPEAT << S | REPEAT << T | bit, lod=3 << 16 | 0x80)
        gpu.span(0, 0.25, 0, 0.25)
        gpu.run()
        assert np.abs(gpu.pixels() - expected).max() <= 1
    assert decoded(0x83, 1 << 24)["mip_filter"] == "1 (linear)"


def wrapped(position: int, code: int, size: int = 8) -> int | None:
    """Texel of a position outside of the texture; None is the border."""
    if code == CLAMP:
        return min(max(position, 0), size - 1)
    if code == TO_BORDER:
        return position if 0 <= position < size else None
    if code == REPEAT:
        return position % size
    return min(position % (2 * size), 2 * size - 1 - position % (2 * size))


@pytest.mark.parametrize("code", range(4))
@pytest.mark.parametrize(
    ("low", "axis"),
    [
        pytest.param(T, "t", marks=pytest.mark.row("cmd.texparams.11-8")),
        pytest.param(S, "s", marks=pytest.mark.row("cmd.texparams.15-12")),
    ],
)
def test_wrap_fields(gpu: Gpu, low: int, axis: str, code: int) -> None:
    """The page has S at bit 8 and T at bit 12; it is the other way round.

    0 and 2 are as it says; the two that it does not know are the border colour (1) and mirrored repeat (3).
    """
    gpu.target(32, 32)
    colors = texels(gpu, noise(8, 8))
    other = S + T - low
    info(gpu, params=code << low | REPEAT << other)
    found = seen(gpu, (-1.5, 2.5), (-1.5, 2.5))
    for y, x in np.ndindex(32, 32):
        along, across = (x - 12, y - 12) if axis == "s" else (y - 12, x - 12)
        place = wrapped(along, code)
        if place is None:
            expected = [0x11, 0x22, 0x33, 0x44]
        else:
            s, t = (place, across % 8) if axis == "s" else (across % 8, place)
            expected = colors[t, s].tolist()
        assert found[y, x].tolist() == expected, (x, y)
    text = ("clamp to edge", "clamp to border", "repeat", "mirrored repeat")[code]
    assert decoded(0x83, code << low)[f"wrap_{axis}"] == f"{code} ({text})"


@pytest.mark.row("cmd.texparams.30-28")
def test_bits_30_to_28_are_the_kind_of_texture(gpu: Gpu) -> None:
    """0 is a plain texture, as on the page; it has 1 as one too, which is a cube.

    3 divides by the third coordinate, and 5 is off (transparent black). Nothing else chooses between these meanings.
    """
    colors = texels(gpu, noise(8, 8))
    gpu.target(8, 8)
    info(gpu, params=REPEAT << S | REPEAT << T)
    assert (seen(gpu) == colors).all()
    info(gpu, params=REPEAT << S | REPEAT << T | 3 << 28)
    gpu.quad(uv0=[(0, 0, 2, 1), (2, 0, 2, 1), (0, 2, 2, 1), (2, 2, 2, 1)])
    gpu.run()
    assert (gpu.pixels() == colors).all()
    info(gpu, params=REPEAT << S | REPEAT << T | 5 << 28)
    assert (seen(gpu) == BLACK).all()
    names = ("2D", "cube", "shadow 2D", "projection", "shadow cube", "disabled")
    assert [decoded(0x83, n << 28)["type"] for n in range(6)] == [f"{n} ({name})" for n, name in enumerate(names)]


# -- texture formats --------------------------------------------------------------------------------------------------

FORMATS = [  # number, name, bytes of a texel (or of two, or of a block), colour
    (0x0, "RGBA8", "04030201", (1, 2, 3, 4)),
    (0x1, "RGB8", "030201", (1, 2, 3, 255)),
    (0x2, "RGB5A1", "3ff8", (255, 0, 255, 255)),
    (0x2, "RGB5A1", "c087", (132, 255, 0, 0)),
    (0x3, "RGB565", "1ff8", (255, 0, 255, 255)),
    (0x3, "RGB565", "0004", (0, 130, 0, 255)),
    (0x4, "RGBA4", "3412", (17, 34, 51, 68)),
    (0x5, "IA8", "1234", (0x34, 0x34, 0x34, 0x12)),
    (0x6, "HILO8", "1234", (0x34, 0x12, 0, 255)),
    (0x7, "I8", "56", (0x56, 0x56, 0x56, 255)),
    (0x8, "A8", "56", (0, 0, 0, 0x56)),
    (0x9, "IA44", "5a", (85, 85, 85, 170)),
    (0xA, "I4", "33", (51, 51, 51, 255)),
    (0xB, "A4", "33", (0, 0, 0, 51)),
    (0xC, "ETC1", "0000000000448822", (0x24, 0x8A, 0x46, 255)),
    (0xD, "ETC1A4", "55555555555555550000000000448822", (0x24, 0x8A, 0x46, 0x55)),
]


@pytest.mark.row("cmd.id.0x000F008E")
@pytest.mark.parametrize(
    ("form", "name", "data", "color"),
    [pytest.param(*entry, marks=pytest.mark.row(f"cmd.texformat.0x{entry[0]:X}")) for entry in FORMATS],
)
def test_texture_formats(gpu: Gpu, form: int, name: str, data: str, color: tuple[int, ...]) -> None:
    """Texels by their bytes in memory.

    The page leaves open what 6 (two channels) and 13 (ETC1 with alphas) are, and that 9 to 11 have 4 bits a channel.
    """
    gpu.memory.write(ADDRESS, (bytes.fromhex(data) * 256)[: 1 << 10])
    info(gpu, form=form)
    assert (seen(gpu) == list(color)).all()
    assert core(gpu, 0x8E) == form
    assert decoded(0x8E, form)["format"] == f"{form} ({name})"


@pytest.mark.row("cmd.texparams.7-4")
@pytest.mark.parametrize("bits", [0, 1, 2, 3, 15])
@pytest.mark.parametrize(("form", "name", "data", "color"), FORMATS)
def test_bits_7_to_4_do_not_choose_the_format(
    gpu: Gpu, form: int, name: str, data: str, color: tuple[int, ...], bits: int
) -> None:
    """The page has 2 with ETC1, else 0. That is what drivers write, and it changes nothing: the format alone counts.

    Two of the four bits are known.
    """
    gpu.memory.write(ADDRESS, (bytes.fromhex(data) * 256)[: 1 << 10])
    info(gpu, params=REPEAT << S | REPEAT << T | bits << 4, form=form)
    assert (seen(gpu) == list(color)).all()
    assert core(gpu, 0x83) >> 4 & 15 == bits and core(gpu, 0x8E) == form
    assert decoded(0x83, bits << 4)["etc1"] == str(bits & 3)
    assert unexplained(0x83, bits << 4) == (bits & 12) << 4


@pytest.mark.row("cmd.id.0x000F008E")
def test_formats_past_the_last_one_are_black_and_reported(gpu: Gpu) -> None:
    gpu.memory.write(ADDRESS, b"\xff" * 1024)
    for form in (14, 15):
        info(gpu, form=form)
        gpu.span(0, 1, 0, 1)
        gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
        gpu.run()
        assert (gpu.pixels() == BLACK).all()
        assert "undefined" in decoded(0x8E, form)["format"]
    assert gpu.ids
