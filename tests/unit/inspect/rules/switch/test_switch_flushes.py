"""What programs of the Switch forget to write back: the bytes, who read them, and the function that let it happen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.cli import main
from pocketgpu.guests import App, run
from pocketgpu.guests.processors.hooks import ROOM
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.inspect.model.stale import Stale
from pocketgpu.inspect.rules.switch.flushes import FlushWatch

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[4] / "guests" / "switch"
EXPECTED = {
    "all flushed": [],
    "a texel": [("texture", 0x600021016, 1)],
    "flushed later": [],
    "a vertex": [("vertices", 0x600020002, 1)],
    "same bytes": [],
    "the list": [("pushbuffer", 0x600010004, 1)],
    "uncached": [],
    "a call": [],
    "a copy": [("copy", 0x600020807, 1)],
    "a picture": [("display", 0x2100172000, 32)],
    "a picture, flushed": [],
}
"""By step of flushes.c: what is read stale, the first byte, and how many."""


def watched(name: str, *arguments: str) -> tuple[App, FlushWatch]:
    app = run(PROGRAMS / f"{name}.nro", arguments=arguments)
    assert isinstance(app.console, SwitchConsole)
    return app, FlushWatch(app.console)


def test_each_step_is_found_and_nothing_else() -> None:
    app, watch = watched("flushes")
    found: dict[str, list[Stale]] = {}
    app.until(lambda: "taken" in app.debug_text and app.debug_text.endswith("\n"))
    first = app.debug_text.count("\n")
    while app.until(lambda: app.debug_text.count("\n") > first + len(found)):
        before = sum(map(len, found.values()))
        found[app.debug_text.splitlines()[-1]] = watch.stale[before:]
    assert {step: [(one.kind, one.address, one.size) for one in some] for step, some in found.items()} == EXPECTED
    assert app.end is not None and app.end.well and not app.console.events
    (texel,) = found["a texel"]
    names = [one.place.name.partition("+")[0].partition(".")[0] for one in texel.trace]
    assert names == ["request", "control", "kickoff", "draw", "main", "start"]
    assert "a texture reads 1 byte at 0x600021016 that was written and not flushed; by request+" in str(texel)
    assert "main+" in str(texel) and "flushes.c:" in str(texel) and str(texel).startswith("f1/d0: ")
    assert repr(watch) == "<FlushWatch: 5 findings>"


def test_watching_changes_nothing() -> None:
    plain, (app, watch) = run(PROGRAMS / "flushes.nro"), watched("flushes")
    for _ in range(9):
        plain.frames(1)
        app.frames(1)
        assert np.array_equal(plain.screen.array, app.screen.array)
    assert plain.console.kernel.steps == app.console.kernel.steps
    assert plain.console.kernel.time.now == app.console.kernel.time.now
    count = len(watch.stale)
    watch.stop()
    app.frames(9)
    assert len(watch.stale) == count > 0


def test_more_lines_than_are_noted_at_a_time() -> None:
    """The processor stops to have them taken, and goes on as if it had not."""
    times = []
    for follow in (False, True):
        app, lines = run(PROGRAMS / "flushes.nro"), 0
        processor = app.console.kernel.processor
        assert isinstance(processor, UnicornArm64)

        def told(addresses: NDArray[np.uint64], data: NDArray[np.uint8]) -> None:
            nonlocal lines
            assert not (addresses % 64).any() and data.shape == (len(addresses), 64)
            lines += len(addresses)

        end = processor.follow_flushes(told) if follow else None
        app.frames(20)
        assert app.end is not None and app.end.well
        times.append(app.console.kernel.time.now)
        assert lines == 0 if end is None else lines > 4 * ROOM
        if end is not None:
            end()
    assert times[0] == times[1]


def test_a_program_without_flushes_reads_everything_stale() -> None:
    app, watch = watched("scene")
    app.frames(4)
    assert {one.kind for one in watch.stale} == {"pushbuffer", "vertices", "texture", "program"}
    app, watch = watched("framebuffer")
    app.frames(4)
    assert {one.kind for one in watch.stale} == {"display"}


def test_check_takes_a_program_and_tells_what_it_forgot(capsys: pytest.CaptureFixture[str]) -> None:
    program = str(PROGRAMS / "flushes.nro")
    assert main(["check", program, "--rule", "switch.cache-stale"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    out = " ".join(" ".join(lines).split())
    assert "f1: a texture reads 1 byte at 0x600021016 that was written and not flushed; by request+" in out
    assert out.count("[switch.cache-stale]") == 5 and "5 warnings (1 rule" in out
