"""Which events write and read bytes of memory, the same for both consoles.

    for event in run.who_reads(0x18000000, 4, since="f0/d3"):
        print(event)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.model.inspection import Inspection


class Bytes(Protocol):
    """Bytes of memory that events are asked about."""

    def written_by(self, event: Event) -> bool:
        """Whether an event writes, or may write, any of them."""
        ...

    def read_by(self, event: Event) -> bool:
        """Whether an event reads, or may read, any of them."""
        ...


class BytesAt:
    """Bytes at an address that means the same in the whole run."""

    def __init__(self, place: Range) -> None:
        self._place = place

    def written_by(self, event: Event) -> bool:
        """See `Bytes`."""
        return any(map(self._place.overlaps, event.writes))

    def read_by(self, event: Event) -> bool:
        """See `Bytes`."""
        return any(map(self._place.overlaps, event.reads))


@dataclass(frozen=True, repr=False)
class Contacts(Displayed):
    """What happens to bytes around an event.

    place: the bytes. written: the last event up to that one that wrote, or may have written, any of them. next: the
    first event after it that does. reads: events that read any of them, after `written` and not after `next`. more:
    how many reads are left out. until: the last frame that was looked at.
    """

    place: Range
    written: Event | None
    next: Event | None
    reads: tuple[Event, ...]
    more: int
    until: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "place": self.place.to_json(), "written": named(self.written), "next": named(self.next),
            "reads": [named(one) for one in self.reads], "more": self.more, "until": self.until,
        }  # fmt: skip

    def __str__(self) -> str:
        reads = counted(len(self.reads) + self.more, "read")
        return f"{self.place}: written by {self.written or 'nothing'}; {reads}; then by {self.next or 'nothing'}"


def named(event: Event | None) -> dict[str, Any] | None:
    """An event in short, as plain data."""
    if event is None:
        return None
    return {"address": str(event.address), "event": str(event.by_number), "kind": event.kind, "title": event.title}


def between(
    run: Inspection, since: Event | None = None, before: Event | None = None, until: int | None = None
) -> Iterator[Event]:
    """The events after one and before another, in order; without those from the first on, or to the end of frame
    `until`, or of the run."""
    first = 0 if since is None else since.frame
    end = run.frame_count - 1 + run.has_rest
    last = before.frame if before is not None else end if until is None else min(until, end)
    for frame in range(first, last + 1):
        for event in run.events(frame):
            if since is not None and frame == since.frame and event.number <= since.number:
                continue
            if before is not None and frame == before.frame and event.number >= before.number:
                return
            yield event


def contacts_of(run: Inspection, place: Range, at: Event | None, written: Event | None, until: int, most: int,
                bytes_: Bytes) -> Contacts:  # fmt: skip
    """What happens to bytes after `written`: reads up to the first write after `at`."""
    after = (-1, -1) if at is None else (at.frame, at.number)
    reads: list[Event] = []
    more, following = 0, None
    for event in between(run, written, until=until):
        if bytes_.read_by(event):
            if len(reads) < most:
                reads.append(event)
            else:
                more += 1
        if (event.frame, event.number) > after and bytes_.written_by(event):
            following = event
            break
    return Contacts(place, written, following, tuple(reads), more, until)


def any_overlap(spots: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> bool:
    """Whether any range (start, size) of one list has a byte of one of the other."""
    return any(at < start + length and start < at + size for at, size in spots for start, length in others)


__all__ = ["Bytes", "BytesAt", "Contacts", "any_overlap", "between", "contacts_of", "named"]
