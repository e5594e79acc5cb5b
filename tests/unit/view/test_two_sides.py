"""Two sides of the desk: what the page is told about them, and what puts the other one there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.pica_scenes import Scene
from support.switch_scene import Scene as SwitchScene
from support.view_desk import ask, client_of, refused

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.cli import main
from pocketgpu.facts.choices import OF_CONSOLE
from pocketgpu.inspect.diff.comparison import Comparison
from pocketgpu.inspect.inspection import debug
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions import compare, whatif
from pocketgpu.view.questions.desk import MAIN, Desk, beside, desk_of, opened

Serve = Callable[..., Any]
DATA = Path(pocketgpu.__file__).parent / "data"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Makes a client of a server: of a capture, and of another one if there is one."""
    clients = []
    (tmp_path / "index.html").write_text("the page")

    def start(a: str | Path, b: str | Path | None = None, **choices: str) -> TestClient:
        other = None if b is None else beside(pocketgpu.open(b), choices)
        machine = MachineThread[Desk](lambda: desk_of((MAIN, opened(pocketgpu.open(a), {})), other=other))
        client = client_of(machine, tmp_path, Path(a).name).__enter__()
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two captures of a 3DS: the second has a draw more, and another blend colour."""
    folder = tmp_path_factory.mktemp("two")

    def more(_: CaptureBuilder, commands: CommandList) -> None:
        commands.draw_arrays(3)

    return (
        Scene(frames=2).save(folder / "a.ctf.xz"),
        Scene(frames=2, blend=0x44, between=more).save(folder / "b.ctf.xz"),
    )


def test_one_side_has_nothing_beside_it(serve: Serve, two: tuple[str, str]) -> None:
    client = serve(two[0])
    (side,) = ask(client, "sides")["sides"]
    assert side == {"name": "a", "title": "a.ctf.xz", "console": "3DS", "frames": 2}
    for path, query in (("aligned", {"frame": 0}), ("differences", {"frame": 0}), ("unlike", {"from": 0})):
        assert refused(client, path, **query)["message"] == "there is no side 'b'"
    assert refused(client, "pictures", at="f0", side="b")["message"] == "there is no side 'b'"


def test_two_captures_are_aligned(serve: Serve, two: tuple[str, str]) -> None:
    client = serve(*two)
    assert [one["title"] for one in ask(client, "sides")["sides"]] == ["a.ctf.xz", "b.ctf.xz"]
    found = ask(client, "aligned", frame=1)
    frame = Comparison(debug(two[0]), debug(two[1])).frame(1)
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    assert [one["verdict"] for one in rows] == [one.verdict for one in frame.rows]
    assert [one["title_b"] for one in rows] == [one.b.title if one.b else None for one in frame.rows]
    only = next(one for one in rows if one["verdict"] == "only b")
    assert (only["a"], only["draw_a"], only["draw_b"], only["title_a"]) == (None, None, 1, None)
    assert [one["text"] for one in found["differences"]] == [one.text for one in frame.differences]
    assert found["left_out"] == {"rows": 0, "differences": 0}
    levels = {one["name"]: one["first"] for one in ask(client, "differences", frame=1)["levels"]}
    assert levels["register"]["text"] == frame.first("register").text  # type: ignore[union-attr]
    assert levels["events"]["b"] == "f1/d1" and levels["events"]["a"] is None
    assert ask(client, "unlike", **{"from": 0}) == {"frame": 0, "next": None}
    assert ask(client, "unlike", **{"from": 2}) == {"frame": None, "next": None}
    changes = ask(client, "unlike_registers", a="f1/d1", b="f1/d2")
    assert "BLEND_COLOR" in [one["register"] for one in changes["changes"]] and changes["left_out"] == 0
    for path, query in (("events", {"frame": 1}), ("pictures", {"at": "f1/d2"}), ("why", {"at": "f1/d2"})):
        assert ask(client, path, side="b", **query) != {}
    assert refused(client, "aligned", frame=9)["message"].startswith("there is nothing to compare")


def test_answers_are_bounded(serve: Serve, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve(*two)
    whole = ask(client, "aligned", frame=0)
    monkeypatch.setattr(compare, "MOST_ROWS", 2)
    monkeypatch.setattr(compare, "MOST_DIFFERENCES", 1)
    found = ask(client, "aligned", frame=0)
    assert found["rows"] == whole["rows"][:2] and len(found["differences"]) == 1
    assert found["left_out"] == {"rows": len(whole["rows"]) - 2, "differences": len(whole["differences"]) - 1}
    monkeypatch.setattr(compare, "MOST_CHANGES", 1)
    assert ask(client, "unlike_registers", a="f0/d0", b="f0/d2")["left_out"] > 0
    monkeypatch.setattr(whatif, "MOST_REGISTERS", 3)
    registers = ask(client, "forcible", text="TEXENV", at="f0/d0")
    assert len(registers["registers"]) == 3 and registers["more"]
    assert "more than" in refused(client, "what-if", force=";".join(["BLEND_COLOR=1@f0"] * 99))["message"]


@pytest.mark.parametrize("sample", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_choices_of_the_console(serve: Serve, sample: str) -> None:
    client = serve(DATA / sample)
    console = ask(client, "capture")["console"]
    choices = ask(client, "choices")["choices"]
    assert [one["name"] for one in choices] == list(OF_CONSOLE[console])
    assert all(one["chosen"] == one["default"] and one["alternatives"] for one in choices)


def test_what_if_puts_the_capture_on_the_other_side(serve: Serve, two: tuple[str, str]) -> None:
    client = serve(two[0])
    found = ask(client, "what-if", force="COLORBUFFER_WRITE=0@f0/d1", set="texture.filter=linear")
    title = "a.ctf.xz texture.filter=linear COLORBUFFER_WRITE=0@f0/d1"
    assert [one["title"] for one in found["sides"]] == ["a.ctf.xz", title]
    run = debug(two[0], {"texture.filter": "linear"}, overrides=["COLORBUFFER_WRITE=0@f0/d1"])
    for at in ("f0/d0", "f0/d1"):
        shown = client.get("/api/picture", params={"at": at, "of": "target", "side": "b"}).content
        assert shown == run.seek(at).pictures["target"].pixels.tobytes()
    (change,) = ask(client, "unlike_registers", a="f0/d1", b="f0/d1")["changes"]
    assert change["register"] == "COLORBUFFER_WRITE"
    assert refused(client, "what-if", force="NOTHING=1@f0")["message"] == "there is no register NOTHING"
    assert "no choice" in refused(client, "what-if", set="no.such=thing")["message"]
    assert len(ask(client, "sides")["sides"]) == 2  # what is wrong takes nothing away
    assert len(ask(client, "what-if")["sides"]) == 1


def test_after_a_what_if_the_second_capture_comes_back(serve: Serve, two: tuple[str, str]) -> None:
    client = serve(*two)
    assert ask(client, "what-if", force="BLEND_COLOR=1@f0")["sides"][1]["title"].startswith("a.ctf.xz BLEND_COLOR")
    assert ask(client, "what-if")["sides"][1]["title"] == "b.ctf.xz"
    assert ask(client, "aligned", frame=0)["rows"]


@pytest.mark.parametrize(
    ("sample", "text", "field"),
    [("sample.ctf.xz", "depth_color_mask", "depth_function"), ("sample_switch.mxcap.zip", "SET_DEPTH_FUNC", "V")],
)
def test_registers_with_their_values(serve: Serve, sample: str, text: str, field: str) -> None:
    client = serve(DATA / sample)
    (found,) = ask(client, "forcible", text=text, at="f0/d3")["registers"]
    word = debug(DATA / sample).seek("f0/d3").registers()[found["name"]]
    assert found["word"] == f"{word:#010x}" and found["refusal"] == ""
    one = next(one for one in found["fields"] if one["name"] == field)
    assert one["value"] and len(one["values"]) > 1
    refusals = [one["refusal"] for one in ask(client, "forcible", text="DRAW", at="f0/d3")["registers"]]
    assert any(refusals)


def test_the_command_takes_two_captures(two: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr("pocketgpu.view.serve.check_installed", lambda: None)
    monkeypatch.setattr("pocketgpu.view.serve.serve", lambda *given: served.append(given))
    switch = SwitchScene().builder().save(tmp_path / "s.mxcap.zip")
    del switch
    a, b = two
    for arguments, other, at in (
        ([a], None, ""),
        ([a, "f1/d0"], None, "f1/d0"),
        ([a, b], "b.ctf.xz", ""),
        ([a, b, "f1/d0"], "b.ctf.xz", "f1/d0"),
        ([a, "--switch-b", "texture.filter=linear"], "a.ctf.xz texture.filter=linear", ""),
        ([a, "f1", "--force", "BLEND_COLOR=1@f0"], "a.ctf.xz BLEND_COLOR=1@f0", "f1"),
    ):
        assert main(["view", "--no-browser", *arguments]) == 0
        _, _, place, beside, _ = served.pop()
        assert place.at == at and (beside and beside.title) == other
    assert main(["view", "--no-browser", a, b, "f0", "f1"]) == 2
    assert main(["view", "--no-browser", a, str(tmp_path / "s.mxcap.zip")]) == 2
    assert not served
