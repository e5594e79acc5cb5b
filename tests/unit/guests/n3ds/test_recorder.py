"""Recordings of programs: they replay to the bytes of the live run, and say what happened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Gx, Load, Writes
from pocketgpu.errors import UsageError

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
SHOWN = PROGRAMS / "framebuffers.elf"


def shots(app: pocketgpu.App, count: int) -> list[dict[str, np.ndarray]]:
    """The pictures of the next frames."""
    found = []
    for _ in range(count):
        if app.frames(1) or len(found) < app.frame_count:
            found.append({name: screen.array.copy() for name, screen in app.screens.items()})
    return found


@pytest.mark.parametrize("threads", [1, 2])
def test_a_replay_shows_what_the_run_showed(threads: int, tmp_path: Path) -> None:
    with pocketgpu.run(SHOWN, record=True, threads=threads) as app:
        live = shots(app, 9)
        pgc.write(tmp_path / "run.pgc", app.capture(), pictures=False)
    capture = pocketgpu.open(tmp_path / "run.pgc")
    assert capture.frame_count == len(live) == 9 and not capture.warnings
    for frame, seen in zip(capture.render(), live, strict=True):
        assert set(frame.screens) == set(seen)
        assert all((frame.screens[name].array == picture).all() for name, picture in seen.items())
    assert all(one.same for one in pgc.check(capture))


def test_a_run_that_was_not_recorded_is_run_again() -> None:
    with pocketgpu.run(SHOWN) as app:
        app.press("A", frames=3)
        app.frames(4)
        again = app.again()
        assert again.frame_count == app.frame_count and again.console.kernel.steps == app.console.kernel.steps
        assert again.text == app.text and (again.top.array == app.top.array).all()
        with pocketgpu.run(SHOWN, record=True) as recorded:
            recorded.press("A", frames=3)
            recorded.frames(4)
            assert pgc.encode(recorded.contents()) == pgc.encode(app.contents())


def test_files_that_may_have_changed_forbid_a_second_run(tmp_path: Path) -> None:
    app = pocketgpu.run(SHOWN, sd=tmp_path, writable=True)
    app.frames(1)
    with pytest.raises(UsageError, match="second run"):
        app.capture()
    assert pocketgpu.run(SHOWN, sd=tmp_path).capture().frame_count == 0


def test_only_what_changed_is_loaded() -> None:
    """A framebuffer that is shown again without a change is not loaded again."""
    with pocketgpu.run(SHOWN, record=True) as app:
        app.frames(10)
        frames = app.contents().frames
    assert any(isinstance(event, Load) for event in frames[0].events)
    assert not frames[1].events, "in frame 1 the program draws nothing"
    assert all(isinstance(event, Load | Writes | Gx) for frame in frames for event in frame.events)
