"""`pocketgpu run --text` and `--until`: text for a debugger, and text on the screens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pocketgpu.cli import main

pytest.importorskip("unicorn", reason="needs the extra 'guest'")
PROGRAM = str(Path(__file__).resolve().parents[2] / "guests" / "n3ds" / "console.elf")


def test_text_of_screens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", PROGRAM, "--until", "one hundred characters", "--text"]) == 0
    out = capsys.readouterr().out
    assert "plain\nbottom\n" in out and "top screen:\nThis line has one hundred characters" in out
    assert "bottom screen:\n0123456789" in out


def test_text_that_no_screen_shows_is_not_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", PROGRAM, "--until", "one hundred letters", "--frames", "8", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["reached"] is False and told["text"] == "plain\n"
    assert told["console_text"]["top"].startswith("Hello, world!\n")
