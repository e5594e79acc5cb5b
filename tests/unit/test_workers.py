"""Helper threads: all parts are worked on, errors come back, what they do between jobs, and their end."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from pocketgpu import workers
from pocketgpu.workers import Workers


class Awake:
    """Stays awake until it is stopped."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.stopped, self.inside = threading.Event(), threading.Event()

    def ready(self) -> None:
        self.steps.append("ready")
        self.stopped.clear()

    def run(self) -> None:
        self.inside.set()
        assert self.stopped.wait(20)
        self.inside.clear()

    def stop(self) -> None:
        self.steps.append("stop")
        self.stopped.set()


@pytest.fixture(autouse=True)
def share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WORTH", 0.0)


def test_a_helper_that_is_awake_takes_the_next_job() -> None:
    pool, awake = Workers(2), Awake()
    pool.between = awake
    for _ in range(3):
        parts: list[tuple[int, int]] = []
        pool.run(lambda part, count, parts=parts: parts.append((part, count)), "some", 1)
        assert sorted(parts) == [(0, 2), (1, 2)]
        assert awake.inside.wait(20)  # it waits for a job, and holds nobody up
    assert awake.steps == ["stop", "ready"] * 3
    awake.stop()


def test_a_helper_that_was_roused() -> None:
    pool, awake = Workers(2), Awake()
    pool.between = awake
    pool.rouse()
    assert awake.inside.wait(20)
    parts: list[int] = []
    pool.run(lambda part, _: parts.append(part), "some", 1)
    assert sorted(parts) == [0, 1]
    assert awake.steps == ["ready", "stop", "ready"]
    awake.stop()


def test_errors_of_a_helper_are_raised_and_it_goes_on() -> None:
    pool, awake = Workers(2), Awake()
    pool.between = awake

    def fail(part: int, _: int) -> None:
        if part:
            raise ValueError("of the helper")

    for _ in range(2):
        with pytest.raises(ValueError, match="of the helper"):
            pool.run(fail, "some", 1)
    awake.stop()


def helpers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "pocketgpu-raster"}


def ended(threads: set[threading.Thread]) -> bool:
    end = time.monotonic() + 60
    while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
        time.sleep(0.001)
    return not any(thread.is_alive() for thread in threads)


def test_parts_are_shared_and_errors_come_back() -> None:
    pool, before = Workers(3), helpers()
    done: list[tuple[int, int]] = []
    for _ in range(2):
        pool.run(lambda part, parts: done.append((part, parts)), "kind", 1 << 40)
    assert sorted(done) == [(0, 3), (0, 3), (1, 3), (1, 3), (2, 3), (2, 3)]
    assert len(helpers() - before) == 2

    def fails(part: int, parts: int) -> None:
        if part:
            raise ValueError("in a helper")

    with pytest.raises(ValueError, match="in a helper"):
        pool.run(fails, "kind", 1 << 40)


def test_threads_end_with_what_they_work_for() -> None:
    gc.collect()
    before = helpers()
    pool = Workers(4)
    pool.run(lambda part, parts: None, "kind", 1 << 40)
    mine = helpers() - before
    assert len(mine) == 3
    del pool
    gc.collect()
    assert ended(mine)


def test_a_thread_that_is_awake_ends_after_it() -> None:
    gc.collect()
    before, pool, awake = helpers(), Workers(2), Awake()
    pool.between = awake
    pool.rouse()
    assert awake.inside.wait(60)
    mine = helpers() - before
    del pool
    gc.collect()
    assert len(mine) == 1 and helpers() >= mine
    awake.stop()
    assert ended(mine)
