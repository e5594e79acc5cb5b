"""Plays scripts: what is held in a frame, and what happens at it.

    player = Player(controls)
    player.add(script)
    player.at(30).keys  # {"A"}
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Iterable
from dataclasses import field

from pocketgpu.guests.input.controls import Controls, Span
from pocketgpu.guests.input.script import KEYS, Statement
from pocketgpu.late_dataclass import dataclass


@dataclass(slots=True)
class Actions:
    """What a player does in one frame. keys: names of those held. values: numbers by control, of those that are held or
    stay somewhere. once: controls that happen now, with their values."""

    keys: set[str] = field(default_factory=set)
    values: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    once: list[tuple[str, tuple[float | str, ...]]] = field(default_factory=list)


class Player:
    """A player with a script. Frames are asked for in order; going back is possible, and slower."""

    def __init__(self, controls: Controls) -> None:
        self.controls = controls
        self._statements: list[Statement] = []
        self._order: list[tuple[int, int]] = []
        self._held: dict[str, int] = {}
        """The number of the last statement of `hold`, by control."""
        self._rewind()

    def __repr__(self) -> str:
        return f"<Player of {self.controls.console}: {len(self._statements)} statements>"

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that was added."""
        return tuple(self._statements)

    def add(self, statements: Iterable[Statement]) -> None:
        """More to do; of what is about the same control, the last counts."""
        for one in statements:
            insort(self._order, (one.first, len(self._statements)))
            self._statements.append(one)
            if one.first <= self._frame:
                self._rewind()

    def hold(self, statement: Statement) -> None:
        """One more thing to do, in frames that were not asked for yet. What is held on is one statement: the last one
        about the control gets a later end if it has the same values and ends just before."""
        number = self._held.get(statement.control)
        if number is not None and statement.last is not None:
            before = self._statements[number]
            if before.values == statement.values and before.last is not None and before.last + 1 == statement.first:
                self._statements[number] = Statement(before.first, statement.last, before.control, before.values)
                return
        self._held[statement.control] = len(self._statements)
        self.add((statement,))

    def _rewind(self) -> None:
        self._next, self._frame = 0, -1
        self._ends: list[tuple[int, int]] = []
        self._active: dict[int, Statement] = {}

    def at(self, frame: int) -> Actions:
        """What is done in a frame, counted from 0."""
        if frame <= self._frame:
            self._rewind()
        self._frame = frame
        starting = []
        while self._next < len(self._order) and self._order[self._next][0] <= frame:
            starting.append(self._order[self._next][1])
            self._next += 1
        for number in starting:
            one = self._statements[number]
            control = self.controls.find(one.control)
            lasting = control is not None and control.span is Span.LASTING
            if lasting:
                self._release(one.control)
            self._active[number] = one
            if one.last is not None and not lasting:
                heapq.heappush(self._ends, (one.last, number))
        while self._ends and self._ends[0][0] < frame:
            number = heapq.heappop(self._ends)[1]
            last = self._statements[number].last
            if last is not None and last >= frame:  # it was prolonged
                heapq.heappush(self._ends, (last, number))
            else:
                del self._active[number]
        return self._actions(frame)

    def _release(self, control: str) -> None:
        """What stayed somewhere is put elsewhere."""
        for number in [number for number, one in self._active.items() if one.control == control]:
            del self._active[number]

    def _actions(self, frame: int) -> Actions:
        actions = Actions()
        for _, one in sorted(self._active.items()):
            control = self.controls.find(one.control)
            if one.control == KEYS:
                actions.keys |= {str(name) for name in one.values}
            elif control is not None and control.span is Span.ONCE:
                if one.first == frame:
                    actions.once.append((one.control, one.values))
            else:
                actions.values[one.control] = one.values
        return actions
