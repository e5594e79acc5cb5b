"""Helper threads: all parts are worked on, errors come back, and threads end with what they work for."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from pocketgpu.workers import Workers


def helpers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "pocketgpu-raster"}


def ended(threads: set[threading.Thread]) -> bool:
    end = time.monotonic() + 60
    while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
        time.sleep(0.001)
    return not any(thread.is_alive() for thread in threads)


def test_parts_are_shared_and_errors_come_back() -> None:
    workers, before = Workers(3), helpers()
    done: list[tuple[int, int]] = []
    for _ in range(2):
        workers.run(lambda part, parts: done.append((part, parts)), "kind", 1 << 40)
    assert sorted(done) == [(0, 3), (0, 3), (1, 3), (1, 3), (2, 3), (2, 3)]
    assert len(helpers() - before) == 2

    def fails(part: int, parts: int) -> None:
        if part:
            raise ValueError("in a helper")

    with pytest.raises(ValueError, match="in a helper"):
        workers.run(fails, "kind", 1 << 40)


def test_threads_end_with_what_they_work_for() -> None:
    gc.collect()
    before = helpers()
    workers = Workers(4)
    workers.run(lambda part, parts: None, "kind", 1 << 40)
    mine = helpers() - before
    assert len(mine) == 3
    del workers
    gc.collect()
    assert ended(mine)


def test_a_thread_that_is_lent_ends_after_its_work() -> None:
    gc.collect()
    before = helpers()
    workers = Workers(2)
    began, stop = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        stop.wait()

    workers.lend(work, stop.set)
    assert began.wait(60)
    mine = helpers() - before
    del workers
    gc.collect()
    assert len(mine) == 1 and not stop.is_set() and helpers() >= mine
    stop.set()
    assert ended(mine)
