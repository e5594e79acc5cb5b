"""Answers of a player to programs of the system that ask for one and wait, such as the keyboard.

    answers = Answers(events)
    answers.given.append("hello")  # for the next one that asks
    answers.given.append(None)     # cancelled
    answers.next("the keyboard")   # "hello"

An answer of a script comes at its frame; the program that asked waits until then. If none is going to come, the answer
is None, and an event says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pocketgpu.events import EventLog


class Answers:
    """given: answers beside those of a script; None cancels. scripted: those of a script that have come. later: says
    whether the script has further ones."""

    def __init__(self, events: EventLog) -> None:
        self.given: list[str | None] = []
        self.scripted: deque[str | None] = deque()
        self.later: Callable[[], bool] | None = None
        self._used = 0
        self._events = events

    def __repr__(self) -> str:
        return f"<Answers: {len(self.given)} given, {len(self.scripted)} scripted>"

    def tell(self, text: str) -> None:
        """Report something about a program that asks."""
        self._events.report("warning", "guest.applet", text)

    @property
    def must_wait(self) -> bool:
        """Whether the next answer has not come, but is going to."""
        missing = not self.scripted and self._used >= len(self.given)
        return missing and self.later is not None and self.later()

    def next(self, who: str) -> str | None:
        """The next answer. who: asks."""
        if self.scripted:
            return self.scripted.popleft()
        if self._used < len(self.given):
            self._used += 1
            return self.given[self._used - 1]
        self.tell(f"{who} found no answer in the script and was cancelled")
        return None
