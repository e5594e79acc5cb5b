"""The folder of results: what is stored is whole, and a run that ended early can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.sweeping import lines

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.sweeps.model.rows import Picture, Row, Times
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.results import store as module
from pocketgpu.sweeps.results.store import Store

SHA = "ab" * 32


def row(name: str, key: str = "k") -> Row:
    return Row(name, key, "render", "done", "3DS", 1, pictures=(Picture(0, "top", 1, 1, SHA),))


def add(store: Store, name: str, key: str = "k") -> None:
    store.add(row(name, key), Times(name, key, 1.0), {SHA: b"picture"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results with two rows."""
    with Store.open(tmp_path / "out", What(), resume=False) as store:
        add(store, "a")
        add(store, "b")
    return tmp_path / "out"


def test_rows_are_there_as_they_come_and_come_back(tmp_path: Path) -> None:
    with Store.open(tmp_path, What(switches={"a": "b"}), resume=False) as store:
        add(store, "a")
        assert [one["capture"] for one in lines(tmp_path)] == ["a"]  # before the end
        assert (tmp_path / "pictures" / "ab" / f"{SHA}.png").read_bytes() == b"picture"
        found = Store.read(tmp_path)
    assert found.rows == {"a": row("a")} and found.times == {"a": Times("a", "k", 1.0)}
    assert found.what == What(switches={"a": "b"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures", "rows.jsonl", "sweep.json", "times.jsonl"]


@pytest.mark.parametrize("name", ["rows.jsonl", "times.jsonl"])
def test_half_a_line_at_the_end_does_not_count(folder: Path, name: str) -> None:
    with (folder / name).open("ab") as file:
        file.write(b'{"capture": "c", "ke')
    assert set(Store.read(folder).rows) == {"a", "b"}
    with Store.open(folder, What(), resume=True) as store:
        assert set(store.rows) == {"a", "b"}
        add(store, "c")
    assert [one["capture"] for one in lines(folder, name)] == ["a", "b", "c"]


def test_a_row_that_is_replaced_is_in_the_file_once(folder: Path) -> None:
    """A capture has changed, or a run ended between the times and the row of a capture."""
    with Store.open(folder, What(), resume=True) as store:
        add(store, "a", "new")
    with (folder / "times.jsonl").open("ab") as file:
        file.write(json.dumps(Times("b", "k", 9.0).to_json()).encode() + b"\n")
    with Store.open(folder, What(), resume=True) as store:
        assert store.rows["a"].key == "new" and store.times["b"].seconds == 9
    for name in ("rows.jsonl", "times.jsonl"):
        assert sorted((one["capture"], one["key"]) for one in lines(folder, name)) == [("a", "new"), ("b", "k")]


def test_what_a_crash_left_of_a_picture_goes_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        os._exit(9)

    pid = os.fork()
    if not pid:
        monkeypatch.setattr(os, "replace", stop)
        with Store.open(folder, What(), resume=True) as store:
            store.add(row("c"), None, {"cd" * 32: b"picture"})
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    with Store.open(folder, What(), resume=True):
        pass
    assert [path for path in folder.rglob("*") if "part" in path.name] == []


def test_a_used_folder_needs_resume_and_the_same_options(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / "sweep.json").read_bytes()
    with pytest.raises(UsageError, match="the folder has results") as caught:
        Store.open(folder, What(), resume=False)
    assert "--resume" in str(caught.value.hint)
    for other, said in (
        (What("check"), 'work "render", not "check"'), (What(frames=(0, 1)), r"frames null, not \[0, 1\]"),
        (What(switches={"a": "b"}), 'switches {}, not {"a": "b"}'),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=f"are of another sweep: {said}"):
            Store.open(folder, other, resume=True)
    monkeypatch.setattr(module, "__version__", "0.0.0")
    with pytest.raises(UsageError, match=r"are of another sweep: version .*, not 0\.0\.0"):
        Store.open(folder, What(), resume=True)
    assert (folder / "sweep.json").read_bytes() == before


def test_two_sweeps_cannot_write_into_one_folder(folder: Path) -> None:
    with Store.open(folder, What(), resume=True) as store:
        with pytest.raises(UsageError, match="another sweep writes"):
            Store.open(folder, What(), resume=True)
        add(store, "c")
    with Store.open(folder, What(), resume=True) as store:
        assert set(store.rows) == {"a", "b", "c"}


def test_resume_begins_where_nothing_is(tmp_path: Path) -> None:
    with Store.open(tmp_path / "new" / "out", What(), resume=True) as store:
        assert store.rows == {}


def test_files_that_are_no_results(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UsageError, match="there are no results"):
        Store.read(tmp_path)
    whole = (folder / "rows.jsonl").read_bytes()
    for line in (b"{", b"[]", b"{}", b'{"capture": 1}', b'"a"', b"\xff", b'{"pictures": [3], "capture": "x"}'):
        (folder / "rows.jsonl").write_bytes(line + b"\n" + whole)
        with pytest.raises(CaptureError, match="line 1") as caught:
            Store.read(folder)
        assert str(folder / "rows.jsonl") in str(caught.value.location)
    for text in (b"[]", b"{", b"{}", b'{"what": {"work": "paint"}}', b"\xff"):
        (folder / "sweep.json").write_bytes(text)
        with pytest.raises(CaptureError):
            Store.read(folder)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="cannot write the results") as caught:
        Store.open(tmp_path / "file" / "out", What(), resume=False)
    assert caught.value.hint == "Name a folder with --out that can be written."  # room is not what lacks
