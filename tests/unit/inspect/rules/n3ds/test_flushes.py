"""What programs forget to flush: the bytes, who read them, and the function that let the GPU work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pocketgpu.cli import main
from pocketgpu.guests import App, run
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.inspect.rules.n3ds.flushes import CACHE_LINE, FlushWatch, Stale

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[4] / "guests" / "n3ds"
EXPECTED = {
    "all flushed": [],
    "one texel": [("texture", 0x20010191, 3)],
    "flushed later": [],
    "same bytes": [],
    "a vertex and an index": [("indices", 0x2000100E, 1), ("vertices", 0x20000066, 1)],
    "the list": [("list", 0x20040003, 1)],
    "a row": [("display", 0x20100000 + 100 * 720, 720)],
    "flushed": [],
}
"""By step of flushes.c: what is read stale, the first byte, and how many."""


def watched(name: str) -> tuple[App, FlushWatch]:
    app = run(PROGRAMS / f"{name}.elf")
    kernel = app.console.kernel
    assert isinstance(kernel, N3DSKernel)
    return app, FlushWatch(kernel)


def test_each_step_is_found_and_nothing_else() -> None:
    app, watch = watched("flushes")
    found: dict[str, list[Stale]] = {}
    while app.until(lambda: app.debug_text.count("\n") > len(found)):
        before = sum(map(len, found.values()))
        found[app.debug_text.splitlines()[-1]] = watch.found[before:]
    assert {step: [(one.kind, one.address, one.size) for one in some] for step, some in found.items()} == EXPECTED
    assert app.end is not None and app.end.well and not list(app.console.machine.events)
    texel, *_ = found["one texel"]
    assert [one.place.name.partition("+")[0] for one in texel.trace] == ["gx", "draw_scene", "show", "main", "start"]
    text = str(texel)
    assert "texture unit 0 reads 3 bytes at 0x20010191 that were written and not flushed; by gx+" in text
    assert "draw_scene+" in text and "flushes.c:" in text and repr(texel).startswith("<Stale f1/")
    assert "that was written" in str(found["the list"][0]) and found["a row"][0].trace == ()
    assert repr(watch) == "<FlushWatch: 5 findings>"


def test_watching_changes_no_picture() -> None:
    plain, (app, _) = run(PROGRAMS / "flushes.elf"), watched("flushes")
    for _ in range(9):
        plain.frames(1)
        app.frames(1)
        assert np.array_equal(plain.top.array, app.top.array)
    assert plain.console.kernel.steps == app.console.kernel.steps


def test_a_program_without_flushes_reads_everything_stale() -> None:
    app, watch = watched("scene")
    app.frames(3)
    assert {one.kind for one in watch.found} == {"list", "vertices", "indices", "texture"}
    # What the GPU itself has drawn is in memory: the picture of the first cube is a texture of the others.
    assert {one.address & -0x1000 for one in watch.found if one.kind == "texture"} == {0x20010000}
    assert max(one.count for one in watch.found) > 1
    count = len(watch.found)
    watch.stop()
    app.frames(3)
    assert len(watch.found) == count


def test_a_flush_is_of_whole_lines_and_only_of_what_there_is() -> None:
    app, watch = watched("flushes")
    app.frames(2)
    kernel = app.console.kernel
    assert isinstance(kernel, N3DSKernel)
    offset = kernel.machine.memory.offset_of(0x20200000, 0x1000)
    assert offset is not None
    kernel.machine.memory.arena[offset : offset + 0x1000] = 7
    for address, size in ((0x30200000 + 3 * CACHE_LINE + 5, 1), (0xFFFFFFF0, 0x100), (0, 0), (0x30200000, 0)):
        kernel.flushed(address, size)
    places = np.flatnonzero(watch._flushed[offset : offset + 0x1000])
    assert places.tolist() == list(range(3 * CACHE_LINE, 4 * CACHE_LINE))


def test_check_takes_a_program_and_tells_what_it_forgot(capsys: pytest.CaptureFixture[str]) -> None:
    program = str(PROGRAMS / "flushes.elf")
    assert main(["check", program, "--rule", "cache.stale"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    out = " ".join(" ".join(lines).split())
    assert "f1: texture unit 0 reads 3 bytes at 0x20010191 that were written and not flushed; by gx+" in out
    assert out.count("[cache.stale]") == 5 and "5 warnings (1 rule" in out
    assert main(["check", str(PROGRAMS / "objects.elf")]) == 4  # it draws nothing
