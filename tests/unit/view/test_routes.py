"""Answers to the page: what `inspect` says, as data and pixels, for both consoles' samples."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from support.view_desk import ask, client_of, on_desk, refused

import pocketgpu
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.pages.selection import page_of
from pocketgpu.view import answering
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import Desk, desk_of

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")


def test_the_capture_and_its_events(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    found = ask(client, "capture")
    assert (found["console"], found["frames"], found["version"]) == (run.capture.console, run.frame_count, "1.2")
    assert found["name"] in SAMPLES
    last = run.frame_count - 1
    events = ask(client, "events", frame=last)
    assert [row[4] for row in events["rows"]] == [one.title for one in run.events(last)]
    assert [one["target"] for one in events["passes"]] == [one.target for one in run.passes(last)]
    number = events["columns"].index("draw")
    assert [row[number] for row in events["rows"] if row[number] is not None] == list(range(len(run.draws(last))))
    draw = run.draws(last)[-1]
    assert ask(client, "event", at=str(draw.address)) == json.loads(json.dumps(draw.to_json(words=True)))


def test_pictures_have_the_pixels_of_the_moment(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    draw = run.draws(0)[-1]
    for at in (str(draw.address), "f0"):
        wanted = run.seek(at).pictures
        shown = ask(client, "pictures", at=at)["pictures"]
        assert [one["name"] for one in shown] == list(wanted)
        for one in shown:
            answer = client.get("/api/picture", params={"at": at, "of": one["name"]})
            pixels = np.frombuffer(answer.content, np.uint8).reshape(one["height"], one["width"], 4)
            assert np.array_equal(pixels, wanted[one["name"]].pixels)
            again = client.get(
                "/api/picture", params={"at": at, "of": one["name"]}, headers={"if-none-match": answer.headers["etag"]}
            )
            assert (again.status_code, again.content) == (304, b"")
    png = client.get("/api/picture", params={"at": "f0", "of": shown[0]["name"], "form": "png"})
    assert png.content.startswith(b"\x89PNG") and png.headers["content-type"] == "image/png"


def test_a_pixel_has_the_address_that_why_explains(sides: tuple[TestClient, Inspection]) -> None:
    """The values of the picture are those that the answer ends with."""
    client, run = sides
    draw, checked = str(run.draws(0)[-1].address), 0
    rng = np.random.default_rng(1)
    for at, name in ((draw, "target"), ("f0", next(iter(run.seek("f0").screens)))):
        picture = run.seek(at).pictures[name]
        for _ in range(6):
            x, y = int(rng.integers(picture.width)), int(rng.integers(picture.height))
            pixel = ask(client, "pixel", at=at, of=name, x=x, y=y)
            answer = ask(client, "why", at=pixel["address"])
            assert answer["address"] == pixel["address"]
            shown = picture.pixels[y, x, :3].tolist()
            first = answer["text"].partition("\n")[0]
            assert bytes(shown).hex() in first and first.startswith(pixel["address"]), (pixel, first)
            checked += 1
    assert checked == 12
    pictures = run.seek(draw).pictures
    assert {"depth", "stencil"} <= pictures.keys()
    for part in ("depth", "stencil"):
        assert pictures[part].at(5, 7) == pictures["target"].at(5, 7)


def test_state_and_words(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    first, last = run.draws(0)[0], run.draws(0)[-1]
    moment = run.seek(last.address)
    state = ask(client, "state", at=str(last.address), since="reset")
    assert [one["text"] for one in state["summary"]] == list(moment.summary.parts.values())
    assert state["changes"] == [json.loads(json.dumps(one.to_json())) for one in moment.changes("reset")]
    assert ask(client, "state", at=str(last.address), since=str(first.address))["changes"] == [
        one.to_json() for one in moment.changes(first.address)
    ]
    every = ask(client, "state", at=str(last.address), since="nothing")["changes"]
    assert {one["register"]: int(one["new"], 16) for one in every} == moment.registers()
    differing = [one["register"] for one in every if one["old"] != one["new"]]
    assert sorted(differing) == sorted(one.register for one in moment.changes("reset") if not one.table)
    lines = ask(client, "words", at=str(last.address))["lines"]
    assert lines == [json.loads(line) for line in run.words_of(last)] and len(lines) > 1


def test_wrong_requests_say_what_is_wrong(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    count = run.frame_count
    assert refused(client, "events", frame=count + 7)["location"] == f"f{count + 7}"
    assert "not a whole number" in refused(client, "events", frame="-1")["message"]
    assert "not a whole number" in refused(client, "events", frame="1" * 40)["message"]
    assert "no 'at'" in refused(client, "why")["message"]
    assert "no part of an address" in refused(client, "why", at="f0/../../etc/passwd")["message"]
    assert "There are: " in refused(client, "picture", at="f0", of="<script>")["hint"]
    assert "has no pixel at 99999,1" in refused(client, "pixel", at="f0", of="target", x=99999, y=1)["message"]
    assert "no form" in refused(client, "picture", at="f0", of="target", form="bmp")["message"]
    assert client.get("/api/nothing").status_code == 404


@pytest.mark.parametrize("path", ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "link.txt", "//etc/passwd"])
def test_no_files_but_those_of_the_page(sides: tuple[TestClient, Inspection], path: str) -> None:
    client, _ = sides
    assert client.get("/").text == "<!doctype html>the page"
    answer = client.get(f"/{path}")
    assert answer.status_code == 404 and "not for you" not in answer.text


def test_numbers_that_json_does_not_have() -> None:
    found = answering.in_json({"a": [float("nan"), 1.5], "b": {"c": float("-inf")}})
    assert json.loads(found.data) == {"a": ["nan", 1.5], "b": {"c": "-inf"}}


def test_texts_of_a_capture_stay_texts(page: Path) -> None:
    """A file name that would break out of HTML is data for JSON, never a page."""
    name = "</script><img src=x onerror=alert(1)>.pgc"
    machine = on_desk(pocketgpu.debug(ROOT / "src/pocketgpu/data" / SAMPLES[0]))
    with client_of(machine, page, name) as client:
        answer = client.get("/api/capture")
    assert answer.headers["content-type"] == "application/json" and answer.json()["name"] == name
    assert html.escape(name) not in answer.text


def test_a_page_to_keep_is_the_one_that_python_makes(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    found = client.get("/api/page", params={"at": "f0/d5"})
    assert found.status_code == 200 and found.headers["content-type"] == "text/html; charset=utf-8"
    assert found.text == page_of(run, Address.parse("f0/d5"))
    name = found.headers["content-disposition"].removeprefix('attachment; filename="').removesuffix('"')
    assert re.fullmatch(r"sample[\w.-]*-f0-d5\.html", name)
    refused(client, "page", at="f0/d999")


def test_a_file_has_a_name_that_every_system_takes(page: Path) -> None:
    """Whatever the capture is called."""
    path = ROOT / "src" / "pocketgpu" / "data" / SAMPLES[0]
    run = pocketgpu.debug(path)
    run.capture.path = '/x/"a\r\nb/../c:*?' + "d" * 500
    with client_of(on_desk(run), page) as client:
        header = client.get("/api/page", params={"at": "f0/px1,1"}).headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="[\w.-]{1,120}"', header)


def test_a_request_may_name_a_side(page: Path) -> None:
    runs = {
        name: pocketgpu.debug(ROOT / "src/pocketgpu/data" / sample) for name, sample in zip("ab", SAMPLES, strict=True)
    }
    closed: list[str] = []

    @contextmanager
    def kept(name: str) -> Iterator[Inspection]:
        yield runs[name]
        closed.append(name)

    machine = MachineThread[Desk](lambda: desk_of(*((name, kept(name)) for name in runs)))
    with client_of(machine, page) as client:
        assert [ask(client, "capture", side=name)["console"] for name in runs] == ["3DS", "Switch"]
        assert ask(client, "capture")["console"] == "3DS"
        assert refused(client, "capture", side="c") == {
            "message": "there is no side 'c'", "location": "side", "hint": "There are: a, b."
        }  # fmt: skip
    assert closed == ["a", "b"]


def test_what_is_put_down_again_is_closed_once() -> None:
    steps: list[str] = []

    @contextmanager
    def kept(name: str) -> Iterator[Inspection]:
        steps.append(f"{name} opens")
        yield pocketgpu.debug(ROOT / "src/pocketgpu/data" / SAMPLES[0])
        steps.append(f"{name} closes")

    @contextmanager
    def broken() -> Iterator[Inspection]:
        raise OSError("no such file")
        yield

    with desk_of(("a", kept("first"))) as desk:
        desk.put("a", kept("second"))
        with pytest.raises(OSError, match="no such file"):
            desk.put("a", broken())
        assert desk.sides == ["a"] and desk.side("a").frame_count == 6  # what was there is still there
        desk.take_away("b")
    assert steps == ["first opens", "second opens", "first closes", "second closes"]
