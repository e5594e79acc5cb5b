"""The Switch's zoo: every variant of every feature gives its golden bytes, whatever code draws it.

Scenes are in zoo_switch/; `python tests/pictures/zoo --switch --out build/zoo_switch` shows them. General code on one
thread draws all of every scene; two threads draw all again; specialised code and the oracle, which take longer, draw
some cells of every scene. POCKETGPU_UPDATE_GOLDENS=1 rewrites zoo_switch.json, in one process (without -n); look at
the pictures before you keep it. Failures name cells and leave pictures in build/failures/.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import golden_files
import pytest
from zoo.gallery import write_gallery
from zoo_switch import SCENES, Scene, Shown, show

from pocketgpu.capture.formats import mxcap
from pocketgpu.maxwell.graphics.draw import drawing

GOLDENS = Path(__file__).with_name("zoo_switch.json")
NAMES = list(SCENES)


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each scene in turn; all tests of one before those of the next, so that it is drawn only once for all."""
    return str(request.param)


@lru_cache(maxsize=1)
def made(name: str) -> Scene:
    """A scene's recording, made once."""
    return SCENES[name].make()


@lru_cache(maxsize=1)
def drawn(name: str) -> Shown:
    """A scene as general code on one thread draws it: what all others are compared with."""
    return show(SCENES[name], made(name), tier="general")


def golden_of(shown: Shown) -> dict[str, Any]:
    """What zoo_switch.json holds of a scene: SHA-256 of all it left, eight digits of it for each cell."""
    everything = b"".join(name.encode() + data for name, data in shown.data.items())
    return {
        "all": golden_files.digest(everything),
        "cells": {cell.label: golden_files.digest(shown.cell(cell))[:8] for cell in shown.scene.cells},
    }


def assert_same(name: str, how: str, ours: Shown, chosen: Sequence[int] | None = None) -> None:
    """Fail, naming cells and pictures, unless cells (all: also what is outside of them) are as `drawn` has them."""
    expected = drawn(name)
    cells = expected.scene.cells
    wrong = [cells[n].label for n in (chosen or range(len(cells))) if ours.cell(cells[n]) != expected.cell(cells[n])]
    if wrong or (chosen is None and ours.data != expected.data):
        paths = [
            golden_files.keep(f"zoo_switch.{name}.{how}", ours.sheet()),
            golden_files.keep(f"zoo_switch.{name}", expected.sheet()),
        ]
        pytest.fail(f"{name} differs with {how} in cells {wrong}; see {paths[0]}, expected is {paths[1]}")


def some(name: str, count: int) -> list[int]:
    """Numbers of a few cells of a scene, at most `count`, far from each other."""
    total = len(made(name).cells)
    start = sum(name.encode()) % total
    return sorted({(start + n * total // count) % total for n in range(count)})


def test_a_scene_gives_its_golden_bytes(name: str) -> None:
    shown = drawn(name)
    found = golden_of(shown)
    if golden_files.updating():
        goldens = golden_files.read(GOLDENS) | {name: found}
        golden_files.write(GOLDENS, {key: goldens[key] for key in NAMES if key in goldens})
    expected = golden_files.read(GOLDENS).get(name)
    assert expected is not None, f"zoo_switch.json has no scene {name}"
    if found != expected:
        path = golden_files.keep(f"zoo_switch.{name}", shown.sheet())
        cells = [label for label, digest in found["cells"].items() if expected["cells"].get(label) != digest]
        gone = sorted(set(expected["cells"]) - set(found["cells"]))
        pytest.fail(f"{name} has changed in cells {cells}, {gone} are gone; see {path}")


def test_a_scene_reports_what_it_must_and_its_variants_differ(name: str) -> None:
    """No event but those that the scene is about; enough cells differ."""
    shown = drawn(name)
    assert shown.events == tuple(sorted(SCENES[name].events))
    cells = shown.scene.cells
    assert len(cells) > 1
    assert 5 * len({shown.cell(cell) for cell in cells}) >= len(cells)


def test_two_threads_draw_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """However small a piece is, both have their share of it."""
    monkeypatch.setattr(drawing, "SHARE_VERTICES", 1)
    monkeypatch.setattr(drawing, "SHARE_AREA", 0)
    assert_same(name, "threads2", show(SCENES[name], made(name), tier="general", threads=2))


def test_specialised_code_draws_the_same(name: str) -> None:
    chosen = some(name, 3)
    assert_same(name, "specialised", show(SCENES[name], SCENES[name].make(chosen), tier="specialised"), chosen)


def test_the_oracle_draws_the_same(name: str) -> None:
    chosen = some(name, 1)
    assert_same(name, "numpy", show(SCENES[name], SCENES[name].make(chosen), evaluator="numpy"), chosen)


def test_goldens_have_no_scene_that_is_gone() -> None:
    assert list(golden_files.read(GOLDENS)) == NAMES


def test_the_gallery_names_every_cell(tmp_path: Path) -> None:
    page = write_gallery(tmp_path, ["points", "color_formats"], SCENES, show, "GM20B").read_text(encoding="utf-8")
    for name in ("points", "color_formats"):
        assert all(f'title="{cell.label}"' in page for cell in made(name).cells)
        assert (tmp_path / f"{name}.png").stat().st_size > 500


def test_a_recording_of_a_scene_shows_the_same(tmp_path: Path) -> None:
    """What the builder writes down is a recording that the reader takes."""
    scene = made("topologies")
    path = tmp_path / "scene.mxcap.zip"
    scene.capture.save(path)
    read = mxcap.parse(path.read_bytes())
    assert [s.entries.tolist() for s in read.submissions] == [
        s.entries.tolist() for s in scene.capture.log().submissions
    ]


def test_a_wrong_picture_is_named_by_its_cell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The comparison itself: one byte that differs fails, with the cell's label and two pictures."""
    monkeypatch.setattr(golden_files, "FAILURES", tmp_path)
    right = drawn("points")
    wrong = bytearray(right.data["color"])
    wrong[3] ^= 1  # the first pixel of the first cell
    other = Shown(right.scene, {**right.data, "color": bytes(wrong)}, right.events)
    with pytest.raises(pytest.fail.Exception, match=right.scene.cells[0].label):
        assert_same("points", "test", other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zoo_switch.points.png", "zoo_switch.points.test.png"]
