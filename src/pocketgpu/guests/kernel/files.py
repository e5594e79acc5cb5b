"""The files that a program finds: a folder of the host as its memory card, and nothing outside of it.

    card = HostFolder("sd", writable=False)
    file = card.open("/3ds/app/data.bin", create=False)
    file.read(0, 16)

Symbolic links are followed only where they stay inside. A file is opened for writing only if the folder is writable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from pocketgpu.late_dataclass import dataclass

MOST_BYTES: Final = (1 << 32) - 1
"""Of one file, as on a card with FAT32."""


MOST_GROWTH: Final = 4 << 30
"""Bytes by which all files of a folder may grow in one run, holes too: a program shall not fill the host's disk."""
MOST_OPEN: Final = 256
"""Files that are open at a time: the host has few for all that it does."""


class FileError(Exception):
    """A file cannot be opened or changed: `reason` is "absent", "exists", "folder", "not a folder", "protected",
    "full", "not empty" or "closed"."""

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder."""

    name: str
    folder: bool
    size: int


class OpenFile(Protocol):
    """A file in use."""

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """Bytes from a place; fewer at the end."""
        ...

    def write(self, offset: int, data: bytes) -> int:
        """Store bytes; how many. Raises FileError where nothing may be written."""
        ...

    def resize(self, size: int) -> None:
        """Cut or lengthen it. Raises FileError where nothing may be written."""
        ...

    def close(self) -> None:
        """It is not used any more."""
        ...


class Files(Protocol):
    """A tree of files. Paths begin with / and use / between names. writable: whether anything can be changed."""

    @property
    def writable(self) -> bool:
        """Whether anything can be changed."""
        ...

    @property
    def changes(self) -> int:
        """How often something was changed, or was about to be."""
        ...

    def open(self, path: str, *, write: bool = False, create: bool = False) -> OpenFile:
        """Open a file. Raises FileError."""
        ...

    def list(self, path: str) -> Sequence[Entry]:
        """What is in a folder, by name. Raises FileError."""
        ...

    def make_folder(self, path: str) -> None:
        """Make a folder. Raises FileError."""
        ...

    def make_file(self, path: str, size: int) -> None:
        """Make a file of zeros. Raises FileError."""
        ...

    def delete(self, path: str, *, folder: bool, contents: bool = False) -> None:
        """Delete a file or a folder. Raises FileError."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Move a file or a folder. Raises FileError."""
        ...


class MemoryFile:
    """A file that is in memory: read only."""

    def __init__(self, size: int, pieces: Mapping[int, bytes]) -> None:
        self.size = size
        self._pieces = pieces

    def read(self, offset: int, size: int) -> bytes:
        out = bytearray(max(0, min(size, self.size - offset)))
        for at, data in self._pieces.items():
            low, high = max(at, offset), min(at + len(data), offset + len(out))
            if low < high:
                out[low - offset : high - offset] = data[low - at : high - at]
        return bytes(out)

    def write(self, offset: int, data: bytes) -> int:
        raise FileError("protected", "")

    def resize(self, size: int) -> None:
        raise FileError("protected", "")

    def close(self) -> None:
        """Nothing to do."""


