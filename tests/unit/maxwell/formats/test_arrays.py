"""Pixel formats to and from colours, against a slow model that reads what a format is from its name alone."""

from __future__ import annotations

import math
import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.slow_formats import Part, code_of, encoded, linear, nearest_small, parts_of, small_float, value_of

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, TEXTURE, TWOD, PixelLayout
from pocketgpu.maxwell.formats.arrays import decode, decode_depth, encode, encode_depth, picture, to_rgba8
from pocketgpu.maxwell.formats.srgb import srgb_to_linear

Colour = list[float | int]


def slow_decode(pixel: bytes, parts: list[Part]) -> Colour:
    word = int.from_bytes(pixel, "little")
    colour: dict[str, float | int] = {"R": 0, "G": 0, "B": 0, "A": 1}
    for component, type, lo, width in parts:
        value = value_of(type, word >> lo & ((1 << width) - 1), width)
        if component == "Y":
            colour.update(R=value, G=value, B=value)
        elif component in "RGBA":
            colour[component] = value
    return [colour[c] for c in "RGBA"]


def same(found: np.ndarray, expected: Colour) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.array_equal(found, np.array(expected).astype(found.dtype), equal_nan=found.dtype.kind == "f"))


COLOURS = [f for f in (*COLOR_TARGET.values(), *TWOD.values()) if f.components]
PLAIN = [f for f in TEXTURE.values() if f.components and all(c.type in ("", "ignored") for c in f.components)]


def name_of(layout: PixelLayout) -> str:
    return layout.name


@pytest.mark.parametrize("layout", COLOURS, ids=name_of)
def test_colour_formats_are_what_their_names_say(layout: PixelLayout) -> None:
    rng = random.Random(layout.name)
    parts = parts_of(layout.name)
    assert sum(width for *_, width in parts) == 8 * layout.bytes
    pixels = [rng.randbytes(layout.bytes) for _ in range(60)]
    pixels += [bytes(layout.bytes), b"\xff" * layout.bytes, b"\x80" * layout.bytes, b"\x7f" * layout.bytes]
    pixels += [(1 << lo | 1 << (lo + width - 1)).to_bytes(layout.bytes, "little") for _, _, lo, width in parts]
    rows = np.frombuffer(b"".join(pixels), np.uint8).reshape(1, -1)
    values = decode(rows, layout)
    kinds = {type for component, type, _, _ in parts if component in "RGBAY"}
    integers = {frozenset(["uint"]): np.uint32, frozenset(["sint"]): np.int32}
    assert values.dtype == integers.get(frozenset(kinds), np.float32)
    assert values.shape == (1, len(pixels), 4)
    for found, pixel in zip(values[0], pixels, strict=True):
        assert same(found, slow_decode(pixel, parts)), (pixel.hex(), found)


@pytest.mark.parametrize("type", ["unorm", "snorm", "uint", "sint", "float", "uscaled", "sscaled"])
@pytest.mark.parametrize("layout", [f for f in PLAIN if f.block == (1, 1)], ids=name_of)
def test_texture_formats_take_types_from_the_header(layout: PixelLayout, type: str) -> None:
    if type == "float" and any(c.width not in (10, 11, 16, 32) for c in layout.components if c.name != "X"):
        with pytest.raises(UsageError):
            decode(np.zeros((1, layout.bytes), np.uint8), layout, (type,) * 4)
        return
    rng = random.Random(layout.name)
    name = {"Y8_VIDEO": "Y8"}.get(layout.name, layout.name)
    parts = [(c, type, lo, width) for c, _, lo, width in parts_of(name)]
    pixels = [rng.randbytes(layout.bytes) for _ in range(40)] + [b"\x80" * layout.bytes, b"\xff" * layout.bytes]
    values = decode(np.frombuffer(b"".join(pixels), np.uint8).reshape(2, -1), layout, (type,) * 4).reshape(-1, 4)
    for found, pixel in zip(values, pixels, strict=True):
        assert same(found, slow_decode(pixel, parts)), (pixel.hex(), found)


