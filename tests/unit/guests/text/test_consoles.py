"""Text consoles of the Switch: pictures of real programs, and fonts that are found in a program's data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import recordings
from support.switch_texts import GUESTS, expected

from pocketgpu.facts.console_font import CHARACTERS, COUNT, SWITCH, ConsoleFont, doubled
from pocketgpu.guests.text.consoles import ConsoleText
from pocketgpu.guests.text.fonts import Order, orders, stored
from pocketgpu.guests.text.pictures import Cells

SHOWN = expected()


@pytest.mark.skipif(not SHOWN, reason=recordings.REASON)
@pytest.mark.parametrize(("path", "text"), SHOWN, ids=[path.stem for path, _ in SHOWN])
def test_pictures_of_real_programs(path: Path, text: str) -> None:
    picture = np.array(Image.open(path).convert("RGB"))
    assert ConsoleText([], SWITCH).of_picture(picture) == text


@pytest.mark.skipif(not SHOWN, reason=recordings.REASON)
def test_a_scene_has_no_text() -> None:
    assert len(SHOWN) > 7
    for name in ("simplegfx_f0", "simplegfx_f3"):
        picture = np.array(Image.open(GUESTS / "expected" / f"{name}.png").convert("RGB"))
        assert ConsoleText([], SWITCH).of_picture(picture) == ""


def made_up(code: int) -> bytes:
    """A glyph of code, known or not."""
    known = SWITCH.glyphs.get(code)
    rows = [0xFE, 0x82, 0x80 | code >> 4, 0x80 | code & 15, 0x82, 0xFE, 0, 0]
    return known if known is not None else doubled(bytes(rows))


def drawn(text: str, table: bytes, width: int = 16, height: int = 16, lines: tuple[int, ...] = ()) -> np.ndarray:
    """A picture of 1280x720 with a line of text in its second row. lines: rows of each glyph that are filled."""
    picture = np.zeros((720, 1280, 3), np.uint8)
    size = width * height // 8
    for column, character in enumerate(text):
        glyph = table[size * CHARACTERS.index(character) :][:size]
        ink = np.unpackbits(np.frombuffer(glyph, np.uint8)).reshape(height, width)
        ink[list(lines)] = 1
        picture[height : 2 * height, width * column : width * column + width] = 200 * ink[..., None]
    return picture


@pytest.mark.parametrize("order", orders(16))
def test_the_font_of_a_program_is_found_whatever_its_order(order: Order) -> None:
    table = b"".join(made_up(code) for code in range(COUNT))
    reader = ConsoleText([bytes(1000), b"\1\2\3\4" + stored(table, order) + bytes(77)], SWITCH)
    assert reader.of_picture(drawn("{Quartz} ~ 50 %", table)) == "\n{Quartz} ~ 50 %"
    assert "\ufffd" in ConsoleText([], SWITCH).of_picture(drawn("{Quartz} ~ 50 %", table))


@pytest.mark.parametrize("order", orders(16))
def test_another_font_is_guessed(order: Order) -> None:
    bold = b"".join(
        (int.from_bytes(one, "big") | int.from_bytes(one, "big") >> 1).to_bytes(32, "big")
        for one in map(made_up, range(COUNT))
    )
    reader = ConsoleText([stored(bold, order)], SWITCH)
    assert reader.of_picture(drawn("Bold letters, 12 of them", bold)) == "\nBold letters, 12 of them"


def test_orders_undo_themselves() -> None:
    glyph = bytes(range(32))
    assert len({stored(glyph, order) for order in orders(16)}) == 4
    assert all(stored(stored(glyph, order), order) == glyph for order in Order) and orders(8) == (Order.SAME,)


@pytest.mark.parametrize("lines", [(), (15,), (7,), (7, 15)])
def test_lines_under_text_and_through_it(lines: tuple[int, ...]) -> None:
    table = b"".join(made_up(code) for code in range(COUNT))
    text = "Under lined: 0 of 7 (gq)"
    assert ConsoleText([table], SWITCH).of_picture(drawn(text, table, lines=lines)) == "\n" + text


def slanted(font: ConsoleFont) -> bytes:
    """A font of another program: the known glyphs with a slant, made-up ones where none is known."""
    size = font.width * font.height // 8
    rows = [font.glyphs.get(code, bytes([code | 1, ~code & 0xFF] * (size // 2))) for code in range(COUNT)]
    return b"".join(bytes(row if at < size // 2 else row << 1 & 0xFF for at, row in enumerate(one)) for one in rows)


@pytest.mark.parametrize("font", SWITCH.others, ids=repr)
def test_fonts_of_other_sizes(font: ConsoleFont) -> None:
    table = slanted(font)
    reader = ConsoleText([bytes(100), b"\5" + table + bytes(9)], SWITCH)
    picture = drawn("Drawn by the GPU: 12 letters", table, font.width, font.height)
    assert reader.of_picture(picture) == "\nDrawn by the GPU: 12 letters"
    assert ConsoleText([bytes(100)], SWITCH).of_picture(picture).count("Drawn by the GPU") == 0


def test_which_pictures_may_have_text_of_another_size() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    lines = np.repeat(np.eye(64, dtype=np.uint8)[..., None], 3, axis=2)
    half = np.concatenate([noise, lines], axis=1)
    shares = [Cells.of(one, 16, 16).flat_share for one in (noise, lines, half, np.zeros_like(noise))]
    assert shares == [0, 1, 0.2, 0] and not any(ConsoleText([], SWITCH).of_picture(one) for one in (noise, lines))
