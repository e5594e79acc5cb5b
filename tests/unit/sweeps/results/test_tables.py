"""Tables of a sweep: DuckDB reads from the Parquet files what the rows say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import lines

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.model.rows import STATES, Picture, Row, Times
from pocketgpu.sweeps.results.tables import ROW_COLUMNS, TIMES_COLUMNS, frame_of, write_tables

duckdb = pytest.importorskip("duckdb")

ROWS = [
    Row(
        "z \u00e9\U0001f600", "k1", "check", "done", "3DS", 2, pictures=(Picture(0, "top", 4, 5, "ab" * 32),),
        events=({"id": "x", "message": "m\n\"'", "at": "f0", "count": 1 << 40},),
        findings=({"rule": "r", "severity": "error", "message": "", "at": "f0/d1", "count": 1},),
        counts={"draws": 3, "": 0}, features=("a: b", "c"), detail={"kind": "k", "many": [1, {"x": None}]},
    ),
    Row("a", "k2", "check", "refused", message="it is damaged", location="a, byte 0x4", hint="Copy it again."),
]  # fmt: skip
TIMES = [Times("z \u00e9\U0001f600", "k1", 0.25, (1.5, 2.0), "host/1", 2, True, "2026"), Times("a", "k2", 0.0)]


def read(path: Path, columns: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a Parquet file as plain data."""
    relation = duckdb.read_parquet(str(path))
    assert relation.columns == list(columns)
    found = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    for row in found:
        if "detail" in row:
            row["detail"] = json.loads(row["detail"])
    return found


def plain(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(one.to_json()))
    return found


def test_parquet_files_have_what_rows_have(tmp_path: Path) -> None:
    write_tables(tmp_path, ROWS, TIMES)
    assert read(tmp_path / "results.parquet", ROW_COLUMNS) == [plain(ROWS[1]), plain(ROWS[0])]
    assert read(tmp_path / "times.parquet", TIMES_COLUMNS) == [plain(TIMES[1]), plain(TIMES[0])]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.parquet", "times.parquet"]
    assert lines(tmp_path) == []
    path = str(tmp_path / "results.parquet")
    query = "select capture, f.rule from read_parquet($1), unnest(findings) as t(f) where f.severity = 'error'"
    assert duckdb.execute(query, [path]).fetchall() == [(ROWS[0].capture, "r")]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    write_tables(tmp_path, [], [])
    assert read(tmp_path / "results.parquet", ROW_COLUMNS) == []


def test_names_that_are_no_text_can_be_stored(tmp_path: Path) -> None:
    write_tables(tmp_path, [Row("\udcff.ctf", "k", "info", "done")], [])
    (found,) = read(tmp_path / "results.parquet", ROW_COLUMNS)
    assert found["capture"] == "?.ctf"


def test_rows_as_a_data_frame() -> None:
    found = frame_of(ROWS)
    assert list(found.columns) == list(ROW_COLUMNS) and len(found) == 2
    assert set(STATES) >= {"done", "refused"}


def test_a_table_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the table") as caught:
        write_tables(tmp_path / "missing", ROWS, TIMES)
    assert "--resume" in str(caught.value.hint)
