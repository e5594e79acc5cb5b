"""Folders of processes that were killed go away; those of processes that live stay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sweeping import Nodes, alive, children, environment, kill, long_scene, scenes, until

from pocketgpu.displayed import MOST_LETTERS
from pocketgpu.sweeps.engine import scratch
from pocketgpu.sweeps.engine.scratch import Scratch, sweep_up
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.sweep import Sweep, sweep

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no locks of folders"),
    pytest.mark.filterwarnings("ignore:no worker at"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, of this process and those that it starts."""
    found = tmp_path / "tmp"
    found.mkdir()
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield found
    tempfile.tempdir = None


def left(place: Path) -> list[Path]:
    return sorted(place.glob("pocketgpu-*"))


HOLDS = """
import sys
from pocketgpu.sweeps.engine.scratch import Scratch

if __name__ == "__main__":
    scratch = Scratch("task")
    (scratch.path / "file").write_text("x")
    print(scratch.path, flush=True)
    sys.stdin.read()
"""


def holder(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], env=environment(TMPDIR=str(place)), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(place: Path) -> None:
    (one, dead), (other, used) = holder(place), holder(place)
    with one, other, Scratch("sweep") as mine:
        one.kill()
        one.wait()
        strange = place / dead.name.replace(scratch._host(), "another.host")  # machines may share a folder
        strange.mkdir()
        (place / f"pocketgpu-task-{scratch._host()}-link").symlink_to(used)
        (place / f"pocketgpu-task-{scratch._host()}-file").write_text("a file")
        assert sweep_up() == [dead]
        assert not dead.exists() and (used / "file").read_text() == "x" and mine.path.is_dir() and strange.is_dir()
        assert sweep_up() == []
        other.kill()
        other.wait()
        assert sweep_up() == [used]
        path = str(mine.path)
        assert repr(mine) == f"<Scratch {path if len(path) <= MOST_LETTERS else path[: MOST_LETTERS - 3] + '...'}>"
    assert not mine.path.exists()


def test_folders_that_are_made_while_others_are_swept_up_are_whole(place: Path) -> None:
    over = threading.Event()

    def clean() -> None:
        while not over.is_set():
            sweep_up()

    thread = threading.Thread(target=clean)
    thread.start()
    try:
        for _ in range(300):
            with Scratch("task") as one:
                (one.path / "file").write_text("x")
                assert (one.path / "file").read_text() == "x"
    finally:
        over.set()
        thread.join()
    assert left(place) == []


def test_a_worker_that_is_killed_with_captures_that_were_sent(place: Path, tmp_path: Path) -> None:
    """Its folder goes when the next worker of the machine begins, and the sweep loses nothing."""
    paths = [long_scene(tmp_path / "in" / "long.ctf.xz", 200), *scenes(tmp_path / "in", 2)]
    with Nodes(tmp_path / "nodes") as nodes:
        nodes.scheduler()
        first = nodes.worker(TMPDIR=str(place))
        found = sweep(paths, What("bench", repeat=20), scheduler=nodes.address, ship=True, out=tmp_path / "out")
        rows: list[str] = []
        thread = threading.Thread(target=lambda: rows.extend(row.state for row in found))
        thread.start()
        (folder,) = until(lambda: [one for one in left(place) if (one / "a" / "long.ctf.xz").exists()])
        orphans = children(first.pid)
        kill(first.pid)
        first.wait()
        assert folder.exists()
        nodes.worker(TMPDIR=str(place))
        thread.join(120)
        assert rows == ["done"] * 3 and not folder.exists() and left(place) == []
        until(lambda: alive(orphans) == [], 15)


LEFT = """
import os, signal, sys
import pocketgpu

if __name__ == "__main__":
    for row in pocketgpu.sweep(sys.argv[1], "info", workers=1):
        print(row, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_results_without_a_name_of_a_killed_program(place: Path, tmp_path: Path) -> None:
    (path,) = scenes(tmp_path / "in", 1)
    program = tmp_path / "left.py"
    program.write_text(LEFT)
    done = subprocess.run([sys.executable, str(program), str(path)], env=environment(TMPDIR=str(place)), timeout=60,
                          capture_output=True)  # fmt: skip
    assert done.returncode == -9 and len(left(place)) == 1, done.stderr
    found: Sweep = sweep(path, "info", workers=1)
    assert [row.state for row in found] == ["done"]
    assert left(place) == [found.store.folder.parent] and os.listdir(found.store.folder)
    folder = found.store.folder
    del found
    assert not folder.exists() and left(place) == []
