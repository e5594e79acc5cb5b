"""A folder of the host as a memory card: nothing outside of it, and nothing written unless asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.guests.kernel.files import FileError, HostFolder


@pytest.fixture
def card(tmp_path: Path) -> Path:
    root = tmp_path / "card"
    (root / "3ds" / "app").mkdir(parents=True)
    (root / "3ds" / "app" / "data.bin").write_bytes(b"0123456789")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    (root / "inside").symlink_to(root / "3ds")
    return root


def test_reading(card: Path) -> None:
    file = HostFolder(card).open("/3ds/app/data.bin")
    assert (file.size, file.read(2, 3), file.read(8, 100), file.read(99, 1)) == (10, b"234", b"89", b"")
    file.close()
    assert [(one.name, one.folder) for one in HostFolder(card).list("/3ds")] == [("app", True)]
    file = HostFolder(card).open("/inside/app/data.bin")
    assert file.size == 10
    file.close()


@pytest.mark.parametrize(
    "path",
    ["/link", "/folder/secret", "/../secret", "/3ds/../../secret", "../secret", "/..\\secret", "/3ds/app/data.bin/x",
     "/none", "/a\0b", "", "/", "/" + 300 * "a", "/" + 3000 * "a/"],
)  # fmt: skip
def test_nothing_outside_and_nothing_that_is_not_there(card: Path, path: str) -> None:
    for writable in (False, True):
        with pytest.raises(FileError):
            HostFolder(card, writable=writable).open(path, write=True)
    assert (card.parent / "secret").read_bytes() == b"secret"


def test_links_out_are_not_listed(card: Path) -> None:
    assert [one.name for one in HostFolder(card).list("/")] == ["3ds", "inside"]


def test_a_card_is_read_only_unless_asked(card: Path) -> None:
    folder = HostFolder(card)
    for act in (
        lambda: folder.open("/new", create=True), lambda: folder.make_folder("/new"),
        lambda: folder.make_file("/new", 3), lambda: folder.delete("/3ds/app/data.bin", folder=False),
        lambda: folder.rename("/3ds", "/new"), lambda: folder.open("/3ds/app/data.bin", write=True),
    ):  # fmt: skip
        with pytest.raises(FileError, match="protected"):
            act()
    assert sorted(one.name for one in card.iterdir()) == ["3ds", "folder", "inside", "link"]


def test_writing(card: Path) -> None:
    folder = HostFolder(card, writable=True)
    file = folder.open("/new.bin", write=True, create=True)
    assert file.write(2, b"ab") == 2 and file.read(0, 9) == b"\0\0ab"
    file.resize(3)
    file.close()
    folder.make_folder("/more")
    folder.rename("/new.bin", "/more/new.bin")
    assert (card / "more" / "new.bin").read_bytes() == b"\0\0a"
    with pytest.raises(FileError, match="not empty"):
        folder.delete("/more", folder=True)
    folder.delete("/more", folder=True, contents=True)
    assert not (card / "more").exists()


def test_files_do_not_fill_the_host(card: Path) -> None:
    """Neither by bytes nor by holes, whatever a program does."""
    folder = HostFolder(card, writable=True)
    limit = 4 << 30
    for number in range(3):
        file = folder.open(f"/new{number}", write=True, create=True)
        for size in (limit - 1, 1 << 40, (1 << 64) - 1):
            try:
                file.resize(size)
            except FileError as error:
                assert error.reason == "full"
        for offset in (0, limit - 100, 1 << 40, (1 << 64) - 1):
            try:
                file.write(offset, b"x" * 4096)
            except FileError as error:
                assert error.reason == "full"
        file.close()
        with pytest.raises(FileError):
            folder.make_file(f"/other{number}", limit - 1)
    sizes = [path.stat().st_size for path in card.iterdir() if path.is_file()]
    assert sum(sizes) <= limit + (1 << 20)
    assert sum(path.stat().st_blocks for path in card.iterdir() if path.is_file()) < 1 << 12


def test_room_is_given_back(card: Path) -> None:
    """A program that saves its state a thousand times, by writing over it or making it again, has room for more."""
    folder, size = HostFolder(card, writable=True), 3 << 30
    for _ in range(3):
        file = folder.open("/save", write=True, create=True)
        for _ in range(3):
            file.resize(size)
            file.write(size - 8, b"12345678")
            file.write(0, b"12345678")
            file.resize(8)
        file.resize(size)
        with pytest.raises(FileError, match="full"):
            folder.make_file("/other", size)
        file.close()
        folder.delete("/save", folder=False)
    # What was there before gives no more room than there was.
    with pytest.raises(FileError, match="full"):
        folder.make_file("/other", (4 << 30) + 1)


def test_few_files_are_open_at_a_time(card: Path) -> None:
    folder = HostFolder(card)
    files = []
    with pytest.raises(FileError, match="full"):
        for _ in range(10_000):
            files.append(folder.open("/3ds/app/data.bin"))
    assert len(files) == 256
    files[0].close()
    files[0].close()
    again = folder.open("/3ds/app/data.bin")
    with pytest.raises(FileError, match="full"):
        folder.open("/3ds/app/data.bin")
    del files, again
    folder.open("/3ds/app/data.bin").close()


def test_upper_and_lower_case_are_the_same_on_a_card(card: Path) -> None:
    folder = HostFolder(card, writable=True)
    folder.make_folder("/Saves")
    folder.open("/SAVES/Game.Sav", write=True, create=True).write(0, b"1")
    assert folder.open("/saves/GAME.sav").read(0, 9) == b"1"
    with pytest.raises(FileError, match="exists"):
        folder.make_file("/saves/game.SAV", 0)
    folder.rename("/saves/game.sav", "/Saves/other.sav")
    assert [one.name for one in folder.list("/SAVES")] == ["other.sav"]
    assert sorted(path.name for path in (card / "Saves").iterdir()) == ["other.sav"]


def test_links_out_are_not_followed_in_another_case(card: Path) -> None:
    (card.parent / "outside.txt").write_text("secret")
    (card / "Out").symlink_to(card.parent)
    for path in ("/out/outside.txt", "/OUT/outside.txt", "/Out/card/../outside.txt"):
        with pytest.raises(FileError, match="absent"):
            HostFolder(card).open(path)


def test_places_beyond_any_file_are_refused(card: Path) -> None:
    folder = HostFolder(card, writable=True)
    file = folder.open("/new.bin", write=True, create=True)
    assert file.read(1 << 63, 4) == b"" and file.read(1 << 40, 4) == b""
    for attempt in (lambda: file.write(1 << 32, b"x"), lambda: file.resize(1 << 40), lambda: file.write(1 << 63, b"x")):
        with pytest.raises(FileError, match="full"):
            attempt()
    with pytest.raises(FileError, match="full"):
        folder.make_file("/large.bin", 1 << 32)
    file.close()
    with pytest.raises(FileError, match="closed"):
        file.read(0, 1)
    assert (card / "new.bin").stat().st_size == 0 and not (card / "large.bin").exists()
