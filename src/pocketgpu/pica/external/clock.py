"""Emulated time: CPU cycles, and the events scheduled in them.

Time advances only on request, and jumps from one due event to the next. Sources report when they are due. Watchers are
called before and after each step, because memory and registers change only between steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pocketgpu.errors import UsageError


class ClockSource(Protocol):
    """Something that happens at cycle `due` (None: nothing is scheduled). `run` must set a `due` after `now`, or
    None."""

    @property
    def due(self) -> int | None: ...
    def run(self, now: int) -> None: ...


class Watcher(Protocol):
    """Something that runs continuously."""

    def settle(self, now: int) -> None:
        """Called before time advances from `now`."""

    def pass_to(self, now: int) -> None:
        """Called after time advanced to `now`."""


class Clock:
    """`now` counts CPU cycles from 0. Sources that are due at the same time run in their order."""

    def __init__(self) -> None:
        self.now = 0
        self.sources: list[ClockSource] = []
        self.watchers: list[Watcher] = []
        self._running = False

    @property
    def running(self) -> bool:
        """Whether a due source is running, so that time stands still."""
        return self._running

    def _next(self) -> int | None:
        for watcher in self.watchers:
            watcher.settle(self.now)
        return min((due for source in self.sources if (due := source.due) is not None), default=None)

    def advance_to(self, target: int, stop: Callable[[], bool] | None = None) -> None:
        """Run all sources due up to `target`, or until `stop()` is true after the sources of one moment.

        :raises UsageError: called from a source (a listener of interrupts).
        """
        if self._running:
            raise UsageError(
                "time cannot advance while an interrupt is reported", hint="Note it; advance after the call returned."
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
