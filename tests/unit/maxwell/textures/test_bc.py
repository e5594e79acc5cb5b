"""BC1 to BC5 against a slow decoder with exact fractions, and against blocks worked out by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.maxwell.formats.arrays import decode, picture
from pocketgpu.maxwell.formats.srgb import srgb_to_linear
from pocketgpu.maxwell.textures.blocks import codec, texels

BLOCKS = {"DXT1": 8, "DXT23": 16, "DXT45": 16}
Colour = tuple[Fraction, ...]


def slow_colour(block: bytes, clear: bool) -> list[Colour]:
    """The 16 texels of the colour part, rows from the top, red, green, blue and alpha."""
    ends = [int.from_bytes(block[at : at + 2], "little") for at in (0, 2)]
    one, two = ([Fraction(e >> 11, 31), Fraction(e >> 5 & 63, 63), Fraction(e & 31, 31)] for e in ends)
    weights = [(3, 0), (0, 3), (2, 1), (1, 2)]
    palette = [(*((a * x + b * y) / 3 for x, y in zip(one, two, strict=True)), Fraction(1)) for a, b in weights]
    if clear and ends[0] <= ends[1]:
        palette[2] = (*((x + y) / 2 for x, y in zip(one, two, strict=True)), Fraction(1))
        palette[3] = (Fraction(0),) * 4
    bits = int.from_bytes(block[4:8], "little")
    return [palette[bits >> 2 * i & 3] for i in range(16)]


def slow_alpha(block: bytes) -> list[Fraction]:
    first, second = block[0], block[1]
    if first > second:
        ramp = [Fraction(first), Fraction(second)] + [Fraction((7 - i) * first + i * second, 7) for i in range(1, 7)]
    else:
        ramp = [Fraction(first), Fraction(second)] + [Fraction((5 - i) * first + i * second, 5) for i in range(1, 5)]
        ramp += [Fraction(0), Fraction(255)]
    bits = int.from_bytes(block[2:8], "little")
    return [ramp[bits >> 3 * i & 7] / 255 for i in range(16)]


def slow_decode(name: str, block: bytes) -> list[Colour]:
    if name == "DXT1":
        return slow_colour(block, clear=True)
    colours = slow_colour(block[8:], clear=False)
    if name == "DXT23":
        alphas = [Fraction(block[i // 2] >> 4 * (i % 2) & 15, 15) for i in range(16)]
    else:
        alphas = slow_alpha(block)
    return [(*colour[:3], alpha) for colour, alpha in zip(colours, alphas, strict=True)]


@st.composite
def blocks(draw: st.DrawFn, size: int) -> bytes:
    """Random blocks, often with equal or ordered ends."""
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    for at, width in ((size - 8, 2), (0, 1)):
        if draw(st.booleans()):
            data[at + width : at + 2 * width] = data[at : at + width]
    return bytes(data)


@pytest.mark.parametrize("name", BLOCKS)
@given(data=st.data())
def test_blocks_follow_the_slow_decoder(name: str, data: st.DataObject) -> None:
    raw = [data.draw(blocks(BLOCKS[name])) for _ in range(2)]
    rows = np.frombuffer(b"".join(raw), np.uint8).reshape(1, -1)
    texels = decode(rows, TEXTURE.named(name))
    assert texels.shape == (4, 8, 4) and texels.dtype == np.float32
    for number, block in enumerate(raw):
        for i, colour in enumerate(slow_decode(name, block)):
            found = texels[i // 4, 4 * number + i % 4]
            assert np.allclose(found, [float(c) for c in colour], rtol=0, atol=2**-24)


def test_blocks_lie_in_rows() -> None:
    rng = random.Random(1)
    raw = rng.randbytes(8 * 6)
    rows = np.frombuffer(raw, np.uint8).reshape(2, 24)
    texels = decode(rows, TEXTURE.named("DXT1"))
    assert texels.shape == (8, 12, 4)
    for number in range(6):
        y, x = divmod(number, 3)
        expected = slow_decode("DXT1", raw[8 * number : 8 * number + 8])
        found = texels[4 * y : 4 * y + 4, 4 * x : 4 * x + 4].reshape(16, 4)
        assert np.allclose(found, np.array(expected, float), rtol=0, atol=2**-24)


def test_a_block_by_hand() -> None:
    # Red and blue, indices 0, 1, 2, 3 in each row: red, blue, two thirds red, two thirds blue.
    block = np.array([[0x00, 0xF8, 0x1F, 0x00, 0xE4, 0xE4, 0xE4, 0xE4]], np.uint8)
    row = [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]]
    assert picture(block, TEXTURE.named("DXT1")).tolist() == [row] * 4
    # The ends exchanged: three colours and transparent black.
    block = block[:, [2, 3, 0, 1, 4, 5, 6, 7]]
    row = [[0, 0, 255, 255], [255, 0, 0, 255], [128, 0, 128, 255], [0, 0, 0, 0]]
    assert picture(block, TEXTURE.named("DXT1")).tolist() == [row] * 4
    # BC2 and BC3 always have four colours.
    alpha = np.array([[0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]], np.uint8)
    found = picture(np.concatenate([alpha, block], axis=1), TEXTURE.named("DXT23"))
    assert found[..., 3].ravel().tolist() == [17 * i for i in range(16)]
    assert found[0, 3].tolist()[:3] == [170, 0, 85]
    ramp = np.array([[255, 3, 0x88, 0xC6, 0xFA, 0x88, 0xC6, 0xFA]], np.uint8)  # indices 0 to 7, twice
    found = picture(np.concatenate([ramp, block], axis=1), TEXTURE.named("DXT45"))
    assert found[:2, :, 3].ravel().tolist() == [255, 3, 219, 183, 147, 111, 75, 39]
    ramp[0, :2] = 3, 253
    found = picture(np.concatenate([ramp, block], axis=1), TEXTURE.named("DXT45"))
    assert found[2:, :, 3].ravel().tolist() == [3, 253, 53, 103, 153, 203, 0, 255]


def test_srgb_is_decoded_after_mixing() -> None:
    block = np.array([[0x00, 0xF8, 0x1F, 0x00, 0xE4, 0xE4, 0xE4, 0xE4]], np.uint8)
    found = decode(block, TEXTURE.named("DXT1"), srgb=True)[0, 2]
    assert np.allclose(found, [srgb_to_linear(2 / 3), 0, srgb_to_linear(1 / 3), 1])


@pytest.mark.parametrize("name", ["DXN1", "DXN2"])
@pytest.mark.parametrize("types", [("unorm", "unorm"), ("snorm", "snorm"), ("unorm", "snorm"), ("snorm", "unorm")])
@given(data=st.data())
def test_ramps_follow_the_slow_decoder(name: str, types: tuple[str, str], data: st.DataObject) -> None:
    channels = 1 if name == "DXN1" else 2
    block = data.draw(blocks(8 * channels))
    texels = decode(np.frombuffer(block, np.uint8)[None], TEXTURE.named(name), (*types, "unorm", "unorm"))
    for channel in range(channels):
        ramp = slow_ramp(block[8 * channel :], types[channel] == "snorm")
        assert texels[..., channel].ravel().tolist() == [float(np.float32(float(v))) for v in ramp]
    assert (texels[..., channels:] == [0, 0, 1][channels - 1 :]).all()


def slow_ramp(block: bytes, signed: bool) -> list[Fraction]:
    top = 127 if signed else 255
    ends = [b - 256 if signed and b > 127 else b for b in block[:2]]
    a, b = (max(Fraction(end, top), Fraction(-1)) for end in ends)
    if ends[0] > ends[1]:
        ramp = [a, b] + [((7 - i) * a + i * b) / 7 for i in range(1, 7)]
    else:
        ramp = [a, b] + [((5 - i) * a + i * b) / 5 for i in range(1, 5)] + [Fraction(-1 if signed else 0), Fraction(1)]
    bits = int.from_bytes(block[2:8], "little")
    return [ramp[bits >> 3 * i & 7] for i in range(16)]


def test_other_sizes_are_refused() -> None:
    with pytest.raises(UsageError):
        decode(np.zeros((1, 12), np.uint8), TEXTURE.named("DXT1"))
    layout = TEXTURE.named("DXT45")
    with pytest.raises(UsageError, match="16 bytes"):
        texels(np.zeros((1, 1, 8), np.uint8), layout, codec(layout))
