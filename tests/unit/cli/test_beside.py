"""Work beside a replay: results and errors come to the thread that waits, and pictures are complete at the end."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.cli import main
from pocketgpu.cli.commands import render
from pocketgpu.cli.parts.beside import Beside, Loading


def test_a_result_comes_from_another_thread() -> None:
    work = Beside(threading.get_ident)
    assert work.result() == work.result() != threading.get_ident()


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    def fails() -> None:
        raise ValueError("of the work")

    work = Beside(fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="of the work"):
            work.result()


def test_modules_are_loaded_and_missing_ones_do_no_harm() -> None:
    sys.modules.pop("this", None)
    Loading("no_module_has_this_name", "colorsys").wait()
    assert "colorsys" in sys.modules


@pytest.mark.parametrize(
    ("name", "module"), [("a.ctf.xz", "n3ds"), ("a.gx.json", "n3ds"), ("a.mxcap.zip", "switch"), ("a.pgc", "")]
)
def test_a_name_says_what_replays_a_large_file(name: str, module: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert not Loading.driver(str(path))._modules, "the file is not there"
    path.write_bytes(b"x")
    assert not Loading.driver(str(path))._modules, "a small file is open before a thread has begun"
    with path.open("r+b") as file:
        file.truncate(1 << 20)
    loading = Loading.driver(str(path))
    loading.wait()
    assert list(loading._modules) == ([f"pocketgpu.capture.driver.{module}"] if module else [])


def test_all_pictures_are_there_when_the_command_ends(sample_path: Path, tmp_path: Path) -> None:
    from PIL import Image

    assert main(["render", str(sample_path), "--frames", "0-2", "--out", str(tmp_path)]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"f{n}.{screen}.png" for n in range(3) for screen in ("bottom", "top")]
    for path in tmp_path.iterdir():
        with Image.open(path) as image:
            assert np.asarray(image).any()


def test_a_picture_that_cannot_be_written_ends_the_command(
    sample_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "f0.top.png").mkdir()  # a folder has the name of a picture
    assert main(["render", str(sample_path), "--frames", "0-2", "--out", str(folder)]) == 2
    assert "cannot write the file" in capsys.readouterr().err


def test_frames_after_a_failed_picture_are_not_begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(render, "write_screens", fails)
    writer = render._Writer(tmp_path, False, [])
    writer.write(0, {}, {})
    with pytest.raises(OSError, match="full"):
        writer.write(1, {}, {})