class MemoryFiles:
    """Files in memory, in folders that their paths imply: read only. folders: further ones, empty."""

    writable = False
    changes = 0

    def __init__(self, files: Mapping[str, MemoryFile], folders: Sequence[str] = ()) -> None:
        self._files = {clean_path(path): one for path, one in files.items()}
        self._folders = {"/"}
        for path in [*self._files, *(f"{clean_path(one)}/x" for one in folders)]:
            self._folders |= {str(one) for one in PurePosixPath(path).parents}

    def open(self, path: str, *, write: bool = False, create: bool = False) -> MemoryFile:
        found = self._files.get(clean_path(path))
        if found is None:
            raise FileError("folder" if clean_path(path) in self._folders else "absent", path)
        if write:
            raise FileError("protected", path)
        return found

    def list(self, path: str) -> list[Entry]:
        place = clean_path(path)
        if place not in self._folders:
            raise FileError("not a folder" if place in self._files else "absent", path)
        found = [Entry(PurePosixPath(one).name, False, file.size) for one, file in self._files.items()
                 if str(PurePosixPath(one).parent) == place]  # fmt: skip
        found += [Entry(PurePosixPath(one).name, True, 0) for one in self._folders
                  if one != "/" and str(PurePosixPath(one).parent) == place]  # fmt: skip
        return sorted(found, key=lambda one: one.name)

    def make_folder(self, path: str) -> None:
        raise FileError("exists" if clean_path(path) in self._folders else "protected", path)

    def make_file(self, path: str, size: int) -> None:
        raise FileError("exists" if clean_path(path) in self._files else "protected", path)

    def delete(self, path: str, *, folder: bool, contents: bool = False) -> None:
        raise FileError("protected", path)

    def rename(self, old: str, new: str) -> None:
        raise FileError("protected", old)


