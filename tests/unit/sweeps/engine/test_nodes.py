"""A scheduler and workers as processes of their own: they restart, see no captures, lie in other networks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import (
    MANY,
    Nodes,
    alive,
    by_capture,
    environment,
    exchange_often,
    force_kernels,
    kernels_held,
    lines,
    offer_kernels,
    pictures_are_whole,
    scenes,
    started,
    swept,
    until,
)

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.sweeps.engine import clusters, dispatch, kernels
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.sweep import sweep
from pocketgpu.sweeps.works import do

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore:no worker at")  # a worker takes its time on a busy machine

linux_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="namespaces need Linux and its administrator"
)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with Nodes(tmp_path / "nodes") as one:
        yield one


def expected(paths: list[Path], what: What) -> dict[str, Any]:
    """What each work finds in this process."""
    found = {}
    for path in paths:
        data = json.loads(json.dumps(do([path], what).data))
        found[str(path)] = data
    return found


def is_whole(out: Path, paths: list[Path], what: What, base: Path = Path()) -> None:
    """Every capture has one row, with what the work finds. base: where the names begin."""
    rows = by_capture(out)
    known = {str(path): expected([base / path], what)[str(base / path)] for path in paths}
    assert set(rows) == set(known)
    for name, data in known.items():
        assert {key: rows[name][key] for key in data} == data


def test_a_scheduler_that_is_restarted_in_mid_sweep(nodes: Nodes, tmp_path: Path) -> None:
    """Its workers, too, are others afterwards; nothing is lost, and nothing is there twice."""
    paths, what, out = scenes(tmp_path / "in", 16), What("bench", repeat=400), tmp_path / "out"
    scheduler, worker = nodes.scheduler(), nodes.worker()
    rows = iter(sweep(paths, what, scheduler=nodes.address, out=out))
    arrived = [next(rows) for _ in range(3)]
    for process in (scheduler, worker):
        process.kill()
        process.wait()
    nodes.scheduler()
    nodes.worker()
    arrived += rows
    assert sorted(row.capture for row in arrived) == sorted(map(str, paths))
    assert {row.state for row in arrived} == {"done"}
    is_whole(out, paths, What("bench", repeat=1))
    until(lambda: alive([worker.pid, scheduler.pid]) == [])


@pytest.mark.parametrize("killed", ["worker", "scheduler"])
def test_the_command_goes_on_when_processes_are_killed(nodes: Nodes, tmp_path: Path, killed: str) -> None:
    """With captures that are sent, over TCP: each has one row and one line of times, with what the work finds."""
    paths, out = scenes(tmp_path / "in", 16), tmp_path / "out"
    scheduler, worker = nodes.scheduler(), nodes.worker()
    words = ("in", "--do", "bench", "--repeat", "400", "--out", "out", "--scheduler", nodes.address, "--ship")
    with started("sweep", *words, "--no-report", cwd=tmp_path) as process:
        until(lambda: len(lines(out)) >= 3)
        (worker if killed == "worker" else scheduler).kill()
        worker.wait(60)  # Dask ends workers whose scheduler is gone
        if killed == "scheduler":
            scheduler.wait()
            nodes.scheduler()
        nodes.worker()
        said, errors = process.communicate(timeout=120)
    assert process.returncode == 0 and b"16 captures: 16 done" in said, errors.decode()
    is_whole(out, [path.relative_to(tmp_path) for path in paths], What("bench", repeat=1), tmp_path)
    assert set(by_capture(out, "times.jsonl")) == set(by_capture(out))


def test_a_scheduler_that_does_not_come_back(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    monkeypatch.setattr(clusters, "AGAIN", 0.5)
    monkeypatch.setattr(clusters, "PATIENCE", 2.0)  # so long Dask itself looks for a scheduler that is gone
    scheduler = nodes.scheduler()
    worker = nodes.worker()
    out = tmp_path / "out"
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        found = sweep(scenes(tmp_path / "in", 8), What("bench", repeat=400), scheduler=nodes.address, out=out)
        rows = iter(found)
        next(rows)
        scheduler.kill()
        worker.kill()
        with pytest.raises(UsageError, match="no scheduler answers"):
            list(rows)
    assert len(lines(out)) == len(found.rows) >= 1  # and the folder can be gone on with
    assert sweep(tmp_path / "in", What("bench", repeat=400), out=out, resume=True).rows == found.rows


@pytest.mark.filterwarnings("default")
def test_a_cluster_without_workers_is_said(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "SILENT", 0.5)
    paths = scenes(tmp_path / "in", 2)
    nodes.scheduler()
    with (
        pytest.warns(UserWarning, match=f"no worker at {nodes.address}, waiting for one: dask worker") as said,
        pytest.raises(UsageError, match="there was no worker for 2 s") as caught,
    ):
        list(sweep(paths, "info", scheduler=nodes.address, out=tmp_path / "out", patience=2))
    assert len(said) == 1 and caught.value.location == nodes.address
    assert "dask worker" in str(caught.value.hint) and "--resume" in str(caught.value.hint)
    found = sweep(paths, What("bench", repeat=MANY), scheduler=nodes.address)
    with pytest.warns(UserWarning, match="no worker at") as said:
        nodes.worker()
        rows = iter(found)
        arrived = [next(rows)]
        nodes.processes[-1].kill()  # in mid-sweep
        another = threading.Thread(target=worker_when, args=(nodes, said, len(said)))
        another.start()
        arrived += rows
        another.join()
    assert [row.state for row in arrived] == ["done"] * 2 and len(said) >= 1


def worker_when(nodes: Nodes, said: pytest.WarningsRecorder, count: int) -> None:
    """Start a worker when more is said than before, or after a while: what was said at the start is not said twice."""
    end = time.monotonic() + 4
    while len(said) == count and time.monotonic() < end:
        time.sleep(0.05)
    nodes.worker()


SOON = "from pocketgpu.sweeps.engine import dispatch\ndispatch.SILENT = 0.5\n"


def test_the_command_says_that_it_waits_and_ends(nodes: Nodes, tmp_path: Path) -> None:
    scenes(tmp_path / "in", 1)
    (tmp_path / "soon").mkdir()
    (tmp_path / "soon" / "sitecustomize.py").write_text(SOON)
    path = os.pathsep.join([str(tmp_path / "soon"), environment()["PYTHONPATH"]])
    nodes.scheduler()
    words = ("in", "--do", "info", "--out", "out", "--scheduler", nodes.address)
    code, _, err = swept(*words, "--patience", "2.5", cwd=tmp_path, PYTHONPATH=path)
    assert code == 2 and f"note: no worker at {nodes.address}, waiting for one: dask worker" in err
    assert f"error: there was no worker for 2.5 s\n   at: {nodes.address}\n  try: Start one" in err
    nodes.worker()
    assert swept(*words, "--resume", "--no-report", cwd=tmp_path)[0] == 0


WITHOUT = "import sys; sys.modules['pocketgpu'] = None"
"""A Python without this package."""


def test_workers_without_this_package_are_said(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(WITHOUT)
    paths = scenes(tmp_path / "in", 2)
    nodes.scheduler()
    bare = nodes.worker(PYTHONPATH=str(tmp_path / "without"), DASK_LOGGING__DISTRIBUTED="info")
    until(lambda: "Registered to" in (nodes.folder / "node1.txt").read_text())
    with pytest.raises(UsageError, match="a worker has no pocketgpu: ModuleNotFoundError") as caught:
        list(sweep(paths, "info", scheduler=nodes.address, out=tmp_path / "out"))
    assert f"pip install 'pocketgpu[sweep]=={pocketgpu.__version__}'" in str(caught.value.hint)
    assert str(caught.value.location).startswith("tcp://")
    bare.kill()
    bare.wait()
    nodes.worker()
    again = sweep(paths, "info", scheduler=nodes.address, out=tmp_path / "out", resume=True)
    assert [row.state for row in again] == ["done"] * 2 and len(by_capture(tmp_path / "out")) == 2


@linux_root
def test_workers_that_do_not_see_the_captures(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ship` sends them. Rows are those of a sweep on this computer."""
    monkeypatch.chdir(tmp_path)
    paths = [path.relative_to(tmp_path) for path in scenes(tmp_path / "in", 3)]
    Path("in/cut.ctf.xz").write_bytes(paths[0].read_bytes()[:-7])
    paths.append(Path("in/cut.ctf.xz"))
    hidden = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs tmpfs '{tmp_path / 'in'}' && exec \"$@\"", "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode:
        pytest.skip("no namespace of mounts")
    nodes.scheduler()
    nodes.worker(hidden)
    blind = list(sweep(paths[:1], "render", scheduler=nodes.address))
    assert [row.state for row in blind] == ["refused"]  # it does not see it
    found = sweep(paths, "render", scheduler=nodes.address, ship=True, out="out")
    list(found)
    known = expected(paths, What("render"))
    for row in found.rows:
        data = row.to_json()
        assert {key: data[key] for key in known[row.capture]} == known[row.capture]
    assert [row.state for row in found.rows] == ["refused", "done", "done", "done"]
    assert pictures_are_whole(Path("out"))
    for text in ("/tmp", str(tmp_path), "pocketgpu-"):
        assert text not in Path("out/rows.jsonl").read_text()


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no network can be made: {done.stderr.strip()}")


