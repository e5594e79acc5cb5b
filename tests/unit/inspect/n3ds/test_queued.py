"""Who queued work: functions and lines of a program of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.guests.writers import Writers
from pocketgpu.inspect.model.queued import cause_of, queued_by

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAM = Path(__file__).resolve().parents[3] / "guests" / "n3ds" / "framebuffers.elf"


def functions(trace: object) -> list[str]:
    return [one.place.function for one in trace]  # type: ignore[attr-defined]


def test_a_framebuffer_is_filled_by_main_and_shown_by_a_function_of_the_runtime() -> None:
    app = pocketgpu.run(PROGRAM)
    app.frames(5)
    run = pocketgpu.debug(app.capture())
    filled = queued_by(app, run, "f4/e1")
    assert filled.written is not None and functions(filled.written.trace)[:2] == ["main", "start"]
    assert filled.written.trace[0].place.source.startswith("framebuffers.c:")
    assert str(filled).startswith("filled by main+")
    shown = queued_by(app, run, "f4/e3")
    assert shown.written is not None and functions(shown.written.trace) == ["gsp_present", "main", "start"]
    assert str(shown).startswith("queued by gsp_present+") and len(shown.to_json()["trace"]) == 3


def test_the_last_store_before_the_event_counts() -> None:
    """The program writes each framebuffer several times: a question about a frame is about that frame's stores."""
    app = pocketgpu.run(PROGRAM)
    app.frames(9)
    run = pocketgpu.debug(app.capture())
    steps = [queued_by(app, run, f"f{frame}/e0").written for frame in (2, 4, 6)]
    assert all(one is not None for one in steps)
    assert [one.step for one in steps if one] == sorted({one.step for one in steps if one})


def test_stores_are_counted_by_place() -> None:
    app = pocketgpu.run(PROGRAM)
    kernel = app.console.kernel
    watch = Writers(kernel, [(0x20000000, 64)])
    app.frames(1)
    assert watch.last() == watch.written[-1] and watch.last(before=0) is None
    assert {one.address & ~63 for one in watch.written} == {0x30000000}
    count = len(watch.written)
    watch.stop()
    app.frames(4)
    assert len(watch.written) == count
    assert not Writers(kernel, [(0x27000000, 64)]).written


def test_the_command_names_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(PROGRAM), "f4/px200,120"]) == 0
    assert "filled by main+" in capsys.readouterr().out.splitlines()[1]
    assert main(["why", str(PROGRAM), "f4/px200,120", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["queued_by"]
    assert found["trace"][0]["function"].startswith("main+") and found["address"] == "f4/e1"


def test_what_an_answer_is_about() -> None:
    run = pocketgpu.debug(PROGRAM)
    assert cause_of(run.why("f4/px200,120")) == "f4/e1"
    assert cause_of(run.why("f4")) is None
