"""Which thread runs: priorities, yields, slices, cores."""

from __future__ import annotations

import random

import pytest

from pocketgpu.guests.kernel.threads import Scheduler, State, Thread

TURN = 100


def made(*threads: tuple[int, int, int], first_come: bool = False) -> tuple[Scheduler, list[Thread]]:
    """A scheduler with ready threads: priority, core, bits of the cores that it may have."""
    scheduler = Scheduler(TURN, first_come)
    found = []
    for number, (priority, core, cores) in enumerate(threads):
        one = Thread(number, priority, 0)
        one.core, one.preferred, one.cores = core, core, cores
        scheduler.add(one)
        found.append(one)
    return scheduler, found


def ran(scheduler: Scheduler, ticks: int) -> list[int]:
    """Numbers of the threads that run from one change to the next, without waits."""
    now, order = 0, []
    while now < ticks:
        thread, limit = scheduler.next(now)
        assert thread is not None and (limit is None or limit > 0)
        if not order or order[-1] != thread.number:
            order.append(thread.number)
        now += limit or TURN
    return order


def test_the_best_runs_and_equals_wait() -> None:
    scheduler, _ = made((5, 0, 1), (4, 0, 1), (4, 0, 1))
    assert ran(scheduler, 10 * TURN) == [1]


def test_cores_take_turns() -> None:
    scheduler, threads = made((5, 0, 1), (9, 1, 2), (3, 2, 4))
    assert ran(scheduler, 6 * TURN) == [0, 1, 2, 0, 1, 2]
    threads[1].paused = True
    assert 1 not in ran(scheduler, 6 * TURN)


def test_a_core_without_threads_takes_one() -> None:
    scheduler, threads = made((5, 0, 1), (6, 0, 7), (7, 0, 1))
    assert ran(scheduler, 4 * TURN) == [0, 1, 0, 1]
    assert [one.core for one in threads] == [0, 1, 0] and threads[1].preferred == 0


def test_yields() -> None:
    scheduler, threads = made((5, 0, 1), (5, 0, 1), (6, 0, 1))
    scheduler.give_way(threads[0])
    assert scheduler.next(0)[0] is threads[1]
    scheduler.give_way_to_cores(threads[1])
    assert scheduler.next(0)[0] is threads[0]
    threads[1].paused = True
    scheduler.give_way_to_cores(threads[0])
    assert scheduler.next(0)[0] is threads[0], "never to a worse one"
    scheduler.give_way_to_all(threads[0], 0)
    assert scheduler.next(0) == (threads[2], TURN) and scheduler.next(TURN)[0] is threads[0]
    threads[2].paused = True
    scheduler.give_way_to_all(threads[0], TURN)
    assert scheduler.next(TURN)[0] is threads[0], "nobody else can run"


def test_a_yield_takes_an_equal_of_another_core() -> None:
    scheduler, threads = made((5, 0, 1), (4, 1, 2), (5, 1, 3), (5, 1, 2))
    scheduler.give_way_to_cores(threads[0])
    assert [one.core for one in threads] == [0, 1, 0, 1]
    threads[1].paused = True
    assert scheduler.next(0)[0] in (threads[2], threads[3])


def test_slices_of_one_priority() -> None:
    scheduler, threads = made((59, 0, 1), (59, 0, 1), (60, 0, 1))
    scheduler.slices = 59, 1000
    assert ran(scheduler, 4000) in ([0, 1, 0, 1], [1, 0, 1, 0])
    threads[0].paused = True
    assert scheduler.next(5000) == (threads[1], None), "alone it needs no slices"
    scheduler.slices = None
    threads[0].paused = False
    assert len(ran(scheduler, 4000)) == 1


def test_whoever_came_first() -> None:
    scheduler, threads = made((9, 0, 1), (1, 1, 2), first_come=True)
    assert scheduler.next(0) == (threads[0], None)
    scheduler.give_way_to_all(threads[0], 0)
    assert scheduler.next(0)[0] is threads[1]


@pytest.mark.parametrize("seed", range(5))
def test_what_always_holds(seed: int) -> None:
    """Who runs is ready, on a core that it may have; there none is better, but for one that lets others run."""
    r = random.Random(seed)
    scheduler, threads = made(*((r.randrange(57, 61), 0, r.choice((1, 1, 3, 7))) for _ in range(6)))
    scheduler.slices = 59, 500
    now = 0
    for _ in range(3000):
        thread, limit = scheduler.next(now)
        if thread is not None:
            assert thread.state is State.READY and not thread.paused and thread.cores >> thread.core & 1
            others = [one for one in threads if one.state is State.READY and not one.paused and one.core == thread.core]
            assert all(one.priority >= thread.priority or one.away > now for one in others)
            now += r.choice((1, 50, limit or TURN))
            kind = r.random()
            if kind < 0.1:
                scheduler.give_way(thread)
            elif kind < 0.2:
                scheduler.give_way_to_cores(thread)
            elif kind < 0.3:
                scheduler.give_way_to_all(thread, now)
            elif kind < 0.5:
                thread.state = State.WAITING
        one = r.choice(threads)
        if one.state is State.WAITING:
            scheduler.make_ready(one)
        elif r.random() < 0.1:
            one.paused = not one.paused
        now += thread is None
