"""The fates of a draw's triangles before raster, the same for both consoles: what is drawn, what stops the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import agreed, counted

VERDICTS: Final = {
    "drawn": "inside of the clip volume",
    "clipped": "crosses a plane of the clip volume; the part inside is drawn",
    "culled": "shows the side that is culled",
    "outside": "outside of the clip volume, of the target or of what may be drawn",
    "degenerate": "without area, or between the centres of pixels",
    "broken": "a corner has NaN, or no place",
}
"""What becomes of a triangle, and what that means."""


@dataclass(frozen=True, repr=False)
class Fate(Displayed):
    """verdict: one of VERDICTS. reason: why, for people. register: the register that causes it; "" if none does."""

    verdict: str
    reason: str = ""
    register: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"verdict": self.verdict, "reason": self.reason, "register": self.register}

    def __str__(self) -> str:
        where = f" ({self.register})" if self.register else ""
        return f"{self.verdict}: {self.reason}{where}" if self.reason else self.verdict


@dataclass(frozen=True, eq=False, repr=False)
class Fates(Displayed):
    """The fates of m triangles.

    kinds: the fates that occur. which: (m,) index into `kinds` of each triangle. numbers: (m,) the primitive that it is
    (part of), as addresses count them; -1 where primitives have no numbers.
    """

    kinds: tuple[Fate, ...]
    which: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, triangle: int) -> Fate:
        return self.kinds[int(self.which[triangle])]

    def counts(self) -> dict[str, int]:
        """How many triangles have each verdict, in the order of VERDICTS; those that occur."""
        numbers = np.bincount(self.which, minlength=len(self.kinds)).tolist()
        found = dict.fromkeys(VERDICTS, 0)
        for fate, number in zip(self.kinds, numbers, strict=True):
            found[fate.verdict] += number
        return {verdict: number for verdict, number in found.items() if number}

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.counts().items())
        return f"{counted(len(self), 'triangle')}: {counts or 'none'}"


class FateTable:
    """Fates under construction: of `count` triangles, the first fate that is given counts."""

    def __init__(self, count: int) -> None:
        self._kinds: dict[Fate, int] = {}
        self._which = np.full(count, -1, np.int64)

    def give(self, triangles: NDArray[Any], verdict: str, reason: str = "", register: str = "") -> None:
        """Give a fate to those of some triangles that have none. triangles: indices, or a mask of all. The verbs of a
        reason may be in the form that `Loss` takes."""
        chosen = np.flatnonzero(triangles) if triangles.dtype == bool else triangles
        fresh = chosen[self._which[chosen] < 0]
        if len(fresh):
            fate = Fate(verdict, agreed(reason, 1), register)
            self._which[fresh] = self._kinds.setdefault(fate, len(self._kinds))

    def result(self, numbers: NDArray[np.int64]) -> Fates:
        """The fates; triangles without one are drawn."""
        self.give(np.ones(len(self._which), bool), "drawn")
        return Fates(tuple(self._kinds), self._which, numbers)


def together(parts: Iterator[Fates] | list[Fates]) -> Fates:
    """The fates of several lists of triangles, one after the other."""
    kinds: dict[Fate, int] = {}
    which, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part in parts:
        places = np.array([kinds.setdefault(fate, len(kinds)) for fate in part.kinds], np.int64)
        which.append(places[part.which] if len(part) else part.which)
        numbers.append(part.numbers)
    return Fates(tuple(kinds), np.concatenate(which), np.concatenate(numbers))


__all__ = ["VERDICTS", "Fate", "FateTable", "Fates", "together"]
