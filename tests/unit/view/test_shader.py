"""Answers about stepping through shaders: what `Inspection.trace` says, in parts, for both consoles' samples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.view_desk import ask, client_of, refused

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.why import PROGRAM
from pocketgpu.inspect.stepping import Trace
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import MAIN, Desk, desk_of, opened
from pocketgpu.view.questions.shader import CODE, MOST_ROWS, REGISTERS, STEPS

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")


def test_the_programs_of_a_draw(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    found = ask(client, "programs", at="f0/d5/v3")["programs"]
    assert found == [one.to_json() for one in run.programs_at("f0/d5")]
    vertex = found[0]
    assert vertex["address"] == "f0/d5" and vertex["parts"][0]["letter"] == "v"
    (limit,) = vertex["parts"][0]["limits"]
    assert len(run.trace(f"f0/d5/v{limit - 1}"))
    assert f"{limit}" in refused(client, "trace", at=f"f0/d5/v{limit}")["message"]
    event = next(one for one in run.events(0) if one.draw is None)
    assert ask(client, "programs", at=str(event.address)) == {"programs": []}
    assert ask(client, "programs", at="f0") == {"programs": []}


def test_a_trace_in_parts(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    wanted = run.trace("f0/d5/v3")
    found = ask(client, "trace", at="f0/d5/v3/s4")
    assert (found["address"], found["program"], found["lane"]) == ("f0/d5/v3", wanted.name, wanted.lane)
    assert (found["steps"], found["cut"], found["hung"]) == (len(wanted), "", False)
    assert set(found["touched"]) == wanted.touched
    rows = ask(client, "trace_steps", at="f0/d5/v3", first=2, count=3)["rows"]
    assert [dict(zip(STEPS, row, strict=True)) for row in rows] == [
        {"step": one.index, "number": one.number, "address": f"{one.address:#06x}", "text": one.text,
         "happened": one.happened} for one in wanted.part(2, 4)
    ]  # fmt: skip
    code = [dict(zip(CODE, row, strict=True)) for row in ask(client, "trace_code", at="f0/d5/v3")["rows"]]
    assert len(code) == found["instructions"] and sum(row["hits"] for row in code) == len(wanted)
    for step in wanted:
        row = code[step.number]
        assert (row["address"], row["text"]) == (f"{step.address:#06x}", step.text)
        assert row["hits"] == wanted.hits[step.address]
    blocks = ask(client, "trace_flow", at="f0/d5/v3")["blocks"]
    assert sum(one["hits"] for one in blocks if one["first"] == wanted[0].number) == 1
    assert all(one["hits"] == code[one["first"]]["hits"] for one in blocks)


def test_the_registers_of_a_step(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    wanted = run.trace("f0/d5/v3")
    for number in (0, 3, len(wanted) - 1, len(wanted)):
        found = ask(client, "trace_step", at="f0/d5/v3", step=number)
        registers = wanted.at(number)
        rows = [dict(zip(REGISTERS, row, strict=True)) for row in found["registers"]]
        assert [row["register"] for row in rows] == list(registers)
        for row in rows:
            value, writer = registers.value(row["register"]), wanted.writer(row["register"], number)
            assert (row["word"], row["shown"], row["kind"]) == (value.hex, value.shown, value.kind)
            assert row["written"] == (None if writer is None else writer.index)
        if number == len(wanted):
            assert "text" not in found
            continue
        step = wanted[number]
        assert (found["text"], found["number"]) == (step.text, step.number)
        assert [one["register"] for one in found["reads"]] == [value.name for value in step.reads]
        assert [(one["before"]["word"], one["after"]["word"]) for one in found["writes"]] == [
            (one.before.hex, one.after.hex) for one in step.writes
        ]
        assert [one["text"] for one in found["accesses"]] == [str(one) for one in step.accesses]
    assert "no step" in refused(client, "trace_step", at="f0/d5/v3", step=len(wanted) + 1)["message"]


def test_searches(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    wanted = run.trace("f0/d5/v3")
    number = wanted[4].number
    assert ask(client, "trace_find", at="f0/d5/v3", step=0, numbers=number)["step"] == 4
    assert ask(client, "trace_find", at="f0/d5/v3", step=9, way="previous", numbers=number)["step"] == 4
    assert ask(client, "trace_find", at="f0/d5/v3", step=4, numbers=number)["step"] is None
    assert ask(client, "trace_find", at="f0/d5/v3", step=0, of="special")["step"] is None
    for bad in ("x", "-1", "1;2", ",".join("1" for _ in range(600)), "9" * 12):
        assert "names no instructions" in refused(client, "trace_find", at="f0/d5/v3", step=0, numbers=bad)["message"]
    refused(client, "trace_find", at="f0/d5/v3", step=0, of="colour")


def test_what_cannot_be_stepped_through_is_refused(sides: tuple[TestClient, Inspection]) -> None:
    client, _ = sides
    for path in ("trace", "trace_code", "trace_flow"):
        refused(client, path, at="f0/d5")
    assert "no draw 999" in refused(client, "trace", at="f0/d999/v0")["message"]


def test_one_trace_is_kept(sides: tuple[TestClient, Inspection], monkeypatch: pytest.MonkeyPatch) -> None:
    _, run = sides
    made: list[str] = []
    trace = type(run).trace

    def counted(self: Any, place: Any, most: int | None = None) -> Trace:
        made.append(str(place))
        return trace(self, place, most)

    monkeypatch.setattr(type(run), "trace", counted)
    first = run.traced("f0/d5/v1")
    assert run.traced("f0/d5/v1/s3") is first
    assert run.traced("f0/d5/v2") is not first
    run.traced("f0/d5/v1")
    assert made == ["f0/d5/v1", "f0/d5/v2", "f0/d5/v1"]


def test_why_names_the_programs_that_ran(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    (first,) = ask(client, "why", at="f0/d5")["programs"]
    assert first["address"] == "f0/d5/v0" and len(run.trace(first["address"]))
    why = run.why("f0/px200,120")
    found = ask(client, "why", at="f0/px200,120")["programs"]
    drawn = [touch.event.address for touch in why.all_touches() if any(one.stage(PROGRAM) for one in touch.fragments)]
    pixels = [one for one in found if "/px" in one["address"]]
    assert len(pixels) == len(set(drawn))
    vertices = [one for one in found if one not in pixels]
    assert vertices and all(re.fullmatch(r"f\d+/d\d+/v\d+", one["address"]) for one in vertices)
    assert ask(client, "programs", at="f0/px200,120")["programs"] == found
    for one in pixels:
        trace = run.trace(one["address"])
        fragments = [
            fragment for touch in why.all_touches() for fragment in touch.fragments
            if one["address"].startswith(f"{touch.event.address}/")
        ]  # fmt: skip
        stage = fragments[-1].stage(PROGRAM)
        assert stage is not None and len(trace) == stage.values["steps"]


def test_an_answer_is_bounded(sides: tuple[TestClient, Inspection]) -> None:
    client, _ = sides
    found = ask(client, "trace_steps", at="f0/d5/v3", first=0, count=999_999)
    assert len(found["rows"]) == min(found["steps"], MOST_ROWS)
    assert ask(client, "trace_steps", at="f0/d5/v3", first=99_999_999, count=5)["rows"] == []
    assert ask(client, "trace_code", at="f0/d5/v3", first=99_999_999)["rows"] == []


def test_a_program_has_the_lines_of_its_text(sample_path: Path, tmp_path: Path) -> None:
    capture = pocketgpu.open(str(sample_path))
    text = tmp_path / "sample.v.pica"
    text.write_text("; a listing is a text too\n" + pocketgpu.debug(capture).seek("f0/d5").programs["vertex"].text)
    (tmp_path / "page").mkdir()
    for path, note in ((text, ""), (tmp_path / "missing.v.pica", "missing.v.pica")):
        machine = MachineThread[Desk](lambda path=path: desk_of((MAIN, opened(capture, {}, (), (str(path),)))))
        try:
            client = client_of(machine, tmp_path / "page")
            assert note in ask(client, "trace", at="f0/d5/v3")["title"]
            rows = [dict(zip(CODE, row, strict=True)) for row in ask(client, "trace_code", at="f0/d5/v3")["rows"]]
        finally:
            machine.close()
        if note:
            assert all(row["source"] is None for row in rows)
            continue
        lines = text.read_text().splitlines()
        for row in rows:
            source = row["source"]
            assert source["file"] == str(text) and source["text"] == lines[source["line"] - 1].strip()
            assert source["text"].split()[0] == row["text"].split()[0]
