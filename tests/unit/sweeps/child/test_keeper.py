"""The child process of a worker: what it answers, and what becomes of a task that brings it down."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import MANY, alive, environment, kill, long_scene, scenes, until

from pocketgpu.sweeps.child.keeper import Ended, Keeper, Limits, resident
from pocketgpu.sweeps.model.task import What

ROOMY = Limits(60, 2 << 30)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    with Keeper(ROOMY) as one:
        yield one


def request(path: Path, work: str = "render", **options: Any) -> dict[str, Any]:
    return {"paths": [str(path)], "what": What(work, **options).to_json()}


def test_one_child_does_one_task_after_another(keeper: Keeper, tmp_path: Path) -> None:
    answers = [keeper.ask(request(path)) for path in scenes(tmp_path, 2)]
    pid = keeper.pid
    assert pid is not None and repr(keeper) == f"<Keeper child {pid}>"
    for number, answer in enumerate(answers):
        assert not isinstance(answer, Ended)
        data, blocks = answer
        assert data["found"]["state"] == "done" and data["first"] is (number == 0) and data["seconds"] > 0
        assert len(data["pictures"]) == len(blocks) == 2 and all(block.startswith(b"\x89PNG") for block in blocks)
    keeper.close()
    assert alive([pid]) == [] and keeper.pid is None


def test_a_task_that_takes_too_long_is_ended_and_the_next_one_runs(keeper: Keeper, tmp_path: Path) -> None:
    assert not isinstance(keeper.ask(request(*scenes(tmp_path, 1))), Ended)
    pid = keeper.pid
    assert pid is not None
    keeper.limits = Limits(0.4, ROOMY.bytes)
    long = long_scene(tmp_path / "long.ctf.xz")
    assert keeper.ask(request(long, "bench", repeat=MANY)) == Ended("timeout", "it took more than 0.4 s")
    assert alive([pid]) == []
    keeper.limits = ROOMY
    assert not isinstance(keeper.ask(request(long, "info")), Ended)


def test_a_task_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    with Keeper(Limits(60, 8 << 20)) as keeper:
        found = keeper.ask(request(*scenes(tmp_path, 1)))
        assert found == Ended("memory", "it took more than 8 MiB of memory")


def test_a_child_that_grew_is_replaced_after_its_task(keeper: Keeper, tmp_path: Path) -> None:
    keeper.ask(request(*scenes(tmp_path, 1), "info"))
    assert keeper.pid is not None and resident(keeper.pid) > 10 << 20
    keeper.replace_if_above(0.9)
    assert keeper.pid is not None
    keeper.limits = Limits(60, resident(keeper.pid))
    keeper.replace_if_above(0.5)
    assert keeper.pid is None


def test_a_child_that_is_killed_is_a_crash_and_the_next_task_gets_another(keeper: Keeper, tmp_path: Path) -> None:
    found: list[Any] = []
    long = long_scene(tmp_path / "long.ctf.xz")
    thread = threading.Thread(target=lambda: found.append(keeper.ask(request(long, "bench", repeat=MANY))))
    thread.start()
    pid = until(lambda: keeper.pid)
    kill(pid)
    thread.join()
    assert found == [Ended("crashed", "its process was ended by SIGKILL")]
    answer = keeper.ask(request(long, "info"))
    assert not isinstance(answer, Ended) and keeper.pid != pid
    assert keeper.pid is not None
    kill(keeper.pid)  # between two tasks
    until(lambda: alive([keeper.pid or 0]) == [])
    assert not isinstance(keeper.ask(request(long, "info")), Ended)


PATCHED = """
import os, sys
import pocketgpu.sweeps.works as works
from pocketgpu.sweeps.child.__main__ import main

def do(paths, what):
    print("said by", paths[0].name)
    if paths[0].name == "ends":
        os._exit(3)
    if paths[0].name == "quiet":
        os.abort()
    return works.Found()

works.do = do
main()
"""


def test_a_crash_quotes_what_its_own_task_printed(keeper: Keeper, tmp_path: Path, monkeypatch: Any) -> None:
    program = tmp_path / "child.py"
    program.write_text(PATCHED)
    monkeypatch.setattr("pocketgpu.sweeps.child.keeper.COMMAND", (sys.executable, str(program)))
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    assert not isinstance(keeper.ask(request(tmp_path / "first")), Ended)
    assert keeper.ask(request(tmp_path / "ends")) == Ended("crashed", "its process ended with 3: said by ends")
    program.write_text(PATCHED.replace('print("said', 'paths[0].name != "quiet" and print("said'))
    assert not isinstance(keeper.ask(request(tmp_path / "first")), Ended)
    # What an earlier task printed says nothing about this one, and which one it was depends on the order.
    assert keeper.ask(request(tmp_path / "quiet")) == Ended("crashed", "its process was ended by SIGABRT")


ORPHAN = """
import sys
from pocketgpu.sweeps.child.keeper import Keeper, Limits

if __name__ == "__main__":
    keeper = Keeper(Limits(600, 2 << 30))
    print(keeper._started().pid, flush=True)
    keeper.ask({"paths": [sys.argv[1]], "what": {"work": "bench", "switches": {}, "repeat": 10000}})
"""


def test_a_child_ends_by_itself_when_its_worker_is_killed(tmp_path: Path) -> None:
    long = long_scene(tmp_path / "long.ctf.xz")
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(long)], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        until(lambda: resident(pid) > 30 << 20)  # it is at work
        parent.kill()
    until(lambda: alive([pid]) == [], 15)
