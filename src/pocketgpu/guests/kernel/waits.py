"""Threads that wait, and what wakes them: signals, the end of their time, timers, other threads.

    kernel.wait(thread, [event], woken, nanoseconds=1000)
    kernel.signal(event)  # calls woken(thread, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pocketgpu.guests.kernel.objects import Event, Reset, Timer, Waitable
from pocketgpu.guests.kernel.threads import CANCELLED, Scheduler, State, Thread, Wait, Word
from pocketgpu.guests.kernel.timeline import Due, Timeline
from pocketgpu.late_dataclass import dataclass

SHORTEST_PERIOD: Final = 10_000
"""Nanoseconds between two repetitions of a timer, at least: no console would get much else done either."""
FOREVER: Final = -1
"""A timeout that never comes."""


class Listener(Protocol):
    """Who follows a kernel: recorders, traces, tests."""

    def call_starts(self, thread: Thread, number: int) -> None:
        """A thread makes a supervisor call; its registers are set."""
        ...

    def call_ended(self, thread: Thread, number: int) -> None:
        """The call is done, or the thread waits."""
        ...

    def thread_woken(self, thread: Thread) -> None:
        """A thread that waited is ready."""
        ...

    def event_starts(self, due: Due) -> None:
        """Something that was due is about to happen: a VBlank, the end of a wait, a timer."""
        ...

    def event_ended(self, due: Due) -> None:
        """It has happened."""
        ...


class Waits:
    """The waits of one kernel, which derives from it. time: its clock. scheduler: its threads. listeners: who follows.

    :param by_arrival: whether the one that has waited longest comes first among equal priorities; else the oldest.
    """

    def __init__(self, timeline: Timeline, scheduler: Scheduler, *, by_arrival: bool) -> None:
        self.time, self.scheduler, self._by_arrival = timeline, scheduler, by_arrival
        self.listeners: list[Listener] = []

    def wait(
        self, thread: Thread, objects: Sequence[Waitable], woken: Callable[[Thread, int | None], None], *,
        all: bool = False, nanoseconds: int = FOREVER,
    ) -> bool:  # fmt: skip
        """Let a thread wait for objects; True if it need not. `woken` sets its answer: it gets the object's index (0
        for all of them), None for a timeout, or CANCELLED."""
        if (index := self._through(thread, objects, all)) is not None:
            woken(thread, index)
            if self.scheduler.first_come:
                self.scheduler.give_way(thread)
            return True
        if nanoseconds == 0:
            woken(thread, None)
            return True
        if thread.cancelled:
            thread.cancelled = False
            woken(thread, CANCELLED)
            return True
        wait = self.sleep(thread, nanoseconds, woken, objects, all)
        wait.can_cancel = True
        return False

    def cancel(self, thread: Thread) -> None:
        """End a thread's wait for objects, or its next one that does not end at once."""
        if thread.wait is not None and thread.wait.can_cancel:
            self.resume(thread, CANCELLED)
        else:
            thread.cancelled = True

    @staticmethod
    def _through(thread: Thread, objects: Sequence[Waitable], all: bool) -> int | None:
        if all:
            if objects and not [one for one in objects if not one.signalled(thread)]:
                for one in objects:
                    one.taken(thread)
                return 0
            return None
        for index, one in enumerate(objects):
            if one.signalled(thread):
                one.taken(thread)
                return index
        return None

    def sleep(
        self, thread: Thread, nanoseconds: int, woken: Callable[[Thread, int | None], None],
        objects: Sequence[Waitable] = (), all: bool = False, address: int | None = None,
    ) -> Wait:  # fmt: skip
        """Let a thread wait, for a time or forever."""
        wait = Wait(objects, all, self.scheduler.next_order(), woken, address=address)
        if nanoseconds >= 0:
            wait.due = self.time.after(self.time.ticks(nanoseconds), _Timeout(self, thread, wait).come, thread)
        for one in dict.fromkeys(objects):
            one.waiters.append(thread)
        thread.state, thread.wait = State.WAITING, wait
        return wait

    def resume(self, thread: Thread, index: int | None) -> None:
        """A waiting thread goes on."""
        wait = thread.wait
        assert wait is not None
        if wait.due is not None:
            wait.due.cancelled = True
        for one in dict.fromkeys(wait.objects):
            one.waiters.remove(thread)
        self.scheduler.make_ready(thread)
        if wait.owner is not None:
            self.inherit(wait.owner)
        wait.woken(thread, index)
        for listener in self.listeners:
            listener.thread_woken(thread)

    def wake(self, one: Waitable) -> None:
        """Let those through who wait for an object that may be signalled now."""
        for thread in sorted(one.waiters, key=self._wait_rank):
            wait = thread.wait
            if wait is None or not one.signalled(thread):
                continue
            index = self._through(thread, wait.objects, wait.all)
            if index is not None:
                self.resume(thread, index)

    def signal(self, event: Event) -> None:
        """Signal an event or a timer."""
        event.on = True
        self.wake(event)
        if event.reset is Reset.PULSE:
            event.on = False

    def waiting_for(self, address: int, word: Word = Word.PLAIN) -> list[Thread]:
        """Threads that wait for a word in memory, the best first."""
        found = [
            one for one in self.scheduler.threads
            if one.wait is not None and one.wait.address == address and one.wait.word is word
        ]  # fmt: skip
        return sorted(found, key=self._wait_rank)

    def _wait_rank(self, thread: Thread) -> tuple[int, int]:
        assert thread.wait is not None
        return thread.priority, thread.wait.order if self._by_arrival else thread.number

    def wake_address(self, address: int, count: int) -> None:
        """Let threads go on that wait for a word: `count` of them, the best first, or all if it is negative."""
        waiting = self.waiting_for(address)
        for one in waiting if count < 0 else waiting[:count]:
            self.resume(one, 0)

    # -- priorities -------------------------------------------------------------------------------------------------
    def set_priority(self, thread: Thread, priority: int) -> None:
        """Another priority for a thread, by its program."""
        thread.own_priority = priority
        self.inherit(thread)

    def inherit(self, thread: Thread) -> None:
        """Let a thread have the best priority of its own and of those who wait for a mutex that it has; and so on with
        the one for which it waits itself."""
        for _ in range(len(self.scheduler.threads)):  # threads may wait for each other
            waiting = [one for one in self.scheduler.threads if one.wait is not None and one.wait.owner is thread]
            priority = min([thread.own_priority, *(one.priority for one in waiting)])
            if priority == thread.priority:
                return
            thread.priority = priority
            if thread.wait is None or thread.wait.owner is None:
                return
            thread = thread.wait.owner

    # -- timers -----------------------------------------------------------------------------------------------------
    def set_timer(self, timer: Timer, first: int, interval: int) -> None:
        """Let a timer fire after some nanoseconds, and again after each interval; 0 for once."""
        self.cancel_timer(timer)
        timer.on = False
        timer.interval = self.time.ticks(max(interval, SHORTEST_PERIOD)) if interval > 0 else 0
        timer.due = self.time.after(max(1, self.time.ticks(first)), _Firing(self, timer).come, timer)

    def cancel_timer(self, timer: Timer) -> None:
        """A timer that is not to fire any more."""
        if timer.due is not None:
            timer.due.cancelled = True
            timer.due = None


@dataclass(frozen=True, slots=True, eq=False)
class _Timeout:
    """The end of a wait by time."""

    waits: Waits
    thread: Thread
    wait: Wait

    def come(self, tick: int) -> None:
        if self.thread.wait is self.wait:
            self.waits.resume(self.thread, None)


@dataclass(frozen=True, slots=True, eq=False)
class _Firing:
    """A timer at its time."""

    waits: Waits
    timer: Timer

    def come(self, tick: int) -> None:
        timer = self.timer
        timer.due = self.waits.time.at(tick + timer.interval, self.come, timer) if timer.interval else None
        self.waits.signal(timer)
