"""Objects of a kernel that threads wait for: events, mutexes, semaphores, timers.

Waiting has two sides. `signalled(thread)` tells whether a thread gets through now; `taken(thread)` is what its passing
does to the object, such as clearing an event that wakes one thread only.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.kernel.timeline import Due


class KernelObject:
    """What handles name. references: how many handles, and other holders, there are. outside: whether services know it
    too, so that it may be signalled although no thread runs."""

    kind = "object"

    def __init__(self) -> None:
        self.references = 0
        self.outside = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def closed(self) -> None:
        """The last handle is gone."""


class Waitable(KernelObject):
    """What threads can wait for. waiters: those who do."""

    def __init__(self) -> None:
        super().__init__()
        self.waiters: list[Thread] = []

    def signalled(self, thread: Thread) -> bool:
        """Whether the thread would not have to wait."""
        raise NotImplementedError

    def taken(self, thread: Thread) -> None:
        """The thread got through."""
        raise NotImplementedError


class Reset(IntEnum):
    """How long an event or timer stays signalled."""

    ONE_SHOT = 0  # until it has let one thread through
    STICKY = 1  # until it is cleared
    PULSE = 2  # for those who wait at that moment


class Event(Waitable):
    """An event. name: for messages."""

    kind = "event"

    def __init__(self, reset: Reset, name: str = "") -> None:
        super().__init__()
        self.reset, self.name, self.on = reset, name, False

    def __repr__(self) -> str:
        return f"<Event {self.name or self.reset.name.lower()}: {'on' if self.on else 'off'}>"

    def signalled(self, thread: Thread) -> bool:
        return self.on

    def taken(self, thread: Thread) -> None:
        if self.reset is Reset.ONE_SHOT:
            self.on = False


class Timer(Event):
    """An event that time signals. interval: ticks between repetitions, 0 for none."""

    kind = "timer"

    def __init__(self, reset: Reset) -> None:
        super().__init__(reset)
        self.interval = 0
        self.due: Due | None = None

    def closed(self) -> None:
        """Nobody can wait for it any more, so it does not fire again."""
        if self.due is not None:
            self.due.cancelled = True
            self.due = None


class Mutex(Waitable):
    """A lock that its owner may take several times."""

    kind = "mutex"

    def __init__(self, owner: Thread | None = None) -> None:
        super().__init__()
        self.owner, self.depth = owner, int(owner is not None)

    def __repr__(self) -> str:
        return f"<Mutex: {f'thread {self.owner.number}, {self.depth} deep' if self.owner else 'free'}>"

    def signalled(self, thread: Thread) -> bool:
        return self.owner is None or self.owner is thread

    def taken(self, thread: Thread) -> None:
        self.owner = thread
        self.depth += 1

    def release(self) -> bool:
        """Give it back once; whether it is free now."""
        self.depth -= 1
        if self.depth == 0:
            self.owner = None
        return self.owner is None


class Semaphore(Waitable):
    """A count that threads take from. limit: its largest value."""

    kind = "semaphore"

    def __init__(self, count: int, limit: int) -> None:
        super().__init__()
        self.count, self.limit = count, limit

    def __repr__(self) -> str:
        return f"<Semaphore: {self.count} of {self.limit}>"

    def signalled(self, thread: Thread) -> bool:
        return self.count > 0

    def taken(self, thread: Thread) -> None:
        self.count -= 1
