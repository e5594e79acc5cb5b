"""Sweeps on a cluster of this computer: rows depend on captures alone, whatever happens to processes meanwhile."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.damage import damage
from support.house import ROOT
from support.sweeping import MANY, alive, by_capture, children, kill, lines, long_scene, scenes, told, until

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.sweeps.engine import clusters
from pocketgpu.sweeps.model.rows import Row
from pocketgpu.sweeps.model.task import Task, What
from pocketgpu.sweeps.sweep import Sweep, sweep

pytest.importorskip("distributed")
if TYPE_CHECKING:
    from distributed import Client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers; tests may kill them, as their nannies start others."""
    with clusters.local(2) as one:
        yield one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of all kinds: whole ones, equal ones, damaged ones, programs."""
    place = tmp_path_factory.mktemp("captures")
    paths = scenes(place, 6)
    shutil.copy(paths[0], place / "equal \u00e9.ctf.xz")
    whole = paths[1].read_bytes()
    (place / "cut.ctf.xz").write_bytes(whole[:-9])
    (place / "deep").mkdir()
    (place / "deep" / "cut too.ctf.xz").write_bytes(whole[:-9])
    (place / "flipped.ctf.xz").write_bytes(damage(whole, range(12), random.Random(1)))
    shutil.copy(ROOT / "tests" / "guests" / "n3ds" / "faults.3dsx", place)
    load = {"type": "memory", "phys": 0x20000000, "offset": 0, "size": 4}
    (place / "log.gx.json").write_text(json.dumps({"version": 1, "virt_to_phys": [], "events": [load]}))
    return place


def run(client: Client, *paths: Path, what: str | What = "render", **options: Any) -> Sweep:
    """A sweep that is over."""
    found = sweep([*paths], what, client, **options)
    assert [row.capture for row in found.rows] == []
    arrived = list(found)
    assert sorted(row.capture for row in arrived) == sorted(row.capture for row in found.rows)
    return found


def states(found: Sweep) -> dict[str, str]:
    return {Path(row.capture).name: row.state for row in found.rows}


def worker_pids(client: Client) -> list[int]:
    return [pid for pid in client.run(os.getpid).values() if alive([pid])]


def workshop(client: Client) -> int:
    """The child of a worker that is at work."""
    found: list[int] = until(
        lambda: [one for pid in worker_pids(client) for one in children(pid) if "sweeps.child" in told(one)]
    )
    return found[0]


def test_rows_do_not_depend_on_workers_or_order(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    found = run(client, Path(folder.name))
    assert states(found) == {
        **{f"scene{n:03}.ctf.xz": "done" for n in range(6)}, "equal \u00e9.ctf.xz": "done", "cut.ctf.xz": "refused",
        "cut too.ctf.xz": "refused", "flipped.ctf.xz": "refused", "faults.3dsx": "refused", "log.gx.json": "refused",
    }  # fmt: skip
    assert len(found) == 12 and found.todo == []
    with clusters.local(1) as alone:
        again = sweep([folder.name], "render", alone)
        again.sources.reverse()
        assert sorted(list(again), key=lambda row: row.capture) == found.rows
    assert {one.worker for one in again.store.times.values()} != {one.worker for one in found.store.times.values()}
    assert all("seconds" not in row.to_json() and "worker" not in row.to_json() for row in found.rows)
    plain = dict(found.store.rows)
    first, second = (plain[f"{folder.name}/{name}"] for name in ("scene000.ctf.xz", "equal \u00e9.ctf.xz"))
    assert first.key == second.key and first.pictures == second.pictures
    times = [found.store.times[one.capture] for one in (first, second)]
    assert times[0].started == times[1].started  # it ran once
    # What rows say of files has the names that were given, not where workers found them.
    for name in ("cut.ctf.xz", "deep/cut too.ctf.xz", "faults.3dsx"):
        assert plain[f"{folder.name}/{name}"].location.startswith(f"{folder.name}/{name}")
    assert plain[f"{folder.name}/log.gx.json"].location == f"{folder.name}/log.mem.bin"
    assert str(folder) not in json.dumps([row.to_json() for row in found.rows])


@pytest.mark.parametrize("what", ["check", "info", "bench", "verify"])
def test_every_work_on_a_cluster(client: Client, tmp_path: Path, what: str) -> None:
    found = run(client, *scenes(tmp_path / "in", 2), what=what, out=tmp_path / "out")
    assert [row.state for row in found.rows] == ["refused" if what == "verify" else "done"] * 2
    assert found.rows == [Row.from_json(one) for one in sorted(lines(tmp_path / "out"), key=lambda one: one["capture"])]
    assert all((len(one.frames) == 1) == (what == "bench") for one in found.store.times.values())


def test_diff_on_a_cluster_with_and_without_shipping(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scenes(Path("a"), 3)
    scenes(Path("b"), 2)
    Path("b/scene001.ctf.xz").write_bytes(b"damaged")
    found = run(client, Path("a"), what="diff=b")
    assert [row.state for row in found.rows] == ["done", "refused", "refused"]
    assert not found.rows[0].failed and found.rows[1].location.startswith("b/scene001.ctf.xz")
    assert run(client, Path("a"), what="diff=b", ship=True).rows == found.rows


def test_shipped_captures_give_the_same_rows(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    (folder / "large.pgc").write_bytes(os.urandom(12 << 20))
    (folder / "log.mem.bin").write_bytes(b"\0")
    try:
        here, shipped = run(client, Path(folder.name)), run(client, Path(folder.name), ship=True)
        assert shipped.rows == here.rows
        assert here.store.rows[f"{folder.name}/log.gx.json"].message != "the memory file of the log is missing"
        assert "pocketgpu-" not in json.dumps([row.to_json() for row in shipped.rows])
    finally:
        (folder / "large.pgc").unlink()
        (folder / "log.mem.bin").unlink()


def test_a_capture_that_hangs_is_a_row_and_the_others_go_on(client: Client, tmp_path: Path) -> None:
    paths = [*scenes(tmp_path, 3), long_scene(tmp_path / "a hangs.ctf.xz")]
    run(client, *scenes(tmp_path, 2), what="info")  # children are there, so that their start takes no time
    found = run(client, *paths, what=What("bench", repeat=MANY), timeout=4)
    assert list(states(found).values()) == ["timeout", "done", "done", "done"]
    assert found.rows[0].message == "it took more than 4 s" and found.rows[0].console is None


def test_a_capture_that_takes_too_much_memory_is_a_row(client: Client, tmp_path: Path) -> None:
    found = run(client, *scenes(tmp_path, 1), memory=8 << 20)
    assert [(row.state, row.message) for row in found.rows] == [("memory", "it took more than 8 MiB of memory")]
    assert [one.tries for one in found.store.times.values()] == [2]
    assert list(states(run(client, *scenes(tmp_path, 1))).values()) == ["done"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_child_that_is_killed(client: Client, tmp_path: Path, times: int) -> None:
    path = long_scene(tmp_path / "long.ctf.xz")
    quick = scenes(tmp_path, 3)
    found: list[Sweep] = []
    thread = threading.Thread(
        target=lambda: found.append(
            run(client, path, *quick, what=What("bench", repeat=MANY if times == 2 else 40), timeout=600)
        )
    )
    until(lambda: all(not children(pid) for pid in worker_pids(client)) or client.run(end_children))
    thread.start()
    for _ in range(times):
        pid = until(lambda: at_work(client, path))
        kill(pid)
        until(lambda pid=pid: alive([pid]) == [])
    thread.join()
    (one,) = found
    state = "crashed" if times == 2 else "done"
    assert states(one) == {path.name: state, **{path.name: "done" for path in quick}}
    row = one.store.rows[str(path)]
    assert one.store.times[str(path)].tries == 2
    assert row.message == ("its process was ended by SIGKILL" if times == 2 else "")


def end_children() -> bool:
    """In a worker: begin with new children."""
    from pocketgpu.sweeps.engine.worker import close_all

    close_all()
    return True


def at_work(client: Client, path: Path) -> int | None:
    """The child of a worker that has a capture open or has used some time on it."""
    for pid in worker_pids(client):
        for child in children(pid):
            if "sweeps.child" in told(child) and seconds_of(child) > 0.8:
                return child
    return None


def seconds_of(pid: int) -> float:
    """Processor time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_worker_that_is_killed_loses_nothing(client: Client, tmp_path: Path) -> None:
    paths = scenes(tmp_path / "in", 24)
    what = What("bench", repeat=20)
    found = sweep(paths, what, client, out=tmp_path / "out")
    rows = iter(found)
    arrived = [next(rows), next(rows)]
    kill(worker_pids(client)[0])
    arrived += rows
    assert sorted(row.capture for row in arrived) == sorted(map(str, paths))
    assert {row.state for row in arrived} == {"done"} and len(by_capture(tmp_path / "out")) == 24
    until(lambda: len(client.nthreads()) == 2)
    assert sorted(run(client, *paths, what=what).rows, key=str) == sorted(arrived, key=str)


