"""The folder of a sweep's results. What arrives is there at once; what a run left can be continued.

    sweep.json          what was asked, and the version
    rows.jsonl          a row as each task ends, in the order of arrival
    times.jsonl         when and how fast
    results.parquet     the rows, sorted by capture; times.parquet: their times. Made at the end
    pictures/ab/...png  every picture once, named by the SHA-256 of its RGB bytes
    report/             the page about all of it
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final

from pocketgpu import __version__
from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.sweeps.model.rows import Row, Times, place_of
from pocketgpu.sweeps.model.task import What

SCHEMA: Final = "pocketgpu.sweep/1"
ABOUT, ROWS, TIMES = "sweep.json", "rows.jsonl", "times.jsonl"


class Store:
    """The results of a sweep in a folder. `rows` and `times` are by name of the capture."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, Row] = {}
        self.times: dict[str, Times] = {}
        self.about: dict[str, Any] = {}
        self._files: dict[str, IO[bytes]] = {}

    def __repr__(self) -> str:
        return line_of(self, f"{self.folder}: {len(self.rows)} rows")

    # -- reading ------------------------------------------------------------------------------------------------------
    @staticmethod
    def read(folder: Path) -> Store:
        """The results in a folder. A last line that is not whole, as a crash leaves it, does not count.

        :raises UsageError: there are no results.
        :raises CaptureError: a file is damaged.
        """
        store = Store(folder)
        try:
            store.about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        except OSError as error:
            what = f"there are no results of a sweep: {error.strerror or error}"
            raise UsageError(what, location=str(folder), hint="Name the folder that --out made.") from None
        except ValueError as error:
            raise CaptureError(f"no JSON: {error}", file=str(folder / ABOUT), hint="Sweep again.") from None
        for data in _lines(folder / ROWS):
            row = Row.from_json(data)
            store.rows[row.capture] = row
        for data in _lines(folder / TIMES):
            times = Times.from_json(data)
            store.times[times.capture] = times
        return store

    @property
    def what(self) -> What:
        """What was done."""
        return What.from_json(self.about["what"])

    # -- writing ------------------------------------------------------------------------------------------------------
    @staticmethod
    def open(folder: Path, what: What, resume: bool) -> Store:
        """Begin a sweep in an empty or new folder, or go on with one that was interrupted.

        :raises UsageError: there are results and `resume` is not set, or they are of another sweep; or the folder
            cannot be written.
        """
        about = {"schema": SCHEMA, "version": __version__, "what": what.to_json()}
        if (folder / ABOUT).exists():
            store = Store.read(folder)
            if not resume:
                hint = "Go on with --resume, or choose another folder with --out."
                raise UsageError("the folder has results of a sweep", location=str(folder), hint=hint)
            if {key: store.about.get(key) for key in about} != about:
                hint = "Use another folder, or the same version, work and options."
                raise UsageError("the results in the folder are of another sweep", location=str(folder), hint=hint)
        else:
            store = Store(folder)
            store.about = about
        with store._writing():
            folder.mkdir(parents=True, exist_ok=True)
            _replace(folder / ABOUT, json.dumps(about, indent=1).encode() + b"\n")
            for name in (ROWS, TIMES):
                _cut(folder / name)
                store._files[name] = (folder / name).open("ab", buffering=0)
        return store

    def add(self, row: Row, times: Times | None, pictures: Mapping[str, bytes]) -> None:
        """Store a row. Its pictures come first, so that a row in the file has all of them.

        :raises UsageError: the disk is full, or cannot be written.
        """
        with self._writing():
            for sha256, data in pictures.items():
                path = self.folder / place_of(sha256)
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    _replace(path, data)
            if times is not None:
                self._append(TIMES, times.to_json())
                self.times[row.capture] = times
            self._append(ROWS, row.to_json())
        self.rows[row.capture] = row

    def _append(self, name: str, data: Mapping[str, Any]) -> None:
        """One line, written whole or not at all."""
        line = memoryview(json.dumps(data).encode() + b"\n")
        file = self._files[name]
        size = os.fstat(file.fileno()).st_size
        try:
            while line:
                line = line[file.write(line) or 0 :]
        except OSError:
            with contextlib.suppress(OSError):  # `_cut` removes it later
                os.ftruncate(file.fileno(), size)
            raise

    def close(self) -> None:
        """Bring everything to the disk."""
        files, self._files = self._files, {}
        for file in files.values():
            with file, self._writing():
                os.fsync(file.fileno())

    def _writing(self) -> _Writing:
        return _Writing(self.folder)


class _Writing:
    """Turns errors of the system into ones that say what to do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise UsageError(
                f"cannot write the results: {error.strerror or error}", location=str(self._folder),
                hint="Make room, then go on with --resume: what was stored before is kept.",
            ) from error


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    """The JSON lines of a file; none if it is missing."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            found = json.loads(line)
        except ValueError as error:
            hint = "Remove this line, and go on with --resume."
            raise CaptureError(f"line {number} is no JSON: {error}", file=str(path), hint=hint) from None
        yield found


def _cut(path: Path) -> None:
    """Remove a last line that is not whole."""
    if path.exists():
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.truncate(path, end)


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


__all__ = ["Store"]


def __dir__() -> list[str]:
    return [*__all__]
