"""Emulated time: a clock in ticks, and what is due at which tick.

    timeline = Timeline()
    timeline.after(100, screen.vblank)
    timeline.pass_ticks(100)
    due = timeline.take_due()
    due.action(due.tick)  # screen.vblank(100)

Time is counted in instructions, so a run never depends on the host. Actions are methods of objects that belong to the
guest, so that a copy of the guest has a copy of its timeline.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from pocketgpu.late_dataclass import dataclass

Action: TypeAlias = Callable[[int], None]
"""Called with the tick at which it was due."""

NANOSECONDS = 10**9
START_DATE = 1_767_225_600
"""Seconds from 1970 to the beginning of 2026: the date at which programs of consoles start."""
_FEW = 256
"""Entries that are not worth tidying."""


@dataclass(order=True, slots=True)
class Due:
    """Something at a tick. number: order of being set, which decides between equal ticks. about: the object, if it is
    about one: a timer, a thread that waits."""

    tick: int
    number: int
    action: Action = field(compare=False)
    about: object = field(default=None, compare=False)
    cancelled: bool = field(default=False, compare=False)


class Timeline:
    """The clock of a guest. hertz: ticks in a second."""

    def __init__(self, hertz: int) -> None:
        self.hertz, self.now = hertz, 0
        self._heap: list[Due] = []
        self._tidy_at = _FEW
        self._count = 0

    def __repr__(self) -> str:
        return f"<Timeline: tick {self.now}, {len(self._heap)} due>"

    def __len__(self) -> int:
        return len(self._heap)

    def ticks(self, nanoseconds: int) -> int:
        """Ticks of a span of time, rounded down."""
        return nanoseconds * self.hertz // NANOSECONDS

    def at(self, tick: int, action: Action, about: object = None) -> Due:
        """Call `action` when the clock reaches a tick."""
        due = Due(tick, self._count, action, about)
        self._count += 1
        if len(self._heap) >= self._tidy_at:
            self._tidy()
        heapq.heappush(self._heap, due)
        return due

    def _tidy(self) -> None:
        """Forget what was cancelled, which would stay until its tick: a timer may be set a thousand times a frame."""
        self._heap = [one for one in self._heap if not one.cancelled]
        heapq.heapify(self._heap)
        self._tidy_at = max(_FEW, 2 * len(self._heap))

    def after(self, ticks: int, action: Action, about: object = None) -> Due:
        """Call `action` some ticks from now."""
        return self.at(self.now + ticks, action, about)

    @property
    def next(self) -> int | None:
        """The tick of what is due next."""
        while self._heap and self._heap[0].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0].tick if self._heap else None

    def pass_ticks(self, ticks: int) -> None:
        """Let time pass; what becomes due waits for `take_due`."""
        self.now += ticks

    def take_due(self) -> Due | None:
        """Remove what is due by now, the first of it; None if nothing is."""
        tick = self.next
        return heapq.heappop(self._heap) if tick is not None and tick <= self.now else None

    def skip(self) -> bool:
        """Go on to what is due next, as nobody can run until then; False if nothing is due, ever."""
        tick = self.next
        if tick is None:
            return False
        self.now = max(self.now, tick)
        return True