def test_components_can_differ_in_type() -> None:
    layout = TEXTURE.named("A8B8G8R8")
    rows = np.array([[200, 200, 200, 200]], np.uint8)
    values = decode(rows, layout, ("uint", "snorm", "unorm", "sint"))
    assert values.dtype == np.float32
    assert values[0, 0].tolist() == [200, np.float32(-56 / 127), np.float32(200 / 255), -56]


def test_types_that_pass_through_half_floats() -> None:
    layout = TEXTURE.named("R16")
    codes = np.arange(0, 65536, 257, dtype=np.uint16)
    rows = codes.view(np.uint8).reshape(1, -1)
    found = decode(rows, layout, ("unorm16",) * 4)[0, :, 0]
    expected = [struct.unpack("<e", struct.pack("<e", code / 65535))[0] for code in codes.tolist()]
    assert found.tolist() == expected
    assert (decode(rows, layout)[0, :, 0] != found).any()
    signed = decode(rows, layout, ("snorm16",) * 4)[0, :, 0]
    assert signed[1] == np.float16(257 / 32767) != np.float32(257 / 32767)


def test_shared_exponents() -> None:
    layout = TEXTURE.named("E5B9G9R9_SHAREDEXP")
    rng = random.Random(9)
    words = [rng.getrandbits(32) for _ in range(50)] + [0, 0xFFFFFFFF, 24 << 27 | 1]
    values = decode(np.array(words, "<u4").view(np.uint8).reshape(1, -1), layout)[0]
    for found, word in zip(values.tolist(), words, strict=True):
        scale = 2.0 ** ((word >> 27) - 24)
        assert found == [(word & 511) * scale, (word >> 9 & 511) * scale, (word >> 18 & 511) * scale, 1]
    assert values[-1].tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(("name", "order"), [("G8B8G8R8", (0, 1, 2, 3)), ("B8G8R8G8", (1, 0, 3, 2))])
def test_two_pixels_share_red_and_blue(name: str, order: tuple[int, ...]) -> None:
    pixels = np.array([[10, 20, 30, 40, 50, 60, 70, 80]], np.uint8)
    values = decode(pixels, TEXTURE.named(name))
    assert values.shape == (1, 4, 4)
    red, green0, blue, green1 = order
    for pair in range(2):
        four = pixels[0, 4 * pair : 4 * pair + 4]
        for i, green in enumerate((green0, green1)):
            expected = np.array([four[red], four[green], four[blue], 255], np.float32) / np.float32(255)
            assert np.array_equal(values[0, 2 * pair + i], expected)


# sRGB


def test_the_curve_is_the_models() -> None:
    for value in (0.0, 0.02, 0.04045, 0.0405, 128 / 255, 0.7, 1.0):
        assert float(srgb_to_linear(value)) == pytest.approx(linear(value), abs=1e-15)
        assert encoded(linear(value)) == pytest.approx(value, abs=1e-6)


def test_the_headers_srgb_bit_leaves_alpha_alone() -> None:
    rows = np.array([[0, 128, 255, 128]], np.uint8)
    found = decode(rows, TEXTURE.named("A8B8G8R8"), srgb=True)[0, 0]
    assert np.allclose(found, [0, 0.21586050011389926, 1, 128 / 255], atol=1e-7)


def test_pictures_keep_srgb_codes() -> None:
    rows = np.arange(256, dtype=np.uint8).reshape(4, 64)
    for name in ("A8BL8GL8RL8", "A8B8G8R8"):
        assert np.array_equal(picture(rows, COLOR_TARGET.named(name)).reshape(4, 64), rows)
    swapped = picture(rows, COLOR_TARGET.named("A8RL8GL8BL8"))
    assert np.array_equal(swapped[..., [2, 1, 0, 3]].reshape(4, 64), rows)
    assert np.array_equal(picture(rows, COLOR_TARGET.named("X8BL8GL8RL8"))[..., 3], np.full((4, 16), 255))


