"""The program's own file beside the files of a card."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.guests.kernel.files import FileError, Files, HostFolder, MemoryFile, MemoryFiles
from pocketgpu.guests.kernel.overlay import Overlay


def card(files: Files) -> Overlay:
    return Overlay(files, "/3ds/app.3dsx", MemoryFile(3, {0: b"abc"}))


def test_the_file_is_there_and_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("x")
    for one in (card(MemoryFiles({"/other.txt": MemoryFile(1, {0: b"x"})})), card(HostFolder(tmp_path))):
        assert one.open("/3ds/../3ds//app.3dsx").read(0, 9) == b"abc"
        assert one.open("/other.txt").read(0, 9) == b"x"
        assert [(entry.name, entry.folder) for entry in one.list("/")] == [("3ds", True), ("other.txt", False)]
        assert [(entry.name, entry.size) for entry in one.list("/3ds")] == [("app.3dsx", 3)]
        for act in (
            lambda one=one: one.open("/3ds/app.3dsx", write=True),
            lambda one=one: one.delete("/3ds/app.3dsx", folder=False),
            lambda one=one: one.delete("/3ds", folder=True, contents=True),
            lambda one=one: one.rename("/3ds/app.3dsx", "/x"),
            lambda one=one: one.rename("/other.txt", "/3ds/app.3dsx"),
            lambda one=one: one.make_file("/3ds/app.3dsx", 4), lambda one=one: one.make_folder("/3ds/app.3dsx"),
            lambda one=one: one.list("/absent"), lambda one=one: one.open("/absent"),
        ):  # fmt: skip
            with pytest.raises(FileError):
                act()


def test_the_card_s_own_files_stay_beside_it(tmp_path: Path) -> None:
    (tmp_path / "3ds").mkdir()
    (tmp_path / "3ds" / "app.3dsx").write_bytes(b"another build")
    (tmp_path / "3ds" / "save").write_bytes(b"1")
    one = card(HostFolder(tmp_path, writable=True))
    assert [(entry.name, entry.size) for entry in one.list("/3ds")] == [("app.3dsx", 3), ("save", 1)]
    one.make_file("/3ds/new", 2)
    one.rename("/3ds/new", "/3ds/newer")
    one.delete("/3ds/newer", folder=False)
    one.make_folder("/more")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3ds", "more"]
    assert (tmp_path / "3ds" / "app.3dsx").read_bytes() == b"another build"
