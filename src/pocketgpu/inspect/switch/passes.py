"""Passes: consecutive events with the same render targets."""

from __future__ import annotations

from pocketgpu.inspect.model.event import Event, Pass
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True)
class TargetKey:
    """Render targets: `text` for people, `addresses` of all targets."""

    text: str
    addresses: tuple[int, ...]


class Passes:
    """The passes of a frame, built event by event. A clear belongs to the pass that draws to the cleared target."""

    def __init__(self, frame: int) -> None:
        self.frame = frame
        self.found: list[Pass] = []
        self._key: TargetKey | None = None

    def add(self, event: Event, key: TargetKey | None) -> None:
        """Add the next event. key: the targets that it draws to or clears, None for other events."""
        same = key is None or self._key is None or key == self._key
        if event.kind == "clear" and key is not None and self._key is not None:
            same = set(key.addresses) <= set(self._key.addresses)
        if not self.found or not same:
            self.found.append(Pass(self.frame, len(self.found), ""))
            self._key = None
        current = self.found[-1]
        if key is not None and (self._key is None or event.kind == "draw"):
            self._key = key
        if event.kind == "draw" and key is not None and not current.target:
            current.target = key.text
        event.pass_ = current.number
        current.events.append(event)
