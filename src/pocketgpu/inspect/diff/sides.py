"""Two runs of one console, compared event by event: what any inspection gives. Providers of consoles know more."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.lookup import register_named
from pocketgpu.inspect.diff.alignment import Pair, keys_of
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.model.changes import Change, change, changes_between
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.pictures.comparing import as_pixels
from pocketgpu.late_dataclass import dataclass


@dataclass
class Compared:
    """A pair of events. changes: registers and facts that begin to differ. memory: the first byte that differs, of
    loads. explained: whether that is all there is to say, so that changes and command words are left out."""

    changes: list[Change]
    memory: Difference | None = None
    explained: bool = False


class Sides:
    """Two runs. Methods are called for the events of one frame after the other, in order."""

    missing = "vertices are not compared: these inspections do not have outputs of programs"
    """What cannot be compared, in a sentence; "" if all can."""
    sees_state = False
    """Whether registers of draws are known, so that pairs with equal commands may differ as well."""

    def __init__(self, a: Inspection, b: Inspection) -> None:
        self.a, self.b = a, b
        self._sought = False

    def begin(self, mine: Sequence[Event], others: Sequence[Event]) -> None:
        """Begin a frame; mine, others: its events."""

    def forget(self) -> None:
        """Forget which differences were reported, so that those of earlier frames are reported again."""
        self._sought = False

    def keys(self, side: int, events: Sequence[Event]) -> list[tuple[Hashable, ...]]:
        """Keys of a frame's events (`alignment.keys_of`). side: 0 for A, 1 for B."""
        return [keys_of(event) for event in events]

    # -- one pair -----------------------------------------------------------------------------------------------------
    def pair(self, a: Event, b: Event, same: bool) -> Compared:
        """What differs between two events. same: whether all that is known of them agrees."""
        # Differences in a list are reported at its draws.
        return Compared([] if same or a.kind == "list" else [*_moved(a, b), *facts_between(a.facts, b.facts)])

    def sought(self, a: Event, b: Event) -> list[Change]:
        """Changes of a pair whose command words differ, where `pair` found none. Only for the first pair: the others
        do not matter, and seeking is slow."""
        if self._sought:
            return []
        self._sought = True
        return changes_between(self.a.seek(a.by_number).registers(), self.b.seek(b.by_number).registers())

    # -- command words ------------------------------------------------------------------------------------------------
    def numbers(self, event: Event) -> NDArray[Any]:
        """The register or method that each command word of A's event is for; -1: none, or not known."""
        return np.full(0 if event.words is None else len(event.words.values), -1)

    @property
    def differing(self) -> bool:
        """Whether any register differs at the last pair."""
        return False

    def is_known(self, number: int) -> bool:
        """Whether it is known that a register differs, or a memory that it fills."""
        return False

    def name(self, number: int) -> str:
        """The name of a register or method."""
        return f"register {number:#05x}"

    # -- pixels and vertices -------------------------------------------------------------------------------------------
    def pixel(self, a: Event, b: Event) -> Difference | None:
        """The first pixel of what two events wrote that differs; None if there is none that has a place."""
        if a.draw is None:
            return None
        mine, others = self.a.seek(a.by_number).target, self.b.seek(b.by_number).target
        if mine is None or others is None:
            return None
        first, second = as_pixels(mine), as_pixels(others)
        if first.shape != second.shape:
            text = f"the target has another size: {mine} -> {others}"
            return Difference("pixel", a.address, b.address, text)
        wrong = (first != second).any(axis=-1)
        if not wrong.any():
            return None
        x, y = first_place(wrong)
        values = ["#" + bytes(side[y, x].tolist()).hex() for side in (first, second)]
        detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum()), "x": x, "y": y}
        text = f"({x}, {y}) of the target {values[0]} -> {values[1]}"
        return Difference("pixel", a.address, b.address, text, detail)

    def vertex(
        self, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
    ) -> tuple[Difference | None, str]:
        """The first vertex of a frame that differs, None if there is none; and what could not be compared."""
        return None, ""


def first_place(wrong: NDArray[np.bool_]) -> tuple[int, int]:
    """Column and row of the first True, row by row."""
    row, column = divmod(int(np.flatnonzero(wrong.ravel())[0]), wrong.shape[1])
    return column, row


def _moved(a: Event, b: Event) -> Iterator[Change]:
    """The change of address of bytes that are loaded to another place."""
    if a.kind == "load" and a.writes and b.writes and a.writes[0].address != b.writes[0].address:
        yield Change("load address", a.writes[0].address, b.writes[0].address)


def facts_between(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Facts of two events that differ; registers with their fields."""
    mine, others = _flat(a), _flat(b)
    for name in dict.fromkeys([*mine, *others]):
        one, other = mine.get(name), others.get(name)
        if one == other or name == "digest":
            continue
        was, now = _as_word(one), _as_word(other)
        if was is not None and now is not None and register_named(name) is not None:
            yield change(name, was, now, register_named(name))
        else:
            yield Change(name, 0, 0, ((name, str(one), str(other)),))


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in facts.items():
        found |= _flat(value) if isinstance(value, Mapping) else {name: value}
    return found


def _as_word(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    try:
        return int(value, 16) if isinstance(value, str) and value.startswith("0x") else None
    except ValueError:
        return None


__all__ = ["Compared", "Sides", "facts_between", "first_place"]
