"""The list of rows itself: it holds the rows of the documents, and every one has a test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ("b0b5", "b197", "channel", "cmd", "ext", "ext2", "gsp")


def listed() -> dict[str, str]:
    lines = Path(__file__).with_name("rows.tsv").read_text("utf-8").splitlines()
    assert lines[0] == "row\ttitle"
    cells = [line.split("\t") for line in lines[1:]]
    assert all(len(line) == 2 for line in cells)
    rows = {row: title for row, title in cells}
    assert len(rows) == len(cells), "a row stands twice"
    return rows


def test_every_row_has_an_id_and_a_title() -> None:
    rows = listed()
    assert len(rows) == 673
    for row, title in rows.items():
        assert row.split(".")[0] in FAMILIES
        assert len(title) >= 4 and re.fullmatch(r"\S.*\S", title), row


def test_rows_are_those_of_the_documents(shared_dir: Path) -> None:
    lines = (shared_dir / "spec" / "rows.tsv").read_text("utf-8").splitlines()[1:]
    ids = [line.split("\t")[0] for line in lines]
    assert list(listed()) == [row for row in ids if row.split(".")[0] in FAMILIES]


def test_every_row_has_a_test(tmp_path: Path) -> None:
    target = tmp_path / "rows.tsv"
    command = [sys.executable, "-m", "pytest", "tests/conformance", "-q", "--collect-only", "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*command, "--rows-report", str(target)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert target.exists(), result.stdout + result.stderr
    cells = [line.split("\t") for line in target.read_text("utf-8").splitlines()[1:]]
    assert len(cells) == len(listed())
    assert [row for row, status, _, _ in cells if status != "collected"] == []
