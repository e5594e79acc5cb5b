"""Input of a running program: what its service of buttons is told, frame by frame."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from pocketgpu import run
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.guests.app import App
from pocketgpu.guests.n3ds.services.hid import Input

pytest.importorskip("unicorn", reason="needs the extra 'guest'")
PROGRAM = Path(__file__).resolve().parents[2] / "guests" / "n3ds" / "framebuffers.elf"
A, B, UP = 1, 2, 1 << 6


def told(app: App, frames: int) -> list[Input]:
    """What the service says after each of the next frames."""
    found = []
    for _ in range(frames):
        app.frames(1)
        found.append(app.console.hid.now)  # type: ignore[attr-defined]
    return found


def test_keys_touch_and_circle() -> None:
    with run(PROGRAM) as app:
        app.press("A", frames=3)
        app.press("up+B", frames=1)
        app.touch(319, 239)
        app.circle(0.5, -1)
        first, second, third, fourth = told(app, 4)
    assert first == Input(A | B | UP, (78, -156), (319, 239))
    assert second == Input(A, (78, -156), (319, 239))
    assert third == Input(A) and fourth == Input()


def test_frames_of_a_script_are_those_of_the_run() -> None:
    with run(PROGRAM) as app:
        app.play("0: A\n2-3: B\n3: touch 5,6\n")
        assert [one.keys for one in told(app, 5)] == [A, 0, B, B, 0]
        app.play("6: A")
        assert [one.keys for one in told(app, 2)] == [0, A]
        with pytest.raises(UsageError, match=r"frame 6 is over \(at 6: A\)\. The next one is 7"):
            app.play("6: A")
        app.play("3-8: A")
        assert [one.keys for one in told(app, 3)] == [A, A, 0]


def test_the_slider_stays() -> None:
    def position() -> float:
        return float(struct.unpack_from("<f", app.console.kernel.shared_page, 0x80)[0])  # type: ignore[attr-defined]

    with run(PROGRAM) as app:
        app.frames(1)
        assert position() == 0.75
        app.slider(0.25)
        app.frames(5)
        assert position() == 0.25


def test_closing_by_script() -> None:
    with run(PROGRAM) as app:
        app.play("2: close")
        app.frames(2)
        assert not app.console.apt.signals  # type: ignore[attr-defined]
        app.frames(1)
        assert [one.name for one in app.console.apt.signals] == ["CLOSE"]  # type: ignore[attr-defined]


def test_a_second_run_has_the_same_input() -> None:
    with run(PROGRAM) as app:
        app.play("1-: A")
        app.frames(3)
        again = app.again()
        assert again.frame_count == 3
        assert told(again, 1) == told(app, 1) == [Input(A)]


def test_going_back_goes_back_in_the_script() -> None:
    with run(PROGRAM) as app:
        app.play("2-4: A\n5: B\n3: slider 0.25")
        app.frames(2)
        point = app.checkpoint()
        first = told(app, 4)
        assert [one.keys for one in first] == [A, A, A, B] and first[-1].slider == 0.25
        app.restore(point)
        assert told(app, 4) == first


def test_wrong_arguments() -> None:
    app = run(PROGRAM)
    for call, message in (
        (lambda: app.press("A", frames=0), "0 frames is nothing"), (lambda: app.touch(400, 0), "x 400"),
        (lambda: app.circle(2, 0), "x 2"), (lambda: app.slider(float("nan")), "'nan' is not a number"),
        (lambda: app.press("A B"), "no control 'A'"), (lambda: app.play("x"), "not a line"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            call()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "play.txt"
    script.write_text("0: A\n")
    base = ["run", str(PROGRAM), "--frames", "3"]
    assert main([*base, "--input", str(script), "--press", "B@1", "--press", "UP+A@2-"]) == 0
    capsys.readouterr()
    script.write_text("0: A\n1: Q\n")
    assert main([*base, "--input", str(script)]) == 2
    assert "no key 'Q'" in (said := capsys.readouterr().err) and "line 2" in said
    assert main([*base, "--press", "A"]) == 2
    assert "A@30-32" in capsys.readouterr().err
    assert main([*base, "--input", str(tmp_path / "none")]) == 3
    assert "cannot be read" in capsys.readouterr().err
