"""Emulated time."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.guests.kernel.timeline import Timeline


class Diary:
    """Notes what was called."""

    def __init__(self) -> None:
        self.ticks: list[int] = []

    def note(self, tick: int) -> None:
        self.ticks.append(tick)


def run(timeline: Timeline) -> None:
    while (due := timeline.take_due()) is not None:
        due.action(due.tick)


@given(st.lists(st.integers(0, 50), max_size=20))
def test_all_comes_once_and_in_order(ticks: list[int]) -> None:
    timeline, diary = Timeline(1000), Diary()
    for tick in ticks:
        timeline.at(tick, diary.note)
    while timeline.skip():
        run(timeline)
    assert diary.ticks == sorted(ticks) and timeline.now == max(ticks, default=0)


def test_equal_ticks_keep_their_order() -> None:
    timeline, first, second = Timeline(1000), Diary(), Diary()
    timeline.at(5, first.note)
    timeline.at(5, second.note)
    timeline.pass_ticks(5)
    due = timeline.take_due()
    assert due is not None
    due.action(due.tick)
    assert (first.ticks, second.ticks) == ([5], [])


def test_what_is_cancelled_does_not_come() -> None:
    timeline, diary = Timeline(1000), Diary()
    timeline.after(3, diary.note).cancelled = True
    assert timeline.next is None and not timeline.skip()
    timeline.pass_ticks(10)
    assert timeline.take_due() is None and diary.ticks == []


def test_a_copy_goes_its_own_way() -> None:
    diary = Diary()
    timeline = Timeline(1000)
    timeline.after(3, diary.note)
    copied, other = copy.deepcopy((timeline, diary))
    copied.skip()
    run(copied)
    assert (other.ticks, diary.ticks, timeline.now) == ([3], [], 0)


def test_nanoseconds_become_ticks() -> None:
    timeline = Timeline(268_111_856)
    assert (timeline.ticks(10**9), timeline.ticks(1), timeline.ticks(1_000_000)) == (268_111_856, 0, 268_111)
