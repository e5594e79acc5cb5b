"""Helper threads: what they do with jobs, and between them."""

from __future__ import annotations

import threading

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
