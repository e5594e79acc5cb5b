"""Folders for a while, in the system's folder for temporary files: captures that were sent, results without a name.

    with Scratch("task") as scratch:
        (scratch.path / "scene.pgc").write_bytes(data)

A process that is killed cannot remove its folders. So each is locked as long as its process lives, and `sweep_up`, at
the next start of a sweep or a worker on this machine, removes those that nobody has locked.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from pocketgpu.displayed import line_of

if sys.platform != "win32":
    import fcntl

PREFIX: Final = "pocketgpu"
_TRIES: Final = 100


def _host() -> str:
    """This machine as part of a name: machines may share a folder, and not its locks."""
    return re.sub(r"[^A-Za-z0-9.]", ".", socket.gethostname())[:60] or "host"


class Scratch:
    """A folder that is this process's own until `close`. kind: what it is for, a word of its name."""

    def __init__(self, kind: str) -> None:
        for _ in range(_TRIES):
            self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{kind}-{_host()}-"))
            with contextlib.suppress(FileNotFoundError):
                self._unlock = _locked(self.path, wait=True)
                if self.path.exists():
                    return
                self._unlock()
            # `sweep_up` of another process came before the lock.
        raise FileExistsError("other processes remove the folder")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return line_of(self, str(self.path))

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._unlock()


def sweep_up() -> list[Path]:
    """Remove the folders of processes of this machine and user that have ended; returns them."""
    if sys.platform == "win32":  # no locks of folders there
        return []
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}-*-{_host()}-*"):
        with contextlib.suppress(OSError):
            about = path.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            unlock = _locked(path, wait=False)
            try:
                shutil.rmtree(path, ignore_errors=True)
                found.append(path)
            finally:
                unlock()
    return found


def _locked(path: Path, wait: bool) -> Callable[[], None]:
    """Lock a folder; returns what unlocks it.

    :raises OSError: it is locked and `wait` is false, or it cannot be locked, so that nobody knows who uses it.
    """
    if sys.platform == "win32":
        return lambda: None
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        if not wait:
            os.close(handle)
            raise
        # A file system without locks: `sweep_up` cannot lock the folder either, and leaves it.
    return lambda: os.close(handle)


__all__ = ["Scratch", "sweep_up"]


def __dir__() -> list[str]:
    return [*__all__]
