"""`pocketgpu sweep` as its users see it: real processes, ended at any time, on disks that fill up."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import (
    MANY,
    alive,
    by_capture,
    environment,
    family,
    lines,
    long_scene,
    pictures_are_whole,
    scenes,
    started,
    swept,
    until,
    workshops,
)

from pocketgpu.cli import main
from pocketgpu.sweeps.engine import clusters

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures: 12 that are whole, and one that is cut."""
    place = tmp_path_factory.mktemp("captures")
    paths = scenes(place / "in", 12)
    (place / "in" / "cut.ctf.xz").write_bytes(paths[0].read_bytes()[:-7])
    return place


@pytest.fixture(scope="module")
def plain(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of a sweep that nothing disturbed."""
    code, out, err = swept("in", "--do", "render", "--out", "plain", "--workers", "1", "--json", cwd=folder)
    assert code == 1, err
    said = json.loads(out)
    assert said["states"] == {"done": 12, "refused": 1} and said["captures"] == 13
    assert [one["capture"] for one in said["failed"]] == ["in/cut.ctf.xz"]
    assert err.splitlines()[-1].startswith("13 of 13 captures, ") and "1 failed" in err
    assert pictures_are_whole(folder / "plain")
    files = {path.name for path in (folder / "plain").iterdir()}
    assert files >= {"report", "results.parquet", "times.parquet", "sweep.json", "times.jsonl", "pictures"}
    return by_capture(folder / "plain")


def test_a_baseline_that_does_not_fit_is_said_before_the_work(folder: Path, plain: dict[str, Any]) -> None:
    code, _, err = swept("in", "--do", "check", "--out", "other", "--baseline", "plain", cwd=folder)
    assert code == 2 and "the baseline is of the work render, the sweep of check" in err
    assert not (folder / "other").exists()


def test_a_sweep_that_is_killed_goes_on(folder: Path, plain: dict[str, Any]) -> None:
    words = ("in", "--no-report", "--do", "render", "--out", "killed", "--workers", "2")
    out = folder / "killed"
    with started("sweep", *words, cwd=folder) as process:
        until(lambda: len(lines(out)) >= 3)
        pids = family(process.pid)
        process.kill()
        process.wait()
        until(lambda: alive(pids) == [], 15)
    before = by_capture(out)
    assert 3 <= len(before) < 13
    with (out / "rows.jsonl").open("ab") as file:
        file.write(b'{"capture": "in/sce')
    # A used folder needs --resume, and the same options.
    code, _, err = swept(*words, cwd=folder)
    assert code == 2 and "--resume" in err
    code, _, err = swept(*words, "--resume", "--frames", "0-0", cwd=folder)
    assert code == 2 and "another sweep" in err
    assert set(by_capture(out)) == set(before)
    code, text, err = swept(*words, "--resume", cwd=folder)
    assert code == 1 and "13 captures: 12 done, 1 refused" in text, err
    assert by_capture(out) == plain and pictures_are_whole(out)
    assert set(by_capture(out, "times.jsonl")) == set(plain)
    assert {path.name for path in out.iterdir() if path.name.startswith(".")} == set()


@pytest.mark.parametrize("reach", ["main", "terminal"])
def test_a_sweep_that_is_interrupted(folder: Path, tmp_path: Path, reach: str) -> None:
    """With a capture that hangs, and processes that all get the signal as from a terminal."""
    long_scene(tmp_path / "in" / "z.ctf.xz")
    scenes(tmp_path / "in", 3)
    words = ("in", "--no-report", "--do", "bench", "--repeat", str(MANY), "--out", "out", "--workers", "2")
    with started("sweep", *words, cwd=tmp_path) as process:
        until(lambda: len(lines(tmp_path / "out")) == 3 and workshops(process.pid))
        pids = family(process.pid)
        assert len(pids) >= 5
        if reach == "main":
            os.kill(process.pid, signal.SIGINT)
        else:
            os.killpg(process.pid, signal.SIGINT)
        begin = time.monotonic()
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130 and time.monotonic() - begin < 20
        assert b"Traceback" not in err and b"rror" not in err, err.decode()
        assert b"note: 3 of 4 captures are in out; --resume goes on" in err
        until(lambda: alive(pids) == [], 10)
    assert {one["state"] for one in lines(tmp_path / "out")} == {"done"}
    if reach == "main":
        (tmp_path / "in" / "z.ctf.xz").unlink()
        code, text, err_text = swept(*words, "--resume", cwd=tmp_path)
        assert code == 0 and text.startswith("3 captures: 3 done"), err_text
        assert len(by_capture(tmp_path / "out")) == 3


def test_captures_that_took_too_much_run_again_with_more(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "in" / "scene000.ctf.xz", tmp_path / "a.ctf.xz")
    words = ("--do", "render", "--out", "out", "--workers", "1", "--no-report")
    assert swept("a.ctf.xz", *words, cwd=tmp_path)[0] == 0
    shutil.copy(folder / "in" / "scene001.ctf.xz", tmp_path / "b.ctf.xz")
    code, text, err = swept("*.xz", *words, "--resume", "--memory", "8M", cwd=tmp_path)
    assert code == 1 and "b.ctf.xz: memory: it took more than 8 MiB" in text and "not run again" not in text, err
    before = by_capture(tmp_path / "out")
    code, text, err = swept("*.xz", *words, "--resume", cwd=tmp_path)
    assert code == 1 and "not run again: 1 memory (--resume --retry memory runs them)" in text, err
    assert by_capture(tmp_path / "out") == before
    code, text, err = swept("*.xz", *words, "--resume", "--retry", "timeout,memory", cwd=tmp_path)
    assert code == 0 and "2 captures: 2 done" in text and "not run again" not in text, err
    after = by_capture(tmp_path / "out")
    assert after["a.ctf.xz"] == before["a.ctf.xz"] and after["b.ctf.xz"]["state"] == "done"
    assert len(after) == len(by_capture(tmp_path / "out", "times.jsonl")) == 2
    assert pictures_are_whole(tmp_path / "out")


@contextlib.contextmanager
def small_disk(place: Path, size: int) -> Iterator[None]:
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def check_full(folder: Path, out: Path, code: int, err: str) -> None:
    """What a sweep says whose disk was full, and what it left."""
    assert code == 2 and "cannot write the results" in err and "Make room, then go on with --resume" in err, err
    assert len(by_capture(out)) < 13 and "Traceback" not in err
    named = {picture["sha256"] for row in lines(out) for picture in row["pictures"]}
    for path in (out / "pictures").rglob("*.png"):
        twin = folder / "plain" / "pictures" / path.parent.name / path.name
        assert path.read_bytes() == twin.read_bytes()
    assert named <= {path.stem for path in (out / "pictures").rglob("*.png")}
    assert not list(out.rglob("*.part")) and (out / "rows.jsonl").read_bytes()[-1:] in (b"", b"\n")


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs a disk that is small")
def test_a_full_disk(folder: Path, plain: dict[str, Any], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 256 << 10):
        filler = disk / "filler"
        filler.write_bytes(bytes(200 << 10))
        words = ("in", "--no-report", "--do", "render", "--out", str(disk / "out"), "--workers", "1")
        code, _, err = swept(*words, cwd=folder)
        check_full(folder, disk / "out", code, err)
        filler.unlink()
        code, _, err = swept(*words, "--resume", cwd=folder)
        assert code == 1, err
        assert by_capture(disk / "out") == plain and pictures_are_whole(disk / "out")


LIMITED = """
import resource, signal, sys
from pocketgpu.cli import app
from pocketgpu.sweeps.results.store import Store


def limited(self, *rest, add=Store.add):
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    add(self, *rest)


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    Store.add = limited
    sys.argv = ["pocketgpu", "sweep", *{words!r}]
    app.run()
"""


def test_a_file_that_cannot_grow(folder: Path, plain: dict[str, Any], tmp_path: Path) -> None:
    """As on a full disk, where no small disk can be mounted."""
    words = ("in", "--no-report", "--do", "render", "--out", str(tmp_path / "out"), "--workers", "1")
    program = LIMITED.format(words=words)
    (tmp_path / "limited.py").write_text(program)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "limited.py")], cwd=folder, env=environment(), capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    check_full(folder, tmp_path / "out", done.returncode, done.stderr)
    assert len(lines(tmp_path / "out")) >= 1


def test_progress_on_a_terminal(folder: Path, tmp_path: Path) -> None:
    """A bar with what is done, the rate, the time left and failures; then what the sweep found."""
    shutil.copytree(folder / "in", tmp_path / "in")
    screen, other = pty.openpty()
    words = ("in", "--no-report", "--do", "info", "--out", "out", "--workers", "1")
    env = {"TERM": "xterm", "COLUMNS": "100"}
    with started("sweep", *words, cwd=tmp_path, stdout=other, stderr=other, env=env) as process:
        os.close(other)
        seen = bytearray()
        with contextlib.suppress(OSError):
            while piece := os.read(screen, 1 << 16):
                seen += piece
        os.close(screen)
        assert process.wait(60) == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert re.search(r"\b([1-9]|1[0-3])/13 +[0-9.]+/s +[-0-9:]+", text) and "1 failed" in text
    assert "13 captures: 12 done, 1 refused" in text and "in/cut.ctf.xz: refused: the xz data ends" in text


def test_without_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    assert main(["sweep", str(tmp_path), "--do", "info", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "a sweep needs distributed" in error and "pip install 'pocketgpu[sweep]'" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{in}/missing*.pgc", "--do", "info"], "no capture matches"),
        (["{in}", "--do", "paint"], "no work of a sweep"),
        (["{in}", "--do", "check", "--frames", "0-1"], "--frames is for --do render"),
        (["{in}", "--do", "info", "--memory", "lots"], "is no size"),
        (["{in}", "--do", "diff=nowhere"], "no such folder to compare with"),
        (["{in}", "--do", "info", "--set", "no.such=1"], "no.such"),
        (["{in}", "--do", "info", "--workers", "0"], "--workers"),
        (["{in}", "--do", "info", "--retry", "timeout"], "--retry is for --resume"),
        (["{in}", "--do", "info", "--resume", "--retry", "timeout,slow"], "'slow' is no end of a capture"),
        (["{in}", "--do", "info", "--patience", "5"], "--patience is for --scheduler"),
        (["--do", "info"], "PATTERN"),
    ],
)
def test_what_does_not_fit_is_said(
    folder: Path, tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("{in}", str(folder / "in")) for word in words]
    assert main(["sweep", *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
