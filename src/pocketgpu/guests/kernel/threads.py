"""Threads of a guest and which of them runs: the best priority, equals in the order in which they became ready.

There are no time slices: a thread runs until it waits, yields, ends, or a better one is ready. Threads of different
cores take turns, as only one can run here: on a console, one may wait in a loop for what the other does.
Each thread has a block of thread-local storage (TLS), a small piece of memory at an address that only it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pocketgpu.guests.kernel.objects import Waitable
from pocketgpu.guests.kernel.timeline import Due

CANCELLED: Final = -1
"""The index of a wait that another thread has ended."""


class State(Enum):
    """What a thread does."""

    NEW = "not started"
    READY = "ready"
    WAITING = "waiting"
    ENDED = "ended"


class Word(Enum):
    """What a word in memory is to those who wait for it."""

    PLAIN = "word"
    MUTEX = "mutex"
    CONDITION = "condition variable"


@dataclass(slots=True, eq=False)
class Wait:
    """What a thread waits for.

    objects: with `all`, for all of them at once, else for the first that is there; none for a sleep or an address.
    order: waits that began earlier come first among equal priorities. due: its end by time, if it has one. woken:
    called with the index of the object, None after a timeout, or CANCELLED. can_cancel: whether another thread may end
    it. address: of the word that it waits for, and word: what that is. mutex: address of the mutex that goes with a
    condition variable; tag: the handle that a mutex is to hold for this thread.
    """

    objects: Sequence[Waitable]
    all: bool
    order: int
    woken: Callable[[Thread, int | None], None]
    due: Due | None = None
    address: int | None = None
    word: Word = Word.PLAIN
    mutex: int = 0
    tag: int = 0
    can_cancel: bool = False

    @property
    def text(self) -> str:
        """What for, in words: "the word at 0x00102000"."""
        if self.address is not None:
            return f"the {self.word.value} at {self.address:#010x}"
        if not self.objects:
            return "a time"
        return (" and " if self.all else " or ").join(repr(one).strip("<>") for one in self.objects[:4])


class Thread(Waitable):
    """A thread, which others can wait for. priority: lower numbers are better. tls: address of its thread-local
    storage. registers: the first registers at its last call. answer: registers as they will be when it goes on, by the
    processor's numbers. paused: it is not to run. cancelled: its next wait ends at once. core, cores: the core that it
    prefers, and a bit for each that it may have; threads that prefer different ones take turns. context: the
    processor's own."""

    kind = "thread"

    def __init__(self, number: int, priority: int, tls: int) -> None:
        super().__init__()
        self.number, self.priority, self.tls = number, priority, tls
        self.state = State.NEW
        self.order = 0
        self.wait: Wait | None = None
        self.registers: list[int] = [0] * 8
        self.answer: dict[int, int] = {}
        self.executed = 0
        self.paused = self.cancelled = False
        self.core, self.cores = 0, 1
        self.context: Any = None

    def __repr__(self) -> str:
        return f"<Thread {self.number}: {self.state.value}, priority {self.priority:#x}>"

    def signalled(self, thread: Thread) -> bool:
        return self.state is State.ENDED

    def taken(self, thread: Thread) -> None:
        """An ended thread stays so for everybody who asks."""


class TlsBlocks:
    """Blocks of thread-local storage. base: address of the first one. size: bytes of each. count: how many."""

    def __init__(self, base: int, size: int, count: int) -> None:
        self.base, self.size = base, size
        self._free = list(range(count))

    def __repr__(self) -> str:
        return f"<TlsBlocks: {len(self._free)} free>"

    @property
    def left(self) -> int:
        """How many are free."""
        return len(self._free)

    def take(self) -> int | None:
        """The address of the first free one; None if there are too many threads."""
        return self.base + self.size * self._free.pop(0) if self._free else None

    def give_back(self, address: int) -> None:
        """A thread needs it no more."""
        self._free.append((address - self.base) // self.size)
        self._free.sort()


class Scheduler:
    """Decides who runs. first_come: whoever is ready first runs until it waits, whatever its priority; one that does
    not have to wait for an object lets the others run, too. turn: ticks that a core has while others want to run."""

    def __init__(self, turn: int, first_come: bool = False) -> None:
        self.threads: list[Thread] = []
        self.turn, self.first_come = turn, first_come
        self._order = 0
        self._turns: dict[int, int] = {}
        self._core = self._since = 0

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

    def give_way(self, thread: Thread) -> None:
        """The thread goes on after its equals."""
        thread.order = self.next_order()

    def best(self) -> Thread | None:
        """Who runs now."""
        found = self._best_of_cores()
        return found[min(found, key=self._turn_of)] if found else None

    def _turn_of(self, core: int) -> tuple[int, int]:
        return self._turns.get(core, 0), core

    def _best_of_cores(self) -> dict[int, Thread]:
        """The best thread of each core that has one."""
        ready = [one for one in self.threads if one.state is State.READY and not one.paused]
        if self.first_come:
            return {0: min(ready, key=_order)} if ready else {}
        found: dict[int, Thread] = {}
        for one in ready:
            other = found.get(one.core)
            if other is None or _rank(one) < _rank(other):
                found[one.core] = one
        return found

    def next(self, now: int) -> tuple[Thread | None, int | None]:
        """Who runs from a tick on, and for how many ticks at most, if other cores want to run."""
        best = None
        for one in self.threads:  # nearly always there are threads of one core
            if one.state is State.READY and not one.paused:
                if best is None:
                    best = one
                elif self.first_come or one.core != best.core:
                    return self._next_of_cores(now)
                elif one.priority < best.priority or (one.priority == best.priority and one.order < best.order):
                    best = one
        return best, None

    def _next_of_cores(self, now: int) -> tuple[Thread | None, int | None]:
        found = self._best_of_cores()
        if self.first_come:
            return found[0], None
        core = min(found, key=self._turn_of)
        if core == self._core and now - self._since >= self.turn:
            self._turns[core] = self.next_order()
            core = min(found, key=self._turn_of)
        if core != self._core:
            self._core, self._since = core, now
        return found[core], max(1, self.turn - (now - self._since))


def _order(thread: Thread) -> int:
    return thread.order


def _rank(thread: Thread) -> tuple[int, int]:
    return thread.priority, thread.order
