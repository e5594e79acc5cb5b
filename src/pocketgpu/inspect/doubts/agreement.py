"""The values of choices that agree best with expected pictures.

Each step adds the value that brings the pictures closest, as long as one brings them closer than before. Where none
does, pairs of values are tried that change a picture, as some only help together. Three that only help together are not
found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import Final, TypeVar

import numpy as np

from pocketgpu.inspect.doubts.found import Agreement
from pocketgpu.inspect.doubts.usual import Pictures, Pixels
from pocketgpu.late_dataclass import dataclass

Wanted = Callable[[int, str], Pixels | None]
"""The expected picture of a frame and a screen, or None."""
Trial = tuple[str, str]
"""A choice and a value of it."""
MOST_PAIRS: Final = 100
"""Pairs of values that are tried at the most, those first whose values are the closest."""
_FURTHEST = 3 * 255
"""The distance of a pixel that has nothing to be compared with."""


@dataclass(frozen=True, order=True, slots=True)
class Distance:
    """How far pictures are from the expected ones: the sum over all channels, and how many pixels are not the same."""

    sum: int
    wrong: int


def distance(pictures: Pictures, expected: Wanted) -> Distance:
    """How far pictures are from the expected ones. A picture of another size is wrong as a whole."""
    total = wrong = 0
    for number, screens in pictures.items():
        for name, pixels in screens.items():
            golden = expected(number, name)
            if golden is None:
                continue
            if golden.shape[:2] != pixels.shape[:2]:
                total += _FURTHEST * _size(golden)
                wrong += _size(golden)
                continue
            apart = np.abs(golden[..., :3].astype(np.int16) - pixels[..., :3])
            total += int(apart.sum())
            wrong += int(np.count_nonzero(apart.any(axis=-1)))
    return Distance(total, wrong)


def compared(pictures: Pictures, expected: Wanted) -> int:
    """How many pixels have something to be compared with."""
    goldens = (expected(number, name) for number, screens in pictures.items() for name in screens)
    return sum(_size(golden) for golden in goldens if golden is not None)


def best(
    usual: Distance,
    trials: Sequence[Trial],
    known: Mapping[Trial, Distance],
    replay: Callable[[dict[str, str]], Distance | None],
    pairs: int = MOST_PAIRS,
) -> tuple[dict[str, str], Distance]:
    """The values that agree best, and how far they are.

    :param usual: the distance under the defaults.
    :param trials: all values that may be tried.
    :param known: the distance under one other value, of those that change a picture.
    :param replay: gives that under several values; None if that replay fails.
    :param pairs: how many may be tried.
    """
    chosen: dict[str, str] = {}
    closest, found = usual, dict(known)
    while closest.sum:
        if chosen:
            found = _tried(replay, ((chosen | dict([trial]), trial) for trial in trials if trial[0] not in chosen))
        single = min(found, key=lambda one: found[one], default=None)
        nearest = None if single is None else found[single]
        step: tuple[Trial, ...] = () if single is None else (single,)
        if nearest is None or nearest >= closest:
            open_ones = sorted((one for one in known if one[0] not in chosen), key=lambda one: known[one])
            some = list(islice((two for two in combinations(open_ones, 2) if two[0][0] != two[1][0]), pairs))
            pairs -= len(some)
            together = _tried(replay, ((chosen | dict(two), two) for two in some))
            step = pair = min(together, key=lambda two: together[two], default=())
            nearest = together[pair] if pair else None
        if nearest is None or nearest >= closest:
            break
        chosen |= dict(step)
        closest = nearest
    return chosen, closest


K = TypeVar("K")


def _tried(
    replay: Callable[[dict[str, str]], Distance | None], wanted: Iterable[tuple[dict[str, str], K]]
) -> dict[K, Distance]:
    """The distances under some values, by what names them; without those whose replay fails."""
    found = ((name, replay(values)) for values, name in wanted)
    return {name: there for name, there in found if there is not None}


def exact_agreement(chosen: dict[str, str], closest: Distance, usual: Distance, pixels: int) -> Agreement:
    """What copies of the screens' pixels say: nothing, unless most of `pixels` are right with the chosen values."""
    found = Agreement(chosen, closest.wrong, usual.wrong, pixels)
    return found if found.told else Agreement({}, closest.wrong, usual.wrong, pixels)


def _size(picture: Pixels) -> int:
    height, width = picture.shape[:2]
    return int(height * width)


__all__ = ["MOST_PAIRS", "Distance", "Trial", "Wanted", "best", "compared", "distance", "exact_agreement"]
