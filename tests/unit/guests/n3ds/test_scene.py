"""A scene by command lists: textured, lit, rendered to a texture; both screens, an eye each, 800 columns."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.guests import run

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
CLEARED = {"top": (0x30, 0x50, 0x70), "bottom": (0x50, 0x30, 0x40)}


def test_the_lists_are_those_of_the_builder() -> None:
    made = runpy.run_path(str(PROGRAMS / "make_lists.py"))
    assert made["header"]() == (PROGRAMS / "lists.h").read_text()


def test_each_mode_shows_the_cubes() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    with run(PROGRAMS / "scene.elf") as app:
        for frames, sizes in (
            (30, {"top": 400, "bottom": 320}), (90, {"top": 400, "top-right": 400, "bottom": 320}),
            (150, {"top": 800, "bottom": 320}),
        ):  # fmt: skip
            assert app.frames(frames - app.frame_count)
            screens = {name: np.array(screen.array) for name, screen in app.screens.items()}
            assert {name: screen.shape for name, screen in screens.items()} == {
                name: (240, width, 3) for name, width in sizes.items()
            }
            for name, screen in screens.items():
                around = CLEARED["bottom" if name == "top-right" else name]
                assert (screen[:4] == around).all() and (screen[:, :4] == around).all(), name
                # The middle is a textured face: many colours, none of them the background.
                middle = screen[100:140, screen.shape[1] // 2 - 20 : screen.shape[1] // 2 + 20].reshape(-1, 3)
                assert not (middle == around).all(-1).any() and len(np.unique(middle, axis=0)) > 50, name
            if "top-right" in screens:
                assert (screens["top"] != screens["top-right"]).any()
        assert app.present_count == app.frame_count and app.debug_text == "frames 60\nframes 120\n"
        assert not list(app.console.machine.events) and not list(app.console.kernel.events)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_run_gives_the_same_bytes(threads: int) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    found = []
    for count in (1, threads):
        with run(PROGRAMS / "scene.elf", threads=count) as app:
            app.frames(70)
            found.append([app.console.machine.memory.read(0x20000000, 0x800000), app.console.kernel.time.now])
    assert found[0] == found[1]
