"""Open files and folders of `fsp-srv`, paths, and what went wrong with them. Source: libnx's fs.h and fs.c."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.files import Entry, FileError, Files, OpenFile, clean_path
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

DIRECTORIES, FILES = 0, 1
"""Types of entries, and the bits of a folder's mode."""
READ, WRITE, APPEND = 1, 2, 4
"""How a file is opened; with the last one it may grow."""
_PATH_BYTES: Final = 0x301
_ENTRY: Final = struct.Struct("<769s3xb3xq")
"""Name, type and size of an entry of a folder."""
_MOST_AT_ONCE: Final = layout.RAM
"""Bytes of one read: more memory than that no program has."""
_RANGE: Final = bytes(0x40)
"""What OperateRange reports about a range: that nothing is special about it."""
RESULTS: Final = {
    "absent": Result.PATH_NOT_FOUND, "folder": Result.PATH_NOT_FOUND, "not a folder": Result.PATH_NOT_FOUND,
    "exists": Result.PATH_EXISTS, "protected": Result.WRITE_NOT_PERMITTED, "full": Result.NO_SPACE,
    "not empty": Result.FOLDER_NOT_EMPTY, "closed": Result.READ_NOT_PERMITTED,
}  # fmt: skip
"""Result codes by the reason of a refusal."""


class PathError(Exception):
    """A path is none. result: the code for the program."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.name)
        self.result = result


def path_of(request: CmifRequest, number: int = 0) -> str:
    """A path of a request: one of its input buffers, from / on, with a zero at its end.

    :raises PathError: it does not begin with /, or does not end.
    """
    data = request.input(number)[:_PATH_BYTES]
    text, zero, _ = data.partition(b"\0")
    if not zero:
        raise PathError(Result.PATH_TOO_LONG)
    if not text.startswith(b"/"):
        raise PathError(Result.INVALID_PATH)
    return text.decode("utf-8", "backslashreplace")


def entry_of(card: Files, path: str) -> Entry:
    """What is at a path. Folders are not listed for it, as programs ask for each file of a large one.

    :raises FileError: nothing is there.
    """
    name = clean_path(path).rpartition("/")[2]
    try:
        file = card.open(path)
    except FileError as error:
        if error.reason != "folder":
            card.list(path)  # a folder that is there only because the program's own file is in it
        return Entry(name, True, 0)
    size = file.size
    file.close()
    return Entry(name, False, size)


class File(Interface):
    """An open file. mode: how it was opened."""

    name = "IFile"

    def __init__(self, kernel: SwitchKernel, file: OpenFile, mode: int) -> None:
        super().__init__(kernel)
        self.file, self.mode = file, mode

    def closed(self) -> None:
        self.file.close()

    def handle(self, request: CmifRequest) -> CmifAnswer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return CmifAnswer(result=RESULTS[error.reason])

    @command(0)
    def read(self, request: CmifRequest) -> CmifAnswer:
        """Option, offset, size; answers how many bytes there were."""
        _, offset, size = request.values("I4xqq")
        refused = self._refused(offset, size, READ, Result.READ_NOT_PERMITTED)
        if refused is not None:
            return refused
        if offset > self.file.size:
            return CmifAnswer(result=Result.FILE_OUT_OF_RANGE)
        room = request.outputs[0].size if request.outputs else 0
        data = self.file.read(offset, min(size, room, self.file.size - offset, _MOST_AT_ONCE))
        return CmifAnswer(struct.pack("<Q", request.output(data)))

    @command(1)
    def write(self, request: CmifRequest) -> CmifAnswer:
        """Option, offset, size."""
        _, offset, size = request.values("I4xqq")
        refused = self._refused(offset, size, WRITE, Result.WRITE_NOT_PERMITTED)
        if refused is not None:
            return refused
        data = request.input()[:size]
        if offset + len(data) > self.file.size and not self.mode & APPEND:
            return CmifAnswer(result=Result.FILE_CANNOT_GROW)
        self.file.write(offset, data)
        return CmifAnswer()

    def _refused(self, offset: int, size: int, need: int, otherwise: Result) -> CmifAnswer | None:
        if offset < 0:
            return CmifAnswer(result=Result.INVALID_FILE_OFFSET)
        if size < 0:
            return CmifAnswer(result=Result.INVALID_FILE_SIZE)
        return None if self.mode & need else CmifAnswer(result=otherwise)

    @command(2)
    def flush(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()

    @command(3)
    def set_size(self, request: CmifRequest) -> CmifAnswer:
        (size,) = request.values("q")
        refused = self._refused(0, size, WRITE, Result.WRITE_NOT_PERMITTED)
        if refused is None:
            self.file.resize(size)
        return refused or CmifAnswer()

    @command(4)
    def get_size(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", self.file.size))

    @command(5)
    def operate_range(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(_RANGE)


class Directory(Interface):
    """An open folder. entries: those that were not read yet. count: of all."""

    name = "IDirectory"

    def __init__(self, kernel: SwitchKernel, entries: Sequence[Entry]) -> None:
        super().__init__(kernel)
        self.entries = list(entries)
        self.count = len(self.entries)

    @command(0)
    def read(self, request: CmifRequest) -> CmifAnswer:
        """The next entries; none at the end. Answers how many."""
        room = request.outputs[0].size if request.outputs else 0
        found = self.entries[: room // _ENTRY.size]
        request.output(b"".join(_ENTRY.pack(_name(one), _type(one), one.size) for one in found))
        del self.entries[: len(found)]
        return CmifAnswer(struct.pack("<q", len(found)))

    @command(1)
    def get_entry_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", self.count))


def _name(one: Entry) -> bytes:
    return one.name.encode("utf-8", "replace")[: _PATH_BYTES - 1]


def _type(one: Entry) -> int:
    return DIRECTORIES if one.folder else FILES
