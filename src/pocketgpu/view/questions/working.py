"""How far a question is that takes long, and whether it is to be given up.

    working.tell(120, 600)       # by the question, on the machine's thread
    working.give_up()            # by another request, on any thread
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from pocketgpu.errors import UsageError

EVERY: Final = 0.1
"""Seconds between two times that listeners are told."""
Listener = Callable[[int, int], None]
"""Called on the machine's thread, with what is done and what there is to do."""


class Working:
    """The one question that takes long, if there is one. It belongs to the machine's thread; `give_up` may be called on
    any."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self._open = self._unwanted = False
        self._told = 0.0

    def __repr__(self) -> str:
        return f"<something long is {'being done' if self._open else 'not being done'}>"

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Something long is done inside, which can be given up."""
        self._open, self._unwanted, self._told = True, False, 0.0
        try:
            yield
        finally:
            self._open = False

    def tell(self, done: int, of: int) -> None:
        """So much is done.

        :raises UsageError: it is to be given up.
        """
        if self._unwanted:
            raise UsageError("it was given up")
        now = monotonic()
        if now - self._told >= EVERY:
            self._told = now
            for listener in tuple(self.listeners):
                listener(done, of)

    def give_up(self) -> bool:
        """Have what is being done given up; returns whether anything is."""
        self._unwanted = self._open
        return self._open


__all__ = ["EVERY", "Working"]
