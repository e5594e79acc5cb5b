"""Checkpoints of a run that goes on for hours: which ones stay within a budget, and how far back they go."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pocketgpu.guests.kernel.recent import DENSE, MOST_APART, SHARE, Recent

SIZE = 10


@dataclass(frozen=True)
class Point:
    """A checkpoint whose bytes grow with the frames between it and another one, as changed pages do."""

    frame: int

    def bytes_beside(self, other: Any) -> int:
        return SIZE * min(4, abs(self.frame - other.frame))


def kept(frames: int, budget: int, seconds: float = 0.1, pinned: int | None = None) -> Recent:
    """After so many frames, with a checkpoint each. pinned: a frame that is pinned as soon as it is there."""
    recent = Recent(Point(0), budget, 0.0)  # type: ignore[arg-type]
    for frame in range(1, frames):
        if frame == pinned:
            recent.pinned = frame
        recent.add(frame, seconds * frame, Point(frame))  # type: ignore[arg-type]
    return recent


def test_all_stay_while_there_is_room() -> None:
    recent = kept(20, SIZE * 100)
    assert recent.frames == [*range(20)] and recent.bytes == SIZE * 19 and recent.first == 0
    assert len(recent) == 20 and "20 places from frame 0 on" in repr(recent)


def test_older_ones_become_sparse_before_the_oldest_goes() -> None:
    budget = SIZE * 40
    recent = kept(60, budget, seconds=0.1)
    assert recent.bytes <= budget
    assert recent.frames[0] == recent.first == 0, "some in between went instead"
    assert recent.frames[-DENSE:] == [*range(60 - DENSE, 60)], "those of late stay as they were"
    gaps = [after - before for before, after in pairwise(recent.frames)]
    assert max(gaps) > 1 and max(gaps) * 0.1 <= MOST_APART + 1e-9


def test_the_oldest_goes_once_the_others_are_far_apart() -> None:
    recent = kept(400, SIZE * 20, seconds=1.5)
    assert recent.bytes <= SIZE * 20
    assert recent.first == recent.frames[0] > 300 and recent.frames[-1] == 399
    assert recent.before(recent.first - 1) is None
    place = recent.before(399)
    assert place is not None and place.frame == 399


def test_a_budget_of_nothing_leaves_two() -> None:
    recent = kept(50, 0)
    assert recent.frames == [48, 49] and recent.last == Point(49)


def test_a_pinned_frame_stays_and_does_not_count_as_reached() -> None:
    recent = kept(400, SIZE * 20, seconds=1.5, pinned=100)
    assert recent.frames[0] == 99 or recent.frames[0] == 100
    assert recent.first > 300, "no way leads from there to all that is between"
    found = recent.before(150)
    assert found is not None and found.frame == recent.frames[0]
    recent.pinned = None
    recent.add(400, 600.0, Point(400))  # type: ignore[arg-type]
    assert recent.frames[0] > 300, "it goes when nobody wants it any more"


def test_what_is_after_a_frame_is_forgotten_but_not_the_oldest() -> None:
    recent = kept(20, SIZE * 100)
    recent.forget_after(7)
    assert recent.frames == [*range(8)]
    recent.add(9, 5.0, Point(9))  # type: ignore[arg-type]
    assert recent.frames[-1] == 9 and recent.bytes == SIZE * (7 + 2)
    recent.forget_after(-1)
    assert recent.frames == [0] and recent.bytes == 0


def test_one_that_took_long_is_not_followed_soon() -> None:
    recent = Recent(Point(0), SIZE * 100, 0.2)  # type: ignore[arg-type]
    assert not recent.due(0.1) and recent.due(0.3)
    recent.add(5, 1.0, Point(5), took=0.5)  # type: ignore[arg-type]
    assert not recent.due(1.0 + 0.5 * SHARE) and recent.due(1.1 + 0.5 * SHARE)