# To pictures


@pytest.mark.parametrize("name", ["R5G6B5", "A1R5G5B5", "X1R5G5B5", "Z1R5G5B5", "G8R8", "R16", "A16"])
@pytest.mark.parametrize("count", [3, 4])
def test_large_pictures_of_two_bytes_are_as_small_ones(name: str, count: int) -> None:
    """They are made by a table of all elements."""
    layout = COLOR_TARGET.named(name)
    rows = np.arange(4 << 16, dtype="<u4").astype("<u2").view(np.uint8).reshape(512, -1)
    whole = picture(rows, layout, count=count)
    assert whole.shape == (512, 512, count)
    assert np.array_equal(whole, np.concatenate([picture(rows[n : n + 1], layout, count=count) for n in range(512)]))


def test_pictures_of_other_formats() -> None:
    r5g6b5 = np.array([0xF800, 0x07E0, 0x001F, 0x8410], "<u2").view(np.uint8).reshape(1, -1)
    found = picture(r5g6b5, COLOR_TARGET.named("R5G6B5"))[0].tolist()
    assert found == [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [132, 130, 132, 255]]
    halves = np.array([0.5, -1, 2, np.nan], np.float16).view(np.uint8).reshape(1, -1)
    assert picture(halves, COLOR_TARGET.named("RF16_GF16_BF16_AF16"))[0].tolist() == [[128, 0, 255, 0]]
    grey = np.array([[7, 200]], np.uint8)
    assert picture(grey, TWOD.named("Y8"))[0].tolist() == [[7, 7, 7, 255], [200, 200, 200, 255]]
    assert picture(grey, COLOR_TARGET.named("A8"))[0].tolist() == [[0, 0, 0, 7], [0, 0, 0, 200]]


def test_integers_are_clamped() -> None:
    assert to_rgba8(np.array([[[-5, 0, 255, 300]]], np.int32)).tolist() == [[[0, 0, 255, 255]]]
    assert to_rgba8(np.array([[[0, 1, 2**32 - 1, 7]]], np.uint32)).tolist() == [[[0, 1, 255, 7]]]


# Encoding


@pytest.mark.parametrize("layout", COLOURS, ids=name_of)
def test_bytes_survive_decoding_and_encoding(layout: PixelLayout) -> None:
    rng = random.Random(layout.name)
    rows = np.frombuffer(rng.randbytes(layout.bytes * 200), np.uint8).reshape(2, -1)
    found = encode(decode(rows, layout), layout)
    again = found.reshape(-1, layout.bytes)
    for new, old in zip(again.tolist(), rows.reshape(-1, layout.bytes).tolist(), strict=True):
        after, before = int.from_bytes(new, "little"), int.from_bytes(old, "little")
        for component, type, lo, width in parts_of(layout.name):
            mask = (1 << width) - 1
            a, b = after >> lo & mask, before >> lo & mask
            if component in "XZ":
                assert a == 0
            elif component == "O":
                assert a == mask
            elif type == "float" and math.isnan(value_of(type, b, width)):
                assert math.isnan(value_of(type, a, width))
            elif type == "snorm" and b == 1 << (width - 1):
                assert a == b + 1  # both mean -1
            elif type == "unorm" and width == 32:
                assert abs(a - b) <= 128  # 24 bits of a float
            else:
                assert a == b, layout.name
    once = decode(rows, layout)
    assert np.array_equal(decode(found, layout), once, equal_nan=once.dtype.kind == "f")


@given(st.floats(width=32, allow_nan=False), st.sampled_from(["R8", "RN8", "R16", "RN16", "R32", "A8", "R5G6B5"]))
def test_normalised_components_round_to_the_nearest_step(value: float, name: str) -> None:
    layout = COLOR_TARGET.named(name)
    word = int.from_bytes(encode(np.full((1, 1, 4), value, np.float32), layout).tobytes(), "little")
    for component, type, lo, width in parts_of(name):
        assert component in "RGBA"
        # The product with a step count of 32 bits is not exact in double precision.
        slack = 1 if width == 32 else 0
        assert abs((word >> lo & ((1 << width) - 1)) - code_of(type, value, width)) <= slack


