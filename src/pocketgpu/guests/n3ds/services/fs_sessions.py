"""Open files and folders of `fs:USER`: sessions of their own. Source: 3dbrew Filesystem services; libctru's fs.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.files import Entry, FileError, OpenFile
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, Session, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_ENTRY_SIZE: Final = 0x228
_NAME_BYTES: Final = 0x20A
_MOST_READ: Final = 16 << 20
RESULTS: Final = {
    "absent": Result.FILE_NOT_FOUND, "folder": Result.FILE_NOT_FOUND, "not a folder": Result.PATH_NOT_FOUND,
    "exists": Result.FILE_EXISTS, "protected": Result.WRITE_PROTECTED, "full": Result.NO_SPACE,
    "not empty": Result.FOLDER_NOT_EMPTY, "closed": Result.SESSION_CLOSED,
}  # fmt: skip
"""Result codes by the reason of a refusal."""


def number(words: list[int] | tuple[int, ...], at: int) -> int:
    """A number of 64 bits in two words, the low one first."""
    return words[at] | words[at + 1] << 32


class FileSession(Service):
    """An open file, or a part of one. base, length: the part; length None: all of it."""

    name = "file"

    def __init__(
        self, kernel: N3DSKernel, file: OpenFile, path: str, base: int = 0, length: int | None = None
    ) -> None:
        super().__init__(kernel)
        self.file, self.path, self.base, self.length = file, path, base, length
        self.priority = 0

    def handle(self, request: Request) -> Answer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return Answer(RESULTS[error.reason])

    @property
    def size(self) -> int:
        """Bytes that can be read."""
        whole = max(0, self.file.size - self.base)
        return whole if self.length is None else min(whole, self.length)

    @command(0x801)
    def open_sub_file(self, request: Request) -> Answer:
        """A session of a part of the file: offset and size."""
        base, length = self.base + number(request.words, 1), number(request.words, 3)
        part = FileSession(self.kernel, self.file, self.path, base, length)
        return Answer(handles=(Session(part),), moved=True)

    @command(0x802)
    def read(self, request: Request) -> Answer:
        offset = number(request.words, 1)
        pointer, _ = request.mapped(4)
        size = max(0, min(request.words[3], _MOST_READ, self.size - offset))
        data = self.file.read(self.base + offset, size)
        self.kernel.space.write(pointer, data)
        return Answer(values=(len(data),))

    @command(0x803)
    def write(self, request: Request) -> Answer:
        offset = number(request.words, 1)
        pointer, _ = request.mapped(5)
        data = self.kernel.space.read(pointer, min(request.words[3], _MOST_READ))
        return Answer(values=(self.file.write(self.base + offset, data),))

    @command(0x804)
    def get_size(self, request: Request) -> Answer:
        size = self.size
        return Answer(values=(size & 0xFFFFFFFF, size >> 32))

    @command(0x805)
    def set_size(self, request: Request) -> Answer:
        self.file.resize(number(request.words, 1))
        return Answer()

    @command(0x806)
    def get_attributes(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x807)
    def set_attributes(self, request: Request) -> Answer:
        return Answer()

    @command(0x808)
    def close(self, request: Request) -> Answer:
        """Parts are closed with the whole file."""
        if self.base == 0 and self.length is None:
            self.file.close()
        return Answer()

    @command(0x809)
    def flush(self, request: Request) -> Answer:
        return Answer()

    @command(0x80A)
    def set_priority(self, request: Request) -> Answer:
        self.priority = request.words[1]
        return Answer()

    @command(0x80B)
    def get_priority(self, request: Request) -> Answer:
        return Answer(values=(self.priority,))

    @command(0x80C)
    def open_link_file(self, request: Request) -> Answer:
        """A second session of the same file."""
        return Answer(handles=(Session(FileSession(self.kernel, self.file, self.path, 0, self.file.size)),), moved=True)


class DirectorySession(Service):
    """An open folder."""

    name = "directory"

    def __init__(self, kernel: N3DSKernel, entries: list[Entry], path: str) -> None:
        super().__init__(kernel)
        self.entries, self.path = entries, path
        self.priority = 0

    @command(0x801)
    def read(self, request: Request) -> Answer:
        """The next entries; none at the end."""
        pointer, size = request.mapped(2)
        count = min(request.words[1], size // _ENTRY_SIZE, len(self.entries))
        self.kernel.space.write(pointer, b"".join(_entry(one) for one in self.entries[:count]))
        del self.entries[:count]
        return Answer(values=(count,))

    @command(0x802)
    def close(self, request: Request) -> Answer:
        return Answer()

    @command(0x803)
    def set_priority(self, request: Request) -> Answer:
        self.priority = request.words[1]
        return Answer()

    @command(0x804)
    def get_priority(self, request: Request) -> Answer:
        return Answer(values=(self.priority,))


def _entry(one: Entry) -> bytes:
    """As programs read it: the name, an 8.3 name, attributes (folder, hidden, archive, read-only), the size."""
    name = one.name.encode("utf-16-le", "replace")[:_NAME_BYTES].ljust(_NAME_BYTES + 2, b"\0")
    stem, _, suffix = one.name.upper().partition(".")
    short = stem.encode("ascii", "replace")[:8].ljust(10, b"\0") + suffix.encode("ascii", "replace")[:3].ljust(4, b"\0")
    return name + short + bytes([1, 0, one.folder, 0, not one.folder, 0]) + one.size.to_bytes(8, "little")
