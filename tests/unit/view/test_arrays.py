"""Answers of arrays: meshes, overdraw, numbers and costs, and findings, for both consoles' samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from support.view_desk import Arrays, unpack

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions import marks
from pocketgpu.view.questions.arrays import Arrays as Answer
from pocketgpu.view.questions.mesh import mesh_answer

DATA = Path(__file__).resolve().parents[3] / "src/pocketgpu/data"
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")


def ask(client: TestClient, path: str, **query: Any) -> tuple[dict[str, Any], Arrays]:
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/octet-stream"
    again = client.get(f"/api/{path}", params=query, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    return unpack(answer.content)


def test_a_mesh_has_the_vertices_of_the_moment(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    moment = run.seek(run.draws(0)[4].address)
    vertices, fates = moment.vertices, moment.vertices.fates
    assert fates is not None
    header, arrays = ask(client, "mesh", at=str(moment.address))
    assert header["vertices"] == {"count": len(vertices), "all": len(vertices)}
    for of, rows in (("inputs", vertices.inputs), ("outputs", vertices.outputs)):
        for name in rows.dtype.names:
            assert np.array_equal(arrays[of, name], rows[name].astype("<f4"), equal_nan=True)
    assert np.array_equal(arrays["triangles", "corners"], vertices.triangles)
    kinds = [(one["verdict"], one["reason"], one["register"]) for one in header["fates"]]
    assert [kinds[n][0] for n in arrays["triangles", "fate"].ravel()] == [fates[n].verdict for n in range(len(fates))]
    assert np.array_equal(arrays["triangles", "primitive"].ravel(), fates.numbers)
    assert sum(one["count"] for one in header["fates"]) == len(fates)
    names = [name for name, one in moment.pictures.items() if one.kind != "screen"]
    assert [one["name"] for one in header["targets"]] == names and header["depths"] == list(vertices.depths)


def test_a_mesh_is_bounded_and_says_so(sides: tuple[TestClient, Inspection]) -> None:
    _, run = sides
    moment = run.seek(run.draws(0)[4].address)
    header, arrays = unpack(mesh_answer(moment, most=10).data)
    assert header["vertices"] == {"count": 10, "all": len(moment.vertices)}
    assert header["triangles"]["count"] == len(arrays["triangles", "corners"]) < header["triangles"]["all"]
    assert arrays["triangles", "corners"].max(initial=0) < 10 and len(arrays["outputs", "position"]) == 10


def test_pictures_of_few_runs_are_sent_as_runs() -> None:
    flat = np.repeat(np.array([7, 9, 0xFFFFFFFF], "<u4"), [500, 1, 99])
    depth = np.full((10, 10), np.nan, "<f4").ravel()
    mixed = np.arange(600, dtype="<u4")
    answer = Answer()
    for name, values in (("flat", flat), ("depth", depth), ("mixed", mixed)):
        answer.add("pixels", name, values, runs=True)
    answer.add("pixels", "plain", flat)
    described = answer.found
    assert [one.get("rows") for one in described] == [600, 100, None, None]
    assert [one["offset"] for one in described] == [0, 6 * 4, 8 * 4, 608 * 4]
    _, arrays = unpack(answer.answer({}).data)
    assert np.array_equal(arrays["pixels", "flat"].ravel(), flat)
    assert np.array_equal(arrays["pixels", "depth"].ravel(), depth, equal_nan=True)
    assert np.array_equal(arrays["pixels", "mixed"].ravel(), mixed)
    assert np.array_equal(arrays["pixels", "plain"].ravel(), flat)


def test_numbers_are_those_of_the_picture(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    at = run.draws(0)[4].address
    header, arrays = ask(client, "numbers", at=str(at), of="depth")
    picture: Any = run.seek(at).pictures["depth"]
    assert (header["width"], header["height"]) == (picture.width, picture.height)
    assert np.array_equal(arrays["pixels", "depth"].ravel(), picture.numbers.astype("<f4").ravel())
    answer = client.get("/api/numbers", params={"at": str(at), "of": "target"})
    assert answer.status_code == 400 and "no single number" in answer.json()["error"]["message"]


def test_overdraw_and_costs_are_those_of_the_inspection(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    at = run.draws(0)[2].address
    header, arrays = ask(client, "overdraw", at=str(at), over="pass")
    wanted = run.overdraw(at, "pass")
    assert header == wanted.to_json()
    assert np.array_equal(arrays["pixels", "fragments"].reshape(header["height"], header["width"]), wanted.counts)
    header, arrays = ask(client, "costs", frame=0)
    costs = run.costs(0)
    assert header == costs.to_json()
    assert np.array_equal(arrays["draws", "fragments"].ravel(), costs.fragments)
    assert client.get("/api/overdraw", params={"at": str(at), "over": "all"}).status_code == 400


def test_findings_are_those_of_check_in_slices(
    sides: tuple[TestClient, Inspection], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, run = sides
    monkeypatch.setattr(marks, "PATIENCE", 0.0)
    asked = 1
    while not (found := client.get("/api/findings", params={"frame": 0}).json())["ready"]:
        assert found == {"frame": 0, "ready": False}
        asked += 1
    assert asked > 3
    assert client.get("/api/findings", params={"frame": 0}).json() == found, "kept"
    report = pocketgpu.inspect.rules.checker.check(run.capture, frame=0)
    assert [one["message"] for one in found["findings"]] == [one.message for one in report.findings]
    assert all(one["address"].startswith("f0") for one in found["findings"])
    assert client.get("/api/findings", params={"frame": 99}).status_code == 400
