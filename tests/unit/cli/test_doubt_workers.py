"""Doubts of several captures by worker processes: the same answers, in the same order, with the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.doubtful_scenes import stencil_through_depth_write

from pocketgpu.cli import main

LINE = ["--choice", "test.stencil_write", "--frames", "0-1", "--json"]


@pytest.fixture
def scenes(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{number}.ctf" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(stencil_through_depth_write(1 + number))
    return [*map(str, paths)]


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code = main(["doubts", *words, *LINE])
    return code, json.loads(capsys.readouterr().out)


def test_workers_give_what_one_process_gives(scenes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (answer(capsys, *scenes, "--workers", count) for count in ("1", "2"))
    assert one[0] == 0 and one[1]["captures"] == two[1]["captures"] and one[1]["matrix"] == two[1]["matrix"]
    assert [capture["path"] for capture in two[1]["captures"]] == scenes and one == two, "warnings, too"
    assert len(two[1]["warnings"]) == 1, "the first scene has one frame only"


def test_what_a_worker_refuses_is_told(scenes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(scenes[1]).write_bytes(b"no capture")
    codes = [answer(capsys, *scenes, "--workers", count) for count in ("1", "2")]
    assert codes[0][0] == codes[1][0] == 3
    assert codes[0][1]["error"] == codes[1][1]["error"] and scenes[1] in json.dumps(codes[1][1]["error"])
