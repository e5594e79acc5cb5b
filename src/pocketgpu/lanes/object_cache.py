"""Compiled kernels on disk, and indexes of recordings (`inspect/index`). Machine code that is loaded must be trusted,
so the folder must be the user's alone.

`POCKETGPU_CACHE` names another folder or is `off`. A folder that others own or can write to is not used; a warning says
so once. Entries carry a digest, which is checked before loading. Writing is atomic. When entries of a kind outgrow
their limit, the oldest are removed. Nothing is read from the working directory by default.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
import sys
import warnings
from typing import TYPE_CHECKING

from pocketgpu.digests import blake2b

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"pgpuobj1"
KERNEL, INDEX = "o", "index"
"""Kinds of entries: the endings of their names."""
LIMIT_BYTES = 256 << 20
INDEX_LIMIT_BYTES = 32 << 20
LIMITS = {KERNEL: LIMIT_BYTES, INDEX: INDEX_LIMIT_BYTES}
# A process checks the size of the folder at its first store, and then after this number of stores.
TRIM_EVERY = 64
_stored = itertools.count()
_OUR_NAME = r"[0-9a-f]{40}\.(\w+)"
_checked: dict[str, str | None] = {}


def default_folder() -> Path:
    """The per-user cache folder of this system."""
    from pathlib import Path

    return Path(_default())


def _default() -> str:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(_of_user("~"), "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(_of_user("~"), "Library", "Caches")
    else:
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        base = xdg if os.path.isabs(xdg) else os.path.join(_of_user("~"), ".cache")
    return os.path.join(base, "pocketgpu", "kernels")


def _of_user(path: str) -> str:
    """A path with the home folder for "~". Raises RuntimeError if there is none."""
    found = os.path.expanduser(path)
    if found.startswith("~"):
        raise RuntimeError("Could not determine home directory.")
    return found


def _is_private(folder: str) -> bool:
    if not hasattr(os, "getuid"):
        return True  # Windows: the profile folder's own access list protects it
    info = os.lstat(folder)
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022


def folder() -> Path | None:
    """The folder in use, made on first need; None when caching is off or the folder cannot be trusted."""
    from pathlib import Path  # which loads readers of web addresses, and a start needs none

    found = _place()
    return None if found is None else Path(found)


def _place() -> str | None:
    """See `folder`."""
    setting = os.environ.get("POCKETGPU_CACHE", "")
    if setting not in _checked:
        _checked[setting] = _prepare(setting)
    return _checked[setting]


def _prepare(setting: str) -> str | None:
    if setting == "off":
        return None
    try:
        place = os.path.join(os.getcwd(), _of_user(setting)) if setting else _default()
        os.makedirs(place, 0o700, exist_ok=True)
        if _is_private(place):
            return place
        reason = "others own it or can write to it"
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        reason = str(error)
    text = f"kernel cache not used ({reason}); set POCKETGPU_CACHE to a private folder or to 'off'"
    warnings.warn(text, stacklevel=2)
    return None


def read(key: str, kind: str = KERNEL) -> bytes | None:
    """What is stored under `key`, or None. A damaged entry is removed."""
    place = _place()
    if place is None:
        return None
    path = os.path.join(place, f"{key}.{kind}")
    try:
        with open(path, "rb") as file:
            blob = file.read()
    except OSError:
        return None
    head, data = blob[: len(_MAGIC) + 20], blob[len(_MAGIC) + 20 :]
    if head != _MAGIC + blake2b(data, digest_size=20, key=key.encode()).digest():
        with contextlib.suppress(OSError):
            os.unlink(path)
        return None
    return data


def write(key: str, data: bytes, kind: str = KERNEL) -> None:
    """Store an entry atomically. If that fails, the run goes on without."""
    place = _place()
    if place is None:
        return
    import tempfile  # slow to import, and hardly anything is stored while a command starts

    name = None
    try:
        handle, name = tempfile.mkstemp(dir=place, prefix=".new-")
        with os.fdopen(handle, "wb") as f:
            f.write(_MAGIC + blake2b(data, digest_size=20, key=key.encode()).digest() + data)
        os.replace(name, os.path.join(place, f"{key}.{kind}"))
        if kind != KERNEL or next(_stored) % TRIM_EVERY == 0:
            from pathlib import Path

            trim(Path(place), LIMITS[kind], kind)
    except OSError:  # a full disk; or, on Windows, another process has the entry open right now
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)


def entries(place: Path, kind: str = KERNEL) -> list[tuple[Path, int, float]]:
    """(path, bytes, time of last change) of each entry of a kind. Other files in the folder are left alone."""
    found = []
    with os.scandir(place) as files:
        for file in files:
            name = re.fullmatch(_OUR_NAME, file.name)
            if name is not None and name[1] == kind:
                with contextlib.suppress(OSError):
                    info = file.stat()
                    found.append((place / file.name, info.st_size, info.st_mtime))
    return found


def trim(place: Path, limit: int = LIMIT_BYTES, kind: str = KERNEL) -> None:
    """Remove the oldest entries of a kind until the folder holds at most `limit` bytes of them."""
    found = sorted(entries(place, kind), key=lambda e: e[2], reverse=True)
    total = 0
    for path, size, _ in found:
        total += size
        if total > limit:
            with contextlib.suppress(OSError):
                path.unlink()