def test_a_task_that_takes_every_worker_down_is_a_lost_row(client: Client) -> None:
    from pocketgpu.sweeps.child.keeper import Limits
    from pocketgpu.sweeps.engine.dispatch import Dispatch

    def run_these(*numbers: int) -> list[tuple[str, str]]:
        tasks = [Task(f"key{n}", (f"{n}",), (f"{n}",)) for n in numbers]
        found = Dispatch(client, What("info"), Limits(60, 1 << 30), run_batch=deadly).run(tasks)
        return sorted((one.key, f"{one.found['state']}: {one.found['message']}") for one in found)

    before = client.run_on_scheduler(allow_failures, count=1)
    try:
        assert run_these(2) == [("key2", "lost: its worker went away 2 times (KilledWorker)")]
    finally:
        client.run_on_scheduler(allow_failures, count=before)
    assert run_these(0, 1, 3) == [(f"key{n}", "done: ") for n in (0, 1, 3)]
    until(lambda: len(client.nthreads()) == 2)


def test_a_worker_that_cannot_start_its_child_is_told_apart(client: Client) -> None:
    from pocketgpu.sweeps.child.keeper import Limits
    from pocketgpu.sweeps.engine.dispatch import Dispatch

    tasks = [Task("k", ("a",), ("a",))]
    (found,) = Dispatch(client, What("info"), Limits(60, 1 << 30), run_batch=out_of_processes).run(tasks)
    assert found.found == {
        "state": "lost", "message": "its worker cannot do it: BlockingIOError: [Errno 11] no more processes"
    }  # fmt: skip
    assert found.tries == 2


