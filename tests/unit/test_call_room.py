"""A loop with a call costs the same at every depth of the calls around it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from pocketgpu.call_room import with_room

resource = pytest.importorskip("resource")
CALLS, DEPTHS = 200, 300


def nothing() -> None:
    """Only the call counts."""


def faults() -> int:
    return int(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)


def at_each_depth(depth: int, found: list[int]) -> None:
    """Pages that a loop of calls asks the system for, at this depth and those below it."""
    before = faults()
    for _ in range(CALLS):
        nothing()
    found.append(faults() - before)
    if depth:
        at_each_depth(depth - 1, found)


def most(how: Callable[[Callable[[], None]], None]) -> int:
    """The most pages at any depth, in a thread of its own, which has no frames yet."""
    found: list[int] = []
    thread = threading.Thread(target=how, args=(lambda: at_each_depth(DEPTHS, found),))
    thread.start()
    thread.join()
    assert len(found) == DEPTHS + 1
    return max(found)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the pages of a thread")
def test_no_call_maps_memory_again_and_again() -> None:
    assert most(with_room) < CALLS // 4


@pytest.mark.skipif(sys.platform != "linux" or sys.version_info >= (3, 14), reason="known of 3.11 to 3.13 on Linux")
def test_without_room_there_is_a_depth_where_each_call_does() -> None:
    assert most(lambda function: function()) >= CALLS


def test_what_is_called_gives_its_result_and_its_errors() -> None:
    assert with_room(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)
