"""Positions in clip space in a few words, for reasons why triangles are not drawn: the same for both consoles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_AXES = "xyzw"


def numbers_of(positions: NDArray[Any], axes: str) -> str:
    """": z is 0.5 to 0.75, w is 1": the values of some axes. positions: (n, 4), without NaN. "" for none."""
    if not axes or not len(positions):
        return ""
    ranges = ((axis, positions[:, _AXES.index(axis)]) for axis in axes)
    return ": " + ", ".join(f"{axis} is {_range(float(some.min()), float(some.max()))}" for axis, some in ranges)


def _range(low: float, high: float) -> str:
    first, last = f"{low:.4g}", f"{high:.4g}"
    return first if first == last else f"{first} to {last}"


def same_place(positions: NDArray[Any]) -> str:
    """": all corners are at (0, 0, 0, 1)" if they are; else ""."""
    if not len(positions) or not bool(np.all(positions == positions[0])):
        return ""
    return f": all corners are at ({', '.join(f'{value:.4g}' for value in positions[0].tolist())})"


__all__ = ["numbers_of", "same_place"]
