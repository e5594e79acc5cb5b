"""`fsp-srv` on a folder of the host: what programs can do, and what they cannot."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from support.switch_requests import Asker

from pocketgpu.guests.kernel.files import Files, HostFolder, MemoryFile, MemoryFiles
from pocketgpu.guests.kernel.overlay import Overlay
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, Interface
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.fs import FileSystemProxy

READ, WRITE, APPEND = 1, 2, 4


class Card:
    """A card that a test asks."""

    def __init__(self, files: Files) -> None:
        self.asker = Asker()
        proxy = FileSystemProxy(self.asker.kernel, files)
        (self.system,) = self.asker.ask(proxy, 18).objects

    def ask(self, command: int, *paths: str, format: str = "<", values: tuple[int, ...] = ()) -> CmifAnswer:
        named = [one.encode().ljust(0x301, b"\0") for one in paths]
        return self.asker.ask(self.system, command, format, *values, inputs=named)

    def open(self, path: str, mode: int = READ) -> Interface:
        answer = self.ask(8, path, format="<I", values=(mode,))
        assert answer.result == Result.OK
        return answer.objects[0]

    def read(self, file: Interface, offset: int, size: int, room: int = 0x1000) -> bytes:
        answer = self.asker.ask(file, 0, "<Iiqq", 0, 0, offset, size, room=room)
        assert answer.result == Result.OK
        (count,) = struct.unpack("<Q", answer.data)
        return self.asker.output(count)

    def write(self, file: Interface, offset: int, data: bytes) -> int:
        return self.asker.ask(file, 1, "<Iiqq", 0, 0, offset, len(data), inputs=[data]).result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("not yours")
    card = tmp_path / "card"
    (card / "data").mkdir(parents=True)
    (card / "data" / "a.txt").write_text("hello")
    (card / "data" / "deep").mkdir()
    return card


def test_files_are_read_from_any_place(folder: Path) -> None:
    card = Card(HostFolder(folder))
    file = card.open("/data/a.txt")
    assert [card.read(file, at, 3) for at in (0, 3, 5)] == [b"hel", b"lo", b""]
    assert card.read(file, 0, 100, room=2) == b"he", "no more than the buffer has room for"
    assert card.asker.ask(file, 4).data == struct.pack("<q", 5)
    file.closed()


@pytest.mark.parametrize(
    ("offset", "size", "result"),
    [(6, 1, Result.FILE_OUT_OF_RANGE), (-1, 1, Result.INVALID_FILE_OFFSET), (0, -1, Result.INVALID_FILE_SIZE)],
)
def test_wrong_places_have_codes(folder: Path, offset: int, size: int, result: Result) -> None:
    card = Card(HostFolder(folder))
    assert card.asker.ask(card.open("/data/a.txt"), 0, "<Iiqq", 0, 0, offset, size, room=16).result == result


def test_a_program_writes_where_it_may(folder: Path) -> None:
    card = Card(HostFolder(folder, writable=True))
    assert card.ask(2, "/new").result == Result.OK
    assert card.ask(0, "/new/b.bin", format="<Iiq", values=(0, 0, 4)).result == Result.OK
    file = card.open("/new/b.bin", WRITE)
    assert card.write(file, 2, b"xy") == Result.OK
    assert card.write(file, 3, b"xy") == Result.FILE_CANNOT_GROW
    assert card.asker.ask(file, 0, "<Iiqq", 0, 0, 0, 1, room=16).result == Result.READ_NOT_PERMITTED
    assert card.asker.ask(file, 3, "<q", 3).result == Result.OK
    file.closed()
    assert (folder / "new" / "b.bin").read_bytes() == b"\0\0x"
    file = card.open("/new/b.bin", READ | WRITE | APPEND)
    assert card.write(file, 3, b"end") == Result.OK and card.read(file, 0, 9) == b"\0\0xend"
    file.closed()
    assert card.ask(5, "/new/b.bin", "/data/c.bin").result == Result.OK
    assert card.ask(6, "/new", "/data/old").result == Result.OK
    assert card.ask(3, "/data").result == Result.FOLDER_NOT_EMPTY
    assert card.ask(13, "/data").result == Result.OK and list((folder / "data").iterdir()) == []
    assert card.ask(4, "/data").result == Result.OK and not (folder / "data").exists()


def test_what_is_asked_wrongly_has_codes(folder: Path) -> None:
    card = Card(HostFolder(folder, writable=True))
    found = {
        "absent": card.ask(8, "/data/none", format="<I", values=(READ,)).result,
        "folder": card.ask(8, "/data", format="<I", values=(READ,)).result,
        "there": card.ask(0, "/data/a.txt", format="<Iiq", values=(0, 0, 4)).result,
        "again": card.ask(2, "/data").result,
        "negative": card.ask(0, "/data/n", format="<Iiq", values=(0, 0, -4)).result,
        "no parent": card.ask(0, "/none/n", format="<Iiq", values=(0, 0, 4)).result,
        "a file as a folder": card.ask(9, "/data/a.txt", format="<I", values=(3,)).result,
        "rename a folder as a file": card.ask(5, "/data/deep", "/data/x").result,
        "no path": card.asker.ask(card.system, 7, inputs=[b"data\0"]).result,
        "no end": card.asker.ask(card.system, 7, inputs=[b"/" * 0x301]).result,
        "no buffer": card.asker.ask(card.system, 7).result,
    }
    assert found == {
        "absent": Result.PATH_NOT_FOUND, "folder": Result.PATH_NOT_FOUND, "there": Result.PATH_EXISTS,
        "again": Result.PATH_EXISTS, "negative": Result.INVALID_FILE_SIZE, "no parent": Result.PATH_NOT_FOUND,
        "a file as a folder": Result.PATH_NOT_FOUND, "rename a folder as a file": Result.PATH_NOT_FOUND,
        "no path": Result.INVALID_PATH, "no end": Result.PATH_TOO_LONG, "no buffer": Result.PATH_TOO_LONG,
    }  # fmt: skip


def test_a_card_that_may_not_change_stays_as_it_is(folder: Path) -> None:
    card = Card(HostFolder(folder))
    assert card.ask(8, "/data/a.txt", format="<I", values=(READ | WRITE,)).result == Result.WRITE_NOT_PERMITTED
    assert card.ask(1, "/data/a.txt").result == Result.WRITE_NOT_PERMITTED
    assert card.write(card.open("/data/a.txt"), 0, b"x") == Result.WRITE_NOT_PERMITTED
    assert (folder / "data" / "a.txt").read_text() == "hello"


@pytest.mark.parametrize("path", ["/../outside.txt", "/data/../../outside.txt", "/data/link"])
def test_nothing_outside_of_the_folder_is_found(folder: Path, path: str) -> None:
    (folder / "data" / "link").symlink_to(folder.parent / "outside.txt")
    assert Card(HostFolder(folder)).ask(8, path, format="<I", values=(READ,)).result == Result.PATH_NOT_FOUND


def test_folders_are_listed_in_pieces(folder: Path) -> None:
    card = Card(HostFolder(folder))
    (directory,) = card.ask(9, "/data", format="<I", values=(3,)).objects
    assert card.asker.ask(directory, 1).data == struct.pack("<q", 2)
    entries = []
    while struct.unpack("<q", card.asker.ask(directory, 0, room=0x310).data)[0]:
        data = card.asker.output(0x310)
        entries.append((data[:0x301].rstrip(b"\0"), data[0x304], struct.unpack_from("<q", data, 0x308)[0]))
    assert entries == [(b"a.txt", 1, 5), (b"deep", 0, 0)]
    for mode, count in ((1, 1), (2, 1), (0, 0)):
        (directory,) = card.ask(9, "/data", format="<I", values=(mode,)).objects
        assert card.asker.ask(directory, 1).data == struct.pack("<q", count)


def test_questions_about_paths(folder: Path) -> None:
    card = Card(HostFolder(folder))
    assert [card.ask(7, path).data[0] for path in ("/", "/data", "/data/a.txt", "/DATA/A.TXT")] == [0, 0, 1, 1]
    free, total = (struct.unpack("<q", card.ask(n, "/").data)[0] for n in (11, 12))
    assert 0 < free < total
    assert card.ask(11, "/none").result == card.ask(14, "/none").result == Result.PATH_NOT_FOUND
    assert card.ask(14, "/data/a.txt").data == bytes(32), "times of the host would make runs differ"


def test_a_program_finds_its_own_file() -> None:
    card = Card(Overlay(MemoryFiles({}), "/switch/x.nro", MemoryFile(4, {0: b"NRO!"})))
    assert card.read(card.open("/switch/x.nro"), 0, 4) == b"NRO!"
    assert card.ask(7, "/switch").data == struct.pack("<I", 0)
    assert card.ask(9, "/switch", format="<I", values=(3,)).result == Result.OK


def test_saved_data_is_absent() -> None:
    asker = Asker()
    proxy = FileSystemProxy(asker.kernel, MemoryFiles({}))
    assert {asker.ask(proxy, n).result for n in (2, 51, 200, 202)} == {Result.TARGET_NOT_FOUND}
    assert asker.ask(proxy, 1004, "<I", 7).result == Result.OK and asker.ask(proxy, 1005).data[0] == 7
    (operator,) = asker.ask(proxy, 400).objects
    assert [asker.ask(operator, n).data for n in (0, 200)] == [b"\1", b"\0"]
