"""The rule by which evidence decides a choice, and how certain that makes the default.

Evidence has four ranks: measured on a console, shown by programs that run on consoles, documented, and done by
emulators (which their pictures show, too). For each value the independent sources of each rank are counted; sources of
one family count once, and so do the answers of one console. Values are compared from the strongest rank down. The
values with the most sources of a rank go on to the next one, the others are out. The rank that leaves one value
decides, and the default is as certain as that rank. If no rank leaves one value, the choice is undecided. So two
documents that disagree leave two values, and one emulator that has one of the two decides: the certainty is
"one emulator".

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


    @property
    def explained(self) -> str:
        """What the word means, for a legend."""
        return _LEGEND.get(self, _SAID[self])


_LEGEND: Final = {
    Certainty.DOCUMENTED: "a document or a header says so",
    Certainty.GUESSED: "an analogy, or the plain reading of a name",
    Certainty.UNDECIDED: "the evidence for several values has the same weight",
    Certainty.DEPARTS: "the evidence speaks for another value; the default has a reason",
    Certainty.NOT_DOUBTED: "a what-if or a setting",
}
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


@dataclass(frozen=True, slots=True)
class Step:
    """What one rank does: who speaks for which of the values that were left, and which of them it leaves."""

    rank: str
    speak: tuple[tuple[str, tuple[str, ...]], ...]
    left: tuple[str, ...]

    def __str__(self) -> str:
        said = ", ".join(f"{value} ({', '.join(who)})" for value, who in self.speak if who)
        silent = [value for value, who in self.speak if not who]
        return f"{self.rank}: {said}" + (f"; none for {', '.join(silent)}" if silent else "")


@dataclass(frozen=True, slots=True)
class Decision:
    """What evidence decides.

    values: the value that it decides, or several of equal weight; empty without any evidence. certainty: by which rank.
    against: the strongest kind of evidence for another value, if there is any. steps: the ranks in which a value that
    was left has a source, up to the one that decides.
    """

    values: tuple[str, ...]
    certainty: Certainty
    against: Kind | None
    steps: tuple[Step, ...] = ()

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
    left, steps, count = choice.values, [], 0
    for name, kinds in zip(_OF_RANK, RANKS, strict=True):
        speak = {value: [row for row in rows if row.value == value and row.kind in kinds] for value in left}
        if not any(speak.values()):
            continue
        counts = {value: _independent(found) for value, found in speak.items()}
        count = max(counts.values())
        left = tuple(value for value in left if counts[value] == count)
        said = tuple((value, tuple(dict.fromkeys(_who(row) for row in found))) for value, found in speak.items())
        steps.append(Step(name, said, left))
        if len(left) == 1:
            break
    values = left if steps else ()
    against = min((row.kind for row in rows if row.value not in values), key=[*Kind].index, default=None)
    if choice.what_if:
        return Decision((choice.default,), Certainty.NOT_DOUBTED, against)
    return Decision(values, _certain(steps, count), against, tuple(steps))


def _certain(steps: Sequence[Step], count: int) -> Certainty:
    """How certain the last step makes what is left; count: the sources of a value in it."""
    if not steps:
        return Certainty.GUESSED
    last = steps[-1]
    if len(last.left) > 1:
        return Certainty.GUESSED if steps[0].rank == Certainty.GUESSED else Certainty.UNDECIDED
    if last.rank == Certainty.EMULATORS and count == 1:
        return Certainty.ONE_EMULATOR
    return Certainty(last.rank)


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


def _independent(rows: Iterable[Evidence]) -> int:
    """How many independent sources some rows have."""
    return sum({row.origin: row.who.independent for row in rows}.values())


def _who(row: Evidence) -> str:
    return row.console or row.who.name


@cache
def _reasons() -> dict[str, str]:
    return {name: text for name, text in table_rows("reasons.tsv") if name in CHOICES}


__all__ = ["RANKS", "Certainty", "Decision", "Step", "certainty", "decided", "decision", "reason"]


def __dir__() -> list[str]:
    return [*__all__]
