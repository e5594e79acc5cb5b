"""Notes and bookmarks: a file beside the capture, which may be anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.view_desk import on_desk

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.view.questions import notes_file
from pocketgpu.view.questions.notes_file import SCHEMA, Notes
from pocketgpu.view.routes import Routes

SAMPLE = Path(pocketgpu.__file__).parent / "data" / "sample.ctf.xz"


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path, "scene.pgc")


@pytest.fixture
def client(notes: Notes, tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "page").mkdir()
    app = Routes(on_desk(pocketgpu.debug(SAMPLE)), "scene.pgc", "1", tmp_path / "page", notes).app
    with TestClient(app) as found:
        yield found


def test_notes_stay_in_their_order(notes: Notes) -> None:
    assert notes.all() == {} and not notes.path.exists()  # nothing is written before the first note
    notes.put("f1/d3", "too dark")
    notes.put("f0/px1,2", "")
    notes.put("f1/d3", "too <b>dark</b> \u00e4 \U0001f600")
    assert Notes(notes.path.parent, "scene.pgc").all() == {
        "f1/d3": "too <b>dark</b> \u00e4 \U0001f600", "f0/px1,2": ""
    }  # fmt: skip
    assert [*notes.all()] == ["f1/d3", "f0/px1,2"]
    notes.remove("f1/d3")
    notes.remove("f1/d3")
    assert notes.all() == {"f0/px1,2": ""}
    assert json.loads(notes.path.read_text())["schema"] == SCHEMA
    assert [one.name for one in notes.path.parent.iterdir()] == ["scene.pgc.notes.json"]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"schema": "pocketgpu.notes/1"}', b'{"schema": "pocketgpu.notes/2", "notes": []}',
             b'{"schema": "pocketgpu.notes/1", "notes": [{"address": 1, "text": ""}]}', b"\xff\xfe", b"[" * 100_000,
             b'{"schema": "pocketgpu.notes/1", "notes": [3]}'],
)  # fmt: skip
def test_another_file_is_neither_read_nor_written(notes: Notes, data: bytes) -> None:
    notes.path.write_bytes(data)
    for act in (notes.all, lambda: notes.put("f0", ""), lambda: notes.remove("f0")):
        with pytest.raises(UsageError, match="holds no notes") as caught:
            act()
        assert caught.value.location == str(notes.path) and "--notes" in str(caught.value.hint)
    assert notes.path.read_bytes() == data


def test_limits(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_file, "MOST_NOTES", 2)
    monkeypatch.setattr(notes_file, "MOST_LETTERS", 5)
    notes.put("f0", "abcde")
    notes.put("f1", "")
    with pytest.raises(UsageError, match="at most 5 letters, not 6"):
        notes.put("f1", "abcdef")
    with pytest.raises(UsageError, match="2 notes already"):
        notes.put("f2", "")
    notes.put("f1", "x")  # one that is there may change
    with pytest.raises(UsageError, match="no part of an address"):
        notes.put("../../etc/passwd", "")
    assert notes.all() == {"f0": "abcde", "f1": "x"}
    monkeypatch.setattr(notes_file, "_MOST_BYTES", 10)
    with pytest.raises(UsageError, match="holds no notes"):
        notes.all()


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "missing", "scene.pgc")
    assert notes.all() == {}
    with pytest.raises(UsageError, match="cannot write the notes") as caught:
        notes.put("f0", "")
    assert "--notes FOLDER" in str(caught.value.hint)


def test_the_page_writes_and_removes_notes(client: TestClient, notes: Notes) -> None:
    assert client.get("/api/notes").json() == {"file": "scene.pgc.notes.json", "notes": []}
    found = client.get("/api/note", params={"at": "f1/d3/px8,9", "text": "<b>bold</b>"}).json()
    assert found["notes"] == [{"address": "f1/d3/px8,9", "text": "<b>bold</b>"}]
    notes.put("f0", "of another window")
    assert len(client.get("/api/notes").json()["notes"]) == 2
    assert [one["address"] for one in client.get("/api/forget", params={"at": "f1/d3/px8,9"}).json()["notes"]] == ["f0"]
    for query in ({}, {"at": "x"}, {"at": "f1", "text": "x" * 1001}):
        assert client.get("/api/note", params=query).status_code == 400
    assert notes.all() == {"f0": "of another window"}
