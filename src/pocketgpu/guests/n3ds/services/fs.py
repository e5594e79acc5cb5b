"""`fs:USER`: files on the memory card. Source: 3dbrew Filesystem services; libctru's fs.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.files import Entry, FileError, Files, OpenFile
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, Session, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

SDMC: Final = 9
"""Archive: the memory card."""
SYSTEM_ARCHIVES: Final = range(0x567890AB, 0x567890B0)
"""Archives of the console's own memory, which are empty here."""
_ASCII, _UTF16 = 3, 4
_WRITE, _CREATE = 2, 4
_ENTRY_SIZE: Final = 0x228
_MOST_READ: Final = 16 << 20
_RESULTS: Final = {
    "absent": Result.FILE_NOT_FOUND, "folder": Result.FILE_NOT_FOUND, "not a folder": Result.PATH_NOT_FOUND,
    "exists": Result.WRITE_PROTECTED, "protected": Result.WRITE_PROTECTED,
}  # fmt: skip


class FileSession(Service):
    """An open file."""

    name = "file"

    def __init__(self, kernel: N3DSKernel, file: OpenFile, path: str) -> None:
        super().__init__(kernel)
        self.file, self.path = file, path

    @command(0x802)
    def read(self, request: Request) -> Answer:
        offset = request.words[1] | request.words[2] << 32
        pointer, _ = request.mapped(4)
        data = self.file.read(offset, min(request.words[3], _MOST_READ))
        self.kernel.space.write(pointer, data)
        return Answer(values=(len(data),))

    @command(0x803)
    def write(self, request: Request) -> Answer:
        offset = request.words[1] | request.words[2] << 32
        pointer, _ = request.mapped(5)
        data = self.kernel.space.read(pointer, min(request.words[3], _MOST_READ))
        return Answer(values=(self.file.write(offset, data),))

    @command(0x804)
    def get_size(self, request: Request) -> Answer:
        size = self.file.size
        return Answer(values=(size & 0xFFFFFFFF, size >> 32))

    @command(0x805)
    def set_size(self, request: Request) -> Answer:
        self.file.resize(request.words[1] | request.words[2] << 32)
        return Answer()

    @command(0x808)
    def close(self, request: Request) -> Answer:
        self.file.close()
        return Answer()

    @command(0x809)
    def flush(self, request: Request) -> Answer:
        return Answer()

    def handle(self, request: Request) -> Answer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return Answer(_RESULTS[error.reason])


class DirectorySession(Service):
    """An open folder."""

    name = "directory"

    def __init__(self, kernel: N3DSKernel, entries: list[Entry], path: str) -> None:
        super().__init__(kernel)
        self.entries, self.path = entries, path

    @command(0x801)
    def read(self, request: Request) -> Answer:
        pointer, size = request.mapped(2)
        count = min(request.words[1], size // _ENTRY_SIZE, len(self.entries))
        data = b"".join(_entry(one) for one in self.entries[:count])
        del self.entries[:count]
        self.kernel.space.write(pointer, data)
        return Answer(values=(count,))

    @command(0x802)
    def close(self, request: Request) -> Answer:
        return Answer()


def _entry(one: Entry) -> bytes:
    """As programs read it: the name, an 8.3 name, attributes, the size."""
    name = one.name.encode("utf-16-le")[:0x20A].ljust(0x20C, b"\0")
    stem, _, suffix = one.name.upper().partition(".")
    short = stem.encode("ascii", "replace")[:8].ljust(10, b"\0") + suffix.encode("ascii", "replace")[:3].ljust(4, b"\0")
    return name + short + bytes([1, 0, one.folder, 0, not one.folder, 0]) + one.size.to_bytes(8, "little")


class FsUser(Service):
    """The service. card: what is on the memory card."""

    name = "fs:USER"

    def __init__(self, kernel: N3DSKernel, card: Files) -> None:
        super().__init__(kernel)
        self.card = card
        self.archives: dict[int, int] = {}
        self._next = 1

    def handle(self, request: Request) -> Answer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return Answer(_RESULTS[error.reason], handles=(None,))

    def _path(self, request: Request, type: int, at: int) -> str:
        data = request.static(at)
        if type == _UTF16:
            return data.decode("utf-16-le", "replace").split("\0")[0]
        if type == _ASCII:
            return data.split(b"\0")[0].decode("utf-8", "backslashreplace")
        raise FileError("absent", "")

    def _archive(self, number: int) -> None:
        if self.archives.get(number) != SDMC:
            raise FileError("absent", "")

    @command(0x801)
    def initialize(self, request: Request) -> Answer:
        return Answer()

    @command(0x861)
    def initialize_with_sdk_version(self, request: Request) -> Answer:
        return Answer()

    @command(0x862)
    def set_priority(self, request: Request) -> Answer:
        return Answer()

    # -- archives ---------------------------------------------------------------------------------------------------
    @command(0x80C)
    def open_archive(self, request: Request) -> Answer:
        archive = request.words[1]
        if archive != SDMC and archive not in SYSTEM_ARCHIVES:
            return Answer(Result.ARCHIVE_NOT_FOUND, values=(0, 0))
        if self.kernel.machine.choices["guest.archives"] == "one":
            number, archive = 1, SDMC
        else:
            number, self._next = self._next, self._next + 1
        self.archives[number] = archive
        return Answer(values=(number, 0))

    @command(0x80E)
    def close_archive(self, request: Request) -> Answer:
        self.archives.pop(request.words[1], None)
        return Answer()

    @command(0x812)
    @command(0x849)
    def get_archive_resource(self, request: Request) -> Answer:
        return Answer(values=(512, 0x8000, 0x10000, 0x8000))

    @command(0x819)
    @command(0x81A)
    def get_cid(self, request: Request) -> Answer:
        """Numbers of the memory card and of the console's own: zeros."""
        pointer, size = request.mapped(2)
        self.kernel.space.write(pointer, bytes(min(size, 16)))
        return Answer()

    # -- files ------------------------------------------------------------------------------------------------------
    def _open(self, path: str, flags: int) -> Answer:
        file = self.card.open(path, write=bool(flags & _WRITE), create=bool(flags & _CREATE))
        return Answer(handles=(Session(FileSession(self.kernel, file, path)),), moved=True)

    @command(0x802)
    def open_file(self, request: Request) -> Answer:
        self._archive(request.words[2])
        return self._open(self._path(request, request.words[4], 8), request.words[6])

    @command(0x803)
    def open_file_directly(self, request: Request) -> Answer:
        if request.words[2] != SDMC:
            raise FileError("absent", "")
        return self._open(self._path(request, request.words[5], 11), request.words[7])

    @command(0x80B)
    def open_directory(self, request: Request) -> Answer:
        self._archive(request.words[1])
        path = self._path(request, request.words[3], 5)
        return Answer(handles=(Session(DirectorySession(self.kernel, list(self.card.list(path)), path)),), moved=True)
