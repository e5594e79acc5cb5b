"""The five colour formats of framebuffers, at the transfer engine and on the screen (GPU/External Registers)."""

from __future__ import annotations

import numpy as np
import pytest

from .console import FCRAM, PDC0, PDC1, SIZES, VRAM, Console, both, decoded, encoded, tiled

NAMES = ("GL_RGBA8_OES", "GL_RGB8_OES", "GL_RGB565_OES", "GL_RGB5_A1_OES", "GL_RGBA4_OES")
FORMATS = pytest.mark.parametrize(
    "form", [pytest.param(n, marks=both(f"color-format.{n}"), id=name) for n, name in enumerate(NAMES)]
)
# The page lists formats without a word on which pairs the engine converts; a console does not convert all of them.
CONVERTING = {"transfer__odd_formats": "convert"}
# Pixels as the page lays components out: highest bits first in a word that is stored with its low byte first.
SAMPLES = (
    ((0x11, 0x22, 0x33, 0x44), "44332211"),
    ((0x11, 0x22, 0x33, 0xFF), "332211"),
    ((0xFF, 0x00, 0x84, 0xFF), "10f8"),  # RRRRRGGG GGGBBBBB, seen from the high byte
    ((0xFF, 0x00, 0x84, 0xFF), "21f8"),  # RRRRRGGG GGBBBBBA
    ((0xFF, 0x00, 0x88, 0xEE), "8ef0"),  # RRRRGGGG BBBBAAAA
)


@FORMATS
def test_components_lie_in_reverse_byte_order(form: int) -> None:
    """At the engine: from the format to RGBA8, whose bytes are A, B, G, R, and back again."""
    console = Console(**CONVERTING)
    pixel, hexadecimal = SAMPLES[form]
    stored = bytes.fromhex(hexadecimal)
    console.put(VRAM, stored * 64)
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), form << 8)
    assert console.get(FCRAM, 256) == bytes(reversed(pixel)) * 64
    console.transfer(FCRAM, VRAM + 0x1000, (8, 8), (8, 8), form << 12 | 2)
    assert console.get(VRAM + 0x1000, 64 * len(stored)) == stored * 64


@FORMATS
@pytest.mark.parametrize(("unit", "name", "mode", "width"), [(0, "top", 0x40, 400), (1, "bottom", 0, 320)])
def test_the_screens_show_each_format(form: int, unit: int, name: str, mode: int, width: int) -> None:
    """A random framebuffer whose rows are columns of the picture, from the bottom up."""
    console = Console()
    data = np.random.default_rng(form).integers(0, 256, 240 * width * SIZES[form], np.uint8).tobytes()
    console.put(FCRAM, data)
    base = PDC0 if unit == 0 else PDC1
    for at, value in ((0x68, FCRAM), (0x6C, FCRAM), (0x90, 240 * SIZES[form]), (0x70, 0x80300 | mode | form)):
        console.write(base + at, value)
    console.n3ds.step_vblank()
    columns = np.array(decoded(data[: 240 * 8 * SIZES[form]], form)).reshape(8, 240, 4)
    shown = console.n3ds.screens[name].array
    assert shown.shape == (240, width, 3)
    assert np.array_equal(shown[:, :8], columns.transpose(1, 0, 2)[::-1, :, :3])
    last = np.array(decoded(data[-240 * SIZES[form] :], form))
    assert np.array_equal(shown[:, -1], last[::-1, :3])


@both("color-format.2")
def test_two_pixels_of_rgb565_as_the_page_spells_them_out() -> None:
    """GGGBBBBB RRRRRGGG GGGBBBBB RRRRRGGG, for R = 10101, G = 110011, B = 00111 and their complements."""
    data = bytes([0b01100111, 0b10101110, 0b10011000, 0b01010001])
    console = Console(**CONVERTING)
    console.put(VRAM, data * 32)
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), 2 << 8)
    wide = lambda v, bits: v << 8 - bits | v >> 2 * bits - 8  # noqa: E731
    first = (wide(0b10101, 5), wide(0b110011, 6), wide(0b00111, 5), 255)
    second = (wide(0b01010, 5), wide(0b001100, 6), wide(0b11000, 5), 255)
    assert console.get(FCRAM, 8) == encoded([first, second], 0)


@both("color-format.3", "color-format.4")
def test_alpha_of_one_and_of_four_bits() -> None:
    console = Console(**CONVERTING)
    for form, words, alphas in ((3, (0xFFFE, 0xFFFF), (0, 255)), (4, (0xFFF0, 0xFFF7), (0, 0x77))):
        console.put(VRAM, tiled(np.resize(np.array(words, "<u2"), (8, 8))))
        console.transfer(VRAM, FCRAM, (8, 8), (8, 8), form << 8)
        out = console.get(FCRAM, 8)
        assert (out[0], out[4]) == alphas and out[1:4] == out[5:8] == b"\xff" * 3


@both("color-format.0", "color-format.1")
def test_alpha_is_ignored_on_the_screen_and_full_where_a_format_has_none() -> None:
    console = Console(**CONVERTING)
    console.put(FCRAM, bytes([0x00, 0x10, 0x20, 0x30]) * 240 * 400)
    for at, value in ((0x68, FCRAM), (0x6C, FCRAM), (0x90, 960), (0x70, 0x80340)):
        console.write(PDC0 + at, value)
    console.n3ds.step_vblank()
    assert np.unique(console.n3ds.screens["top"].array.reshape(-1, 3), axis=0).tolist() == [[0x30, 0x20, 0x10]]
    console.put(VRAM, bytes([1, 2, 3]) * 64)
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), 1 << 8)
    assert console.get(FCRAM, 4) == bytes([0xFF, 1, 2, 3])
