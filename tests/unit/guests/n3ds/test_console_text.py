"""Text of consoles: of a program of ours with fonts of its own, and of pictures of real programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import recordings

from pocketgpu.facts.console_font import CHARACTERS, GLYPHS, N3DS
from pocketgpu.guests.text.consoles import ConsoleText

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
GUESTS = recordings.folder() / "guests" / "3ds"
TEXTS = sorted((GUESTS / "expected-text").glob("*.txt"))
"""The text of screens, without empty lines at the top."""
PLAIN = """
Hello, world!
  Red   Yellow on blue
Reverse (1 + 2 = 3)
Underlined, good: gypsy
Crossed out
""".strip().split("\n")


def test_a_program_that_prints() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    from pocketgpu.guests import run

    with run(PROGRAMS / "console.elf") as app:
        shown = {}
        for what in ("plain", "bottom", "wide", "bold", "picture"):
            assert app.until(lambda what=what: app.debug_text.endswith(f"{what}\n"))
            shown[what] = dict(app.console_text)
    plain = shown["plain"]["top"].split("\n")
    assert plain[:5] == PLAIN and plain[5] == "" and plain[29] == " " * 41 + "the end."
    codes = "".join(CHARACTERS).replace("\xa0", " ")
    assert plain[6:14] == [codes[n : n + 32].rstrip() for n in range(0, 256, 32)]
    assert shown["plain"]["bottom"] == "" and shown["bottom"]["bottom"] == 4 * "0123456789"
    assert len(shown["wide"]["top"]) == 100 and shown["wide"]["top"].endswith("as others are. 99,00")
    assert shown["bold"]["top"] == "Another font, in bold letters: Hello!\n[12345] <67890>"
    assert shown["picture"]["top"] == "" and shown["picture"]["bottom"] == 4 * "0123456789"


def test_waiting_for_a_text() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    from pocketgpu import run

    with run(PROGRAMS / "console.elf") as app:
        assert app.until_text("Hello, world!") and app.frame_count <= 5
        assert app.until_text("bold letters") and app.console_text["top"].startswith("Another font")
        assert app.until_text("bold\n") and app.debug_text.endswith("bold\n")
        before = app.frame_count
        assert not app.until_text("never", limit=2) and app.frame_count == before + 2
        assert not app.until_text("never") and app.end is not None
        assert app.until_text("plain")


def test_the_fonts_of_our_program_are_made_by_the_script(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "guests" / "n3ds"
    folder.mkdir(parents=True)
    script = folder / "make_fonts.py"
    script.write_bytes((PROGRAMS / "make_fonts.py").read_bytes())
    source = PROGRAMS.parents[2] / "src"
    subprocess.run([sys.executable, str(script)], check=True, env={"PYTHONPATH": str(source)})
    assert (folder / "fonts.h").read_bytes() == (PROGRAMS / "fonts.h").read_bytes()


@pytest.mark.skipif(not TEXTS, reason=recordings.REASON)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_pictures_of_real_programs(path: Path) -> None:
    picture = np.array(Image.open(GUESTS / "expected" / f"{path.stem}.png").convert("RGB"))
    wanted = path.read_text(encoding="utf-8").rstrip("\n")
    assert ConsoleText([], N3DS).of_picture(picture).lstrip("\n") == wanted.lstrip("\n")


@pytest.mark.skipif(not TEXTS, reason=recordings.REASON)
def test_scenes_have_no_text() -> None:
    known = {path.stem for path in TEXTS}
    scenes = [path for path in sorted((GUESTS / "expected").glob("*.png")) if path.stem not in known]
    assert len(scenes) > 50
    for path in scenes:
        assert ConsoleText([], N3DS).of_picture(np.array(Image.open(path).convert("RGB"))) == "", path.stem


def test_guesses_of_fonts_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from pocketgpu.guests.text import consoles

    calls = []
    monkeypatch.setattr(consoles, "find_other_table", lambda *arguments: calls.append(arguments))
    reader = ConsoleText([b"".join(GLYPHS.values())], N3DS)
    picture = np.zeros((240, 400, 3), np.uint8)
    picture[::2, 8:300] = 255
    for _ in range(30):
        assert reader.of_picture(picture) == ""
    assert 0 < len(calls) < 10
    assert repr(reader) == "<ConsoleText: [<Font 8x8: 78 glyphs>]>"


def test_all_text_of_a_program_is_one() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    from pocketgpu import run

    with run(PROGRAMS / "console.elf") as app:
        assert app.until(lambda: "Hello, world!" in app.text)
        assert app.text.startswith("Hello, world!") and app.debug_text == ""
        assert app.until(lambda: app.debug_text == "plain\n") and app.text.startswith("plain\nHello, world!")
        assert app.until(lambda: "bold" in app.text) and "Hello, world!" not in app.text
        app.back(app.frame_count)
        assert app.frame_count == 0 and app.text == ""
