"""Text consoles of the Switch: pictures of real programs, and fonts that are found in a program's data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import recordings
from support.switch_texts import GUESTS, expected

from pocketgpu.facts.console_font import CHARACTERS, COUNT, SWITCH, doubled
from pocketgpu.guests.text.consoles import ConsoleText
from pocketgpu.guests.text.fonts import Order, orders, stored

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


def drawn(text: str, table: bytes) -> np.ndarray:
    """A picture of 1280x720 with a line of text in its second row."""
    picture = np.zeros((720, 1280, 3), np.uint8)
    for column, character in enumerate(text):
        glyph = table[32 * CHARACTERS.index(character) :][:32]
        ink = np.unpackbits(np.frombuffer(glyph, np.uint8)).reshape(16, 16)
        picture[16:32, 16 * column : 16 * column + 16] = 200 * ink[..., None]
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
