"""Texture units: formats, layout, wrapping, filtering, and when a decoded texture is old.

Sources: 3dbrew GPU/Internal Registers ("Texture unit registers"), GPU/Textures. Wrap codes 4 to 7 are those of one
public model, after console tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.pica_gpu import random_texture

from pocketgpu.facts.formats import TEXTURE_FORMATS
from pocketgpu.pica.memory import surface

# General code draws any state, specialised code one: both must match the models here.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

TEXTURES = (0x21000000, 0x21400000, 0x21800000)
CLAMP, BORDER, REPEAT, MIRROR = range(4)
BORDER_WORD = 0x44332211  # register order: red in the low byte
BORDER_COLOR = [0x11, 0x22, 0x33, 0x44]


def wrapped(c: int, size: int, code: int) -> int | None:
    """Texel of a coordinate by the table of the documents; None is the border colour."""
    if code == CLAMP or (code == 4 and c >= size):
        return min(max(c, 0), size - 1)
    if (code == BORDER and not 0 <= c < size) or (code == 5 and c >= size):
        return None
    if code == MIRROR:
        c %= 2 * size
        return min(c, 2 * size - 1 - c)
    return c % size


def lookup(texels: np.ndarray, s: int, t: int, wrap: tuple[int, int]) -> list[int]:
    """Colour of texel (s, t) of an array (height, width, 4) whose row 0 is t = 0."""
    height, width = texels.shape[:2]
    x, y = wrapped(s, width, wrap[0]), wrapped(t, height, wrap[1])
    return BORDER_COLOR if x is None or y is None else texels[y, x].tolist()


# -- formats and layout -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", TEXTURE_FORMATS)
@pytest.mark.parametrize(("width", "height"), [(16, 16), (8, 32), (64, 8)])
def test_formats_decode_as_the_surface_reader_does(
    make_gpu: Callable[..., Any], rng: Any, format: int, width: int, height: int
) -> None:
    pixel = TEXTURE_FORMATS[format]
    data = rng.integers(0, 256, surface.byte_size(pixel, width, height, "tiled"), np.uint8).tobytes()
    gpu = make_gpu(width, height)
    gpu.texture_data(0, data, format, width, height)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert not gpu.ids
    assert (gpu.pixels() == surface.decode(data, pixel, width, height, "tiled")[::-1]).all()


@pytest.mark.parametrize(
    ("format", "data", "expected"),
    [
        (0, b"\x01\x02\x03\x04", [4, 3, 2, 1]), (1, b"\x01\x02\x03", [3, 2, 1, 255]), (2, b"\x3f\xf8", [255, 0, 255,
        255]),
        (2, b"\x00\x80", [132, 0, 0, 0]), (3, b"\x1f\xf8", [255, 0, 255, 255]), (3, b"\x00\x04", [0, 130, 0, 255]),
        (4, b"\x34\x12", [17, 34, 51, 68]), (5, b"\x12\x34", [0x34, 0x34, 0x34, 0x12]), (6, b"\x12\x34", [0x34, 0x12,
        0, 255]),
        (7, b"\x56", [0x56, 0x56, 0x56, 255]), (8, b"\x56", [0, 0, 0, 0x56]), (9, b"\x5a", [85, 85, 85, 170]),
    ],
)  # fmt: skip
def test_pixel_words_by_hand(gpu: Any, format: int, data: bytes, expected: list[int]) -> None:
    gpu.texture_data(0, data * 64, format, 8, 8)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert (gpu.pixels() == expected).all()


@pytest.mark.parametrize(("format", "channel"), [(10, 0), (11, 3)])
def test_four_bit_formats_have_the_even_texel_in_the_low_half(gpu: Any, format: int, channel: int) -> None:
    gpu.target(8, 8)
    gpu.texture_data(0, b"\x21" + bytes(31), format, 8, 8)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert gpu.pixels()[7, 0, channel] == 17
    assert gpu.pixels()[7, 1, channel] == 34


@pytest.mark.parametrize("code", [14, 15])
def test_undefined_formats_are_black_and_reported(gpu: Any, code: int) -> None:
    gpu.texture_data(0, b"\xff" * 1024, code, 16, 16)
    gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert (gpu.color_words() == 0).all()
    assert gpu.ids


def etc1_block(word: int) -> np.ndarray:
    """A 4x4 block of a 64-bit word, as (row, column, rgb)."""
    tables = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))
    out = np.zeros((4, 4, 3), int)
    flip, differential = word >> 32 & 1, word >> 33 & 1
    for y in range(4):
        for x in range(4):
            second = (y if flip else x) >= 2
            k = 4 * x + y
            size = tables[word >> (34 if second else 37) & 7][word >> k & 1]
            for c, at in enumerate((56, 48, 40)):
                if differential:
                    base = word >> at + 3 & 31
                    delta = word >> at & 7
                    base += (delta - 8 if delta > 3 else delta) if second else 0
                    base = base & 31
                    base = base << 3 | base >> 2
                else:
                    base = (word >> at + (0 if second else 4) & 15) * 17
                out[y, x, c] = min(max(base + (-size if word >> 16 + k & 1 else size), 0), 255)
    return out


def test_etc1_blocks_match_a_bit_by_bit_model(gpu: Any, rng: Any) -> None:
    """All four blocks of a tile, with and without alpha blocks, both modes, both directions of the halves."""
    gpu.target(8, 8)
    gpu.show()
    for trial in range(40):
        words = [int(w) for w in rng.integers(0, 1 << 63, 4)]
        alphas = [int(w) for w in rng.integers(0, 1 << 63, 4)]
        image = np.zeros((8, 8, 4), int)
        for n, (word, alpha) in enumerate(zip(words, alphas, strict=True)):
            y, x = n // 2 * 4, n % 2 * 4
            image[y : y + 4, x : x + 4, :3] = etc1_block(word)
            grid = [[(alpha >> 4 * (4 * i + j) & 15) * 17 for i in range(4)] for j in range(4)]
            image[y : y + 4, x : x + 4, 3] = grid if trial % 2 else 255
        parts = [w.to_bytes(8, "little") for w in words]
        if trial % 2:
            parts = [a.to_bytes(8, "little") + p for a, p in zip(alphas, parts, strict=True)]
        gpu.texture_data(0, b"".join(parts), 12 + trial % 2, 8, 8)
        gpu.set(TEXUNIT_CONFIG=0x11001)
        gpu.span(0, 1, 0, 1)
        gpu.run()
        assert (gpu.pixels()[::-1] == image).all()


def test_first_texel_in_memory_is_the_upper_left_one(make_gpu: Callable[..., Any]) -> None:
    """v = 0 is the last row of memory; texels (1,0), (0,1), (2,0), (7,7) are numbers 1, 2, 4, 63; tiles go by rows."""
    gpu = make_gpu(16, 24)
    gpu.show()
    for number, x, y in (
        (0, 0, 0),
        (1, 1, 0),
        (2, 0, 1),
        (4, 2, 0),
        (63, 7, 7),
        (64, 8, 0),
        (128, 0, 8),
        (383, 15, 23),
    ):
        data = np.zeros(16 * 24, "<u4")
        data[number] = 0xFFFFFFFF
        gpu.texture_data(0, data.tobytes(), 0, 16, 24)
        gpu.set(TEXUNIT_CONFIG=0x11001)
        gpu.span(0, 1, 0, 1)
        gpu.run()
        assert np.argwhere(gpu.covered()).tolist() == [[23 - y, x]]


def test_size_register_has_the_height_in_its_low_half(make_gpu: Callable[..., Any]) -> None:
    """A texture of 16x8."""
    words, colors = random_texture(1, 16, 8)
    gpu = make_gpu(16, 8)
    gpu.texture(0, words)
    gpu.write(0x82, 16 << 16 | 8)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert (gpu.pixels() == colors).all()


# -- wrapping ---------------------------------------------------------------------------------------------------------


def coordinates(low: float, high: float, count: int) -> np.ndarray:
    """Coordinates at pixel centres."""
    return low + (np.arange(count) + 0.5) / count * (high - low)


@pytest.mark.parametrize("wrap_s", range(8))
@pytest.mark.parametrize(("width", "height"), [(8, 8), (16, 8), (24, 40)])
def test_wrap_codes_match_the_table(make_gpu: Callable[..., Any], wrap_s: int, width: int, height: int) -> None:
    """From -2.5 to 2.5 textures, each axis with each code; sizes that are powers of two and not."""
    words, colors = random_texture(width, width, height)
    gpu = make_gpu(5 * width, 5 * height)
    gpu.texture(0, words)
    for wrap_t in {wrap_s, (wrap_s + 3) % 8, (wrap_s + 5) % 8}:
        wrap = (wrap_s, wrap_t)
        gpu.write(0x81, BORDER_WORD, width << 16 | height, wrap[0] << 12 | wrap[1] << 8, each=True)
        gpu.show()
        gpu.span(-2.5, 2.5, -2.5, 2.5)
        gpu.run()
        s = np.floor(coordinates(-2.5, 2.5, 5 * width) * width).astype(int)
        t = np.floor(coordinates(-2.5, 2.5, 5 * height) * height).astype(int)
        columns, rows = ([wrapped(int(c), n, m) for c in a] for a, n, m in ((s, width, wrap[0]), (t, height, wrap[1])))
        expected = np.array([[BORDER_COLOR if x is None or y is None else colors[y, x] for x in columns] for y in rows])
        assert (gpu.pixels() == expected).all(), wrap


@pytest.mark.parametrize("format", TEXTURE_FORMATS)
def test_every_format_under_every_wrap_code(make_gpu: Callable[..., Any], rng: Any, format: int) -> None:
    pixel = TEXTURE_FORMATS[format]
    data = rng.integers(0, 256, surface.byte_size(pixel, 8, 8, "tiled"), np.uint8).tobytes()
    colors = surface.decode(data, pixel, 8, 8, "tiled")[::-1]
    gpu = make_gpu(32, 32)
    gpu.show()
    c = np.floor(coordinates(-1.5, 2.5, 32) * 8).astype(int)
    for code in range(8):
        gpu.texture_data(0, data, format, 8, 8, wrap=(code, code), border=BORDER_WORD)
        gpu.span(-1.5, 2.5, -1.5, 2.5)
        gpu.run()
        places = [wrapped(int(i), 8, code) for i in c]
        expected = np.array(
            [[BORDER_COLOR if x is None or y is None else colors[y, x] for x in places] for y in places]
        )
        assert (gpu.pixels() == expected).all(), code


def test_repeat_in_s_only(gpu: Any) -> None:
    """S has bits 14:12, T bits 10:8."""
    words, colors = random_texture(4, 8, 8)
    gpu.texture(0, words)
    gpu.write(0x83, REPEAT << 12 | CLAMP << 8)
    gpu.show()
    gpu.span(1, 3, 1, 3)
    gpu.run()
    assert (gpu.pixels() == colors[7, np.arange(16) % 8]).all()


def test_coordinates_just_below_zero_belong_to_the_last_texel(gpu: Any) -> None:
    words, colors = random_texture(4, 8, 8)
    gpu.texture(0, words)
    gpu.show()
    gpu.span(-0.01, -0.01, -0.01, -0.01)
    gpu.run()
    assert (gpu.pixels() == colors[7, 7]).all()


@pytest.mark.parametrize("value", [1e6, -1e6, 1e30, -1e30, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("linear", [False, True])
def test_absurd_coordinates_read_some_texel(gpu: Any, value: float, linear: bool) -> None:
    texels = np.full((8, 8), 0xFF00FF00, np.uint32)
    gpu.show()
    for code in range(8):
        gpu.texture(0, texels, linear=linear, wrap=(code, code), border=0x00FF00FF)
        gpu.put_color(np.zeros((16, 16), np.uint32))
        gpu.quad(uv0=[(value, value, 1, 1)] * 4)
        gpu.run()
        assert set(np.unique(gpu.color_words()).tolist()) <= {0xFF00FF00}


# -- filtering --------------------------------------------------------------------------------------------------------


def bilinear(colors: np.ndarray, u: np.ndarray, v: np.ndarray, wrap: tuple[int, int]) -> np.ndarray:
    """In floats: c = coordinate * size - 0.5, four taps, each wrapped by itself."""
    height, width = colors.shape[:2]
    out = np.zeros((len(v), len(u), 4))
    for j, t in enumerate(v * height - 0.5):
        for i, s in enumerate(u * width - 0.5):
            x, y = int(np.floor(s)), int(np.floor(t))
            fx, fy = s - x, t - y
            for dx, dy, weight in (
                (0, 0, (1 - fx) * (1 - fy)),
                (1, 0, fx * (1 - fy)),
                (0, 1, (1 - fx) * fy),
                (1, 1, fx * fy),
            ):
                out[j, i] += weight * np.array(lookup(colors, x + dx, y + dy, wrap))
    return out


@pytest.mark.parametrize("code", range(8))
@pytest.mark.parametrize(("width", "height"), [(8, 8), (24, 16)])
def test_linear_filter_is_within_one_step_of_floats(
    make_gpu: Callable[..., Any], code: int, width: int, height: int
) -> None:
    words, colors = random_texture(code, width, height)
    gpu = make_gpu(48, 48)
    wrap = (code, (code + 2) % 8)
    gpu.texture(0, words, linear=True, wrap=wrap, border=BORDER_WORD)
    gpu.show()
    low, high = -1.27, 2.31
    gpu.span(low, high, low, high)
    gpu.run()
    c = coordinates(low, high, 48)
    # Weights have 8 bits: the worst case is a difference of 255 with both fractions off by half a step.
    assert np.abs(gpu.pixels() - bilinear(colors, c, c, wrap)).max() <= 1 + 255 / 256


def test_linear_filter_of_smooth_textures_is_within_one_step(make_gpu: Callable[..., Any]) -> None:
    """Where neighbours differ by at most 64 the eight bits of a weight cost less than half a step."""
    y, x = np.mgrid[:16, :16]
    colors = np.stack([x * 16, y * 16, (x + y) * 8, 255 - x * 8], axis=-1)
    words = (colors * np.array([1 << 24, 1 << 16, 1 << 8, 1])).sum(axis=-1).astype(np.uint32)
    gpu = make_gpu(64, 64)
    gpu.texture(0, words, linear=True, wrap=(CLAMP, CLAMP))
    gpu.show()
    gpu.span(0.01, 0.97, 0.03, 0.99)
    gpu.run()
    expected = bilinear(colors, coordinates(0.01, 0.97, 64), coordinates(0.03, 0.99, 64), (CLAMP, CLAMP))
    assert np.abs(gpu.pixels() - expected).max() <= 1


@pytest.mark.parametrize("linear", [False, True])
def test_texel_centres_give_the_texel_with_either_filter(gpu: Any, linear: bool) -> None:
    words, colors = random_texture(3, 16, 16)
    gpu.texture(0, words, linear=linear)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    assert (gpu.pixels() == colors).all()


@pytest.mark.parametrize(
    ("value", "param", "linear"), [("nearest", 6, False), ("linear", 0, True), ("as-programmed", 6, True)]
)
def test_filter_may_be_chosen_from_outside(make_gpu: Callable[..., Any], value: str, param: int, linear: bool) -> None:
    words, colors = random_texture(3, 8, 8)
    gpu = make_gpu(texture__filter=value)
    gpu.texture(0, words)
    gpu.write(0x83, 0x2200 | param)
    gpu.show()
    gpu.span(0, 1, 0, 1)
    gpu.run()
    nearest = colors[np.arange(16) // 2][:, np.arange(16) // 2]
    assert (gpu.pixels() == nearest).all() == (not linear)


@pytest.mark.parametrize(
    ("param", "linear"), [(2, (True, False)), (4, (False, True)), (6, (True, True)), (0, (False, False))]
)
def test_magnification_and_minification_have_their_own_filter(gpu: Any, param: int, linear: tuple[bool, bool]) -> None:
    """Bit 1 counts up to one texel a pixel, bit 2 beyond."""
    words, colors = random_texture(12, 16, 16)
    for magnified in (True, False):
        gpu.texture(0, words)
        gpu.write(0x83, 0x2200 | param)
        gpu.show()
        size = 0.9 if magnified else 1.1
        gpu.span(0, size, 0, size)
        gpu.run()
        c = coordinates(0, size, 16)
        near = np.array([[lookup(colors, int(u * 16), int(v * 16), (2, 2)) for u in c] for v in c])
        expected = bilinear(colors, c, c, (2, 2)) if linear[not magnified] else near
        assert np.abs(gpu.pixels() - expected).max() <= 2


# -- units ------------------------------------------------------------------------------------------------------------


def test_units_have_their_own_textures_and_coordinates(gpu: Any) -> None:
    textures = [random_texture(i, 16, 16) for i in range(3)]
    for unit, (words, _) in enumerate(textures):
        gpu.texture(unit, words)
    for unit in range(3):
        gpu.show(unit)
        gpu.set(TEXUNIT_CONFIG=0x1007)
        shift = [(0, 0), (0, 0), (0, 0)]
        shift[unit] = (3 / 16, 5 / 16)
        uv = lambda x, y: [(x + du, y + dv) for du, dv in shift]  # noqa: B023, E731
        corners = [uv(0, 0), uv(1, 0), uv(0, 1), uv(1, 1)]
        gpu.quad(uv0=[(*c[0], 1, 1) for c in corners], uv12=[(*c[1], *c[2]) for c in corners])
        gpu.run()
        assert (gpu.pixels() == np.roll(textures[unit][1], (-5, -3), axis=(0, 1))).all()


def test_third_unit_can_use_the_second_set_of_coordinates(gpu: Any) -> None:
    words, colors = random_texture(8, 16, 16)
    gpu.texture(2, words)
    corners = [(0, 0), (1, 0), (0, 1), (1, 1)]
    for bit, expected in ((0, np.full((16, 16, 4), colors[8, 8])), (1 << 13, colors)):
        gpu.show(2, bit)
        gpu.quad(uv12=[(u, v, 0.53, 0.53) for u, v in corners])
        gpu.run()
        assert (gpu.pixels() == expected).all()


def test_plain_textures_do_not_divide_by_the_third_coordinate(gpu: Any) -> None:
    words, colors = random_texture(8, 16, 16)
    gpu.texture(0, words)
    gpu.show()
    gpu.quad(uv0=[(0, 0, 3, 1), (1, 0, 0.5, 1), (0, 1, -1, 1), (1, 1, 0, 1)])
    gpu.run()
    assert (gpu.pixels() == colors).all()


def test_coordinates_are_interpolated_in_perspective(make_gpu: Callable[..., Any]) -> None:
    words, colors = random_texture(8, 8, 8)
    gpu = make_gpu(32, 32)
    gpu.texture(0, words)
    gpu.show()
    # A rectangle that leans away to the right: clip x = 4s - 1, y = 2t - 1, w = 2s + 1 for s, t = 0..1.
    corners = [(0, 0), (1, 0), (0, 1), (1, 1)]
    position = [(4 * p - 1, 2 * q - 1, -0.5, 2 * p + 1) for p, q in corners]
    gpu.draw(position, uv0=[(p, q, 1, 1) for p, q in corners], mode=1)
    gpu.run()
    y, x = (np.mgrid[:32, :32] + 0.5) / 16 - 1
    u = (x + 1) / (4 - 2 * x)
    v = (y * (1 + 2 * u) + 1) / 2
    far = lambda a: np.abs(a * 8 - np.rint(a * 8)) > 0.05  # noqa: E731
    sure = far(u) & far(v) & (v > 0.02) & (v < 0.98)
    assert sure.sum() > 300
    expected = colors[np.floor(v * 8).astype(int).clip(0, 7), np.floor(u * 8).astype(int).clip(0, 7)]
    assert (gpu.pixels()[sure] == expected[sure]).all()


@pytest.mark.parametrize("unit", range(3))
def test_unit_that_is_switched_off_gives_zeros(gpu: Any, unit: int) -> None:
    gpu.texture(unit, np.full((8, 8), 0xFFFFFFFF, np.uint32))
    gpu.show(unit)
    gpu.set(TEXUNIT_CONFIG=0x1000 | 7 & ~(1 << unit))
    gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0).all()


def test_type_5_of_unit_0_is_off(gpu: Any) -> None:
    gpu.texture(0, np.full((8, 8), 0xFFFFFFFF, np.uint32))
    gpu.write(0x83, 5 << 28)
    gpu.show()
    gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0).all()
    assert not gpu.ids


def test_enabled_unit_without_an_address_is_opaque_black(gpu: Any) -> None:
    gpu.texture(0, np.full((8, 8), 0xFFFFFFFF, np.uint32))
    gpu.write(0x85, 0)
    gpu.show()
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0xFF).all()


@pytest.mark.parametrize(
    ("address", "width", "height"),
    [(0x30000000, 8, 8), (0x27FFFFC0, 8, 8), (0x185FFF00, 64, 64), (0x10000000, 8, 8), (0x20000000, 0, 8), (0x20000000,
     8, 0),
     (0x20000000, 4, 8), (0x7FFFFFF8, 2047, 2047)],
)  # fmt: skip
def test_textures_that_leave_memory_are_black_and_reported(gpu: Any, address: int, width: int, height: int) -> None:
    gpu.texture(0, np.full((8, 8), 0xFFFFFFFF, np.uint32))
    gpu.write(0x82, width << 16 | height)
    gpu.write(0x85, address >> 3)
    gpu.show()
    gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
    gpu.quad()
    gpu.run()
    assert (gpu.pixels()[..., :3] == 0).all()
    assert [event.kind for event in gpu.events] == ["fault"]


@pytest.mark.parametrize(("width", "height"), [(1024, 1024), (2040, 8), (8, 2040), (520, 24)])
def test_large_textures(make_gpu: Callable[..., Any], width: int, height: int) -> None:
    words, colors = random_texture(2, width, height)
    gpu = make_gpu(8, 8)
    gpu.texture(0, words)
    gpu.show()
    x, y = width - 8, height - 8
    gpu.span(x / width, 1, y / height, 1)
    gpu.run()
    assert (gpu.pixels() == colors[y:, x:]).all()


def test_more_textures_than_the_decoder_keeps(make_gpu: Callable[..., Any]) -> None:
    """40 textures of 4 MiB in one list, each used twice; decoded ones must not be mixed up when room runs out."""
    gpu = make_gpu(40, 8)
    for i in range(40):
        gpu.memory.write(
            0x22000000 + 4096 * i, np.full(1024 * 1024, 0x01010101 * i, "<u4")[: 1024 * 1024 // 16].tobytes()
        )
    gpu.show()
    for part in range(2):
        for i in range(40):
            gpu.write(0x82, 1024 << 16 | 1016)
            gpu.write(0x83, 0x2200)
            gpu.write(0x85, 0x22000000 + 4096 * i >> 3)
            gpu.write(0x8E, 0)
            left = i / 20 - 1
            # the first tile in memory: u from 0, v just below 1
            gpu.quad((left, part - 1, left + 1 / 20, part), uv0=(0.001, 0.9995, 1, 1))
    gpu.run()
    assert (gpu.color_words() == np.arange(40) * 0x01010101).all()


@pytest.mark.parametrize("width", [9, 12, 15, 20])
def test_widths_that_are_no_multiple_of_eight_follow_the_address_formula(
    make_gpu: Callable[..., Any], width: int
) -> None:
    """Rows of tiles are (width >> 3) tiles long and so overlap; nothing of what was decoded before may show."""
    data = np.random.default_rng(width).integers(0, 1 << 32, 1024, np.uint64).astype("<u4")
    height = 16
    y, x = np.mgrid[:height, :width]
    inside = sum(((x >> b & 1) << 2 * b) + ((y >> b & 1) << 2 * b + 1) for b in range(3))
    expected = data[((y >> 3) * (width >> 3) + (x >> 3)) * 64 + inside][::-1]
    for before in (False, True):
        gpu = make_gpu(64, 16)
        gpu.show()
        if before:
            gpu.texture_data(0, b"\xee" * 65536, 0, 128, 128)
            gpu.quad()
            gpu.run()

        gpu.texture_data(0, data.tobytes(), 0, width, height)
        gpu.span(0, 64 / width, 0, 1)
        gpu.run()
        assert (gpu.color_words()[:, :width] == expected).all()


# -- freshness --------------------------------------------------------------------------------------------------------


def full(gpu: Any) -> int:
    """Draw the texture over everything; the one colour that shows."""
    gpu.quad()
    gpu.run()
    words = np.unique(gpu.color_words())
    assert len(words) == 1
    return int(words[0])


def prepare(gpu: Any) -> None:
    gpu.texture(0, np.full((8, 8), 0x11111111, np.uint32))
    gpu.show()
    assert full(gpu) == 0x11111111


def test_texture_written_by_the_processor_is_seen(gpu: Any) -> None:
    prepare(gpu)
    gpu.memory.write(TEXTURES[0], b"\x22" * 256)
    assert full(gpu) == 0x22222222


def test_texture_written_by_a_fill_is_seen(gpu: Any) -> None:
    prepare(gpu)
    for name, value in {
        "START": TEXTURES[0] >> 3,
        "END": TEXTURES[0] + 256 >> 3,
        "VALUE": 0x33333333,
        "CONTROL": 0x201,
    }.items():
        gpu.poke(f"PSC0_{name}", value)
    assert full(gpu) == 0x33333333


def test_texture_written_by_a_transfer_is_seen(gpu: Any) -> None:
    prepare(gpu)
    gpu.memory.write(0x22000000, b"\x44" * 256)
    for name, value in {
        "INPUT_ADDRESS": 0x22000000 >> 3, "OUTPUT_ADDRESS": TEXTURES[0] >> 3, "FLAGS": 8, "COPY_SIZE": 256,
        "CONTROL": 1,
    }.items():  # fmt: skip
        gpu.poke(f"PPF_{name}", value)
    assert full(gpu) == 0x44444444


def test_texture_drawn_in_the_same_list_is_seen(gpu: Any) -> None:
    """Render to texture and back, twice, without the processor in between."""
    prepare(gpu)
    for value in (0x55, 0x66):
        gpu.set(COLORBUFFER_LOC=TEXTURES[0] >> 3, FRAMEBUFFER_DIM=8 | 7 << 12 | 1 << 24)
        gpu.stage(0, sources=(0, 0, 0))
        gpu.quad(color=(value / 255,) * 4)
        gpu.set(COLORBUFFER_LOC=0x18000000 >> 3, FRAMEBUFFER_DIM=16 | 15 << 12 | 1 << 24)
        gpu.stage(0, sources=(3, 0, 0))
        gpu.quad((-1, -1, 0, 1) if value == 0x55 else (0, -1, 1, 1))
    gpu.run()
    words = gpu.color_words()
    assert (words[:, :8] == 0x55555555).all()
    assert (words[:, 8:] == 0x66666666).all()


def test_texture_address_and_format_changes_are_seen(gpu: Any) -> None:
    prepare(gpu)
    gpu.memory.write(TEXTURES[1], b"\x77" * 256)
    gpu.write(0x85, TEXTURES[1] >> 3)
    assert full(gpu) == 0x77777777
    gpu.write(0x8E, 7)
    assert full(gpu) == 0x777777FF
    gpu.memory.restore(gpu.memory.snapshot())
    assert full(gpu) == 0x777777FF