def out_of_processes(tasks: list[Task], what: What, limits: Any, sweep: str) -> list[Any]:
    raise BlockingIOError(11, "no more processes")


def allow_failures(count: int, dask_scheduler: Any = None) -> int:
    before: int = dask_scheduler.allowed_failures
    dask_scheduler.allowed_failures = count
    return before


def deadly(tasks: list[Task], what: What, limits: Any, sweep: str) -> list[Any]:
    """A batch that ends its worker if a certain task is in it."""
    from pocketgpu.sweeps.engine.worker import Result

    if any(task.key == "key2" for task in tasks):
        os._exit(1)
    return [Result(task.key, {"state": "done", "message": ""}, {}, 0.01, (), False, 1, "w", "") for task in tasks]


def test_leaving_early_ends_the_work_and_a_second_loop_goes_on(client: Client, tmp_path: Path) -> None:
    long = long_scene(tmp_path / "in" / "z long.ctf.xz")
    paths = scenes(tmp_path / "in", 5)
    found = sweep(tmp_path / "in", What("bench", repeat=MANY), client, out=tmp_path / "out", timeout=40)
    for row in found:
        assert row.state == "done"
        break
    until(lambda: not client.processing() or not any(client.processing().values()), 20)  # long before its limit
    assert len(found.rows) == 1 and 5 <= len(found.todo) == len(paths)
    found.sources = [one for one in found.sources if one.name != str(long)]
    list(found)
    assert sorted(by_capture(tmp_path / "out")) == sorted(map(str, paths))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"rows.jsonl", "sweep.json", "times.jsonl"}


def test_a_sweep_goes_on_where_another_ended_and_sees_what_changed(client: Client, tmp_path: Path) -> None:
    paths = scenes(tmp_path / "in", 3)
    run(client, *paths[:2], what="info", out=tmp_path / "out")
    shutil.copy(paths[2], paths[0])
    found = sweep([tmp_path / "in"], "info", client, out=tmp_path / "out", resume=True)
    assert [one.name for one in found.todo] == [str(paths[0]), str(paths[2])]
    assert sorted(row.capture for row in found) == [str(paths[0]), str(paths[2])]
    kept = by_capture(tmp_path / "out")
    assert len(kept) == 3 and kept[str(paths[0])]["key"] == kept[str(paths[2])]["key"]
    assert len(by_capture(tmp_path / "out", "times.jsonl")) == 3
    assert list(sweep([tmp_path / "in"], "info", client, out=tmp_path / "out", resume=True)) == []


