"""Work after the last frame has an address, on both consoles: the number after that of the last frame."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.switch_scene import Scene

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.capture import pgc
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.decode import decode
from pocketgpu.inspect.inspection import Inspection
from pocketgpu.inspect.rules.checker import check


def save_3ds(folder: Path, shown: int) -> str:
    """Three triangles, each to a target of its own; `shown` of them are shown in a frame each."""
    capture = CaptureBuilder()
    corners = capture.put(np.array([[-1, -1, -0.5], [1, -1, -0.5], [0, 1, -0.5]], np.float32))
    for number in range(3):
        target = capture.allocate(240 * 400 * 4, region="VRAM")
        cl = CommandList().plain_state().render_target(target, 240, 400)
        cl.shader(assemble(".out o0 position \n mov o0, v0 \n end"))
        cl.attributes(Buffer(corners, [("f32", 3)])).draw_arrays(3).end_drawing()
        capture.submit(cl)
        if number < shown:
            capture.present("top", target).end_frame()
    path = folder / f"n3ds-{shown}.ctf"
    capture.save(path)
    return str(path)


def save_switch(folder: Path, shown: int) -> str:
    """The work of three frames, of which `shown` pictures are shown."""
    builder = Scene(frames=3).builder()
    del builder._presents[shown:]
    path = folder / f"switch-{shown}.mxcap.zip"
    builder.save(path)
    return str(path)


SAVED = {"3DS": save_3ds, "Switch": save_switch}


@pytest.fixture(scope="module", params=SAVED)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return SAVED[request.param](tmp_path_factory.mktemp("rest"), 2)


@pytest.fixture(scope="module")
def run(path: str) -> Inspection:
    return pocketgpu.debug(path)


def test_events_after_the_last_frame_have_the_next_number(run: Inspection) -> None:
    assert run.has_rest and run.frame_count == 2
    rest = run.events(2)
    assert rest and all(event.frame == 2 for event in rest)
    assert [str(event.address) for event in run.draws(2)] == [f"f2/d{n}" for n in range(len(run.draws(2)))]
    # The same work as in the frames before, but for the picture.
    kinds = [event.kind for event in rest]
    assert "draw" in kinds and "show" not in kinds
    assert kinds.count("draw") == [event.kind for event in run.events(1)].count("draw")
    assert run.event("f2/d0").title == run.event("f1/d0").title
    with pytest.raises(UsageError, match="no frame 3") as caught:
        run.events(3)
    assert "What comes after the last frame is f2." in str(caught.value.hint)


def test_moments_after_the_last_frame(run: Inspection) -> None:
    before, moment, end = run.seek("f1"), run.seek("f2/d0"), run.seek("f2")
    assert str(moment.address) == "f2/d0" and moment.event is run.event("f2/d0")
    assert moment.target is not None and end.target is not None
    drawn = moment.target.array.copy()
    assert drawn[..., :3].any()
    if run.capture.console == "3DS":  # each draw has a target of its own
        target = end.target
        assert str(target) == str(moment.target) and np.array_equal(target.array, drawn)
        assert str(before.target) != str(target)
    assert str(end.address) == "f2"
    again = run.seek("f0/d0")
    assert str(again.address) == "f0/d0" and again.target is not None
    assert np.array_equal(run.seek("f2/d0").target.array, drawn)  # type: ignore[union-attr]


def test_a_fresh_debugger_goes_straight_there(path: str) -> None:
    moment = pocketgpu.debug(path).seek("f2/d0")
    assert moment.target is not None and moment.target.array[..., :3].any()
    assert pocketgpu.debug(path).seek("f2").target is not None


def test_why_after_the_last_frame(run: Inspection) -> None:
    assert str(run.why("f2/d0").address) == "f2/d0" and run.why("f2/d0").because
    assert "2" in str(run.why("f2").address)
    assert run.why("f2/d0/px16,20").touches
    with pytest.raises(UsageError, match="no picture is shown after the last frame"):
        run.why("f2/px16,20")


def test_who_wrote_last_looks_there_too(run: Inspection) -> None:
    writes = run.event("f2/d0").writes
    assert writes
    found = run.who_changed(writes[0].address, writes[0].size)
    assert found is not None and found.frame == 2


def test_commands_accept_and_print_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*words: str) -> str:
        assert main([*words]) in (0, 1)
        return capsys.readouterr().out

    assert "after the last frame: " in said("events", path) and "f2/d0" in said("events", path, "f2")
    assert {event["address"] for event in json.loads(said("events", path, "f2", "--json"))["events"]} >= {"f2/d0"}
    assert any(event["event"].startswith("f2/") for event in json.loads(said("events", path, "--json"))["events"])
    assert "f2/d0" in said("state", path, "f2/d0") and "end of frame  f2" in said("state", path, "f2")
    assert said("why", path, "f2/d0").startswith("f2/d0") or "f2/d0" in said("why", path, "f2/d0")
    places = said("decode", path, "f2/d0").splitlines()
    assert len(places) > 5 and all("tail" in line or not line.startswith("0x") for line in places)
    assert said("decode", path, "tail/d0").splitlines() == places


def test_decoded_words_of_it_are_those_of_the_tail(path: str) -> None:
    decoded = decode(pocketgpu.open(path))
    assert (decoded.select(["f2"]) == (decoded.rows["frame"] < 0)).all() and decoded.select(["f2"]).any()
    assert not (decoded.select(["f0..f1"]) & decoded.select(["f2"])).any()
    assert decoded.select(["f0..f2"]).all()


def test_check_prints_places_there(path: str, tmp_path: Path) -> None:
    report = check(pocketgpu.open(path))
    assert all(finding.at.partition("/")[0] in ("", "f0", "f1", "f2") for finding in report.findings)
    assert check(pocketgpu.open(path), frame=2).rules == report.rules


@pytest.mark.parametrize("console", SAVED)
def test_rules_look_at_what_comes_after_the_last_frame(console: str, tmp_path: Path) -> None:
    """A draw whose scissor keeps nothing, after the only picture; on a Switch there is one before it, too."""
    if console == "3DS":
        capture = CaptureBuilder()
        target = capture.allocate(240 * 400 * 4, region="VRAM")
        corners = capture.put(np.array([[-1, -1, -0.5], [1, -1, -0.5], [0, 1, -0.5]], np.float32))

        def list_of(scissor: bool) -> CommandList:
            cl = CommandList().plain_state().render_target(target, 240, 400)
            cl.shader(assemble(".out o0 position \n mov o0, v0 \n end"))
            if scissor:
                cl.write("SCISSORTEST_MODE", mode="keep inside").write("SCISSORTEST_POS", x1=9)
                cl.write("SCISSORTEST_DIM", x2=3)
            return cl.attributes(Buffer(corners, [("f32", 3)])).draw_arrays(3).end_drawing()

        capture.submit(list_of(False)).present("top", target).end_frame().submit(list_of(True))
        capture.save(tmp_path / "a.ctf")
        report = check(pocketgpu.open(tmp_path / "a.ctf"))
        rule = "scissor.empty"
    else:
        # The second draw of each frame has the scissor; without the second picture, one is left over.
        empty = (("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 0), ("SET_SCISSOR_VERTICAL(0)", 0))
        builder = Scene(frames=2, methods=empty).builder()
        del builder._presents[1:]
        builder.save(tmp_path / "a.mxcap.zip")
        report = check(pocketgpu.open(tmp_path / "a.mxcap.zip"))
        rule = "switch.scissor-empty"
    places = {finding.at.partition("/")[0] for finding in report.findings if finding.rule.id == rule}
    assert places == ({"f1"} if console == "3DS" else {"f0"}), report  # equal findings are told once, the first


@pytest.mark.parametrize("console", SAVED)
def test_a_recording_without_a_picture_is_all_rest(
    console: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = SAVED[console](tmp_path, 0)
    run = pocketgpu.debug(path)
    assert run.frame_count == 0 and len(run.draws(0)) >= 3
    assert main(["events", path]) == 0
    assert capsys.readouterr().out.startswith("after the last frame: ")
    assert run.seek("f0/d1").target is not None


@pytest.mark.parametrize("console", SAVED)
def test_a_recording_that_ends_with_its_picture_has_no_rest(console: str, tmp_path: Path) -> None:
    run = pocketgpu.debug(SAVED[console](tmp_path, 3))
    assert not run.has_rest
    with pytest.raises(UsageError, match="no frame 3") as caught:
        run.events(3)
    assert "after the last frame" not in str(caught.value.hint)


def test_a_pgc_of_a_switch_keeps_it_and_one_of_a_3ds_has_frames_only(path: str, tmp_path: Path) -> None:
    run = pocketgpu.debug(path)
    pgc.write(tmp_path / "a.pgc", run.capture)
    kept = pocketgpu.debug(tmp_path / "a.pgc")
    assert kept.has_rest == (run.capture.console == "Switch") and kept.frame_count == 2
    assert not kept.has_rest or len(kept.draws(2)) == len(run.draws(2))
