"""A program that asks the console about itself, on the processor: settings, clocks, font, messages."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAM = Path(__file__).resolve().parents[3] / "guests" / "switch" / "system.nro"
SCRIPT = "5: docked\n8: home\n9: home\n12: handheld\n20: close"
ASKED = ["en-US", "17.0.0", "time 1767225600", "year 2026", "UTC", "font 100", "large 1", "focus 1"]
TOLD = [
    "message 31", "performance 1", "message 30", "docked 1", "message 15", "focus 3", "message 15", "focus 1",
    "message 31", "performance 0", "message 30", "docked 0", "message 4", "no more 680",
]  # fmt: skip


@pytest.mark.parametrize("pointers", ["console", "none"])
def test_what_a_program_finds_and_is_told(pointers: str) -> None:
    with pocketgpu.run(PROGRAM, raises=True, switches={"guest.pointer_buffers": pointers}) as app:
        app.play(SCRIPT)
        app.frames(30)
        assert app.text.splitlines() == [*ASKED, *TOLD]
        assert app.end is not None and app.end.well


def test_a_program_that_starts_in_the_dock() -> None:
    with pocketgpu.run(PROGRAM, switches={"guest.mode": "docked", "guest.date": "zero"}) as app:
        app.play("5: handheld\n6: close")
        app.frames(10)
        lines = app.text.splitlines()
    assert lines[2:4] == ["time 1", "year 1970"]
    assert lines[8:] == ["message 31", "performance 0", "message 30", "docked 0", "message 4", "no more 680"]


def test_a_run_goes_back_to_before_a_message() -> None:
    with pocketgpu.run(PROGRAM) as app:
        app.play(SCRIPT)
        app.frames(30)
        whole = app.text
        app.back(20)
        assert len(app.text) < len(whole)
        app.frames(30)
        assert app.text == whole
