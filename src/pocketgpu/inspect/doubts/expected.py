"""Expected pictures, compared with those of replays: as copies of the screens' pixels if they are, else as photos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.doubts.agreement import (
    Distance,
    Trial,
    Wanted,
    best,
    compared,
    distance,
    exact_agreement,
)
from pocketgpu.inspect.doubts.found import Agreement, PhotoAgreement
from pocketgpu.inspect.doubts.photos import CLEAR, REACH, Photos, Told, fitted
from pocketgpu.inspect.doubts.usual import Pictures, Pixels

if TYPE_CHECKING:
    from pocketgpu.inspect.doubts.photos import Hypothesis



class Taken(StrEnum):
    """What expected pictures are taken for."""

    COPIES = "copies"
    PHOTOS = "photos"


MOST_PHOTOS: Final = 8
"""So many photos are compared, the first ones: more take long and hardly say more."""
_KEPT_FITS: Final = 8
"""Of so many sets of values the fitted pictures are kept: each may take MOST_PHOTOS times a few MB."""


class Expected:
    """The expected pictures of a capture.

    distances: by trial, how far the pictures of a replay are that differ from the usual ones; `add` fills it.
    """

    def __init__(self, usual: Pictures, wanted: Wanted, path: str, taken: Taken | None = None) -> None:
        """taken: what the pictures are; None: copies if most of their pixels agree, else photos.

        :raises UsageError: no picture is of these frames and screens, or one has another shape than its screen.
        """
        self._taken = taken
        self._usual, self._given = usual, wanted
        self._kept: dict[tuple[int, str], Pixels | None] = {}
        self.pixels = compared(usual, self._wanted)
        if not self.pixels:
            raise UsageError(
                "no expected picture is of a frame and a screen that are looked at", location=path,
                hint="Such as f0.top.png; --frames says which frames are looked at.",
            )  # fmt: skip
        self._distance = distance(usual, self._wanted)
        self.distances: dict[Trial, Distance] = {}

    def _wanted(self, number: int, name: str) -> Pixels | None:
        """The expected picture of a frame and a screen, in the size of the screen."""
        if (number, name) not in self._kept:
            self._kept[number, name] = self._sized(number, name)
        return self._kept[number, name]

    def _sized(self, number: int, name: str) -> Pixels | None:
        golden = self._given(number, name)
        if golden is None:
            return None
        height, width = self._usual[number][name].shape[:2]
        found = fitted(golden, (height, width))
        if found is None:
            raise UsageError(
                f"the expected picture is {golden.shape[1]}x{golden.shape[0]}, the screen {width}x{height}",
                location=f"f{number}/{name}",
                hint="Any size will do, but the shape must be that of the screen: cut the picture to the screen.",
            )
        return found

    def add(self, trial: Trial, pictures: Pictures) -> int:
        """Compare the pictures under a value that changes some; returns how many pixels are not as expected."""
        self.distances[trial] = distance(pictures, self._wanted)
        return self.distances[trial].wrong

    def agreement(
        self, trials: Sequence[Trial], replayed: Callable[[Mapping[str, str]], Pictures]
    ) -> Agreement | PhotoAgreement:
        """The values that agree best. trials: all that can be replayed; replayed: gives the pictures under values."""

        def far(values: dict[str, str]) -> Distance | None:
            try:
                return distance(replayed(values), self._wanted)
            except PocketGPUError:
                return None

        wrong = None
        if self._taken is None:
            # Copies are told from photos by what single values and their sums leave; pairs take long, and are for
            # copies.
            wrong = best(self._distance, trials, self.distances, far, pairs=0)[1].wrong
        if self._taken is Taken.COPIES or (wrong is not None and 2 * wrong <= self._telling()):
            chosen, closest = best(self._distance, trials, self.distances, far)
            return exact_agreement(chosen, closest, self._distance, self.pixels)
        found = _Shown(self._usual, self._some, [*self.distances], replayed).agreement()
        return replace(found, copies_wrong=wrong)

    def _telling(self) -> int:
        """How many pixels tell a copy from a photo: those that have not the most common colour of their picture. A
        background that is black is so in many photos, too."""
        count = 0
        for golden in self._kept.values():
            if golden is not None:
                colors = golden[..., :3].astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
                count += colors.size - int(np.unique(colors, return_counts=True)[1].max())
        return count

    @property
    def _some(self) -> Wanted:
        """The first expected pictures."""
        places = [
            (number, name) for number, screens in self._usual.items() for name in screens
            if self._wanted(number, name) is not None
        ]  # fmt: skip
        some = frozenset(places[:MOST_PHOTOS])
        return lambda number, name: self._wanted(number, name) if (number, name) in some else None


class _Shown:
    """What photos show of the pictures under some values."""

    def __init__(
        self, usual: Pictures, wanted: Wanted, trials: Sequence[Trial],
        replayed: Callable[[Mapping[str, str]], Pictures],
    ) -> None:  # fmt: skip
        """trials: values that change a picture."""
        self._usual, self._trials, self._replayed = usual, trials, replayed
        self._photos = Photos(usual, wanted)
        # The same values are asked for several times: how far off each is, and the last fits.
        self._far: dict[frozenset[Trial], Distance | None] = {}
        self._last: dict[frozenset[Trial], Sequence[Hypothesis]] = {}

    def agreement(self) -> PhotoAgreement:
        chosen = self._closest()
        if chosen:  # the blur was that of the usual pictures, which may be far from what is shown
            self._photos.focus(self._replayed(chosen))
            self._far.clear()
            self._last.clear()
            chosen = self._closest()
        chosen = self._needed(chosen)
        shown = self._fits(chosen)
        noise = self._photos.noise(shown)
        if not self._photos.are_of(shown):
            why = "they are too far from every picture, so they may be of something else, or cut in another way"
            return PhotoAgreement({}, why, 0.0, noise, (), tuple(self._trials))
        if not self._photos.are_cut(shown):
            why = f"they are cut {REACH} or more pixels of the screen off; cut them to the screen"
            return PhotoAgreement({}, why, 0.0, noise, (), tuple(self._trials))
        # Without one of several values, it must be told that this one is needed.
        parts = [{name: value for name, value in chosen.items() if name != left} for left in chosen]
        for part in parts:
            told = self._told(shown, part)
            if not told.clear:
                return PhotoAgreement({}, _why(chosen, part, told), 0.0, noise, (), tuple(self._trials))
        refuted: list[Trial] = []
        unclear: list[Trial] = []
        errors = [self._told(shown, part).errors for part in parts]
        for trial in self._trials:
            if trial in chosen.items():
                continue
            told = self._told(shown, chosen | dict([trial]))
            (refuted if told.clear else unclear).append(trial)
            errors += [told.errors] if told.clear else []
        if not errors:
            why = f"no two pictures are {CLEAR:.0f} standard errors apart in them"
            return PhotoAgreement({}, why, 0.0, noise, (), tuple(unclear))
        return PhotoAgreement(chosen, "", min(errors), noise, tuple(refuted), tuple(unclear))

    def _needed(self, chosen: dict[str, str]) -> dict[str, str]:
        """Some values without those that make no difference which the photos could show: noise chose them."""
        for left in [*chosen]:
            rest = {name: value for name, value in chosen.items() if name != left}
            if self._told(self._fits(chosen), rest).errors < CLEAR:
                chosen = rest
        return chosen

    def _closest(self) -> dict[str, str]:
        known = {trial: there for trial in self._trials if (there := self._off(dict([trial]))) is not None}
        usual = self._off({})
        assert usual is not None
        return best(usual, self._trials, known, self._off)[0]

    def _off(self, values: Mapping[str, str]) -> Distance | None:
        """How far the photos are from the pictures under some values; None: the replay fails."""
        key = frozenset(values.items())
        if key not in self._far:
            try:
                off = round(self._photos.off(self._fits(values)))
                self._far[key] = Distance(off, off)
            except PocketGPUError:
                self._far[key] = None
        return self._far[key]

    def _fits(self, values: Mapping[str, str]) -> Sequence[Hypothesis]:
        key = frozenset(values.items())
        if key not in self._last:
            fits = self._photos.fit(self._replayed(values) if values else self._usual)
            if len(self._last) >= _KEPT_FITS:
                del self._last[next(iter(self._last))]
            self._last[key] = fits
        return self._last[key]

    def _told(self, shown: Sequence[Hypothesis], values: Mapping[str, str]) -> Told:
        return self._photos.told(shown, self._fits(values))


def _why(chosen: Mapping[str, str], part: Mapping[str, str], told: Told) -> str:
    one, other = (", ".join(map("=".join, values.items())) or "the usual values" for values in (chosen, part))
    if told.errors < CLEAR:
        return (
            f"{one} is closest, but only {told.errors:.1f} standard errors from {other}, and {CLEAR:.0f} are needed"
        )
    return f"{one} is closest, but where it differs from {other} the photos are like neither"


__all__ = ["MOST_PHOTOS", "Expected", "Taken"]
