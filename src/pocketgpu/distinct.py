"""The distinct values of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values of an array of whole numbers, in order. `np.unique` does the same; its first call imports
    `numpy.ma`, which takes a tenth of a short command's time."""
    ordered = np.sort(values, axis=None)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))] if len(ordered) else ordered


__all__ = ["distinct"]
