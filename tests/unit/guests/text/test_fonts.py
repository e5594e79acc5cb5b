"""Fonts, and how they are found in data."""

from __future__ import annotations

import random

import pytest

from pocketgpu.facts.console_font import CHARACTERS, GLYPHS
from pocketgpu.guests.text.fonts import Font, find_other_table, find_table

SIZE = 8


def table(seed: int = 1) -> bytes:
    """A font that has the known glyphs, and noise for the others."""
    r = random.Random(seed)
    return b"".join(GLYPHS.get(code) or r.randbytes(SIZE) for code in range(256))


def bold(glyph: bytes) -> bytes:
    return bytes(byte | byte >> 1 for byte in glyph)


def test_a_font_tells_characters() -> None:
    font = Font.of_table(table(), 8, 8, CHARACTERS)
    assert font.character(GLYPHS[0x41]) == "A" and font.character(b"12345678") is None
    assert font.character(table()[8 * 0xE9 : 8 * 0xE9 + 8]) == CHARACTERS[0xE9]
    assert font.character(bytes(8)) == " " and repr(font) == "<Font 8x8: 256 glyphs>"


def test_a_line_through_a_glyph() -> None:
    plain, lined = (Font.of_glyphs(GLYPHS, 8, 8, CHARACTERS, lines) for lines in ((), (7, 3)))
    for letter in "Ag,w":
        glyph = GLYPHS[ord(letter)]
        under = glyph[:7] + b"\xff"
        across = glyph[:3] + b"\xff" + glyph[4:]
        assert plain.character(under) is None and plain.character(across) is None
        assert lined.character(under) == letter and lined.character(across) == letter
    # With a line below, y and v are the same; y is commoner.
    assert lined.character(GLYPHS[ord("v")][:7] + b"\xff") == "y"
    assert lined.character(GLYPHS[ord("A")][:4] + b"\xff" + GLYPHS[ord("A")][5:]) is None


def test_of_equal_glyphs_the_letter_wins() -> None:
    font = Font.of_glyphs({1: b"x" * 8, 0x80: b"y" * 8, 0x41: b"x" * 8, 0xFF: bytes(8)}, 8, 8, CHARACTERS)
    assert font.character(b"x" * 8) == "A" and font.character(b"y" * 8) == "Ç" and font.character(bytes(8)) == " "


@pytest.mark.parametrize("at", [0, 1, 4099, 30000])
def test_a_font_is_found_by_known_glyphs(at: int) -> None:
    r = random.Random(at)
    data = r.randbytes(at) + table() + r.randbytes(500)
    assert find_table([b"", r.randbytes(5000), data], GLYPHS, 256) == table()
    # A text that mentions some glyphs, or a font that differs in most of them, is not one.
    assert find_table([r.randbytes(5000), b"".join(list(GLYPHS.values())[20:60])], GLYPHS, 256) is None
    few = bytearray(table())
    for code in list(GLYPHS)[::3]:
        few[8 * code : 8 * code + 8] = r.randbytes(8)
    assert find_table([bytes(few)], GLYPHS, 256) is None


@pytest.mark.parametrize("first", [0, 0x20])
@pytest.mark.parametrize("text", ["Hello, world!", "[1234567890]", "The quick brown fox"])
def test_another_font_is_found_by_what_a_picture_shows(first: int, text: str) -> None:
    whole = b"".join(bold(table()[8 * code : 8 * code + 8]) for code in range(256))
    r = random.Random(first)
    data = r.randbytes(1001) + whole[8 * first :] + r.randbytes(3000)
    seen = {bold(GLYPHS[ord(letter)]) for letter in text if letter != " "}
    found = find_other_table([r.randbytes(1000), data], seen, GLYPHS, 256)
    assert found is not None and found[8 * first :] == whole[8 * first :]


def test_a_font_is_not_guessed_from_too_little() -> None:
    whole = b"".join(bold(table()[8 * code : 8 * code + 8]) for code in range(256))
    seen = [bold(GLYPHS[ord(letter)]) for letter in "Helo"]
    assert find_other_table([whole], seen, GLYPHS, 256) is None
    noise = [random.Random(n).randbytes(8) for n in range(9)]
    assert find_other_table([whole], seen + noise, GLYPHS, 256) is None
    assert find_other_table([], [*seen, *noise], GLYPHS, 256) is None


def test_bytes_that_repeat_end_soon() -> None:
    assert find_table([bytes(1 << 20)], GLYPHS, 256) is None
    others = [bytes([n]) * 8 for n in range(1, 9)]
    assert find_other_table([b"ab" * (1 << 19)], [b"abababab", *others], GLYPHS, 256) is None
