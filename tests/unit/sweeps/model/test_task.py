"""What is done with which captures, and the keys of tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.model import task
from pocketgpu.sweeps.model.task import Source, What


def source(digest: bytes = b"d", name: str = "a") -> Source:
    return Source(name, Path(name), digest, (Path(name),))


def test_a_work_is_parsed_and_comes_back_from_json() -> None:
    for what in (
        What.parse("render", frames=(1, None)), What.parse("bench", repeat=7), What.parse("diff=other=folder"),
        What.parse("check", switches={"b": "1", "a": "2"}),
    ):  # fmt: skip
        assert What.from_json(json.loads(json.dumps(what.to_json()))) == what
    assert repr(What.parse("diff=x")) == "<What diff=x>"


@pytest.mark.parametrize("text", ["", "paint", "diff", "diff=", "render=x", "RENDER"])
def test_other_works_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no work of a sweep"):
        What.parse(text)


def test_keys_depend_on_bytes_version_work_and_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    whats = [
        What("render"), What("render", frames=(0, 1)), What("render", frames=(0, None)), What("check"), What("bench"),
        What("bench", repeat=6), What("render", {"a": "1"}), What("render", {"a": "2"}), What("render", {"b": "1"}),
    ]  # fmt: skip
    keys = [source(digest).key(what) for digest in (b"one", b"two") for what in whats]
    assert len(set(keys)) == len(keys) == 18
    before = source().key(What())
    assert source(name="other").key(What()) == before
    assert source().key(What("render", {"b": "1", "a": "2"})) == source().key(What("render", {"a": "2", "b": "1"}))
    assert source().key(What("render", repeat=9)) == before  # passes matter for bench alone
    monkeypatch.setattr(task, "__version__", "0.0.0")
    assert source().key(What()) != before
