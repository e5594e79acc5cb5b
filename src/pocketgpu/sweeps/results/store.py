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
import errno
import json
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final, Self, TypeVar

from pocketgpu import __version__
from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.sweeps.model.rows import Row, Times, place_of
from pocketgpu.sweeps.model.task import What

if sys.platform != "win32":
    import fcntl

SCHEMA: Final = "pocketgpu.sweep/1"
ABOUT, ROWS, TIMES = "sweep.json", "rows.jsonl", "times.jsonl"
_PARTIAL: Final = ".store.part"
"""What is being written; a file gets its name when it is whole."""
_PARTIALS: Final = ".*.part"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_T = TypeVar("_T")


class Store:
    """The results of a sweep in a folder. `rows` and `times` are by name of the capture."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, Row] = {}
        self.times: dict[str, Times] = {}
        self.about: dict[str, Any] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._twice: set[str] = set()
        self._unlock: Callable[[], Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
            data = (folder / ABOUT).read_bytes()
        except OSError as error:
            what = f"there are no results of a sweep: {error.strerror or error}"
            raise UsageError(what, location=str(folder), hint="Name the folder that --out made.") from None
        try:
            store.about = dict(json.loads(data))
            if store.about["schema"] != SCHEMA:
                raise ValueError(f"its schema is {store.about['schema']!r}")
            What.from_json(store.about["what"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"it does not describe results of a sweep: {error}"
            raise CaptureError(what, file=str(folder / ABOUT), hint="Sweep again into another folder.") from None
        for row in _lines(folder / ROWS, Row.from_json):
            store.rows[row.capture] = row
        for times in _lines(folder / TIMES, Times.from_json):
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
        if (folder / ABOUT).exists() and not resume:
            hint = "Go on with --resume, or choose another folder with --out."
            raise UsageError("the folder has results of a sweep", location=str(folder), hint=hint)
        store = Store(folder)
        try:
            store._begin()
            if (folder / ABOUT).exists():
                known = Store.read(folder)
                if {key: known.about.get(key) for key in about} != about:
                    hint = "Use another folder, or the same version, work and options."
                    differing = f"the results in the folder are of another sweep: {_differing(known.about, about)}"
                    raise UsageError(differing, location=str(folder), hint=hint)
                store.rows, store.times = known.rows, known.times
            store.about = about
            with store._writing():
                for path in folder.glob(_PARTIALS):  # of a run that was killed
                    path.unlink()
                store._replace(folder / ABOUT, json.dumps(about, indent=1).encode() + b"\n")
                for name in (ROWS, TIMES):
                    store._tidy(name)
        except BaseException:
            store._release()
            raise
        return store

    def _begin(self) -> None:
        """Make the folder, and be the only one who writes into it until `close`."""
        with self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":
            return
        with self._writing():
            handle = os.open(self.folder, os.O_RDONLY)
        self._unlock = weakref.finalize(self, os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release()
            hint = "Wait for its end, or choose another folder with --out."
            raise UsageError("another sweep writes into the folder", location=str(self.folder), hint=hint) from None
        except OSError:  # a file system without locks
            pass

    def _release(self) -> None:
        if self._unlock is not None:
            self._unlock()
            self._unlock = None

    def _tidy(self, name: str) -> None:
        """Remove a last line that is not whole, and lines that later ones replace."""
        path = self.folder / name
        if not path.exists():
            return
        data = path.read_bytes()
        known: Mapping[str, Row | Times] = self.rows if name == ROWS else self.times
        if data.count(b"\n") != len(known):
            self._replace(path, b"".join(_line(one) for one in known.values()))
        elif not data.endswith(b"\n") and data:
            os.truncate(path, data.rfind(b"\n") + 1)

    def _replace(self, path: Path, data: bytes) -> None:
        """Write a file so that it is there whole or not at all."""
        partial = self.folder / _PARTIAL
        try:
            partial.write_bytes(data)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)

    def add(self, row: Row, times: Times | None, pictures: Mapping[str, bytes]) -> None:
        """Store a row. Its pictures come first, so that a row in the file has all of them.

        :raises UsageError: the disk is full, or cannot be written.
        """
        with self._writing():
            for sha256, data in pictures.items():
                path = self.folder / place_of(sha256)
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._replace(path, data)
            if times is not None:
                self._append(TIMES, times)
                self.times[row.capture] = times
            self._append(ROWS, row)
        self.rows[row.capture] = row

    def _append(self, name: str, one: Row | Times) -> None:
        """One line, written whole or not at all."""
        line = memoryview(_line(one))
        if one.capture in (self.rows if name == ROWS else self.times):
            self._twice.add(name)
        file = self._files.get(name)
        if file is None:
            if self._unlock is None:
                self._begin()  # again after `close`
            file = self._files[name] = (self.folder / name).open("ab", buffering=0)
        size = os.fstat(file.fileno()).st_size
        try:
            while line:
                line = line[file.write(line) or 0 :]
        except BaseException:
            with contextlib.suppress(OSError):  # `_tidy` removes it later
                os.ftruncate(file.fileno(), size)
            raise

    def close(self) -> None:
        """Bring everything to the disk. A later `add` opens the folder again."""
        try:
            with self._writing(), contextlib.ExitStack() as stack:
                for file in self._files.values():
                    stack.enter_context(file)
                for file in self._files.values():
                    os.fsync(file.fileno())
            with self._writing():
                while self._twice:
                    self._tidy(self._twice.pop())
        finally:
            self._files.clear()
            self._release()

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
            hint = "Name a folder with --out that can be written."
            if error.errno in _FULL:
                hint = "Make room, then go on with --resume: what was stored before is kept."
            what = f"cannot write the results: {error.strerror or error}"
            raise UsageError(what, location=str(self._folder), hint=hint) from error


def _differing(known: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The first thing in which two sweeps differ: the version, else the work or an option."""
    if known["version"] != about["version"]:
        return f"version {known['version']}, not {about['version']}"
    before, now = known["what"], about["what"]
    for name in (*now, *before):
        if before.get(name) != now.get(name):
            return f"{name} {json.dumps(before.get(name))}, not {json.dumps(now.get(name))}"
    return "of another schema"


def _lines(path: Path, made: Callable[[Any], _T]) -> Iterable[_T]:
    """What the lines of a file say; nothing if it is missing."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], 1):
        try:
            found = made(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            hint = "Remove this line, and go on with --resume."
            raise CaptureError(f"line {number} is no row: {error}", file=str(path), hint=hint) from None
        yield found


def _line(one: Row | Times) -> bytes:
    return json.dumps(one.to_json()).encode() + b"\n"


__all__ = ["Store"]


def __dir__() -> list[str]:
    return [*__all__]