def test_small_floats_round_to_the_nearest() -> None:
    rng = random.Random(4)
    values = [0.0, -0.0, -3.5, math.inf, -math.inf, math.nan, 1.0, 65024.0, 65279.0, 65280.0, 64512.0, 1e30, 2.0**-20]
    values += [2.0**-21, 2.0**-15, 2.0**-14, 2.0**-14 * 0.999]
    for code in (0, 1, 5, 63, 64, 100, 1000, 1982):
        middle = (small_float(code, 11) + small_float(code + 1, 11)) / 2
        values += [middle, float(np.nextafter(np.float32(middle), np.float32(0)))]
    values += [math.ldexp(rng.random(), rng.randint(-22, 17)) for _ in range(40)]
    singles = np.array(values, np.float32)
    pixels = np.repeat(singles[None, :, None], 4, axis=2)
    words = encode(pixels, COLOR_TARGET.named("BF10GF11RF11")).view("<u4")[0].tolist()
    for word, value in zip(words, singles.tolist(), strict=True):
        expected = nearest_small(value, 11) | nearest_small(value, 11) << 11 | nearest_small(value, 10) << 22
        assert word == expected, value


def test_integers_are_clamped_to_their_format() -> None:
    values = np.array([[[-300, 300, 5, -1]]], np.int64)
    assert encode(values, COLOR_TARGET.named("AU8BU8GU8RU8"))[0].tolist() == [0, 255, 5, 0]
    assert encode(values, COLOR_TARGET.named("AS8BS8GS8RS8")).view(np.int8)[0].tolist() == [-128, 127, 5, -1]
    large = np.array([[[2**32 - 1, 0, 0, 0]]], np.uint32)
    assert encode(large, COLOR_TARGET.named("RU32")).view("<u4")[0, 0] == 2**32 - 1
    assert encode(large, COLOR_TARGET.named("RS32")).view("<i4")[0, 0] == 2**31 - 1
    floats = np.array([[[1.75, np.nan, -2.5, 1e9]]], np.float32)
    assert encode(floats, COLOR_TARGET.named("AS8BS8GS8RS8")).view(np.int8)[0].tolist() == [1, 0, -2, 127]


def test_srgb_targets_hold_encoded_values() -> None:
    values = np.array([[[0.5, 0.21586050, 2.0, 0.5]]], np.float32)
    assert encode(values, COLOR_TARGET.named("A8BL8GL8RL8"))[0].tolist() == [188, 128, 255, 128]


# Depth


@pytest.mark.parametrize("layout", list(DEPTH.values()), ids=name_of)
def test_depth_formats(layout: PixelLayout) -> None:
    rng = random.Random(layout.name)
    rows = np.frombuffer(rng.randbytes(layout.bytes * 50), np.uint8).reshape(2, -1)
    depth, stencil = decode_depth(rows, layout)
    # Of V8Z24 and the like only the letters count: the rest is read by the same rule as colours.
    parts = {c: (type, lo, width) for c, type, lo, width in parts_of(layout.name) if c in "ZS"}
    for name, found in (("Z", depth), ("S", stencil)):
        assert (found is None) == (name not in parts)
        if found is None:
            continue
        type, lo, width = parts[name]
        for value, pixel in zip(found.ravel(), rows.reshape(-1, layout.bytes), strict=True):
            code = int.from_bytes(pixel.tobytes(), "little") >> lo & ((1 << width) - 1)
            expected = code if name == "S" else value_of(type, code, width)
            assert value == expected or (math.isnan(value) and math.isnan(expected))
    again = decode_depth(encode_depth(depth, stencil, layout), layout)
    for one, two in zip((depth, stencil), again, strict=True):
        assert (one is None and two is None) or np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def test_depth_and_stencil_lie_where_the_sheet_says() -> None:
    pixel = np.array([[0x44, 0x33, 0x22, 0x11]], np.uint8)
    assert decode_depth(pixel, DEPTH.named("Z24S8")) == (0x112233 / 0xFFFFFF, 0x44)
    assert decode_depth(pixel, DEPTH.named("S8Z24")) == (0x223344 / 0xFFFFFF, 0x11)
    assert decode_depth(pixel, TEXTURE.named("Z24S8")) == (0x112233 / 0xFFFFFF, 0x44)
    found = decode(pixel, TEXTURE.named("Z24S8"))[0, 0]
    assert found.tolist() == [0x44, np.float32(0x112233 / 0xFFFFFF), 0, 1]  # depth comes out in green
    found = decode(pixel, TEXTURE.named("S8Z24"))[0, 0]
    assert found.tolist() == [np.float32(0x223344 / 0xFFFFFF), 0x11, 0, 1]
    assert decode(pixel, TEXTURE.named("X8Z24"))[0, 0, 1] == 0


