"""Threads of a guest and which of them runs: the best priority, equals in the order in which they became ready.

There are no time slices: a thread runs until it waits, yields, ends, or a better one is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pocketgpu.guests.kernel.objects import Waitable
from pocketgpu.guests.kernel.timeline import Due


class State(Enum):
    """What a thread does."""

    READY = "ready"
    WAITING = "waiting"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Wait:
    """What a thread waits for.

    objects: with `all`, for all of them at once, else for the first that is there; none for a sleep or an address.
    order: waits that began earlier come first among equal priorities. due: its end by time, if it has one. woken:
    called with the index of the object, or None after a timeout.
    """

    objects: Sequence[Waitable]
    all: bool
    order: int
    woken: Callable[[Thread, int | None], None]
    due: Due | None = None
    address: int | None = None

    @property
    def text(self) -> str:
        """What for, in words: "the word at 0x00102000"."""
        if self.address is not None:
            return f"the word at {self.address:#010x}"
        if not self.objects:
            return "a time"
        return (" and " if self.all else " or ").join(repr(one).strip("<>") for one in self.objects[:4])


class Thread(Waitable):
    """A thread, which others can wait for. priority: lower numbers are better. tls: address of its thread-local
    storage. registers: the first registers at its last call. answer: what they will be when it goes on. context: the
    processor's own."""

    kind = "thread"

    def __init__(self, number: int, priority: int, tls: int) -> None:
        super().__init__()
        self.number, self.priority, self.tls = number, priority, tls
        self.state = State.READY
        self.order = 0
        self.wait: Wait | None = None
        self.registers: list[int] = [0] * 8
        self.answer: dict[int, int] = {}
        self.executed = 0
        self.context: Any = None

    def __repr__(self) -> str:
        return f"<Thread {self.number}: {self.state.value}, priority {self.priority:#x}>"

    def signalled(self, thread: Thread) -> bool:
        return self.state is State.ENDED

    def taken(self, thread: Thread) -> None:
        """An ended thread stays so for everybody who asks."""


class Scheduler:
    """Decides who runs."""

    def __init__(self) -> None:
        self.threads: list[Thread] = []
        self._order = 0

    def __repr__(self) -> str:
        return f"<Scheduler: {len(self.threads)} threads>"

    def next_order(self) -> int:
        """A number that grows, for what must keep its order."""
        self._order += 1
        return self._order

    def add(self, thread: Thread) -> None:
        """A new thread, ready."""
        self.threads.append(thread)
        self.make_ready(thread)

    def make_ready(self, thread: Thread) -> None:
        """The thread can run again, after its equals."""
        thread.state, thread.wait = State.READY, None
        thread.order = self.next_order()

    def remove(self, thread: Thread) -> None:
        """The thread has ended."""
        thread.state = State.ENDED
        self.threads.remove(thread)

    def best(self) -> Thread | None:
        """Who runs now."""
        ready = [one for one in self.threads if one.state is State.READY]
        return min(ready, key=_rank) if ready else None


def _rank(thread: Thread) -> tuple[int, int]:
    return thread.priority, thread.order
