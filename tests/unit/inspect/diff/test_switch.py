"""Recordings of the Switch held against each other: a register, a vertex, a texel, a draw more, words for constants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.switch_scene import CORNERS, Scene

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.diff import Report, diff
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.switch.moments import SwitchMoment

PLAIN = Scene()


def report(a: Scene, b: Scene) -> Report:
    return diff(a.look(), b.look())


def test_the_same_twice() -> None:
    found = report(PLAIN, PLAIN)
    assert found.same and found.events == 8 and not found.notes
    assert str(found) == f"no difference in {found.events} events of 1 frame"


def test_one_register_is_one_line() -> None:
    found = report(PLAIN, PLAIN.but(methods=(("SET_LINE_WIDTH_FLOAT", 5.0),)))
    assert [one.level for one in found.all] == ["register"]
    (line,) = found.lines()
    assert line == "SET_LINE_WIDTH_FLOAT 0x3f800000 -> 0x40a00000 (V 1 -> 5)  f0/d1"
    # It stays, and is told where it begins.
    assert (
        len(report(PLAIN.but(frames=3), PLAIN.but(methods=(("SET_LINE_WIDTH_FLOAT", 5.0),), frames=3)).structure) == 1
    )


def test_a_register_that_shows() -> None:
    found = report(PLAIN, PLAIN.but(methods=(("SET_VIEWPORT_OFFSET_X(0)", 20.0),)))
    (line,) = found.lines()
    assert line.startswith("SET_VIEWPORT_OFFSET_X(0) 0x41800000 -> 0x41a00000 (V 16 -> 20)  f0/d1; first pixel ")
    assert [one.level for one in found.all] == ["register", "pixel", "picture"]
    assert found.pixel is not None and str(found.pixel.a).startswith("f0/d1/px")


def test_what_is_cleared_and_what_comes_of_it() -> None:
    found = report(PLAIN, PLAIN.but(clear=(0, 1, 0, 1)))
    (one,) = found.structure
    assert one.text.startswith("SET_COLOR_CLEAR_VALUE(1) 0x00000000 -> 0x3f800000")
    assert found.pixel is not None and found.pixel.text == "(0, 0, 0, 1) -> (0, 1, 0, 1)"
    assert found.pixel.a == found.pixel.b and str(found.pixel.a).endswith("/px0,0")
    (picture,) = found.pictures
    assert picture.screen == "screen" and len(list(found.lines())) == 1
    json.dumps(found.to_json())


def test_one_vertex_and_one_texel() -> None:
    moved = [list(row) for row in CORNERS]
    moved[1][0] = 0.9
    found = report(PLAIN, PLAIN.but(corners=tuple(map(tuple, moved))))
    assert found.vertex is not None and str(found.vertex.a) == "f0/d0/v1" and not found.vertex.detail["same_inputs"]
    assert found.vertex.text.startswith("vertex 1 position [0.8")
    (memory,) = found.structure
    assert memory.level == "memory" and "(" in memory.text and memory.detail["bytes"] <= 4
    found = report(PLAIN, PLAIN.but(texel=100))
    assert found.vertex is None and found.pixel is not None and "px" in str(found.pixel.a)
    assert [one.level for one in found.structure] == ["memory"] and found.structure[0].detail["bytes"] == 1024


def test_draws_whose_vertices_nobody_can_see_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both draws of the frame; the first is named."""

    def vertices(moment: SwitchMoment) -> None:
        raise UsageError("there are too many")

    monkeypatch.setattr(SwitchMoment, "vertices", property(vertices))
    found = report(PLAIN, PLAIN.but(clear=(0, 1, 0, 1)))
    assert found.vertex is None and found.notes == ["vertices of f0/d0 are not compared: there are too many"]


def test_words_for_constant_buffers_have_names() -> None:
    found = report(PLAIN.but(words=(1, 2, 3)), PLAIN.but(words=(1, 7, 3)))
    (one,) = found.structure
    assert one.level == "command" and one.detail["command"]["register"] == "LOAD_CONSTANT_BUFFER(0)"
    assert one.detail["command"]["a"] == "0x00000002" and one.detail["command"]["b"] == "0x00000007"
    assert "(LOAD_CONSTANT_BUFFER(0))" in str(one)


def test_an_inserted_draw_shifts_nothing() -> None:
    found = report(PLAIN.but(frames=2), PLAIN.but(frames=2, extra=1))
    assert [one.text.partition(":")[0] for one in found.structure if one.level == "events"] == ["only in B"] * 2
    assert all(one.a is None for one in found.structure if one.level == "events")
    assert found.vertex is None


def test_other_commands_alone() -> None:
    found = report(PLAIN, PLAIN.but(methods=(("NO_OPERATION", 4),)))
    assert not found.pictures and {one.level for one in found.structure} <= {"command"}


def test_settings_of_one_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = PLAIN.save(tmp_path / "plain.mxcap.zip")
    assert main(["diff", path, "--evaluator-b", "numpy"]) == 0
    assert "no difference" in capsys.readouterr().out
    assert main(["diff", path, "--switch-b", "draw.quad_diagonal=second"]) == 0
    other = PLAIN.but(clear=(1, 0, 0, 1)).save(tmp_path / "other.mxcap.zip")
    capsys.readouterr()
    assert main(["diff", path, other, "--json", "--out", str(tmp_path / "sheets")]) == 1
    told = json.loads(capsys.readouterr().out)["diff"]
    assert told["first"]["register"]["change"]["register"] == "SET_COLOR_CLEAR_VALUE(0)"
    assert told["first"]["pixel"]["surface"] == "colour target 0" and (tmp_path / "sheets" / "f0.screen.png").exists()


def test_addresses_go_straight_into_the_next_question() -> None:
    run = PLAIN.look()
    found = diff(run, PLAIN.but(texel=100).look())
    assert found.pixel is not None and found.pixel.a is not None
    assert run.why(found.pixel.a).proved


def test_recordings_differ_from_each_other(shared_dir: Path) -> None:
    folder = shared_dir / "captures" / "switch"
    paths = [str(folder / f"{name}_320x180.mxcap.zip") for name in ("ex03_cube", "ex04_textured_cube")]
    found = diff(pocketgpu.debug(paths[0]), debug(paths[1]))
    assert {one.level for one in found.all} >= {"events", "memory", "register", "vertex", "pixel", "picture"}
    assert diff(debug(paths[0]), debug(paths[0])).same


def test_one_recording_under_two_switches(shared_dir: Path) -> None:
    path = str(shared_dir / "captures" / "switch" / "ex03_cube_320x180.mxcap.zip")
    found = diff(debug(path), debug(path, {"draw.quad_diagonal": "second"}), range(1))
    assert not found.structure and found.vertex is None and found.pixel is not None and found.pictures
    assert str(found.pixel.a).startswith("f0/d0/px")
