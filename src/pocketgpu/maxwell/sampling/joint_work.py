"""Work that is done by the thread that holds a lock, and by those that wait for the lock.

joint = JointWork()
with joint.waiting_for(lock):         # a thread that must wait does pieces meanwhile
    joint.run(pieces)                 # the one that holds the lock does pieces, too, and returns when all are done
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Piece = Callable[[], object]
_GLANCE = 0.0002
"""Seconds after which a thread that waits looks for pieces."""


class JointWork:
    """Pieces of work; only the thread that holds the lock brings some."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._state = threading.Condition()
        self._busy = 0
        self._errors: list[BaseException] = []

    def run(self, pieces: Sequence[Piece]) -> None:
        """Do pieces, in any order, some of them by threads that wait. Raises an error of one of them."""
        self._pieces.extend(pieces)
        while self._help():
            pass
        with self._state:
            self._state.wait_for(lambda: not self._busy)
        if self._errors:
            errors, self._errors = self._errors, []
            raise errors[0]

    @contextmanager
    def waiting_for(self, lock: Any) -> Iterator[None]:
        """Hold a lock; do pieces until it is free."""
        while not lock.acquire(timeout=_GLANCE):
            while self._help():
                pass
        try:
            yield
        finally:
            lock.release()

    def _help(self) -> bool:
        """Do a piece; False if there is none."""
        with self._state:
            if not self._pieces:
                return False
            piece = self._pieces.popleft()
            self._busy += 1
        try:
            piece()
        except BaseException as error:
            self._errors.append(error)
        finally:
            with self._state:
                self._busy -= 1
                self._state.notify_all()
        return True


__all__ = ["JointWork"]
