"""Rows as tables: Parquet files by DuckDB, data frames.

The columns are the fields of `Row` and `Times`. What a row has many of (pictures, events, findings) stays one column
with a list of structures, as DuckDB, pandas, polars and Arrow read it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.model.rows import Row, Times

_TEXT, _NUMBER, _REAL = "VARCHAR", "BIGINT", "DOUBLE"
ROW_COLUMNS: Final = {
    "capture": _TEXT, "key": _TEXT, "work": _TEXT, "state": _TEXT, "console": _TEXT, "frames": _NUMBER,
    "message": _TEXT, "location": _TEXT, "hint": _TEXT,
    "pictures": "STRUCT(frame BIGINT, screen VARCHAR, width BIGINT, height BIGINT, sha256 VARCHAR)[]",
    "events": "STRUCT(id VARCHAR, message VARCHAR, \"at\" VARCHAR, count BIGINT)[]",
    "findings": "STRUCT(rule VARCHAR, severity VARCHAR, message VARCHAR, \"at\" VARCHAR, count BIGINT)[]",
    "counts": "MAP(VARCHAR, BIGINT)", "features": "VARCHAR[]", "detail": "JSON",
}  # fmt: skip
TIMES_COLUMNS: Final = {
    "capture": _TEXT, "key": _TEXT, "seconds": _REAL, "frames": "DOUBLE[]", "worker": _TEXT, "tries": _NUMBER,
    "first": "BOOLEAN", "started": _TEXT,
}  # fmt: skip
RESULTS, TIMES = "results.parquet", "times.parquet"


def write_tables(folder: Path, rows: Sequence[Row], times: Sequence[Times]) -> None:
    """Write both tables into the folder of results, sorted by capture.

    :raises UsageError: the disk is full, or cannot be written.
    """
    tables: tuple[tuple[str, Sequence[Row | Times], dict[str, str]], ...] = (
        (RESULTS, rows, ROW_COLUMNS), (TIMES, times, TIMES_COLUMNS),
    )  # fmt: skip
    for name, found, columns in tables:
        partial = folder / f".{name}.part"
        try:
            _relation(found, columns).write_parquet(str(partial), compression="zstd")
            partial.replace(folder / name)
        except OSError as error:
            raise UsageError(
                f"cannot write the table: {error.strerror or error}", location=str(folder / name),
                hint="Make room, then go on with --resume.",
            ) from None
        finally:
            partial.unlink(missing_ok=True)


def frame_of(rows: Sequence[Row]) -> Any:
    """The rows as a pandas DataFrame if pandas is installed, else as a DuckDB relation, which Arrow's readers take."""
    relation = _relation(rows, ROW_COLUMNS)
    return relation.df() if find_spec("pandas") else relation


def _relation(found: Sequence[Row | Times], columns: dict[str, str]) -> Any:
    """The rows as DuckDB has them."""
    import duckdb

    connection = duckdb.connect()
    typed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    connection.execute(f"CREATE TABLE found ({typed})")
    if found:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps(one.to_json()) + "\n" for one in sorted(found, key=lambda one: one.capture))
            file.flush()
            given = ", ".join(f"{name}: '{kind}'" for name, kind in columns.items())
            connection.execute(
                f"INSERT INTO found SELECT {', '.join(columns)} FROM read_json($1, format = 'newline_delimited', "
                f"columns = {{{given}}}, maximum_object_size = 1073741824)", [file.name],
            )  # fmt: skip
    return connection.table("found")


__all__ = ["ROW_COLUMNS", "TIMES_COLUMNS", "frame_of", "write_tables"]


def __dir__() -> list[str]:
    return [*__all__]
