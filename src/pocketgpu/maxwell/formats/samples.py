"""Samples of multisampled pixels: their number across and down, and their positions in memory.

A multisampled surface is stored as a larger one, in which the samples of a pixel are adjacent. Modes with virtual
coverage (VC) store the samples of the first part of their name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell import B197

if TYPE_CHECKING:
    from pocketgpu.maxwell.engines.common.state import State

_MODE = re.compile(r"MODE_(\d)X(\d)(_|$)")
_ONE = (1, 1)


@cache
def sample_grids() -> Mapping[int, tuple[int, int]]:
    """Samples of a pixel in x and y by mode number, for SET_ANTI_ALIAS and texture headers."""
    modes = B197["SET_ANTI_ALIAS"]["SAMPLES"].values.symbols
    found = ((number, _MODE.match(symbol)) for symbol, number in modes.items())
    return {number: (int(mode[1]), int(mode[2])) for number, mode in found if mode is not None}


def samples_of(state: State) -> tuple[int, int]:
    """Samples of a pixel of the targets in x and y; (1, 1) for modes that do not exist."""
    return sample_grids().get(state.field("SET_ANTI_ALIAS", "SAMPLES"), _ONE)


def sample_count(state: State) -> int:
    """Samples of a pixel of the targets."""
    across, down = samples_of(state)
    return across * down


def sample_place(sample: int) -> tuple[int, int]:
    """Column and row of a sample in its pixel: the bits of its number alternate between columns and rows.

    Source: the offsets that an open driver gives its programs for modes of up to 4 x 2 samples; other modes continue
    the pattern.
    """
    return (sample & 1) | (sample >> 1 & 2), (sample >> 1 & 1) | (sample >> 2 & 2)
