"""Which times changed, and which differ by noise only.

The band of noise comes from the data. Each capture has the logarithm of a ratio: its time now, of its time before. Most
captures are taken to have no change of their own, so

* the median of all ratios is what all captures have in common: another machine, its load, or code that all use. It is
  reported once, and taken out of each ratio;
* the spread of the rest is noise. Short captures are noisier than long ones, so each capture is held against the
  NEIGHBOURS of similar length. The spread is a median of distances, which changes of a few captures do not move;
* the band is so many spreads wide that normal noise leaves it in one sweep of twenty (the more captures, the wider).
  Where the noise has longer tails than that, as seen in the outer tenth of all captures, it is widened by as much.

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
NEIGHBOURS: Final = 41
LEAST: Final = 1.02
"""The narrowest band, as a factor: clocks and processors are not more even than that."""
_CHANCE: Final = 0.05
"""How likely normal noise may leave the band, in a whole sweep."""
_TAIL: Final = 0.9
_TO_SIGMA: Final = 1 / NormalDist().inv_cdf(0.75)
"""From the median of distances to the standard deviation, for normal noise."""
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
    spread = _spread(rest, one * other)
    # As many captures, as many chances to leave the band.
    wide = NormalDist().inv_cdf(1 - _CHANCE / 2 / len(rest))
    tail = float(np.quantile(np.abs(rest) / np.maximum(spread, np.log(LEAST) / wide), _TAIL))
    wide *= max(1.0, tail / NormalDist().inv_cdf((1 + _TAIL) / 2))
    factors = np.maximum(np.exp(np.minimum(wide * spread, 700.0)), LEAST)
    return Band(float(np.exp(common)), tuple(map(float, factors)))


def _spread(rest: Reals, length: Reals) -> Reals:
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
