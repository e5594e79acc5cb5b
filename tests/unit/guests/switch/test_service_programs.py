"""Programs that use files and input, through `pocketgpu.run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.errors import CaptureError, NoPictureError, UsageError

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
SCRIPT = """2-4: A
5: touch 100,200
5: touch2 3,4
6: left_stick 1,-1
8: rotation 0,360,0
14: home"""
SEEN = [
    "style 1", "hid:dbg e15", "buttons 1", "buttons 0", "touches 2", "x 100", "y 200", "x 3", "y 4", "buttons c0000",
    "left x 7fff", "left y ffff8001", "touches 0", "buttons 0", "left x 0", "left y 0", "turns 3f800000", "turns 0",
    "message 15",
]  # fmt: skip


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "text.txt").write_text("from the card\n")
    return tmp_path


def test_files_are_read_and_written(card: Path) -> None:
    with pocketgpu.run(PROGRAMS / "files.nro", sd=card, writable=True) as app:
        app.until(lambda: app.end is not None)
        assert app.end is not None and app.end.well
    assert app.text.split("\n") == [
        "own 32", "magic 1", "from the card", "rest 4", "read 177a02", "read 2f5a02", "write 307602", "/none 202",
        "/data 202", "create 0", "inside 0", "beyond 307202", "cut 0", "size 7", "folder 0", "again 402", "rename 0",
        "data 0", "folder 0", "switch 0", "",
    ]  # fmt: skip
    assert (card / "folder" / "old.bin").read_bytes() == bytes(6) + b"a"
    assert not (card / "new.bin").exists()


def test_a_card_stays_as_it_is_unless_it_may_change(card: Path) -> None:
    with pocketgpu.run(PROGRAMS / "files.nro", sd=card) as app:
        app.until(lambda: app.end is not None)
    assert "create 307602" in app.text and "inside" not in app.text
    assert sorted(one.name for one in card.rglob("*")) == ["data", "text.txt"]


def test_a_program_sees_what_a_player_does() -> None:
    with pocketgpu.run(PROGRAMS / "input.nro", raises=True) as app:
        app.play(SCRIPT)
        app.frames(20)
        assert app.text.splitlines() == SEEN and app.end is None
        app.close()
        assert app.until_text("message 4")
        assert not app.frames(5) and app.end is not None and app.end.well
        assert app.screens == {}
        with pytest.raises(NoPictureError, match="no picture on screen 'screen'"):
            _ = app.screen
        with pytest.raises(NoPictureError, match="this console has no screen 'top'"):
            _ = app.top


def test_buttons_and_sticks_of_the_app() -> None:
    with pocketgpu.run(PROGRAMS / "input.nro") as app:
        app.stick("left", -1, 0.5, frames=3)
        app.touch(1279, 719)
        app.press("ZL+MINUS")
        app.frames(3)
        lines = app.text.splitlines()
        assert lines[2:8] == ["buttons 30900", "left x ffff8001", "left y 4000", "touches 1", "x 1279", "y 719"]
        with pytest.raises(UsageError, match="no stick 'middle'"):
            app.stick("middle", 0, 0)
        with pytest.raises(UsageError, match="no control 'circle'"):
            app.circle(0, 0)
        with pytest.raises(UsageError, match="no key 'START'"):
            app.press("START")


def test_a_run_goes_back_and_on_again() -> None:
    with pocketgpu.run(PROGRAMS / "input.nro") as app:
        app.play(SCRIPT)
        app.frames(20)
        steps = app.console.kernel.steps
        app.back(12)
        assert app.frame_count == 8 and "turns" not in app.text and "left y" in app.text
        app.frames(12)
        assert app.text.splitlines() == SEEN and app.console.kernel.steps == steps
        point = app.checkpoint()
        app.press("PLUS")
        assert not app.frames(5)
        app.restore(point)
        assert app.frames(5) and app.text.splitlines() == SEEN


def test_a_controller_is_a_choice() -> None:
    for controller, style in (("handheld", "style 0"), ("pair", "style 4"), ("pro", "style 1")):
        with pocketgpu.run(PROGRAMS / "input.nro", switches={"guest.controller": controller}) as app:
            assert app.until_text(style), controller


def test_a_file_that_is_no_font_is_refused() -> None:
    with pytest.raises(CaptureError, match="not a TrueType or OpenType font"):
        pocketgpu.run(PROGRAMS / "input.nro", font=PROGRAMS / "input.nro")


PAGE = ["Hello, world!", "  Yellow on blue, 100 %", "Reverse {1 + 2 = 3}", *[""] * 18, " " * 32 + "the end."]


def test_text_that_a_program_draws_is_read() -> None:
    with pocketgpu.run(PROGRAMS / "console.nro") as app:
        assert app.until_text("the end.") and app.present_count == 1
        assert app.console_text["screen"].splitlines() == PAGE and app.screen.array.shape == (360, 640, 3)
        assert app.until(lambda: app.present_count == 2) and app.frames(1)
        assert app.console_text == {"screen": ""}, "a picture"
        assert app.text == "text\n"
        assert not app.frames(10) and app.text == "text\npicture\n"


def test_the_font_of_our_program_is_made_by_the_script(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "guests" / "switch"
    folder.mkdir(parents=True)
    script = folder / "make_fonts.py"
    script.write_bytes((PROGRAMS / "make_fonts.py").read_bytes())
    source = PROGRAMS.parents[2] / "src"
    subprocess.run([sys.executable, str(script)], check=True, env={"PYTHONPATH": str(source)})
    assert (folder / "fonts.h").read_bytes() == (PROGRAMS / "fonts.h").read_bytes()


# -- sound and applets ------------------------------------------------------------------------------------------------
def test_voices_and_buffers_take_their_time() -> None:
    with pocketgpu.run(PROGRAMS / "sound.nro", raises=True) as app:
        app.until(lambda: app.end is not None)
        assert app.end is not None and app.end.well
        assert app.debug_text.splitlines() == [
            "pool 5", "consumed 1", "milliseconds 100", "consumed 2", "milliseconds 150", "played 7200", "looped 14400",
            "while paused 0", "new 0", "pool 3", "errors 1", "error 5499", "wrong 5299", "stopped ea01",
            "DeviceOut channels 2", "released 1", "milliseconds 10", "released 1", "milliseconds 30", "heard 1440",
        ]  # fmt: skip


def test_applets_are_answered_by_the_script_at_its_frames() -> None:
    with pocketgpu.run(PROGRAMS / "applets.nro", raises=True) as app:
        app.play('5: text "hello"\n8: text "bad"\n12: text "better"')
        app.frames(5)
        assert app.debug_text == "", "the keyboard waits"
        app.frames(6)
        point = app.checkpoint()
        first = ["result 0", "cancelled 0", "text hello", "again mine 1", "asked bad"]
        assert app.debug_text.splitlines() == first
        for _ in range(2):
            app.until(lambda: app.end is not None)
            assert app.end is not None and app.end.well and app.frame_count == 13
            assert app.debug_text.splitlines() == [
                *first, "asked better", "result 0", "cancelled 0", "text better", "again mine 1", "result 0",
                "cancelled 1", "text ", "again mine 1", "status 0", "logged", "audin:u e15",
            ]  # fmt: skip
            told = [one.message for one in app.console.kernel.events if one.id == "guest.applet"]
            assert told == [
                "the program does not accept the text: short",
                "the keyboard found no answer in the script and was cancelled",
                "the program shows an error: no cheese",
            ]
            app.restore(point)
