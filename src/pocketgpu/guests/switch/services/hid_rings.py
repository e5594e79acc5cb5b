"""Rings of hid's shared memory: the last states of a controller, the touch screen and so on.

    ring = Ring(view, place("npad", "full_key"), "pad_state")
    state = HID.make("pad_state")
    state["buttons"] = BUTTONS["A"]
    ring.add(state)

Each entry has its number twice, before the state and in it, so that a program notices that it was overwritten while it
was read. Source: libnx's hid.h.
"""

from __future__ import annotations

import struct
from typing import Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.hid import ENTRIES, HID

_NUMBER: Final = struct.Struct("<Q")


class Ring:
    """One ring. view: the shared memory. at: where it begins. record: of its states. count: states so far. full: it
    tells from its start that all entries are valid."""

    def __init__(self, view: memoryview, at: int, record: str, *, full: bool = False) -> None:
        self._view, self._at, self._full = view, at, full
        self._head = HID.make("ring")
        self._size = _NUMBER.size + HID.size(record)
        self.record, self.count = record, 0
        self._store()

    def __repr__(self) -> str:
        return f"<Ring {self.record}: {self.count} states>"

    def _store(self) -> None:
        self._view[self._at : self._at + len(self._head.data)] = self._head.data

    def add(self, state: Record) -> None:
        """Store the next state."""
        self.count += 1
        index = self.count % ENTRIES
        state["sampling"] = self.count
        at = self._at + len(self._head.data) + index * self._size
        self._view[at : at + self._size] = _NUMBER.pack(self.count) + state.data
        self._head["tail"] = index
        self._head["count"] = ENTRIES - 1 if self._full else min(self.count, ENTRIES - 1)
        self._store()
