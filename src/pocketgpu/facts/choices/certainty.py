"""The rule by which evidence decides a choice, and how certain that makes the default.

Evidence has four ranks: measured on a console, shown by programs that run on consoles, documented, and done by
emulators (which their pictures show, too). For each value the independent sources of each rank are counted; sources of
one family count once. Values are compared from the strongest rank down: the first rank in which one value has more
sources than every other decides. If none does, guesses do; if values are still equal, the choice is undecided.

    measured  program  documented  emulators  guess
       1         0         0           1        0     test.stencil_write=any, which is decided by the first rank
       0         0         1           0        0     test.stencil_write=stencil
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import Final

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.evidence import Evidence, Kind, of_choice, table_rows
from pocketgpu.late_dataclass import dataclass


class Certainty(StrEnum):
    """What decides a choice, the most certain first."""

    MEASURED = "measured"
    PROGRAMS = "programs"
    DOCUMENTED = "documented"
    EMULATORS = "emulators"
    """Two or more independent emulators do so."""
    ONE_EMULATOR = "one emulator"
    """One emulator does so, or several with common ancestors."""
    GUESSED = "guessed"
    UNDECIDED = "undecided"
    """The evidence for several values has the same weight, the default's among them."""
    DEPARTS = "departs"
    """The evidence decides another value than the default, which has a reason."""
    NOT_DOUBTED = "not doubted"
    """A what-if or a setting: nobody doubts the default."""

    @property
    def said(self) -> str:
        """What a default is, in a sentence: "measured on a console"."""
        return _SAID[self]


_SAID: Final = {
    Certainty.MEASURED: "measured on a console",
    Certainty.PROGRAMS: "shown by programs that run on consoles",
    Certainty.DOCUMENTED: "documented",
    Certainty.EMULATORS: "what emulators of different origin do",
    Certainty.ONE_EMULATOR: "what one emulator does, or several with common ancestors",
    Certainty.GUESSED: "guessed",
    Certainty.UNDECIDED: "undecided: the evidence for several values has the same weight",
    Certainty.DEPARTS: "not what the evidence decides",
    Certainty.NOT_DOUBTED: "not doubted",
}
RANKS: Final[Sequence[frozenset[Kind]]] = (
    frozenset({Kind.MEASURED}),
    frozenset({Kind.PROGRAM}),
    frozenset({Kind.DOCUMENTED}),
    frozenset({Kind.PICTURE, Kind.EMULATOR}),
    frozenset({Kind.GUESS}),
)
"""The kinds of evidence of each rank, the strongest rank first."""
_OF_RANK: Final = (Certainty.MEASURED, Certainty.PROGRAMS, Certainty.DOCUMENTED, Certainty.EMULATORS, Certainty.GUESSED)
_EMULATORS: Final = _OF_RANK.index(Certainty.EMULATORS)
_GUESSES: Final = _OF_RANK.index(Certainty.GUESSED)


@dataclass(frozen=True, slots=True)
class Decision:
    """What evidence decides.

    values: the value that it decides, or several of equal weight; empty without any evidence. certainty: by which rank.
    against: the strongest kind of evidence for another value, if there is any.
    """

    values: tuple[str, ...]
    certainty: Certainty
    against: Kind | None

    @property
    def value(self) -> str | None:
        """The decided value; None if evidence does not decide."""
        return self.values[0] if len(self.values) == 1 else None


def decision(choice: Choice, further: Iterable[Evidence] = ()) -> Decision:
    """What the evidence for a choice decides.

    :param further: evidence besides the package's own, such as what a console answered; rows of other choices are
        left out.
    """
    rows = _counted((*of_choice(choice.name), *(row for row in further if row.choice == choice.name)))
    weights = {value: _weight([row for row in rows if row.value == value]) for value in choice.values}
    best = max(weights.values())
    values = tuple(value for value in choice.values if weights[value] == best) if any(best) else ()
    others = [row.kind for row in rows if row.value not in values]
    against = min(others, key=[*Kind].index, default=None)
    if choice.what_if:
        return Decision((choice.default,), Certainty.NOT_DOUBTED, against)
    if len(values) != 1:
        return Decision(values, Certainty.UNDECIDED if any(best[:_GUESSES]) else Certainty.GUESSED, against)
    rivals = [weight for value, weight in weights.items() if value not in values]
    rank = min(
        rank for rank, count in enumerate(best)
        if count and all(count > weight[rank] or best[:rank] > weight[:rank] for weight in rivals)
    )  # fmt: skip
    certain = _OF_RANK[rank]
    if rank == _EMULATORS and best[rank] == 1:
        certain = Certainty.ONE_EMULATOR
    return Decision(values, certain, against)


def decided(choice: Choice, further: Iterable[Evidence] = ()) -> str | None:
    """The value that the evidence decides; None if it decides none, or several have the same weight."""
    return decision(choice, further).value


def certainty(choice: Choice, further: Iterable[Evidence] = ()) -> Certainty:
    """How certain the default of a choice is: what decides for it, or that the evidence decides another value."""
    found = decision(choice, further)
    if found.values and choice.default not in found.values:
        return Certainty.DEPARTS
    return found.certainty


def reason(choice: Choice) -> str:
    """Why the default is not, or not only, what the evidence decides; "" where it is."""
    return _reasons().get(choice.name, "")


def _counted(rows: Sequence[Evidence]) -> list[Evidence]:
    """Without the rows of sources that a newer one replaced, where that says something about the choice."""
    names = {row.who.name for row in rows}
    return [row for row in rows if row.who.newer not in names]


def _weight(rows: Sequence[Evidence]) -> tuple[int, ...]:
    """How many independent sources a value has in each rank."""
    weight = []
    for kinds in RANKS:
        families = {row.who.family: row.who.independent for row in rows if row.kind in kinds}
        weight.append(sum(families.values()))
    return tuple(weight)


@cache
def _reasons() -> dict[str, str]:
    return {name: text for name, text in table_rows("reasons.tsv") if name in CHOICES}


__all__ = ["RANKS", "Certainty", "Decision", "certainty", "decided", "decision", "reason"]


def __dir__() -> list[str]:
    return [*__all__]
