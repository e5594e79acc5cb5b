"""Programs, used by the names that the pages promise."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAM = Path(__file__).resolve().parents[2] / "guests" / "n3ds" / "framebuffers.elf"


def test_a_program_runs_shows_and_is_recorded() -> None:
    with pocketgpu.run(PROGRAM) as app:
        assert isinstance(app, pocketgpu.App)
        app.press("A", frames=3)
        assert app.frames(2) and app.frame_count == 2
        assert app.presents(1) and app.present_count == 2
        assert app.until(lambda: "shown 1" in app.text) and app.until_text("shown 1")
        assert app.debug_text.startswith("shown 0") and set(app.console_text.values()) == {""}
        assert app.top.array.shape == (240, 400, 3) and app.bottom.array.shape == (240, 320, 3)
        assert set(app.screens) == {"top", "bottom"}
        capture = app.capture()
        assert capture.frame_count == app.frame_count == app.again().frame_count
        app.close()
        app.frames(60)
        assert app.end is not None and app.end.well


def test_a_player_does_what_it_is_told(tmp_path: Path) -> None:
    with pocketgpu.run(PROGRAM) as app:
        app.touch(100, 120, frames=3)
        app.circle(0.5, -1)
        app.slider(0.5)
        app.play("2-3: UP+B")
        script = tmp_path / "play.txt"
        script.write_text("4: A\n", encoding="utf-8")
        app.play(script)
        assert app.until_text("shown 1") and app.console_text == {"top": "", "bottom": ""}
