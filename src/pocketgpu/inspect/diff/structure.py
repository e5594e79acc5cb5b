"""Differences of the commands of two runs: events that only one has, memory, facts, command words, registers.

A register that differs once differs in all later draws, too. It is reported where the difference begins, and again only
if the difference changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.diff.alignment import Pair, align
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.diff.sides import Sides
from pocketgpu.inspect.model.event import Event, Words


class Structure:
    """Compares frame after frame. Differences of earlier frames are known in later ones."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.differing: list[bool] = []
        """Of each pair of the last frame: whether registers differ there, also where the difference began earlier."""

    def frame(self, mine: Sequence[Event], others: Sequence[Event]) -> tuple[list[Pair], list[Difference]]:
        """The pairs of a frame's events, and what differs."""
        self.sides.begin(mine, others)
        keys = [self.sides.keys(side, events) for side, events in enumerate((mine, others))]
        pairs = align(*keys)
        found: list[Difference] = []
        self.differing = []
        behind_gap = False
        for i, j in pairs:
            if i is None or j is None:
                (event,) = (events[n] for events, n in ((mine, i), (others, j)) if n is not None)
                text = f"only in {'A' if j is None else 'B'}: {event.title}"
                first, second = (event.address if side is None else None for side in (j, i))
                found.append(Difference("events", first, second, text, {"kind": event.kind}))
            elif keys[0][i][0] != keys[1][j][0] or self.sides.sees_state:
                same = keys[0][i][0] == keys[1][j][0]
                # After a draw that the other run lacks, other commands lead to the same state.
                if behind_gap and keys[0][i][1] == keys[1][j][1] and mine[i].facts.get("kind") != "immediate":
                    same = True
                found += self._pair(mine[i], others[j], same)
            self.differing.append(i is not None and j is not None and self.sides.differing)
            behind_gap = i is None or j is None
        return pairs, _explained(found)

    # -- one pair -----------------------------------------------------------------------------------------------------
    def _pair(self, a: Event, b: Event, same: bool) -> Iterator[Difference]:
        compared = self.sides.pair(a, b, same)
        changes = compared.changes
        if same and not changes:
            return
        command = None
        if not same and a.words is not None:
            command = self._command(a.words, b.words, bool(changes), self.sides.numbers(a))
        if not changes and command is not None:
            changes = self.sides.sought(a, b)
        if compared.memory is not None:
            yield compared.memory
        if compared.explained:
            return
        for n, one in enumerate(changes):
            detail = {"change": one.to_json()} | ({"command": command} if command is not None and not n else {})
            yield Difference("register", a.address, b.address, str(one), detail)
        if command is not None and not changes:
            text = f"word {command['word']} of the commands: {command['a'] or 'none'}, not {command['b'] or 'none'}"
            text += f" ({command['register']})" if command.get("register") else ""
            yield Difference("command", a.address, b.address, text, {"kind": a.kind, "command": command})

    def _command(
        self, a: Words, b: Words | None, reported: bool, numbers: NDArray[Any]
    ) -> dict[str, Any] | None:  # fmt: skip
        """The first word in which commands differ. reported: a consequence was reported already; if not, words for
        registers that are known to differ are ignored. numbers: register or method of each of A's words, -1: not
        known."""
        if b is None:
            return None
        shorter = min(len(a.values), len(b.values))
        wrong = np.flatnonzero(a.values[:shorter] != b.values[:shorter])
        if len(a.values) != len(b.values):
            if not reported and self.sides.differing:
                return None
            wrong = np.append(wrong, shorter)
        elif not reported:
            wrong = wrong[[not self.sides.is_known(int(n)) for n in numbers[wrong]]]
        if not len(wrong):
            return None
        place = int(wrong[0])
        found: dict[str, Any] = {"word": place}
        for side, words in (("a", a), ("b", b)):
            there = place < len(words.values)
            found[side] = f"{int(words.values[place]):#010x}" if there else None
            found[f"{side}_memory"] = _memory_of(words, place)
        number = int(numbers[place]) if place < len(numbers) else -1
        if number >= 0:
            found["register"] = self.sides.name(number)
        return found


def _memory_of(words: Words, place: int) -> str | None:
    """The address of a word."""
    rest = 4 * place
    for span in words.spans:
        if rest < span.size:
            return f"{span.address + rest:#010x}"
        rest -= span.size
    return None


def _explained(found: list[Difference]) -> list[Difference]:
    """Leave out differences of whole lists, if anything else differs and so explains them."""
    others = [one for one in found if one.detail.get("kind") != "list" or one.level == "events"]
    return others or found
