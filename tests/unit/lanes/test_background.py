"""The thread that compiles while others draw: jobs run one after the other, and a job that fails harms no other."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import I32, I64, Engine, Lang, Value, background, kernel, machine_code, object_cache
from pocketgpu.lanes.compilers import CompilerProcess
from pocketgpu.lanes.kernel import drop_orders
from pocketgpu.pica.engines.transfer import detile_rows


@pytest.fixture(autouse=True)
def no_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for what other tests in this process have ordered."""
    monkeypatch.setattr(background, "_processes", background._Processes())


def test_jobs_run_in_order_on_one_thread() -> None:
    seen: list[tuple[int, int]] = []

    def job(number: int) -> None:
        seen.append((number, threading.get_ident()))
        if number == 1:
            raise ValueError("is dropped")

    for round in range(2):
        for number in range(3):
            background.submit(lambda number=3 * round + number: job(number))  # type: ignore[misc]
        background.wait()
        assert [number for number, _ in seen] == list(range(3 * round + 3))
    (thread,) = {thread for _, thread in seen}
    assert thread != threading.get_ident()


def test_jobs_wait_while_the_compiler_is_in_use() -> None:
    """They begin when no other thread has used it for a while."""
    background.wait()
    began: list[float] = []
    background.in_use()
    last = time.monotonic()
    background.submit(lambda: began.append(time.monotonic()))
    background.wait()
    assert began[0] - last >= 0.9 * background.QUIET


# -- compiler processes ------------------------------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without code; nor is there any in memory, where other tests may have put it."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("POCKETGPU_CACHE", str(folder))
    kernels = import_module("pocketgpu.lanes.kernel")
    monkeypatch.setattr(kernels, "_addresses", {})
    monkeypatch.setattr(kernels, "_ordered", set())
    return folder


ORDERS = """
import os, sys, time
import numpy as np
from pocketgpu.lanes import Engine, background
from pocketgpu.pica.engines.transfer import detile_rows
if __name__ == "__main__":
    background.DELAY = 0.0
    engine = Engine(np.zeros(1 << 16, np.uint8))
    for input in range(1, 5):  # code that does not come with the package
        for output in range(1, 5):
            if input != output:
                engine.later(detile_rows, input=input, output=output)
    {rest}
"""


