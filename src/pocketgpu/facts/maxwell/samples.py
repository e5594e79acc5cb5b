"""Samples of multisampled pixels: the mode of SET_ANTI_ALIAS for each number, and their places.

Source: class header B197 (modes); Vulkan specification, Rasterization, Multisampling, standard sample locations
(places).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SAMPLE_MODES: Final[Mapping[int, str]] = MappingProxyType({1: "MODE_1X1", 2: "MODE_2X1", 4: "MODE_2X2", 8: "MODE_4X2"})
"""For 1, 2, 4 and 8 samples of a pixel: the value of SET_ANTI_ALIAS."""
SAMPLE_PLACES: Final[Mapping[int, tuple[tuple[int, int], ...]]] = MappingProxyType(
    {
        1: ((8, 8),), 2: ((12, 12), (4, 4)), 4: ((6, 2), (14, 6), (2, 10), (10, 14)),
        8: ((9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)),
    }
)  # fmt: skip
"""The same: the standard places of the samples, x and y from the upper left corner of the pixel, in 1/16 pixel. The GPU
has none of its own: drivers write SET_ANTI_ALIAS_SAMPLE_POSITIONS."""
PLACES_IN_REGISTERS: Final = 16
"""Places that SET_ANTI_ALIAS_SAMPLE_POSITIONS has, four in each word; a mode uses the first ones of each pixel."""

__all__ = ["PLACES_IN_REGISTERS", "SAMPLE_MODES", "SAMPLE_PLACES"]


def __dir__() -> list[str]:
    return [*__all__]