def test_depth_is_clamped_and_parts_can_be_left_out() -> None:
    layout = DEPTH.named("S8Z24")
    rows = encode_depth(np.array([[2.0, -1.0, np.nan]]), np.array([[1, 2, 3]], np.uint8), layout)
    assert rows.view("<u4")[0].tolist() == [0x01FFFFFF, 0x02000000, 0x03000000]
    assert encode_depth(None, np.array([[9]], np.uint8), layout).view("<u4")[0, 0] == 9 << 24
    assert encode_depth(np.array([[1.0]]), None, layout).view("<u4")[0, 0] == 0xFFFFFF


# Errors


def test_what_cannot_be_read_or_written() -> None:
    pixel = np.zeros((1, 4), np.uint8)
    colour = np.zeros((1, 1, 4), np.float32)
    for layout in (TEXTURE.named("R1"), TEXTURE.named("V8Z24__COV8R24V")):
        with pytest.raises(UsageError, match="no description"):
            decode(pixel, layout)
    for name in ("DXT1", "G8B8G8R8", "E5B9G9R9_SHAREDEXP", "R1"):
        with pytest.raises(UsageError, match="only be read"):
            encode(colour, TEXTURE.named(name))
    with pytest.raises(UsageError):
        decode(np.zeros((1, 5), np.uint8), TEXTURE.named("A8B8G8R8"))
    with pytest.raises(UsageError):
        decode(np.zeros(4, np.uint8), TEXTURE.named("A8B8G8R8"))
    with pytest.raises(UsageError):
        encode(np.zeros((1, 4), np.float32), COLOR_TARGET.named("R8"))
    with pytest.raises(UsageError):
        decode(pixel, TEXTURE.named("R8"), ("velvet",) * 4)
    with pytest.raises(UsageError, match="neither"):
        decode_depth(pixel, COLOR_TARGET.named("A8B8G8R8"))
    with pytest.raises(UsageError):
        encode_depth(np.zeros((1, 1)), np.zeros((1, 2)), DEPTH.named("S8Z24"))
    with pytest.raises(UsageError):
        encode_depth(None, None, DEPTH.named("S8Z24"))


@pytest.mark.parametrize("name", ["A8B8G8R8", "R5G6B5", "RF16_GF16", "RU32"])
def test_surfaces_without_pixels(name: str) -> None:
    layout = COLOR_TARGET.named(name)
    for height, width in ((0, 4), (3, 0), (0, 0)):
        rows = np.zeros((height, width * layout.bytes), np.uint8)
        values = decode(rows, layout)
        assert values.shape == picture(rows, layout).shape == (height, width, 4)
        assert encode(values, layout).shape == rows.shape
    depth, stencil = decode_depth(np.zeros((0, 8), np.uint8), DEPTH.named("Z24S8"))
    assert depth.shape == stencil.shape == (0, 2)
    assert encode_depth(depth, stencil, DEPTH.named("Z24S8")).shape == (0, 8)