def test_captures_that_failed_run_again_if_that_is_asked_for(client: Client, tmp_path: Path) -> None:
    paths = [*map(str, scenes(tmp_path / "in", 3)), str(long_scene(tmp_path / "in" / "long.ctf.xz"))]
    out, what = tmp_path / "out", "info"
    run(client, *map(Path, paths[:2]), what=what, out=out)
    begun = {name: one["started"] for name, one in by_capture(out, "times.jsonl").items()}
    client.run(end_children)  # new ones take more than that before they have begun
    found = sweep(paths, what, client, out=out, resume=True, memory=8 << 20)
    assert [row.state for row in found] == ["memory"] * 2
    assert list(sweep(paths, what, client, out=out, resume=True)) == []
    assert list(sweep(paths, what, client, out=out, resume=True, retry=("timeout", "crashed"))) == []
    found = sweep(paths, what, client, out=out, resume=True, retry="memory", memory=8 << 20)
    assert [one.name for one in found.todo] == sorted(paths[2:])
    assert sorted(row.capture for row in found) == sorted(paths[2:])
    assert found.todo == [] and list(found) == []  # once in a sweep, however it ends
    found = sweep(paths, what, client, out=out, resume=True, retry="memory")
    rows = iter(found)
    first = next(rows)
    rows.close()  # left early: the other row is still there
    kept = by_capture(out)
    assert sorted(one["state"] for one in kept.values()) == ["done"] * 3 + ["memory"]
    found = sweep(paths, what, client, out=out, resume=True, retry=("memory", "timeout"))
    assert [row.capture for row in found] == [name for name in paths[2:] if name != first.capture]
    assert {one["state"] for one in by_capture(out).values()} == {"done"} and len(by_capture(out)) == 4
    times = by_capture(out, "times.jsonl")
    assert len(times) == 4 and {name: times[name]["started"] for name in begun} == begun  # those did not run again
    with pytest.raises(UsageError, match="no row has the state 'slow'"):
        sweep(paths, what, client, out=out, resume=True, retry="slow")


def test_results_as_a_table_and_as_files(client: Client, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = run(client, *scenes(tmp_path / "in", 3), out=tmp_path / "out")
    assert repr(found) == "<Sweep render, 3 of 3 captures>"
    found.finish()
    stored = duckdb.read_parquet(str(tmp_path / "out" / "results.parquet")).select("capture, key, frames").fetchall()
    assert stored == [(row.capture, row.key, row.frames) for row in found.rows]
    table = found.table()
    assert list(table.columns)[:2] == ["capture", "key"] and len(table) == 3


def test_a_folder_that_is_filled_in_two_sweeps(client: Client, tmp_path: Path) -> None:
    """As where a corpus comes in parts: the table has what rows.jsonl has."""
    duckdb = pytest.importorskip("duckdb")
    paths, out = scenes(tmp_path / "in", 3), tmp_path / "out"
    run(client, *paths[1:], what="info", out=out)
    second = sweep(paths[0], "info", client, out=out, resume=True)
    assert [row.capture for row in second] == [str(paths[0])] and len(second.rows) == 1
    second.finish()
    stored = duckdb.read_parquet(str(out / "results.parquet")).select("capture").fetchall()
    assert stored == [(str(path),) for path in paths]


def test_a_worker_of_another_version_is_told_apart(client: Client, tmp_path: Path) -> None:
    from pocketgpu.sweeps.child.keeper import Limits
    from pocketgpu.sweeps.engine.worker import run_tasks

    (path,) = scenes(tmp_path, 1)
    task = Task("k", (str(path),), (str(path),), version="0.0.0")
    (result,) = client.submit(run_tasks, [task], What("info"), Limits(60, 1 << 30), pure=False).result(60)
    assert result.found == {
        "state": "lost", "message": f"its worker has pocketgpu {pocketgpu.__version__}, not 0.0.0"
    }  # fmt: skip


def test_children_without_tasks_end(client: Client, tmp_path: Path) -> None:
    run(client, *scenes(tmp_path, 1), what="info")
    assert any(children(pid) for pid in worker_pids(client))
    client.run(be_impatient, 0.0)
    try:
        until(lambda: not any(children(pid) for pid in worker_pids(client)), 10)
        assert list(states(run(client, *scenes(tmp_path, 1), what="info")).values()) == ["done"]
    finally:
        client.run(be_impatient, 10.0)


def be_impatient(seconds: float) -> None:
    from pocketgpu.sweeps.engine import worker

    worker.IDLE = seconds  # type: ignore[misc]


def test_arguments_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = scenes(tmp_path, 1)
    out = tmp_path / "out"
    for paths, what in (([tmp_path / "missing"], "info"), ([], "info"), ([path], "paint"), ([path], "diff=missing")):
        with pytest.raises(UsageError):
            sweep(paths, what, out=out)
    assert not out.exists()  # so that the next try needs no other folder
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    with pytest.raises(UsageError, match="no scheduler answers"):
        list(sweep(path, "info", scheduler="tcp://127.0.0.1:9"))
    with pytest.raises(UsageError, match="no scheduler answers"):
        list(sweep(path, "info", scheduler="nonsense://127.0.0.1:9"))


def test_no_process_is_left(tmp_path: Path) -> None:
    with clusters.local(1) as one:
        pids = worker_pids(one)
        list(sweep(scenes(tmp_path, 1), "info", one))
        pids += [child for pid in pids for child in children(pid)]
        assert len(pids) >= 2
    until(lambda: alive(pids) == [], 10)
