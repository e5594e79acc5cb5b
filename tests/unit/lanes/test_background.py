"""The thread that compiles while others draw: jobs run one after the other, and a job that fails harms no other."""

from __future__ import annotations

import threading
import time

from pocketgpu.lanes import background


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
