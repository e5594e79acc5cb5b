"""Threads that wait for a lock do pieces of work of the one that holds it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pocketgpu.maxwell.sampling.joint_work import JointWork


def test_a_thread_that_waits_does_pieces() -> None:
    joint, lock, together = JointWork(), threading.Lock(), threading.Barrier(2, timeout=30)
    found: list[Any] = []

    def piece() -> None:
        together.wait()  # each piece waits for another one, so two threads do them
        found.append(threading.get_ident())

    def waits() -> None:
        with joint.waiting_for(lock):
            found.append("held")

    with joint.waiting_for(lock):
        other = threading.Thread(target=waits)
        other.start()
        joint.run([piece, piece])
        assert len(set(found)) == 2
    other.join(30)
    assert found[2:] == ["held"]


def test_an_error_of_a_piece_is_raised() -> None:
    joint = JointWork()
    done: list[int] = []
    with pytest.raises(ZeroDivisionError):
        joint.run([lambda: 1 // 0, lambda: done.append(1)])
    joint.run([lambda: done.append(2)])
    assert done == [1, 2]
