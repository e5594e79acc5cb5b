"""Emulated time: CPU cycles, and what comes due in them.

Time moves only when somebody asks for it, and jumps from one thing that is due to the next. Sources say when they are
due. Watchers are asked before each step what has changed for them, and told after it, because memory and registers
change only in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pocketgpu.errors import UsageError


class ClockSource(Protocol):
    """Something that happens at `due` (None: nothing is planned). `run` must move `due` on, past `now`."""

    @property
    def due(self) -> int | None: ...
    def run(self, now: int) -> None: ...


class Watcher(Protocol):
    """Something that goes on all the time."""

    def settle(self, now: int) -> None:
        """Time is about to go on from `now`."""

    def pass_to(self, now: int) -> None:
        """Time went on to `now`."""


class Clock:
    """`now` counts CPU cycles from 0. sources run in their order when they are due at once."""

    def __init__(self) -> None:
        self.now = 0
        self.sources: list[ClockSource] = []
        self.watchers: list[Watcher] = []
        self._running = False

    @property
    def running(self) -> bool:
        """Whether something that came due is at work, so that time stands still."""
        return self._running

    def _next(self) -> int | None:
        for watcher in self.watchers:
            watcher.settle(self.now)
        return min((due for source in self.sources if (due := source.due) is not None), default=None)

    def advance_to(self, target: int, stop: Callable[[], bool] | None = None) -> None:
        """Let everything happen that is due up to `target`, or until `stop` says so after a moment's happenings.

        :raises UsageError: called from inside of what happens (a listener of interrupts).
        """
        if self._running:
            raise UsageError(
                "time cannot be moved on while an interrupt is told", hint="Note it, and go on when the call returned."
            )
        self._running = True
        try:
            while True:
                due = self._next()
                if due is None or due > target:
                    break
                self._reach(max(self.now, due))
                for source in self.sources:
                    moment = source.due
                    if moment is not None and moment <= self.now:
                        source.run(self.now)
                if stop is not None and stop():
                    return
            self._reach(max(self.now, target))
        finally:
            self._running = False

    def _reach(self, now: int) -> None:
        self.now = now
        for watcher in self.watchers:
            watcher.pass_to(now)
