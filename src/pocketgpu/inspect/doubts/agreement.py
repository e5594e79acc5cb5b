"""The values of choices that agree best with expected pictures.

Each step adds the value that brings the pictures closest, as long as one brings them closer than before. Not all
combinations are tried: those that only help together are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pocketgpu.inspect.doubts.found import Agreement
from pocketgpu.inspect.doubts.usual import Pictures, Pixels
from pocketgpu.late_dataclass import dataclass

Wanted = Callable[[int, str], Pixels | None]
"""The expected picture of a frame and a screen, or None."""
Trial = tuple[str, str]
"""A choice and a value of it."""
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
    pixels: int,
    trials: Sequence[Trial],
    known: Mapping[Trial, Distance],
    replay: Callable[[dict[str, str]], Distance | None],
) -> Agreement:
    """The values that agree best.

    :param usual: the distance under the defaults, of `pixels` pixels.
    :param known: that under one other value, of those that change a picture.
    :param replay: gives that under several values; None if that replay fails.
    """
    chosen: dict[str, str] = {}
    closest, found = usual, dict(known)
    while closest.sum:
        if chosen:
            open_trials = [trial for trial in trials if trial[0] not in chosen]
            tried = {trial: replay(chosen | dict([trial])) for trial in open_trials}
            found = {trial: there for trial, there in tried.items() if there is not None}
        trial = min(found, key=lambda one: found[one], default=None)
        if trial is None or found[trial] >= closest:
            break
        chosen |= dict([trial])
        closest = found[trial]
    found_out = Agreement(chosen, closest.wrong, usual.wrong, pixels)
    return found_out if found_out.told else Agreement({}, closest.wrong, usual.wrong, pixels)


def _size(picture: Pixels) -> int:
    height, width = picture.shape[:2]
    return int(height * width)


__all__ = ["Distance", "Wanted", "best", "compared", "distance"]
