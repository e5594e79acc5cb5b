"""Which captures patterns name."""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.captures import files_of, is_capture, sources
from pocketgpu.sweeps.model.task import What

NAMES = (
    "a b.ctf", "deep/er/\u00fcml\u00e4ut \u2028.pgc.zst", "deep/c.gx.json.xz", "deep/c.mem.bin.xz", "deep/d.gx.json.gz",
    "deep/d.mem.bin.zst", "deep/e.mxcap.zip", "deep/notes.txt", "deep/[x].ctf.xz", "f.3dsx", "-g.nro", "@h.elf",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number, name in enumerate(NAMES):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % number)
    monkeypatch.chdir(tmp_path / "in")
    return tmp_path / "in"


def names(*patterns: str) -> list[str]:
    return [one.name for one in sources(patterns, What())]


def test_files_folders_and_globs(folder: Path) -> None:
    everything = sorted(name for name in NAMES if ".mem.bin" not in name and not name.endswith(".txt"))
    assert names(".") == everything
    assert names(str(folder)) == sorted(str(folder / name) for name in everything)
    assert names("a b.ctf", "./a b.ctf", "*.ctf") == ["a b.ctf"]
    assert names("**/*.pgc.zst", "f.*") == [NAMES[1], "f.3dsx"]
    assert names("deep/[x].ctf.xz") == ["deep/[x].ctf.xz"]  # a name that is there is no glob
    assert names("deep/*[dc].*") == ["deep/c.gx.json.xz", "deep/d.gx.json.gz"]  # without memory files, however packed
    assert names("deep/notes.txt") == ["deep/notes.txt"]  # who names a file means it
    assert names("./-g.nro", "@h.elf") == ["-g.nro", "@h.elf"]
    assert not is_capture("c.mem.bin") and is_capture("C.PGC")


def test_lists(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"a b.ctf\r\n\n{NAMES[1]}\ndeep/*.zip\n"
    Path("list.txt").write_bytes(text.encode())
    expected = ["a b.ctf", "deep/e.mxcap.zip", NAMES[1]]
    assert names("@list.txt") == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii"))
    assert names("-") == expected
    Path("nested.txt").write_text("@list.txt\n")
    with pytest.raises(UsageError, match="a list names another list"):
        names("@nested.txt")
    with pytest.raises(UsageError, match="cannot read the list"):
        names("@missing.txt")


@pytest.mark.skipif(sys.platform != "linux", reason="names there are bytes")
def test_names_that_are_no_text(folder: Path) -> None:
    raw = os.fsencode(folder) + b"/\xff.ctf"
    with open(raw, "wb") as file:
        file.write(b"x")
    Path("list.txt").write_bytes(b"\xff.ctf\n")
    (one,) = sources(["@list.txt"], What())
    assert one.path.read_bytes() == b"x" and one.name == "\udcff.ctf"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("missing.pgc", "no such capture"), ("*.zst", "no capture matches"), ("empty", "no capture is in the folder")],
)
def test_nothing_found(folder: Path, pattern: str, message: str) -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError, match=message) as caught:
        names("a b.ctf", pattern)
    assert caught.value.location == pattern and caught.value.hint


def test_all_missing_captures_of_a_list_are_named(folder: Path) -> None:
    Path("list.txt").write_text("".join(f"gone{number}\x1b.pgc\na b.ctf\n" for number in range(7)))
    with pytest.raises(UsageError, match="7 captures are missing") as caught:
        names("@list.txt")
    names_in_it = ", ".join(f"gone{number}\ufffd.pgc" for number in range(5))
    assert caught.value.location == f"{names_in_it} and 2 more"


@pytest.mark.parametrize("patterns", ([], ["@nothing.txt"]))
def test_no_pattern_names_nothing(folder: Path, patterns: list[str]) -> None:
    Path("nothing.txt").write_text("\n\n")
    with pytest.raises(UsageError, match="no capture is named"):
        names(*patterns)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read(folder: Path) -> None:
    Path("a b.ctf").chmod(0)
    with pytest.raises(UsageError, match="cannot read the capture"):
        names("a b.ctf")


def test_a_log_has_its_memory_file(folder: Path) -> None:
    assert files_of(Path("deep/c.gx.json.xz")) == (Path("deep/c.gx.json.xz"), Path("deep/c.mem.bin.xz"))
    assert files_of(Path("deep/d.gx.json.gz"))[1:] == (Path("deep/d.mem.bin.zst"),)
    assert files_of(Path("a b.ctf")) == (Path("a b.ctf"),)
    (before,) = sources(["deep/c.gx.json.xz"], What())
    Path("deep/c.mem.bin.xz").write_bytes(b"other")
    (after,) = sources(["deep/c.gx.json.xz"], What())
    assert before.digest != after.digest


def test_captures_to_compare_with(folder: Path) -> None:
    shutil.copytree(folder, "../other")
    Path("../other/deep/e.mxcap.zip").unlink()
    Path("../other/a b.ctf").rename("../other/a b.ctf.xz")
    what = What.parse("diff=../other")
    found = {one.name: one.other for one in sources(["a b.ctf", "deep"], what)}
    assert found["a b.ctf"] == Path("../other/a b.ctf.xz")
    assert found["deep/e.mxcap.zip"] is None and found["deep/c.gx.json.xz"] is not None
    (one,) = sources(["deep/c.gx.json.xz"], What.parse("diff=../other/deep"))
    assert [path.name for path in one.other_files] == ["c.gx.json.xz", "c.mem.bin.xz"]
    before = one.key(what)
    Path("../other/deep/c.mem.bin.xz").write_bytes(b"other")
    (one,) = sources(["deep/c.gx.json.xz"], What.parse("diff=../other/deep"))
    assert one.key(what) != before
    with pytest.raises(UsageError, match="no such folder to compare with"):
        sources(["."], What.parse("diff=missing"))