def clean_path(path: str) -> str:
    """A path without empty parts, `.` and `..`; nothing is above the root."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """What the host refuses is a FileError: a full disk, a name that it does not allow, missing rights."""
    try:
        yield
    except (OSError, ValueError, OverflowError):
        raise FileError("protected", path) from None


@dataclass(slots=True)
class _Room:
    """What a program may still take of the host. open: files in use. changes: how often it has changed something, or
    was about to."""

    growth: int = MOST_GROWTH
    open: int = 0
    changes: int = 0

    def take(self, size: int, path: str) -> None:
        """Let a file grow, or shrink. Raises FileError if there is no room."""
        if size > self.growth:
            raise FileError("full", path)
        self.growth = min(MOST_GROWTH, self.growth - size)


class _Handle(FileIO):
    """An open file of the host. Programs may end without closing their files, so this is no mistake of ours to warn of,
    as FileIO would if it is collected before what holds it."""

    def __del__(self) -> None:
        self.close()


class _HostFile:
    """A file of the host."""

    def __init__(self, path: Path, write: bool, room: _Room) -> None:
        self._write, self._name, self._room = write, path.name, room
        self._file: FileIO | None = _Handle(path, "r+" if write else "r")
        room.open += 1

    def _number(self) -> int:
        if self._file is None:
            raise FileError("closed", self._name)
        return self._file.fileno()

    @property
    def size(self) -> int:
        return os.fstat(self._number()).st_size

    def read(self, offset: int, size: int) -> bytes:
        number = self._number()
        if offset > MOST_BYTES:
            return b""
        with _refusals(self._name):
            return os.pread(number, size, offset)

    def _changing(self, end: int) -> int:
        number = self._number()
        if not self._write:
            raise FileError("protected", self._name)
        if end > MOST_BYTES:
            raise FileError("full", self._name)
        self._room.changes += 1
        return number

    def write(self, offset: int, data: bytes) -> int:
        number = self._changing(offset + len(data))
        self._room.take(max(0, offset + len(data) - self.size), self._name)
        with _refusals(self._name):
            return os.pwrite(number, data, offset)

    def resize(self, size: int) -> None:
        number = self._changing(size)
        self._room.take(size - self.size, self._name)
        with _refusals(self._name):
            os.ftruncate(number, size)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            self._room.open -= 1

    def __del__(self) -> None:
        """Programs may end without closing their files."""
        if getattr(self, "_file", None) is not None:
            self.close()


class HostFolder:
    """A folder of the host. writable: whether a program may change it."""

    def __init__(self, root: str | os.PathLike[str], *, writable: bool = False) -> None:
        self.root, self.writable = Path(root).resolve(), writable
        self._room = _Room()

    def __repr__(self) -> str:
        return f"<HostFolder {self.root.name}, {'writable' if self.writable else 'read only'}>"

    @property
    def changes(self) -> int:
        """How often something was changed, or was about to be."""
        return self._room.changes

    def _spelled(self, path: str) -> Path:
        """A path as the folder spells it: upper and lower case are the same on a card, and not on every host."""
        place = self.root
        for part in filter(None, clean_path(path).split("/")):
            following = place / part
            if not os.path.lexists(following) and place.is_dir():
                found = [name for name in sorted(os.listdir(place)) if name.casefold() == part.casefold()]
                following = place / found[0] if found else following
            place = following
        return place

    def _place(self, path: str) -> Path:
        try:
            place = self._spelled(path).resolve()
            inside = place.is_relative_to(self.root) and (place.exists() or place.parent.exists())
        except (OSError, ValueError, RuntimeError):  # a name that the host refuses, links in a circle
            inside = False
        if not inside:
            raise FileError("absent", path)
        return place

    def _may_write(self, path: str) -> None:
        if not self.writable:
            raise FileError("protected", path)
        self._room.changes += 1

    def open(self, path: str, *, write: bool = False, create: bool = False) -> _HostFile:
        place = self._place(path)
        if place.is_dir():
            raise FileError("folder", path)
        if write or create:
            if place.exists() or create:
                self._may_write(path)
            if create and not place.exists():
                self.make_file(path, 0)
        if not place.is_file():
            raise FileError("absent", path)
        if self._room.open >= MOST_OPEN:
            raise FileError("full", path)
        with _refusals(path):
            return _HostFile(place, write, self._room)

    def list(self, path: str) -> list[Entry]:
        place = self._place(path)
        if not place.exists():
            raise FileError("absent", path)
        if not place.is_dir():
            raise FileError("not a folder", path)
        found = []
        with _refusals(path):
            inside = sorted(place.iterdir())
        for one in inside:
            if self._reachable(one):
                found.append(Entry(one.name, one.is_dir(), 0 if one.is_dir() else one.stat().st_size))
        return found

    def _reachable(self, place: Path) -> bool:
        """Whether something in a folder is there and inside, and no device or the like."""
        try:
            return place.resolve().is_relative_to(self.root) and (place.is_dir() or place.is_file())
        except (OSError, RuntimeError):
            return False

    def make_folder(self, path: str) -> None:
        place = self._place(path)
        if place.exists():
            raise FileError("exists", path)
        self._may_write(path)
        if not place.parent.is_dir():
            raise FileError("absent", path)
        with _refusals(path):
            place.mkdir()

    def make_file(self, path: str, size: int) -> None:
        place = self._place(path)
        if place.exists():
            raise FileError("exists", path)
        self._may_write(path)
        if not place.parent.is_dir():
            raise FileError("absent", path)
        if size > MOST_BYTES:
            raise FileError("full", path)
        self._room.take(size, path)
        with _refusals(path), place.open("xb") as file:
            file.truncate(size)

    def delete(self, path: str, *, folder: bool, contents: bool = False) -> None:
        place = self._place(path)
        if not place.exists() or place.is_dir() != folder:
            raise FileError("absent", path)
        self._may_write(path)
        if place == self.root:
            raise FileError("protected", path)
        if not folder:
            with _refusals(path):
                size = place.stat().st_size
                place.unlink()
            self._room.take(-size, path)
            return
        if contents:
            for entry in self.list(path):
                self.delete(f"{path}/{entry.name}", folder=entry.folder, contents=True)
        with _refusals(path):
            full = any(place.iterdir())
        if full:
            raise FileError("not empty", path)
        with _refusals(path):
            place.rmdir()

    def rename(self, old: str, new: str) -> None:
        source, target = self._place(old), self._place(new)
        if not source.exists():
            raise FileError("absent", old)
        if target.exists():
            raise FileError("exists", new)
        self._may_write(old)
        if source == self.root:
            raise FileError("protected", old)
        with _refusals(old):
            source.rename(target)
