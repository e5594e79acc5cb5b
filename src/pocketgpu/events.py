"""Events: what a guest did wrong or oddly, reported without stopping the machine.

A guest program must not raise exceptions in the host, so odd register values and broken lists become events. Equal
events are merged and the log is bounded, so that a program with an error in every draw costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

EventKind = Literal["warning", "fault", "hang"]

DROPPED_ID = "events.dropped"


def sized(width: float, height: float) -> str:
    """A size in messages: "400x240", but "0 by 180", because 0x180 is a hexadecimal number."""
    across, down = (f"{side:g}" if isinstance(side, float) else str(side) for side in (width, height))
    return f"{across} by {down}" if across == "0" else f"{across}x{down}"


@dataclass(frozen=True)
class Event:
    """One thing that happened `count` times, first at `at` (such as "f0/e12": frame 0, entry 12).

    kind: "warning" (the result may differ from the console), "fault" (the guest did something invalid, which was
    ignored), "hang" (a console would hang here).
    """

    kind: EventKind
    id: str
    message: str
    at: str = ""
    count: int = 1

    def __str__(self) -> str:
        times = f", {counted(self.count, 'time')}" if self.count > 1 else ""
        return f"{self.at + ': ' if self.at else ''}{self.message}{times}  [{self.id}]"

    def __repr__(self) -> str:
        return line_of(self, f"{self.kind} {self.id}: {self.message}")


class EventLog:
    """Events in order of first occurrence; at most `limit` different ones, the rest is counted in one entry."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._events: dict[tuple[str, str, str], Event] = {}

    def report(self, kind: EventKind, id: str, message: str, at: str = "", count: int = 1) -> None:
        """Add `count` occurrences; an equal (kind, id, message) adds to the count and keeps the first place."""
        key = (kind, id, message)
        known = self._events.get(key)
        if known is None and len(self._events) >= self._limit:
            kind, id, message = "warning", DROPPED_ID, "more different events than the log holds"
            key = (kind, id, message)
            known = self._events.get(key)
        if known is None:
            self._events[key] = Event(kind, id, message, at, count)
        else:
            self._events[key] = replace(known, count=known.count + count)

    def __iter__(self) -> Iterator[Event]:
        return iter(list(self._events.values()))

    def __len__(self) -> int:
        return len(self._events)

    def clear(self) -> None:
        self._events.clear()

    def drain(self) -> list[Event]:
        """All events so far; empties the log."""
        events = list(self._events.values())
        self._events.clear()
        return events


__all__ = ["Event"]


def __dir__() -> list[str]:
    return [*__all__]
