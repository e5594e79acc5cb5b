"""Who queued work of the Switch's GPU: functions and lines of a program of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.inspect.model.queued import queued_by

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
PROGRAM = PROGRAMS / "scene.nro"


def test_words_and_bytes_have_the_function_that_stored_them() -> None:
    app = pocketgpu.run(PROGRAM)
    app.frames(60)
    run = pocketgpu.debug(app.capture())
    steps = []
    for frame in range(1, run.frame_count):
        found = {one.kind: queued_by(app, run, one.address) for one in run.events(frame)}
        assert {"load", "submission", "clear", "draw", "show"} <= set(found)
        for kind in ("load", "clear", "draw"):
            written = found[kind].written
            assert written is not None, (frame, kind)
            assert [one.place.function for one in written.trace][-2:] == ["main", "start"]
            assert written.trace[-2].place.source.startswith("scene.c:")
        assert str(found["load"]).startswith("filled by ") and str(found["draw"]).startswith("queued by ")
        assert found["show"].written is None, "the display shows by itself"
        drawn = found["draw"].written
        assert drawn is not None
        steps.append(drawn.step)
    assert len(steps) >= 2 and steps == sorted(set(steps)), "each frame has its own stores"


def test_why_names_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(PROGRAM), "f1/px160,90"]) == 0
    assert "  queued by main+" in capsys.readouterr().out
    assert main(["why", str(PROGRAM), "f1/d0", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["queued_by"]["address"] == "f1/d0"
    assert [one["function"].split("+")[0] for one in answer["queued_by"]["trace"]] == ["main", "start"]


@pytest.mark.parametrize(("frame", "x", "y", "function"), [(0, 100, 10, "print"), (1, 100, 100, "main")])
def test_a_pixel_that_the_processor_drew(
    frame: int, x: int, y: int, function: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The GPU does not see that memory: its place in the handle is followed."""
    assert main(["why", str(PROGRAMS / "console.nro"), f"f{frame}/px{x},{y}", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["event"] for one in answer["why"]["events"]] == [f"f{frame}/e0"] and answer["why"]["proved"]
    assert answer["queued_by"]["trace"][0]["function"].startswith(f"{function}+")
    assert "which the GPU does not see" in answer["why"]["screen"]["reason"]


def test_pictures_that_the_processor_drew_have_no_submissions() -> None:
    app = pocketgpu.run(PROGRAMS / "console.nro", record=True)
    app.frames(6)
    run = pocketgpu.debug(app.capture())
    assert [[one.kind for one in run.events(frame)] for frame in (0, 1)] == [["load", "show"]] * 2
    filled = queued_by(app, run, "f1/e0").written
    assert filled is not None and filled.trace[0].place.function == "main"


def test_info_about_a_program_that_the_processor_draws_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(PROGRAMS / "console.nro")]) == 0
    shown = capsys.readouterr().out
    assert "present   RGB565_UNORM 640x360" in shown
    assert "submissions" not in shown and "every method" not in shown and "most of them" not in shown
