"""The zoo: every variant of every feature gives its golden bytes, whatever code draws it.

Scenes are in zoo/; `python tests/pictures/zoo --out build/zoo` shows them. POCKETGPU_UPDATE_GOLDENS=1 rewrites
zoo.json, in one process (without -n); look at the pictures before you keep it. Failures name cells and leave pictures
in build/failures/.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import golden_files
import numpy as np
import pytest
from zoo import SCENES, Scene, Shown, show
from zoo.gallery import write_gallery

import pocketgpu

GOLDENS = Path(__file__).with_name("zoo.json")
NAMES = list(SCENES)


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each scene in turn; all tests of one before those of the next, so that it is drawn only once for all."""
    return str(request.param)


@lru_cache(maxsize=1)
def made(name: str) -> Scene:
    """A scene's recording, made once: the tests of a scene run one after the other."""
    return SCENES[name].make()


@lru_cache(maxsize=1)
def drawn(name: str) -> Shown:
    """A scene as specialised machine code on one thread draws it: what all others are compared with."""
    return show(SCENES[name], made(name), tier="specialised")


def golden_of(shown: Shown) -> dict[str, Any]:
    """What zoo.json holds of a scene: SHA-256 of each surface, eight digits of it for each cell."""
    return {
        "surfaces": {name: golden_files.digest(data) for name, data in shown.data.items()},
        "cells": {cell.label: golden_files.digest(shown.cell(cell))[:8] for cell in shown.scene.cells},
        "interrupts": {name: count for name, count in shown.interrupts.items() if count},
    }


def assert_same(name: str, how: str, ours: Shown) -> None:
    """Fail, naming cells and pictures, unless a scene has the same bytes as `drawn`."""
    expected = drawn(name)
    if ours.data == expected.data:
        return
    cells = [cell.label for cell in expected.scene.cells if ours.cell(cell) != expected.cell(cell)]
    paths = [
        golden_files.keep(f"zoo.{name}.{how}", ours.sheet()),
        golden_files.keep(f"zoo.{name}", expected.sheet()),
    ]
    pytest.fail(f"{name} differs with {how} in cells {cells}; see {paths[0]}, expected is {paths[1]}")


def test_a_scene_gives_its_golden_bytes(name: str) -> None:
    shown = drawn(name)
    found = golden_of(shown)
    if golden_files.updating():
        goldens = golden_files.read(GOLDENS) | {name: found}
        golden_files.write(GOLDENS, {key: goldens[key] for key in NAMES if key in goldens})
    expected = golden_files.read(GOLDENS).get(name)
    assert expected is not None, f"zoo.json has no scene {name}"
    if found != expected:
        path = golden_files.keep(f"zoo.{name}", shown.sheet())
        cells = [label for label, digest in found["cells"].items() if expected["cells"].get(label) != digest]
        gone = sorted(set(expected["cells"]) - set(found["cells"]))
        other = {key: found[key] for key in ("surfaces", "interrupts") if found[key] != expected[key]}
        pytest.fail(f"{name} has changed in cells {cells}, {gone} are gone ({other}); see {path}")


def test_a_scene_reports_what_it_must_and_its_variants_differ(name: str) -> None:
    """No event but those that the scene is about; cells differ, unless the scene is there to show that they do not."""
    shown = drawn(name)
    assert shown.events == tuple(sorted(SCENES[name].events))
    assert len(shown.scene.cells) > 1
    distinct = len({shown.cell(cell) for cell in shown.scene.cells})
    assert distinct == 1 if SCENES[name].alike else distinct > 1


def test_two_threads_draw_the_same(name: str) -> None:
    assert_same(name, "threads2", show(SCENES[name], made(name), tier="specialised", threads=2))


def test_general_code_draws_the_same(name: str) -> None:
    """One of the two general kernels has shadows, gas and 32x32 blocks, too."""
    assert_same(name, "general", show(SCENES[name], made(name), tier="general"))


def test_the_oracle_draws_the_same(name: str) -> None:
    assert_same(name, "numpy", show(SCENES[name], made(name), evaluator="numpy"))


def test_goldens_have_no_scene_that_is_gone() -> None:
    assert list(golden_files.read(GOLDENS)) == NAMES


def test_the_gallery_names_every_cell(tmp_path: Path) -> None:
    page = write_gallery(tmp_path, ["scissor"]).read_text(encoding="utf-8")
    shown = drawn("scissor")
    assert all(f'title="{cell.label}"' in page for cell in shown.scene.cells)
    from PIL import Image

    np.testing.assert_array_equal(np.array(Image.open(tmp_path / "scissor.png")), shown.panels()["color"])


@pytest.mark.parametrize("recorded", ["write_masks", "list_jumps", "geometry_shaders"])
def test_a_recording_of_a_scene_shows_the_same(recorded: str, tmp_path: Path) -> None:
    """What the builder writes down is what it does: replayed from a file, the same bytes."""
    shown = drawn(recorded)
    path = tmp_path / "scene.ctf.xz"
    shown.scene.capture.save(path)
    (frame,) = pocketgpu.open(path).render()
    for surface in shown.scene.surfaces:
        assert frame.machine.memory.read(surface.address, surface.size) == shown.data[surface.name]


def test_a_wrong_picture_is_named_by_its_cell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The comparison itself: one byte that differs fails, with the cell's label and two pictures."""
    monkeypatch.setattr(golden_files, "FAILURES", tmp_path)
    right = drawn("scissor")
    wrong = bytearray(right.data["color"])
    wrong[3] ^= 1  # the red of the first pixel of the first cell
    other = Shown(right.scene, {**right.data, "color": bytes(wrong)}, right.events, right.interrupts)
    with pytest.raises(pytest.fail.Exception, match="mode 0, off, to x 23"):
        assert_same("scissor", "test", other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zoo.scissor.png", "zoo.scissor.test.png"]