def start(rest: str, cache: Path, **options: Any) -> subprocess.Popen[str]:
    """A process that orders code, and then does something."""
    code = textwrap.dedent(ORDERS).format(rest=rest)
    environment = {**os.environ, "POCKETGPU_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True, **options)


def running() -> dict[int, int]:
    """The parent of each process that runs."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, rest = place.read_text().split(" ", 1)
            state, parent = rest.rpartition(") ")[2].split()[:2]
            if state != "Z":  # it has ended, and nobody has asked how
                found[int(number)] = int(parent)
    return found


def wait_until(condition: Callable[[], object]) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def test_processes_make_code_that_is_then_there(cache: Path) -> None:
    """This process compiles nothing, and the code is that of this process."""
    engine = Engine(np.zeros(1 << 16, np.uint8))
    statics = [{"input": 1, "output": output} for output in (2, 3)]
    assert not any(engine.loaded(detile_rows, **static) for static in statics)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "compile_object", None)
        for static in statics:
            engine.later(detile_rows, **static)
        background.wait()
        assert all(engine.loaded(detile_rows, **static) for static in statics)
    for static in statics:
        key, data = machine_code.entry(detile_rows.name, detile_rows.trace(machine_code.best_lanes(), static))
        assert object_cache.read(key) == data


def test_what_has_no_name_is_made_by_the_thread(cache: Path) -> None:
    @kernel(at=I64)
    def local(k: Lang, at: Value) -> None:
        k.store(I32, at, k.i32(7))

    arena = np.zeros(1 << 16, np.uint8)
    engine = Engine(arena)
    engine.later(local)
    background.wait()
    assert engine.loaded(local)
    engine.get(local)(4096)
    assert arena[4096] == 7


def test_without_a_cache_the_thread_makes_all(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETGPU_CACHE", "off")
    monkeypatch.setattr(background, "order", None)
    engine, static = Engine(np.zeros(1 << 16, np.uint8)), {"input": 2, "output": 1}
    engine.later(detile_rows, **static)
    background.wait()
    assert engine.loaded(detile_rows, **static)


def test_a_process_that_dies_is_replaced(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its order is dropped; the next one is done."""
    engine = Engine(np.zeros(1 << 16, np.uint8))
    make = CompilerProcess.make
    died: list[int] = []

    def first_dies(self: CompilerProcess, order: Any) -> bool:
        if not died:
            died.append(self._process.pid)
            self._process.kill()
        return make(self, order)

    monkeypatch.setattr(CompilerProcess, "make", first_dies)
    for static in ({"input": 3, "output": 1}, {"input": 3, "output": 2}):
        engine.later(detile_rows, **static)
        background.wait()
    assert not engine.loaded(detile_rows, input=3, output=1)
    assert engine.loaded(detile_rows, input=3, output=2)


def test_a_budget_ends_orders(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_ORDERS", 0)
    engine = Engine(np.zeros(1 << 16, np.uint8))
    engine.later(detile_rows, input=3, output=4)
    background.wait()
    assert not engine.loaded(detile_rows, input=3, output=4)


def test_with_an_infinite_delay_processes_work_only_while_somebody_waits(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is in all tests; what they drop can be ordered again."""
    assert math.isinf(background.DELAY)
    monkeypatch.setattr(background, "IDLE", 0.0)
    processes, engine = background._processes, Engine(np.zeros(1 << 16, np.uint8))
    statics = [{"input": input, "output": 2 - input // 2} for input in (2, 3)]
    for static in statics:
        engine.later(detile_rows, **static)
        assert len(processes._waiting) == 1 and not processes._threads
        drop_orders()
        assert not processes._waiting
        background.wait()
        assert not engine.loaded(detile_rows, **static)
        engine.later(detile_rows, **static)
        background.wait()
        assert engine.loaded(detile_rows, **static)
    assert wait_until(lambda: not processes._threads)


def test_jobs_that_wait_are_dropped_too() -> None:
    seen: list[int] = []
    began, go_on = threading.Event(), threading.Event()

    def first() -> None:
        began.set()
        go_on.wait()
        seen.append(1)

    background.submit(first)
    assert began.wait(60)
    background.submit(lambda: seen.append(2))
    background.drop()
    go_on.set()
    background.wait()
    assert seen == [1]


def test_a_short_run_starts_no_process(cache: Path) -> None:
    """Processes cost as much as a picture, so they start some time after the first order."""
    late = ORDERS.replace("background.DELAY = 0.0", "assert background.DELAY >= 1.0; background.DELAY = 1000.0")
    rest = "time.sleep(0.5); print(len(background._processes._threads), len(background._processes._processes))"
    found = subprocess.run(
        [sys.executable, "-c", late.format(rest=rest)], capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, "POCKETGPU_CACHE": str(cache)},
    )  # fmt: skip
    assert found.stdout.split()[1] == "0" != found.stdout.split()[0]


@linux
@pytest.mark.parametrize("ending", ["pass", "time.sleep(0.3)", "time.sleep(1.5)", "os._exit(0)", "raise SystemExit(0)"])
def test_no_process_is_left_when_a_program_ends(cache: Path, ending: str) -> None:
    """Neither while processes start nor while they compile, nor where the program ends without a word."""
    rest = f"time.sleep(0.1); print(*[p._process.pid for p in background._processes._processes], flush=True); {ending}"
    process = start(rest, cache)
    numbers = set(map(int, process.communicate(timeout=60)[0].split()))
    assert process.returncode == 0
    assert wait_until(lambda: not numbers & running().keys())
    assert not list(cache.glob(".new-*"))


@linux
def test_no_process_is_left_when_a_program_is_killed(cache: Path) -> None:
    process = start("print('ready', flush=True); time.sleep(60)", cache)
    assert process.stdout is not None
    process.stdout.readline()

    def children() -> set[int]:
        return {number for number, parent in running().items() if parent == process.pid}

    assert wait_until(children)
    compilers = children()
    process.kill()
    process.communicate()
    assert wait_until(lambda: not compilers & running().keys())


@linux
def test_a_fork_leaves_the_processes_to_its_parent(cache: Path) -> None:
    """The child's own orders are done by processes of its own."""
    rest = """while not background._processes._processes: time.sleep(0.01)
    child = os.fork()
    if child == 0:
        assert not background._processes._processes
        engine.later(detile_rows, input=4, output=1)
        background.wait()
        print(engine.loaded(detile_rows, input=4, output=1), flush=True)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    background.wait()
    print(status, engine.loaded(detile_rows, input=4, output=2))
    """
    process = start(rest, cache)
    assert process.communicate(timeout=120)[0].split() == ["True", "0", "True"]