@linux_root
def test_workers_in_another_network(tmp_path: Path) -> None:
    """Two namespaces with a wire between them, as two machines."""
    name, net = f"pgpu{os.getpid() % 100000}", f"10.231.{os.getpid() % 250}"
    try:
        ip("netns", "add", name)
    except FileNotFoundError:
        pytest.skip("there is no program ip")
    try:
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b")
        ip("link", "set", f"{name}b", "netns", name)
        ip("addr", "add", f"{net}.1/24", "dev", f"{name}a")
        ip("link", "set", f"{name}a", "up")
        ip("-n", name, "addr", "add", f"{net}.2/24", "dev", f"{name}b")
        ip("-n", name, "link", "set", f"{name}b", "up")
        paths = scenes(tmp_path / "in", 3)
        with Nodes(tmp_path / "nodes", f"{net}.1") as nodes:
            nodes.scheduler()
            nodes.worker(["ip", "netns", "exec", name], host=f"{net}.2")
            found = sweep(paths, "render", scheduler=nodes.address, ship=True, out=tmp_path / "out")
            assert sorted(row.state for row in found) == ["done"] * 3
        is_whole(tmp_path / "out", paths, What("render"))
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", f"{name}a"], capture_output=True)


WATCHED = """
import os
from pathlib import Path

from llvmlite import binding
from pocketgpu.lanes import archive

archive.SHIPPED = Path(os.devnull)  # no code made ahead of time, which a tree may have


def told(*words, before=binding.parse_assembly):
    with open(os.environ["COMPILED"], "a") as file:
        file.write("%d bytes\\n" % len(words[0]))
    return before(*words)


binding.parse_assembly = told
"""
"""Notes every module that a process compiles."""


