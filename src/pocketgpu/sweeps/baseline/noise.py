"""Which times changed, and which differ by noise only.

The band of noise comes from the data. Each capture has the logarithm of a ratio: its time now, of its time before. Most
captures are taken to have no change of their own, so

* the median of all ratios is what all captures have in common: another machine, its load, or code that all use. It is
  reported once, and taken out of each ratio;
* the spread of the rest is noise. It has a part that grows with the time and one that does not, so short captures are
  noisier: spread = a * (1 + k / time), with the a and k that fit best. Where captures of similar length (NEIGHBOURS)
  are noisier than that, it is theirs. Both go by medians, which changes of a few captures do not move;
* the band is so many spreads wide that normal noise leaves it in one sweep of twenty: the wider, the more captures
  there are, and the fewer the spread was found from (Student's distribution). Where the noise has longer tails than
  normal noise, as seen in the outer tenth of all captures, the band is wider by as much.

A band is never narrower than LEAST, and there is none for fewer than FEWEST captures.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass

FEWEST: Final = 8
NEIGHBOURS: Final = 61
LEAST: Final = 1.02
"""The narrowest band, as a factor: clocks and processors are not more even than that."""
_CHANCE: Final = 0.05
"""How likely normal noise may leave the band, in a whole sweep."""
_TAIL: Final = 0.9
_TO_SIGMA: Final = 1 / NormalDist().inv_cdf(0.75)
"""From the median of distances to the standard deviation, for normal noise."""
_WORTH: Final = 0.37
"""A spread from a median of distances is as exact as one from squares with this part of the values."""
_FAR: Final = 4.0
Reals = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Band:
    """The noise of all captures. common: the factor that all have in common. factors: for each capture, by which factor
    noise may move its time; None if there are too few captures."""

    common: float
    factors: tuple[float, ...] | None

    def __repr__(self) -> str:
        return line_of(self, f"common {self.common:.3f}")


def band_of(before: Sequence[float], after: Sequence[float]) -> Band:
    """The noise of the times of captures, in milliseconds, in two sweeps. All are above 0."""
    if not before:
        return Band(1.0, None)
    one, other = np.array(before, np.float64), np.array(after, np.float64)
    logs = np.log(other) - np.log(one)
    common = float(np.median(logs))
    if len(logs) < FEWEST:
        # A few ratios do not say what they have in common: each may be a change.
        return Band(1.0, None)
    rest = logs - common
    length = np.sqrt(one * other)
    spread = np.maximum(_fitted(rest, length), _nearby(rest, length))
    # As many captures, as many chances to leave the band.
    wide = _student(1 - _CHANCE / 2 / len(rest), _WORTH * len(rest))
    tail = float(np.quantile(np.abs(rest) / np.maximum(spread, np.log(LEAST) / wide), _TAIL))
    wide *= max(1.0, tail / NormalDist().inv_cdf((1 + _TAIL) / 2))
    factors = np.maximum(np.exp(np.minimum(wide * spread, 700.0)), LEAST)
    return Band(float(np.exp(common)), tuple(map(float, factors)))


def _student(chance: float, freedom: float) -> float:
    """The quantile of Student's distribution, by the expansion of Abramowitz and Stegun, 26.7.5."""
    z = NormalDist().inv_cdf(chance)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _fitted(rest: Reals, length: Reals) -> Reals:
    """For each capture, the standard deviation of its noise, as the model with the best fit has it."""
    best, out = np.inf, np.ones_like(rest)
    middle = float(np.median(length))
    for k in (0.0, *np.geomspace(middle / 1000, middle * 1000, 60)):
        shape = (1 + k / length) / (1 + k / middle)
        found = float(np.median(np.abs(rest) / shape)) * _TO_SIGMA * shape
        floor = np.maximum(found, np.log(LEAST) / 10)
        # How unlikely the data is, by a distribution in which what is far out counts no more.
        cost = float((np.log(floor) + np.minimum(np.abs(rest) / floor, _FAR)).sum())
        if cost < best:
            best, out = cost, found
    return out


def _nearby(rest: Reals, length: Reals) -> Reals:
    """For each capture, the standard deviation of the noise of captures of similar length."""
    order = np.argsort(length, kind="stable")
    count = min(NEIGHBOURS, len(rest))
    windows = np.lib.stride_tricks.sliding_window_view(np.abs(rest[order]), count)
    found = np.median(windows, axis=1) * _TO_SIGMA
    # At both ends a capture has the nearest whole window.
    first = np.clip(np.arange(len(rest)) - count // 2, 0, len(found) - 1)
    out = np.empty_like(rest)
    out[order] = found[first]
    return out


__all__ = ["FEWEST", "LEAST", "Band", "band_of"]


def __dir__() -> list[str]:
    return [*__all__]
