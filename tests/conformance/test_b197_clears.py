"""Clears: colour and depth targets in both layouts, clear values by format, and everything that limits a clear."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from .switch_client import Client, block_linear, f32

CLEAR = 0x674
Z, STENCIL, R, G, B, A = (1 << n for n in range(6))
RGBA = R | G | B | A
COLOUR = (1.0, 0.5, 0.0, 0.25)
PIXEL = bytes((255, 128, 0, 64))
"""COLOUR as unsigned normalised bytes: halves are rounded up."""
PITCH = 1 << 12
WIDTH, HEIGHT = 48, 24


def colour_target(
    client: Client, slot: int = 0, width: int = WIDTH, height: int = HEIGHT, format: int = 0xD5, memory: int = PITCH,
    layers: int = 1, stride: int = 0, layer: int = 0, size: int = 0x10000, fill: int = 0x11,
) -> int:  # fmt: skip
    """A colour target in fresh memory; `width` is in bytes if the layout is pitch. Returns its address."""
    address = client.room(size, fill)
    registers = (address >> 32, address & 0xFFFFFFFF, width, height, format, memory, layers, stride // 4, layer)
    client.put(0x200 + 16 * slot, *registers)
    return address


def depth_target(
    client: Client, format: int, width: int = WIDTH, height: int = HEIGHT, block: int = 0, layers: int = 1,
    stride: int = 0, fill: int = 0x11,
) -> int:  # fmt: skip
    address = client.room(0x10000, fill)
    client.put(0x3F8, address >> 32, address & 0xFFFFFFFF, format, block << 4, stride // 4)
    client.put(0x48A, width, height, layers)
    client.put(0x54E, 1)
    return address


@pytest.fixture
def client() -> Client:
    made = Client()
    made.put(0x3FD, WIDTH << 16, HEIGHT << 16)
    made.put(0x360, *map(f32, COLOUR))
    made.put(0x364, f32(0.75))
    made.put(0x368, 0xA5)
    made.put(0x0DF, 1)
    return made


Rectangle = tuple[int, int, int, int]


def mask(rectangle: Rectangle, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """Which pixels lie in (left, top, right, bottom)."""
    left, top, right, bottom = rectangle
    found = np.zeros((height, width), bool)
    found[top:bottom, left:right] = True
    return found


def pitch_picture(client: Client, address: int, size: int = 4, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """(height, width, size) bytes of a pitch target whose lines follow each other."""
    return np.frombuffer(client.get(address, width * size * height), np.uint8).reshape(height, width, size)


def blocks_picture(
    client: Client, address: int, size: int, block: int = 0, width: int = WIDTH, height: int = HEIGHT
) -> np.ndarray:
    """(height, width, size) bytes of a block-linear target, by the documented order of bytes."""
    data = client.get(address, 0x10000)
    where = lambda x, y: block_linear(x * size, y, width * size, 1 << block)  # noqa: E731
    rows = [[data[where(x, y) : where(x, y) + size] for x in range(width)] for y in range(height)]
    return np.array([[list(pixel) for pixel in row] for row in rows], np.uint8)


def check_cleared(picture: np.ndarray, where: np.ndarray, pixel: bytes | Iterable[int], left: int = 0x11) -> None:
    """`pixel` where the mask says, untouched memory everywhere else."""
    expected = np.full_like(picture, left)
    expected[where] = list(pixel)
    assert np.array_equal(picture, expected)


# -- colour targets ---------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x200", "b197.0x360")
@pytest.mark.parametrize("slot", [0, 3, 7])
def test_a_clear_fills_the_target_that_it_names(client: Client, slot: int) -> None:
    others = [colour_target(client, n, WIDTH * 4) for n in range(8)]
    client.put(CLEAR, RGBA | slot << 6)
    for number, address in enumerate(others):
        whole = mask((0, 0, WIDTH, HEIGHT)) if number == slot else mask((0, 0, 0, 0))
        check_cleared(pitch_picture(client, address), whole, PIXEL)
    (record,) = client.logged("Clear")
    assert (record.slot, record.format, record.address) == (slot, "A8B8G8R8", others[slot])
    assert record.rectangle == (0, 0, WIDTH, HEIGHT) and client.events() == []


@pytest.mark.row("b197.0x202")
def test_width_is_bytes_from_line_to_line_in_pitch_layout(client: Client) -> None:
    address = colour_target(client, width=256)
    client.put(CLEAR, RGBA)
    lines = np.frombuffer(client.get(address, 256 * HEIGHT), np.uint8).reshape(HEIGHT, 64, 4)
    check_cleared(lines, mask((0, 0, WIDTH, HEIGHT), 64), PIXEL)


@pytest.mark.row("b197.0x202", "b197.0x205")
@pytest.mark.parametrize("block", [0, 1, 4])
def test_width_is_pixels_in_blocks_whose_height_the_layout_names(client: Client, block: int) -> None:
    address = colour_target(client, width=WIDTH, memory=block << 4)
    client.put(0x3FD, WIDTH - 5 << 16 | 2, HEIGHT - 3 << 16 | 1)
    client.put(CLEAR, RGBA)
    picture = blocks_picture(client, address, 4, block)
    check_cleared(picture, mask((2, 1, WIDTH - 3, HEIGHT - 2)), PIXEL)


@pytest.mark.row("b197.0x203")
def test_height_ends_the_target(client: Client) -> None:
    address = colour_target(client, width=WIDTH * 4, height=10)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((0, 0, WIDTH, 10)), PIXEL)


@pytest.mark.row("b197.0x204", "b197.0x360")
@pytest.mark.parametrize(
    ("format", "size", "values", "expected"),
    [
        (0xD5, 4, [f32(v) for v in COLOUR], PIXEL),
        (0xCF, 4, [f32(v) for v in COLOUR], bytes((0, 128, 255, 64))),
        (0xD6, 4, [f32(v) for v in (0.5, 0.0, 1.0, 0.5)], bytes((128, 0, 255, 128))),  # SRGB_WRITE is off
        (0xE8, 2, [f32(v) for v in (1.0, 0.5, 0.0, 0.0)], struct.pack("<H", 31 << 11 | 32 << 5)),
        (0xD1, 4, [f32(v) for v in (1.0, 0.0, 0.5, 1.0)], struct.pack("<I", 3 << 30 | 512 << 20 | 1023)),
        (0xC0, 16, [f32(v) for v in (1.5, -2.0, 1e-42, 3e38)], struct.pack("<4f", 1.5, -2.0, 1e-42, 3e38)),
        (0xCA, 8, [f32(v) for v in (1.5, -2.0, 0.0, 1.0)], np.array([1.5, -2, 0, 1], "<f2").tobytes()),
        (0xE5, 4, [f32(0.1), 0, 0, 0], struct.pack("<f", 0.1)),
        (0xE4, 4, [0xDEADBEEF, 0, 0, 0], struct.pack("<I", 0xDEADBEEF)),
        (0xE3, 4, [0xFFFFFFFB, 0, 0, 0], struct.pack("<i", -5)),
        (0xD9, 4, [1, 2, 3, 4], bytes((1, 2, 3, 4))),
        (0xD7, 4, [f32(v) for v in (1.0, -1.0, 0.0, 0.5)], bytes((127, 0x81, 0, 64))),
        (0xF3, 1, [f32(0.5), 0, 0, 0], bytes((128,))),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else "",
)
def test_the_format_says_what_the_clear_words_are(
    client: Client, format: int, size: int, values: list[int], expected: bytes
) -> None:
    """The page calls them floats; they are integers for integer targets."""
    address = colour_target(client, width=WIDTH * size, format=format)
    client.put(0x56E, 0)  # SRGB_WRITE
    client.put(0x360, *values)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address, size), mask((0, 0, WIDTH, HEIGHT)), expected)


@pytest.mark.row("b197.0x204")
def test_format_0_switches_a_slot_off(client: Client) -> None:
    address = colour_target(client, width=WIDTH * 4, format=0)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((0, 0, 0, 0)), PIXEL)
    assert client.events() == []


@pytest.mark.row("b197.0x207", "b197.0x208")
def test_layers_are_a_stride_apart_and_count_from_the_base_layer(client: Client) -> None:
    size = WIDTH * 4 * HEIGHT
    address = colour_target(client, width=WIDTH * 4, layers=4, stride=size, layer=1)
    client.put(CLEAR, RGBA | 2 << 10)
    whole, none = mask((0, 0, WIDTH, HEIGHT)), mask((0, 0, 0, 0))
    for layer in range(4):
        check_cleared(pitch_picture(client, address + layer * size), whole if layer == 3 else none, PIXEL)
    assert client.logged("Clear")[0].layer == 2


@pytest.mark.row("b197.0x206", "b197.0x205")
def test_the_third_dimension_is_depth_or_layers(client: Client) -> None:
    """Bit 16 of the layout chooses. With depth, slices lie inside one surface, in blocks of several slices."""
    width, height = 16, 8  # one GOB
    client.put(0x3FD, width << 16, height << 16)
    for control, offset in ((0, 4 * 512), (1, 512)):
        layout = control << 16 | 2 << 8
        address = colour_target(client, width=width, height=height, memory=layout, layers=4, stride=2048)
        client.put(CLEAR, RGBA | 1 << 10)
        data = np.frombuffer(client.get(address, 8 * 512), np.uint8).reshape(8, 128, 4)
        expected = np.full_like(data, 0x11)
        expected[offset // 512] = list(PIXEL)
        assert np.array_equal(data, expected), control
        assert client.read(0x206) == 4


# -- what limits a clear ----------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x3fd")
@pytest.mark.parametrize("clip", [(0, 0, WIDTH, HEIGHT), (3, 5, 20, 7), (40, 20, 100, 100), (0, 0, 0, 9)])
def test_the_surface_clip_always_counts(client: Client, clip: Rectangle) -> None:
    x, y, width, height = clip
    address = colour_target(client, width=WIDTH * 4)
    client.put(0x3FD, width << 16 | x, height << 16 | y)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((x, y, x + width, y + height)), PIXEL)


LIMITS: list[tuple[int, Callable[[Client], None], Rectangle]] = [
    (1 << 4, lambda c: c.put(0x35B, 30 << 16 | 4, 20 << 16 | 2), (4, 2, 30, 20)),
    (1 << 8, lambda c: c.put(0x380, 1, 31 << 16 | 5, 21 << 16 | 3), (5, 3, 31, 21)),
    (1 << 12, lambda c: c.put(0x300, 25 << 16 | 6, 17 << 16 | 4), (6, 4, 31, 21)),
]


@pytest.mark.row("b197.0x43e")
@pytest.mark.parametrize("index", range(3), ids=["clear rectangle", "scissor 0", "viewport clip 0"])
def test_control_bits_choose_what_else_limits_a_clear(client: Client, index: int) -> None:
    bit, arrange, rectangle = LIMITS[index]
    for _, other, _ in LIMITS:
        other(client)
    address = colour_target(client, width=WIDTH * 4)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((0, 0, WIDTH, HEIGHT)), PIXEL)
    address = colour_target(client, width=WIDTH * 4)
    arrange(client)
    client.put(0x43E, bit)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask(rectangle), PIXEL)


@pytest.mark.row("b197.0x43e")
def test_limits_are_cut_with_each_other(client: Client) -> None:
    for _, arrange, _ in LIMITS:
        arrange(client)
    address = colour_target(client, width=WIDTH * 4)
    client.put(0x43E, 0x1110)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((6, 4, 30, 20)), PIXEL)


@pytest.mark.row("b197.0x380", "b197.0x381", "b197.0x382")
def test_scissor_0_limits_a_clear_while_it_is_on(client: Client) -> None:
    client.put(0x43E, 1 << 8)
    client.put(0x384, 1, 1 << 16, 1 << 16)  # scissor 1 says nothing about clears
    for on, rectangle in ((0, (0, 0, WIDTH, HEIGHT)), (1, (7, 2, 9, 23))):
        address = colour_target(client, width=WIDTH * 4)
        client.put(0x380, on, 9 << 16 | 7, 23 << 16 | 2)
        client.put(CLEAR, RGBA)
        check_cleared(pitch_picture(client, address), mask(rectangle), PIXEL)


@pytest.mark.row("b197.0x300", "b197.0x301")
def test_viewport_0_limits_a_clear_by_corner_and_size(client: Client) -> None:
    client.put(0x43E, 1 << 12)
    address = colour_target(client, width=WIDTH * 4)
    client.put(0x300, 10 << 16 | 3, 5 << 16 | 8)
    client.put(0x304, 1 << 16, 1 << 16)  # viewport 1
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((3, 8, 13, 13)), PIXEL)


@pytest.mark.row("b197.0x360")
@pytest.mark.parametrize("channels", [R, G | A, B, 0])
def test_channels_that_are_not_named_stay(client: Client, channels: int) -> None:
    address = colour_target(client, width=WIDTH * 4)
    client.put(0x680, 0)  # the colour mask of draws does not count
    client.put(CLEAR, channels)
    expected = [PIXEL[n] if channels & (R << n) else 0x11 for n in range(4)]
    check_cleared(pitch_picture(client, address), mask((0, 0, WIDTH, HEIGHT)), expected)


# -- depth and stencil ------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x3f8", "b197.0x3fa", "b197.0x364", "b197.0x368")
@pytest.mark.parametrize(
    ("format", "size", "expected"),
    [
        (0x13, 2, struct.pack("<H", 49151)),  # 0.75 * 65535 is 49151.25
        (0x14, 4, struct.pack("<I", 12582911 << 8 | 0xA5)),
        (0x16, 4, struct.pack("<I", 12582911 | 0xA5 << 24)),
        (0x0A, 4, struct.pack("<f", 0.75)),
        (0x19, 8, struct.pack("<fI", 0.75, 0x111111A5)),
        (0x17, 1, bytes((0xA5,))),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else "",
)
def test_depth_and_stencil_are_cleared_in_the_format_of_their_target(
    client: Client, format: int, size: int, expected: bytes
) -> None:
    """Words 0x3f8 and 0x3fa are unexplained on the page; they are address and format of the depth target."""
    address = depth_target(client, format)
    client.put(CLEAR, Z | STENCIL)
    check_cleared(blocks_picture(client, address, size), mask((0, 0, WIDTH, HEIGHT)), expected)
    assert client.events() == []


@pytest.mark.row("b197.0x3fb", "b197.0x48a", "b197.0x48b")
def test_size_and_blocks_of_the_depth_target(client: Client) -> None:
    client.put(0x3FD, 200 << 16, 200 << 16)
    address = depth_target(client, 0x0A, 40, 19, block=2)
    client.put(CLEAR, Z)
    picture = blocks_picture(client, address, 4, 2, 40, 24)
    check_cleared(picture, mask((0, 0, 40, 19), 40), struct.pack("<f", 0.75))


@pytest.mark.row("b197.0x3fc", "b197.0x48c")
def test_layers_of_the_depth_target_are_a_stride_apart(client: Client) -> None:
    address = depth_target(client, 0x0A, 16, 8, layers=3, stride=0x3000)  # one GOB
    client.put(CLEAR, Z | 2 << 10)
    data = client.get(address, 0x8000)
    assert data == b"\x11" * 0x6000 + struct.pack("<f", 0.75) * 128 + b"\x11" * (0x2000 - 512)
    assert client.read(0x48C) == 3


@pytest.mark.row("b197.0x54e")
def test_without_a_depth_target_nothing_is_cleared(client: Client) -> None:
    address = depth_target(client, 0x0A)
    client.put(0x54E, 0)
    client.put(CLEAR, Z | STENCIL)
    check_cleared(blocks_picture(client, address, 4), mask((0, 0, 0, 0)), b"1234")
    assert client.events() == []


@pytest.mark.row("b197.0x4e7", "b197.0x43e", "b197.0x368")
@pytest.mark.parametrize(("control", "written"), [(0, 0xFF), (1, 0x0F)])
def test_the_stencil_mask_counts_if_the_control_word_says_so(client: Client, control: int, written: int) -> None:
    """The page calls word 0x4e7 an enable; it is the mask of bits that may be written."""
    address = depth_target(client, 0x17)
    client.put(0x4E7, 0x0F)
    client.put(0x43E, control)
    client.put(CLEAR, STENCIL)
    value = 0xA5 & written | 0x11 & ~written
    check_cleared(blocks_picture(client, address, 1), mask((0, 0, WIDTH, HEIGHT)), bytes((value,)))


@pytest.mark.row("b197.0x574")
@pytest.mark.parametrize(("mode", "across", "down"), [(0, 1, 1), (5, 2, 1), (2, 2, 2), (4, 4, 2), (6, 4, 4)])
def test_all_samples_of_a_pixel_are_cleared(client: Client, mode: int, across: int, down: int) -> None:
    """Samples lie beside and below each other; the clip counts pixels."""
    width, height = 12, 6
    address = colour_target(client, width=WIDTH * 4)
    client.put(0x574, mode)
    client.put(0x3FD, width << 16, height << 16)
    client.put(CLEAR, RGBA)
    check_cleared(pitch_picture(client, address), mask((0, 0, width * across, height * down)), PIXEL)
