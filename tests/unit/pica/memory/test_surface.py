"""Surfaces against a reading of the format tables texel by texel."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts import formats
from pocketgpu.facts.formats import PixelFormat
from pocketgpu.pica.memory import surface
from pocketgpu.pica.memory.surface import DEPTH_DTYPE, Layout
from pocketgpu.pictures import to_image

Colour = tuple[int, int, int, int]


def five(v: int) -> int:
    return v << 3 | v >> 2


def six(v: int) -> int:
    return v << 2 | v >> 4


# By the texture numbering, from the little-endian word of a texel. Widening repeats the upper bits.
ORACLE: dict[int, Callable[[int], Colour]] = {
    0x0: lambda w: (w >> 24, w >> 16 & 255, w >> 8 & 255, w & 255),
    0x1: lambda w: (w >> 16, w >> 8 & 255, w & 255, 255),
    0x2: lambda w: (five(w >> 11), five(w >> 6 & 31), five(w >> 1 & 31), 255 * (w & 1)),
    0x3: lambda w: (five(w >> 11), six(w >> 5 & 63), five(w & 31), 255),
    0x4: lambda w: (17 * (w >> 12), 17 * (w >> 8 & 15), 17 * (w >> 4 & 15), 17 * (w & 15)),
    0x5: lambda w: (w >> 8, w >> 8, w >> 8, w & 255),
    0x6: lambda w: (w >> 8, w & 255, 0, 255),
    0x7: lambda w: (w, w, w, 255),
    0x8: lambda w: (0, 0, 0, w),
    0x9: lambda w: (17 * (w >> 4), 17 * (w >> 4), 17 * (w >> 4), 17 * (w & 15)),
    0xA: lambda w: (17 * w, 17 * w, 17 * w, 255),
    0xB: lambda w: (0, 0, 0, 17 * w),
}
MODIFIERS = [(2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)]


def morton(x: int, y: int) -> int:
    return sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(3))


def number(x: int, y: int, width: int, layout: Layout) -> int:
    if layout == "linear":
        return y * width + x
    return ((y // 8) * (width // 8) + x // 8) * 64 + morton(x % 8, y % 8)


def word(data: bytes, texel: int, bits: int) -> int:
    return int.from_bytes(data, "little") >> texel * bits & (1 << bits) - 1


def etc_texel(block: int, x: int, y: int) -> tuple[int, int, int]:
    k = 4 * x + y
    second = (y if block >> 32 & 1 else x) >= 2
    step = MODIFIERS[block >> (34 if second else 37) & 7][block >> k & 1]
    if block >> 16 + k & 1:
        step = -step
    result = []
    for top in (56, 48, 40):
        if block >> 33 & 1:
            delta = block >> top & 7
            value = (block >> top + 3 & 31) + (delta - 8 if delta > 3 else delta if second else 0) * second
            value = five(value & 31)
        else:
            value = 17 * (block >> (top if second else top + 4) & 15)
        result.append(min(255, max(0, value + step)))
    return result[0], result[1], result[2]


@pytest.mark.parametrize("layout", ["linear", "tiled"])
@pytest.mark.parametrize("id", sorted(ORACLE))
def test_every_plain_format_texel_by_texel(id: int, layout: Layout) -> None:
    format = formats.TEXTURE_FORMATS[id]
    width, height = 24, 16
    data = random.Random(id).randbytes(width * height * format.bits // 8)
    assert len(data) == surface.byte_size(format, width, height, layout)
    pixels = surface.decode(data, format, width, height, layout)
    assert pixels.shape == (height, width, 4)
    for y in range(height):
        for x in range(width):
            texel = word(data, number(x, y, width, layout), format.bits)
            assert tuple(pixels[y, x]) == ORACLE[id](texel), (x, y)


@pytest.mark.parametrize("alpha", [False, True])
def test_etc_texel_by_texel(alpha: bool) -> None:
    format = formats.TEXTURE_FORMATS[13 if alpha else 12]
    width, height = 24, 16
    size = 16 if alpha else 8
    data = random.Random(alpha).randbytes(width * height // 16 * size)
    pixels = surface.decode(data, format, width, height, "tiled")
    for y in range(height):
        for x in range(width):
            tile = (y // 8) * (width // 8) + x // 8
            at = (tile * 4 + (y // 4 % 2) * 2 + x // 4 % 2) * size
            block = int.from_bytes(data[at + size - 8 : at + size], "little")
            alphas = int.from_bytes(data[at : at + 8], "little")
            a = 17 * (alphas >> 4 * (4 * (x % 4) + y % 4) & 15) if alpha else 255
            assert tuple(pixels[y, x]) == (*etc_texel(block, x % 4, y % 4), a), (x, y)


def test_an_etc_block_by_hand() -> None:
    # Individual mode, no flip: left half red 0xF, right half green 0x8; table 0 left, table 7 right;
    # every left texel +2 (clamped), every right texel -183 but the last, which is +47.
    colour = 0xF << 60 | 0x0 << 56 | 0x0 << 52 | 0x8 << 48 | 7 << 34
    sub = 0x7F00
    sign = 0x7F00
    data = (colour | sign << 16 | sub).to_bytes(8, "little") * 4
    pixels = surface.decode(data, formats.ETC1, 8, 8, "tiled")
    assert pixels[0, 0].tolist() == [255, 2, 2, 255]
    assert pixels[0, 2].tolist() == [0, 0, 0, 255]
    assert pixels[3, 3].tolist() == [47, 136 + 47, 47, 255]


@pytest.mark.parametrize("id", [0, 1, 2, 3, 4])
def test_framebuffer_and_external_numbers_exchange_two_and_three(id: int) -> None:
    external = {0: 0, 1: 1, 2: 3, 3: 2, 4: 4}[id]
    data = bytes(range(64 * 4))
    for table, key in ((formats.FRAMEBUFFER_COLOR_FORMATS, id), (formats.EXTERNAL_FORMATS, external)):
        pixels = surface.decode(data, table[key], 8, 8)
        assert tuple(pixels[0, 1]) == ORACLE[id](word(data, 1, table[key].bits))


def test_opaque_red_in_memory() -> None:
    red = np.array([[[255, 0, 0, 128]]], np.uint8)
    assert surface.encode(red, formats.RGBA8) == bytes([0x80, 0, 0, 0xFF])
    assert surface.encode(red, formats.RGB8) == bytes([0, 0, 0xFF])
    assert surface.encode(red, formats.RGB565) == bytes([0x00, 0xF8])
    assert surface.encode(red, formats.RGB5A1) == bytes([0x01, 0xF8])


def test_tile_order() -> None:
    index = surface.texel_index(16, 16, "tiled")
    assert index.dtype == np.int32
    assert index[0, :8].tolist() == [0, 1, 4, 5, 16, 17, 20, 21]
    assert index[:8, 0].tolist() == [0, 2, 8, 10, 32, 34, 40, 42]
    assert (index[7, 7], index[0, 8], index[8, 0], index[15, 15]) == (63, 64, 128, 255)
    assert not index.flags.writeable


@pytest.mark.parametrize("width", [1, 4, 7, 8, 12, 15, 24])
@pytest.mark.parametrize("height", [1, 5, 8, 11, 16])
@pytest.mark.parametrize("layout", ["linear", "tiled"])
def test_sizes_that_are_no_multiple_of_eight(width: int, height: int, layout: Layout) -> None:
    index = surface.texel_index(width, height, layout)
    assert index.tolist() == [[number(x, y, width, layout) for x in range(width)] for y in range(height)]
    assert surface.texel_count(width, height, layout) == index.max() + 1
    size = surface.byte_size(formats.I4, width, height, layout)
    assert surface.decode(bytes(size), formats.I4, width, height, layout).shape == (height, width, 4)
    with pytest.raises(UsageError, match="needs"):
        surface.decode(bytes(size - 1), formats.I4, width, height, layout)


def test_an_index_too_large_to_keep_is_the_same() -> None:
    large = surface.texel_index(1024, 1032, "tiled")
    assert np.array_equal(large[:1024], surface.texel_index(1024, 1024, "tiled"))


@pytest.mark.parametrize("layout", ["linear", "tiled"])
@pytest.mark.parametrize("id", sorted(ORACLE))
def test_encode_is_the_inverse_of_decode(id: int, layout: Layout) -> None:
    format = formats.TEXTURE_FORMATS[id]
    data = random.Random(id).randbytes(16 * 24 * format.bits // 8)
    pixels = surface.decode(data, format, 16, 24, layout)
    assert surface.encode(pixels, format, layout) == data


def test_encode_keeps_the_upper_bits() -> None:
    pixels = np.array([[[0xF7, 0xFB, 0x07, 0x7F], [0xF8, 0x04, 0x08, 0x80]]], np.uint8)
    assert surface.encode(pixels, formats.RGB565) == bytes.fromhex("c0f7 21f8")
    assert surface.encode(pixels, formats.RGB5A1) == bytes.fromhex("c0f7 03f8")
    assert surface.encode(pixels, formats.RGBA4) == bytes.fromhex("07ff 08f0")
    assert surface.encode(pixels[:, :1], formats.I4) == bytes.fromhex("0f")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint32)])
def test_any_buffer_can_be_decoded(kind: Callable[[bytes], bytes]) -> None:
    data = bytes(range(128))
    assert np.array_equal(
        surface.decode(kind(data), formats.RGB565, 8, 8, "tiled"), surface.decode(data, formats.RGB565, 8, 8, "tiled")
    )


def test_decoding_does_not_keep_or_change_the_source() -> None:
    source = np.arange(256, dtype=np.uint8)
    pixels = surface.decode(source, formats.RGBA8, 8, 8)
    pixels[:] = 0
    assert source.tolist() == list(range(256))


@pytest.mark.parametrize("layout", ["linear", "tiled"])
@pytest.mark.parametrize("id", [0, 2, 3])
def test_depth_formats(id: int, layout: Layout) -> None:
    format = formats.DEPTH_FORMATS[id]
    width, height = 16, 8
    data = random.Random(id).randbytes(width * height * format.bits // 8)
    texels = surface.decode_depth(data, format, width, height, layout)
    assert texels.dtype == DEPTH_DTYPE
    for y in range(height):
        for x in range(width):
            stored = word(data, number(x, y, width, layout), format.bits)
            assert texels["depth"][y, x] == stored & 0xFFFFFF
            assert texels["stencil"][y, x] == stored >> 24
    assert surface.encode_depth(texels, format, layout) == data


def rgba(*shape: int) -> NDArray[np.uint8]:
    return np.zeros(shape, np.uint8)


@pytest.mark.parametrize(
    "call",
    [
        lambda: surface.texel_index(0, 8, "linear"),
        lambda: surface.texel_index(8, -1, "linear"),
        lambda: surface.texel_index(65536, 65536, "tiled"),
        lambda: surface.texel_index(8, 8, "spiral"),  # type: ignore[arg-type]
        lambda: surface.decode(bytes(63), formats.I8, 8, 8),
        lambda: surface.decode(bytes(31), formats.ETC1, 8, 8, "tiled"),
        lambda: surface.decode(bytes(32), formats.ETC1, 8, 8, "linear"),
        lambda: surface.decode(bytes(256), formats.D24S8, 8, 8),
        lambda: surface.decode_depth(bytes(256), formats.RGBA8, 8, 8),
        lambda: surface.decode_depth(bytes(127), formats.D16, 8, 8),
        lambda: surface.encode(rgba(8, 8, 4), formats.ETC1A4, "linear"),
        lambda: surface.encode(rgba(8, 8, 3), formats.RGB8),
        lambda: surface.encode(rgba(8, 8, 4), formats.D16),
        lambda: surface.encode_depth(rgba(8, 8), formats.D16),
        lambda: surface.encode_depth(np.zeros((8, 8), DEPTH_DTYPE), formats.I8),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        call()


@pytest.mark.parametrize(("shape", "mode"), [((2, 3), "L"), ((2, 3, 3), "RGB"), ((2, 3, 4), "RGBA")])
def test_pictures(shape: tuple[int, ...], mode: str) -> None:
    pixels = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    image = to_image(pixels[::-1])
    assert image.mode == mode
    assert image.size == (3, 2)
    assert np.array_equal(np.asarray(image), pixels[::-1])


def test_a_format_outside_the_tables_works_too() -> None:
    format = PixelFormat("A1", 8, (("a", 7, 1),), defaults=(1, 2, 3, 4))
    assert surface.decode(b"\x7f\x80", format, 2, 1).tolist() == [[[1, 2, 3, 0], [1, 2, 3, 255]]]
