"""Pictures of text, drawn here glyph by glyph, read again."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.facts.console_font import CHARACTERS, GLYPHS
from pocketgpu.guests.text.fonts import Font
from pocketgpu.guests.text.pictures import UNKNOWN, Cells, inverse, text_of

FONT = Font.of_glyphs(GLYPHS, 8, 8, CHARACTERS, (7, 3))
WHITE, RED, BLUE, BLACK = (198, 199, 198), (132, 0, 0), (0, 0, 132), (0, 0, 0)
Colour = tuple[int, int, int]
Picture = NDArray[np.uint8]


def blank(rows: int = 30, columns: int = 50, size: int = 8) -> Picture:
    return np.zeros((rows * size, columns * size, 3), np.uint8)


def draw(picture: Picture, column: int, row: int, text: str, ink: Colour = WHITE, ground: Colour = BLACK) -> None:
    for n, letter in enumerate(text):
        bits = np.unpackbits(np.frombuffer(GLYPHS[ord(letter)], np.uint8)).reshape(8, 8)[..., None]
        x = 8 * (column + n)
        picture[8 * row : 8 * row + 8, x : x + 8] = np.where(bits, ink, ground)


def read(picture: Picture) -> str:
    return text_of(Cells.of(picture, 8, 8), FONT)


def test_text_at_its_place() -> None:
    picture = blank()
    draw(picture, 3, 1, "Hello")
    draw(picture, 45, 29, "there")
    assert read(picture).split("\n") == ["", "   Hello", *[""] * 27, " " * 45 + "there"]
    assert repr(Cells.of(picture, 8, 8)) == "<Cells: 50x30, 8 glyphs>"


@pytest.mark.parametrize("ink", [WHITE, RED, BLUE, BLACK])
@pytest.mark.parametrize("ground", [WHITE, RED, BLUE, BLACK])
@pytest.mark.parametrize("page", [BLACK, BLUE, WHITE])
def test_all_colours(ink: Colour, ground: Colour, page: Colour) -> None:
    picture = blank()
    picture[:] = page
    draw(picture, 0, 0, "Colour = 5", ink, ground)
    assert read(picture) == ("" if ink == ground else "Colour = 5")


def test_half_blocks_are_not_taken_for_each_other() -> None:
    """The lower half is the upper half with its colours exchanged; the page tells which."""
    upper, lower = b"\xff" * 4 + bytes(4), bytes(4) + b"\xff" * 4
    font = Font.of_glyphs({**GLYPHS, 0xDF: upper, 0xDC: lower}, 8, 8, CHARACTERS)
    picture = blank()
    picture[:4, :8] = picture[4:8, 16:24] = WHITE
    draw(picture, 4, 0, "x")
    assert text_of(Cells.of(picture, 8, 8), font) == "▀ ▄ x"
    assert inverse(upper) == lower


def test_what_is_no_glyph_is_told() -> None:
    picture = blank()
    draw(picture, 0, 0, "abcdef")
    picture[2:5, 9:12] = RED  # a third colour
    picture[0:8:2, 24:32] = WHITE  # a pattern of two colours
    assert read(picture) == f"a{UNKNOWN}c{UNKNOWN}ef"


def test_pictures_without_text() -> None:
    assert read(blank()) == ""
    r = np.random.default_rng(1)
    assert read(r.integers(0, 255, (240, 400, 3), np.uint8)) == ""
    triangle = blank()
    for y in range(240):
        triangle[y, 100 - y // 3 : 100 + y // 3] = RED
    assert read(triangle) == ""
    assert read(np.zeros((7, 400, 3), np.uint8)) == "" and read(np.zeros((0, 0, 3), np.uint8)) == ""


def test_rectangles_are_no_text() -> None:
    """Their edges look like blocks and lines of the font."""
    blocks = {0xDC: bytes(4) + b"\xff" * 4, 0xDD: b"\xf0" * 8, 0xDF: b"\xff" * 4 + bytes(4), 0xB3: b"\x18" * 8}
    font = Font.of_glyphs({**GLYPHS, **blocks}, 8, 8, CHARACTERS)
    picture = blank()
    picture[20:100, 44:300] = RED
    picture[:, 315:317] = WHITE
    cells = Cells.of(picture, 8, 8)
    assert text_of(cells, font) == ""
    draw(picture, 1, 0, "Score")
    assert text_of(Cells.of(picture, 8, 8), font).startswith(" Score")


def test_glyphs_of_another_size() -> None:
    """The Switch's console has 16x16."""
    big = {code: b"".join(bytes([byte, code]) * 2 for byte in glyph) for code, glyph in GLYPHS.items() if code > 0x20}
    font = Font.of_glyphs(big, 16, 16, CHARACTERS, (15,))
    picture = blank(45, 80, 16)
    for n, letter in enumerate("Switch"):
        bits = np.unpackbits(np.frombuffer(big[ord(letter)], np.uint8)).reshape(16, 16)
        picture[32:48, 16 * n + 16 : 16 * n + 32] = bits[..., None] * 255
    picture[47, 16:112] = 255
    assert text_of(Cells.of(picture, 16, 16), font) == "\n\n Switch"


def test_any_text_is_read_as_it_was_drawn() -> None:
    letters = [chr(code) for code in GLYPHS]
    for seed in range(30):
        r = random.Random(seed)
        picture = blank()
        lines = ["".join(r.choices(letters, k=r.randrange(51))).rstrip() for _ in range(30)]
        for row, line in enumerate(lines):
            draw(picture, 0, row, line, r.choice((WHITE, RED)), r.choice((BLACK, BLUE)))
        assert read(picture) == "\n".join(lines).rstrip("\n")
