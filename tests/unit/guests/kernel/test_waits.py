"""Waits of threads against a model that does everything in the plainest way, in random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from pocketgpu.guests.kernel.objects import Event, Reset, Waitable
from pocketgpu.guests.kernel.threads import CANCELLED, Scheduler, State, Thread
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.kernel.waits import Waits

HERTZ = 10**9
"""A tick is a nanosecond."""
THREADS, EVENTS, STEPS = 5, 4, 60
RESETS = (Reset.STICKY, Reset.ONE_SHOT, Reset.PULSE)


@dataclass
class Pending:
    """A wait of the model."""

    thread: int
    objects: Sequence[int]
    all: bool
    end: int | None
    number: int


class Model:
    """Events are numbers from 0 on; threads, which never end here, numbers from 100 on."""

    def __init__(self, resets: Sequence[Reset], priorities: Sequence[int]) -> None:
        self.resets, self.priorities = resets, priorities
        self.on = [False] * len(resets)
        self.pending: list[Pending] = []
        self.cancelled = [False] * len(priorities)
        self.results: list[tuple[int, int | None]] = []
        self.now = self.count = 0

    def _is_on(self, one: int) -> bool:
        return one < 100 and self.on[one]

    def _take(self, one: int) -> None:
        if self.resets[one] is Reset.ONE_SHOT:
            self.on[one] = False

    def _through(self, objects: Sequence[int], all: bool) -> int | None:
        if all:
            if not objects or not min(map(self._is_on, objects)):
                return None
            for one in objects:
                self._take(one)
            return 0
        for index, one in enumerate(objects):
            if self._is_on(one):
                self._take(one)
                return index
        return None

    def wait(self, thread: int, objects: Sequence[int], all: bool, time: int) -> None:
        index = self._through(objects, all)
        if index is not None or time == 0:
            self.results.append((thread, index))
        elif self.cancelled[thread]:
            self.cancelled[thread] = False
            self.results.append((thread, CANCELLED))
        else:
            self.count += 1
            self.pending.append(Pending(thread, objects, all, None if time < 0 else self.now + time, self.count))

    def signal(self, event: int) -> None:
        self.on[event] = True
        for one in sorted(self.pending, key=lambda one: (self.priorities[one.thread], one.number)):
            if event in one.objects and self.on[event]:
                index = self._through(one.objects, one.all)
                if index is not None:
                    self._end(one, index)
        if self.resets[event] is Reset.PULSE:
            self.on[event] = False

    def cancel(self, thread: int) -> None:
        found = [one for one in self.pending if one.thread == thread]
        if found:
            self._end(found[0], CANCELLED)
        else:
            self.cancelled[thread] = True

    def pass_time(self, ticks: int) -> None:
        self.now += ticks
        for one in sorted((one for one in self.pending if one.end is not None), key=lambda one: (one.end, one.number)):
            if one.end is not None and one.end <= self.now:
                self._end(one, None)

    def _end(self, one: Pending, result: int | None) -> None:
        self.pending.remove(one)
        self.results.append((one.thread, result))


class Real:
    """The same with the kernel's waits."""

    def __init__(self, resets: Sequence[Reset], priorities: Sequence[int]) -> None:
        scheduler = Scheduler(1000)
        self.waits = Waits(Timeline(HERTZ), scheduler, by_arrival=True)
        self.threads = [Thread(n, priority, 0) for n, priority in enumerate(priorities)]
        for one in self.threads:
            scheduler.add(one)
        self.events = [Event(reset) for reset in resets]
        self.results: list[tuple[int, int | None]] = []

    def _woken(self, thread: Thread, index: int | None) -> None:
        self.results.append((thread.number, index))

    def _object(self, number: int) -> Waitable:
        return self.events[number] if number < 100 else self.threads[number - 100]

    def wait(self, thread: int, objects: Sequence[int], all: bool, time: int) -> None:
        found = [self._object(one) for one in objects]
        self.waits.wait(self.threads[thread], found, self._woken, all=all, nanoseconds=time)

    def signal(self, event: int) -> None:
        self.waits.signal(self.events[event])

    def cancel(self, thread: int) -> None:
        self.waits.cancel(self.threads[thread])

    def pass_time(self, ticks: int) -> None:
        self.waits.time.pass_ticks(ticks)
        while (due := self.waits.time.take_due()) is not None:
            due.action(due.tick)


def episode(seed: int, look: Callable[[Model, Real], None]) -> Model:
    """Random operations on both."""
    r = random.Random(seed)
    resets = [r.choice(RESETS) for _ in range(EVENTS)]
    priorities = [r.choice((10, 10, 20)) for _ in range(THREADS)]
    both: tuple[Model, Real] = Model(resets, priorities), Real(resets, priorities)
    for _ in range(STEPS):
        waiting = {one.thread for one in both[0].pending}
        free = [n for n in range(THREADS) if n not in waiting]
        kind = r.random()
        if kind < 0.5 and free:
            some = [*range(EVENTS), *range(EVENTS), 100 + r.randrange(THREADS)]
            objects = [r.choice(some) for _ in range(r.randrange(5))]
            wait = r.choice(free), objects, r.random() < 0.2, r.choice((0, 1, 5, 5, 100, -1))
            for one in both:
                one.wait(*wait)
        elif kind < 0.75:
            event = r.randrange(EVENTS)
            for one in both:
                one.signal(event)
        elif kind < 0.85:
            thread = r.randrange(THREADS)
            for one in both:
                one.cancel(thread)
        else:
            ticks = r.choice((0, 1, 5, 100))
            for one in both:
                one.pass_time(ticks)
        look(*both)
    return both[0]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_waits_end_as_the_model_says(first: int) -> None:
    """Order, indices, time-outs, cancelled waits; lists with an object twice, with the thread itself, with none."""
    counts = [0, 0, 0]

    def look(model: Model, real: Real) -> None:
        assert real.results == model.results
        assert [one.on for one in real.events] == model.on
        waiting = {one.thread for one in model.pending}
        for one in real.threads:
            assert (one.state is State.WAITING) == (one.number in waiting) == (one.wait is not None)
            assert one.cancelled == model.cancelled[one.number]
        for event in (*real.events, *real.threads):
            assert len(set(event.waiters)) == len(event.waiters), "a thread is told once"
            assert all(one.wait is not None and event in one.wait.objects for one in event.waiters)

    for seed in range(first, first + 100):
        for _, index in episode(seed, look).results:
            counts[0 if index is None else 1 if index == CANCELLED else 2] += 1
    assert min(counts) > 100, "all ends are seen"


def test_the_model_notices_a_wrong_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Waits, "_wait_rank", lambda self, thread: thread.number)
    with pytest.raises(AssertionError):
        test_waits_end_as_the_model_says(0)