def test_a_worker_gets_compiled_kernels_of_another(nodes: Nodes, tmp_path: Path) -> None:
    """Two workers with folders of their own, as on two machines. The second one compiles nothing."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCHED)
    path = os.pathsep.join([str(tmp_path / "watch"), environment()["PYTHONPATH"]])
    (scene, other) = scenes(tmp_path / "in", 2)
    nodes.scheduler()

    def worker(name: str) -> Any:
        return nodes.worker(
            name=name, POCKETGPU_CACHE=str(tmp_path / name), COMPILED=str(tmp_path / f"{name}.txt"), PYTHONPATH=path
        )

    def kept(name: str) -> set[str]:
        return {one.name for one in (tmp_path / name).glob("*.o")}

    def compiled(name: str) -> int:
        file = tmp_path / f"{name}.txt"
        return len([line for line in file.read_text().splitlines() if line != "0 bytes"]) if file.exists() else 0

    first = worker("first")
    (row,) = sweep(scene, "render", scheduler=nodes.address)
    assert row.state == "done" and len(kept("first")) >= 3 and compiled("first") >= 1
    with clusters.existing(nodes.address) as client:
        assert kernels.share(client)  # once more: what it has stays
        client.run(exchange_often)
        for _ in range(2):  # the first tells what it has, the second gives what it was asked for
            list(sweep(other, "info", client))
        held = client.run_on_scheduler(kernels_held)
        assert {f"{key}.o" for key in held} == kept("first")
        # Neither what is damaged nor what could name another file is taken.
        bad = [("ab" * 20, b"no digest", b"code"), ("../" + "ab" * 19, kernels.digest_of(b"code"), b"code")]
        assert client.run_on_scheduler(offer_kernels, entries=bad) == held
        client.run_on_scheduler(force_kernels, entries=bad)
    first.kill()
    first.wait()
    worker("second")
    (again,) = sweep(scene, "render", scheduler=nodes.address)
    assert again == row
    assert kept("second") == kept("first") and compiled("second") == 0
    assert not any(one.name.startswith("ab" * 19) for one in tmp_path.rglob("*.o"))
