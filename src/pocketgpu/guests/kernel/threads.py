"""Threads of a guest and which of them runs: the best priority, equals in the order in which they became ready.

A thread runs until it waits, yields, ends, or a better one is ready; a console may have one priority whose threads get
slices of time. Threads of different cores take turns, as only one can run here: on a console, one may wait in a loop
for what the other does. A core without a thread takes one that it may have and that another core leaves waiting.
Each thread has a block of thread-local storage (TLS), a small piece of memory at an address that only it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from pocketgpu.guests.kernel.objects import Waitable
from pocketgpu.guests.kernel.timeline import Due
from pocketgpu.late_dataclass import dataclass

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
    condition variable; tag: the handle that a mutex is to hold for this thread; owner: the thread that has that mutex.
    what: for messages, where nothing else tells what it is for.
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
    owner: Thread | None = None
    can_cancel: bool = False
    what: str = ""

    @property
    def text(self) -> str:
        """What for, in words: "the word at 0x00102000"."""
        if self.address is not None:
            return f"the {self.word.value} at {self.address:#010x}"
        if not self.objects:
            return self.what or "a time"
        return (" and " if self.all else " or ").join(repr(one).strip("<>") for one in self.objects[:4])


class Thread(Waitable):
    """A thread, which others can wait for. priority: lower numbers are better. own_priority: the one that the program
    gave it; `priority` is better while others wait for what it has. tls: address of its thread-local storage.
    registers: the first registers at its last call. answer: registers as they will be when it goes on, by the
    processor's numbers. paused: it is not to run. cancelled: its next wait ends at once. core: where it runs.
    preferred, cores: the core that it prefers, and a bit for each that it may have. away: the tick until which it lets
    all others of its core run, while some of them can. context: the processor's own."""

    kind = "thread"

    def __init__(self, number: int, priority: int, tls: int) -> None:
        super().__init__()
        self.number, self.priority, self.own_priority, self.tls = number, priority, priority, tls
        self.state = State.NEW
        self.order = 0
        self.wait: Wait | None = None
        self.registers: list[int] = [0] * 8
        self.answer: dict[int, int] = {}
        self.executed = 0
        self.paused = self.cancelled = False
        self.core, self.preferred, self.cores = 0, 0, 1
        self.away = 0
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
    not have to wait for an object lets the others run, too. turn: ticks that a core has while others want to run.
    slices: the priority whose threads run for a number of ticks each, if there is one."""

    def __init__(self, turn: int, first_come: bool = False) -> None:
        self.threads: list[Thread] = []
        self.turn, self.first_come = turn, first_come
        self.slices: tuple[int, int] | None = None
        self._order = 0
        self._turns: dict[int, int] = {}
        self._core = self._since = self._slice_ends = 0

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

    # -- threads that let others run --------------------------------------------------------------------------------
    def give_way(self, thread: Thread) -> None:
        """The thread goes on after its equals."""
        thread.order = self.next_order()

    def give_way_to_cores(self, thread: Thread) -> None:
        """The thread goes on after its equals, also after one that another core leaves waiting; other cores go on."""
        self.give_way(thread)
        ready = [one for one in self._ready() if one is not thread and one.priority <= thread.priority]
        if not any(one.core == thread.core for one in ready):
            running = self._best_of_cores(self._ready(), 0)
            left = [one for one in ready if one.cores >> thread.core & 1 and running[one.core] is not one]
            if left:
                min(left, key=_rank).core = thread.core
        self._end_turn()

    def give_way_to_all(self, thread: Thread, now: int) -> None:
        """For a turn, all others go first, worse ones too."""
        self.give_way(thread)
        thread.away = now + self.turn
        self._end_turn()

    def _end_turn(self) -> None:
        self._since -= self.turn

    # -- who runs ---------------------------------------------------------------------------------------------------
    def _ready(self) -> list[Thread]:
        return [one for one in self.threads if one.state is State.READY and not one.paused]

    def _turn_of(self, core: int) -> tuple[int, int]:
        return self._turns.get(core, 0), core

    @staticmethod
    def _best_of_cores(ready: Sequence[Thread], now: int) -> dict[int, Thread]:
        """The best thread of each core that has one; cores without one take from others what those leave waiting."""
        found: dict[int, Thread] = {}
        ordered = sorted(ready, key=lambda one: (one.away > now, *_rank(one)))
        for one in ordered:
            found.setdefault(one.core, one)
        for one in ordered:
            if found[one.core] is not one:
                free = [core for core in range(one.cores.bit_length()) if one.cores >> core & 1 and core not in found]
                if free:
                    one.core = free[0]
                    found[one.core] = one
        return found

    def best(self) -> Thread | None:
        """The best thread of the core whose turn is next."""
        ready = self._ready()
        if self.first_come or not ready:
            return min(ready, key=_order, default=None)
        found = self._best_of_cores(ready, 0)
        return found[min(found, key=self._turn_of)]

    def next(self, now: int) -> tuple[Thread | None, int | None]:
        """Who runs from a tick on, and for how many ticks at most, if others want to run."""
        best = None
        for one in self.threads:  # nearly always there are threads of one core
            if one.state is State.READY and not one.paused:
                if best is None:
                    best = one
                elif self.first_come or one.core != best.core or _is_special(one, now) or _is_special(best, now):
                    return self._next_of_cores(now)
                elif one.priority < best.priority or (one.priority == best.priority and one.order < best.order):
                    best = one
        if best is None:
            return None, None
        best.away = 0
        if self.slices is None or best.priority != self.slices[0]:
            return best, None
        return self._sliced(best, now)

    def _next_of_cores(self, now: int) -> tuple[Thread | None, int | None]:
        ready = self._ready()
        if self.first_come:
            return min(ready, key=_order), None
        found = self._best_of_cores(ready, now)
        core = min(found, key=self._turn_of)
        if core == self._core and now - self._since >= self.turn:
            self._turns[core] = self.next_order()
            core = min(found, key=self._turn_of)
        if core != self._core or now - self._since >= self.turn:
            self._core, self._since = core, now
        found[core].away = 0
        best, limit = self._sliced(found[core], now)
        ends = [self._since + self.turn] if len(found) > 1 else []
        ends += [one.away for one in ready if one.core == core and one.away > now]
        ends += [now + limit] if limit is not None else []
        return best, max(1, min(ends) - now) if ends else None

    def _sliced(self, best: Thread, now: int) -> tuple[Thread, int | None]:
        """A thread, or the next one of its equals if its slice is over."""
        if self.slices is None or best.priority != self.slices[0]:
            return best, None
        equals = [one for one in self._ready() if one.core == best.core and one.priority == best.priority]
        if len(equals) < 2:
            return best, None
        if now >= self._slice_ends:
            self._slice_ends = (now // self.slices[1] + 1) * self.slices[1]
            self.give_way(best)
            best = min(equals, key=_order)
        return best, self._slice_ends - now


def _is_special(thread: Thread, now: int) -> bool:
    """Whether it may run elsewhere, or lets worse ones run."""
    return thread.away > now or bool(thread.cores & thread.cores - 1)


def _order(thread: Thread) -> int:
    return thread.order


def _rank(thread: Thread) -> tuple[int, int]:
    return thread.priority, thread.order
