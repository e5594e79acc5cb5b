"""Emulated time: what comes due happens in order, and only while time moves."""

from __future__ import annotations

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.pica.external.clock import Clock


class Ticker:
    """Happens every `period` cycles and notes when."""

    def __init__(self, name: str, period: int, log: list[tuple[str, int]]) -> None:
        self.name, self.period, self.log = name, period, log
        self.due: int | None = period

    def run(self, now: int) -> None:
        self.log.append((self.name, now))
        self.due = now + self.period


class Watcher:
    def __init__(self) -> None:
        self.settled: list[int] = []
        self.passed: list[int] = []

    def settle(self, now: int) -> None:
        self.settled.append(now)

    def pass_to(self, now: int) -> None:
        self.passed.append(now)


def test_what_is_due_happens_in_order_of_time() -> None:
    clock, log = Clock(), []
    clock.sources += [Ticker("a", 30, log), Ticker("b", 20, log)]
    clock.advance_to(60)
    assert log == [("b", 20), ("a", 30), ("b", 40), ("a", 60), ("b", 60)]
    assert clock.now == 60
    clock.advance_to(10)  # time does not go back
    assert clock.now == 60


def test_watchers_hear_of_each_step_before_and_after() -> None:
    clock, watcher = Clock(), Watcher()
    clock.sources.append(Ticker("a", 25, []))
    clock.watchers.append(watcher)
    clock.advance_to(60)
    assert watcher.passed == [25, 50, 60]
    assert watcher.settled == [0, 25, 50]


def test_what_is_overdue_happens_at_once() -> None:
    clock, log = Clock(), []
    clock.advance_to(100)
    clock.sources += [Ticker("a", 30, log), Ticker("b", 50, log)]
    clock.advance_to(100)
    assert log == [("a", 100), ("b", 100)]


def test_stopping_leaves_time_where_it_is() -> None:
    clock, log = Clock(), []
    clock.sources += [Ticker("a", 10, log), Ticker("b", 10, log)]
    clock.advance_to(1000, lambda: len(log) >= 3)
    assert clock.now == 20
    assert log == [("a", 10), ("b", 10), ("a", 20), ("b", 20)], "everything of one moment happens"


def test_time_cannot_be_moved_from_inside() -> None:
    clock = Clock()

    class Inside(Ticker):
        def run(self, now: int) -> None:
            super().run(now)
            assert clock.running
            clock.advance_to(now + 1)

    clock.sources.append(Inside("a", 10, []))
    with pytest.raises(UsageError, match="while an interrupt is reported"):
        clock.advance_to(100)
    assert not clock.running
    clock.sources.clear()
    clock.advance_to(100)
    assert clock.now == 100
