"""The glyphs of the 3DS's console font, and the tool that learns them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import recordings
from support.switch_texts import expected

from pocketgpu.facts import console_font
from pocketgpu.facts.console_font import CHARACTERS, GLYPHS, N3DS, SWITCH, doubled

ROOT = Path(__file__).resolve().parents[3]
GUESTS = recordings.folder() / "guests" / "3ds"


def picture(code: int) -> list[str]:
    return [f"{row:08b}".replace("0", ".").replace("1", "#") for row in GLYPHS[code]]


def test_glyphs_are_rows_from_the_top_with_the_left_pixel_first() -> None:
    assert picture(ord("4")) == [
        "....###.", "...####.", "..##.##.", ".##..##.", ".#######", ".....##.", ".....##.", "........",
    ]  # fmt: skip
    assert GLYPHS[0x20] == bytes(8) and len({*GLYPHS.values()}) == len(GLYPHS)
    assert {len(glyph) for glyph in GLYPHS.values()} == {console_font.HEIGHT}


def test_codes_are_those_of_code_page_437() -> None:
    assert len(CHARACTERS) == console_font.COUNT and all(len(one) == 1 for one in CHARACTERS)
    assert "".join(CHARACTERS[0x20:0x7F]) == bytes(range(0x20, 0x7F)).decode()
    assert CHARACTERS[1] == "☺" and CHARACTERS[0x7F] == "⌂" and CHARACTERS[0xDB] == "█"


def test_glyphs_of_the_switch_are_those_of_the_3ds_with_doubled_pixels() -> None:
    learned = {int(row["code"], 0): bytes.fromhex(row["glyph"]) for row in SWITCH.tables.read("console_font")}
    both = learned.keys() & N3DS.glyphs.keys()
    assert len(both) > 60 and {code for code in both if learned[code] != doubled(N3DS.glyphs[code])} == set()
    assert SWITCH.glyphs.keys() == learned.keys() | N3DS.glyphs.keys()
    assert {len(glyph) for glyph in SWITCH.glyphs.values()} == {SWITCH.height * SWITCH.width // 8}
    assert doubled(bytes([0b10000001])) == bytes([0b11000000, 0b00000011] * 2)


def learned_table(tmp_path: Path, console: str, pictures: Path, texts: Path) -> bytes:
    """The table that the tool makes."""
    copy = tmp_path / "tools" / "learn.py"
    copy.parent.mkdir()
    copy.write_bytes((ROOT / "tools" / "learn_console_font.py").read_bytes())
    made = tmp_path / "src" / "pocketgpu" / "facts" / console
    made.mkdir(parents=True)
    command = [sys.executable, str(copy), str(pictures), str(texts), "--console", console]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": str(ROOT / "src")})
    return (made / "console_font.tsv").read_bytes()


FACTS = Path(console_font.__file__).parent


@pytest.mark.skipif(not GUESTS.is_dir(), reason=recordings.REASON)
def test_the_table_is_what_the_tool_learns(tmp_path: Path) -> None:
    made = learned_table(tmp_path, "n3ds", GUESTS / "expected", GUESTS / "expected-text")
    assert made == (FACTS / "n3ds" / "console_font.tsv").read_bytes()


@pytest.mark.skipif(not expected(), reason=recordings.REASON)
def test_the_table_of_the_switch_is_what_the_tool_learns(tmp_path: Path) -> None:
    for folder in ("pictures", "texts"):
        (tmp_path / folder).mkdir()
    for picture, text in expected():
        name = picture.stem.rpartition("_")[0]
        (tmp_path / "pictures" / f"{name}.png").write_bytes(picture.read_bytes())
        (tmp_path / "texts" / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    made = learned_table(tmp_path, "switch", tmp_path / "pictures", tmp_path / "texts")
    assert made == (FACTS / "switch" / "console_font.tsv").read_bytes()
