"""What a work finds in a capture: the fields of its row, as plain data, with the files of its pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pocketgpu.errors import PocketGPUError
from pocketgpu.pictures import to_png

if TYPE_CHECKING:
    from pocketgpu.capture import Capture, Frame
    from pocketgpu.events import Event

MOST_EVENTS = 200
"""Most different events of a row; a guest program can cause any number."""


class Found:
    """Filled by a work.

    data: fields of the row, by name. files: PNG files of pictures, by the SHA-256 of their pixels. milliseconds: of
    each frame, if the work measures it.
    """

    def __init__(self) -> None:
        self.data: dict[str, Any] = {"state": "done", "pictures": [], "events": [], "findings": [], "counts": {}}
        self.files: dict[str, bytes] = {}
        self.milliseconds: list[float] = []
        self._events: dict[tuple[str, str], dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"<Found: {self.data['state']}>"

    def opened(self, capture: Capture) -> None:
        """Note what is known of every capture."""
        self.data |= {"console": capture.console, "frames": capture.frame_count}
        self.add_events(capture.warnings)

    def add_events(self, events: Iterable[Event]) -> None:
        """Note warnings of a replay; equal ones become one entry with the first place."""
        for event in events:
            known = self._events.get((event.id, event.message))
            if known is not None:
                known["count"] += int(event.count)
            elif len(self._events) < MOST_EVENTS:
                one = {"id": event.id, "message": event.message, "at": event.at, "count": int(event.count)}
                self._events[event.id, event.message] = one
                self.data["events"].append(one)

    def add_frame(self, frame: Frame) -> None:
        """Note the pictures, counts and warnings of a frame."""
        for name, screen in frame.screens.items():
            digest = hashlib.sha256(screen.array.tobytes()).hexdigest()
            if digest not in self.files:
                self.files[digest] = to_png(screen.array)
            self.data["pictures"].append(
                {"frame": frame.index, "screen": name, "width": screen.width, "height": screen.height, "sha256": digest}
            )
        self.add_counts(frame)
        self.milliseconds.append(round(frame.milliseconds, 4))

    def add_counts(self, frame: Frame) -> None:
        """Note the counts and warnings of a frame."""
        counts = self.data["counts"]
        for name, count in frame.counts.items():
            counts[name] = counts.get(name, 0) + int(count)
        self.add_events(frame.warnings)

    def refused(self, error: PocketGPUError) -> None:
        """Note an error of the capture or the request."""
        texts = {"message": error.message, "location": error.location or "", "hint": error.hint or ""}
        self.data |= {"state": "refused"} | texts

    def stopped(self, state: str, message: str) -> None:
        """Note why the work could not be done."""
        self.data |= {"state": state, "message": message}


__all__ = ["Found"]


def __dir__() -> list[str]:
    return [*__all__]
