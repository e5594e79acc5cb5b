"""A program's own file beside those of its memory card: it opens itself for its data, wherever it lies on the host."""

from __future__ import annotations

from pathlib import PurePosixPath

from pocketgpu.guests.kernel.files import Entry, FileError, Files, MemoryFile, OpenFile, clean_path


class Overlay:
    """Files, and one more that nobody can change; folders on its way need not be there. path: its place, from / on."""

    def __init__(self, files: Files, path: str, file: MemoryFile) -> None:
        self.files, self._file = files, file
        self._path = PurePosixPath(path)

    def __repr__(self) -> str:
        return f"<Overlay: {self._path} beside {self.files!r}>"

    @property
    def writable(self) -> bool:
        """Whether the other files can be changed."""
        return self.files.writable

    @property
    def changes(self) -> int:
        """How often the other files were changed."""
        return self.files.changes

    def _is_on_the_way(self, path: str) -> bool:
        return _place(path) in self._path.parents

    def open(self, path: str, *, write: bool = False, create: bool = False) -> OpenFile:
        if _place(path) != self._path:
            return self.files.open(path, write=write, create=create)
        if write:
            raise FileError("protected", path)
        return self._file

    def list(self, path: str) -> list[Entry]:
        place = _place(path)
        try:
            found = list(self.files.list(path))
        except FileError:
            if not self._is_on_the_way(path):
                raise
            found = []
        if self._is_on_the_way(path):
            name = self._path.parts[len(place.parts)]
            own = name == self._path.name and place == self._path.parent
            if own or name not in [one.name for one in found]:
                entry = Entry(name, not own, self._file.size if own else 0)
                found = [one for one in found if one.name != name] + [entry]
        return sorted(found, key=lambda one: one.name)

    def _is_ours(self, path: str) -> bool:
        return _place(path) == self._path or self._is_on_the_way(path)

    def make_folder(self, path: str) -> None:
        if _place(path) == self._path:
            raise FileError("exists", path)
        self.files.make_folder(path)

    def make_file(self, path: str, size: int) -> None:
        if self._is_ours(path):
            raise FileError("exists", path)
        self.files.make_file(path, size)

    def delete(self, path: str, *, folder: bool, contents: bool = False) -> None:
        if self._is_ours(path):
            raise FileError("protected", path)
        self.files.delete(path, folder=folder, contents=contents)

    def rename(self, old: str, new: str) -> None:
        if self._is_ours(old):
            raise FileError("protected", old)
        if _place(new) == self._path:
            raise FileError("exists", new)
        self.files.rename(old, new)


def _place(path: str) -> PurePosixPath:
    return PurePosixPath(clean_path(path))
