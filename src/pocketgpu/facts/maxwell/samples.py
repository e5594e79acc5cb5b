"""Samples of a pixel by the mode that SET_ANTI_ALIAS and MULTI_SAMPLE_COUNT of texture headers name; of a filter, too.

Modes with virtual coverage (VC) store as many samples as their names begin with; what is after VC counts bits of
coverage beside them. Source: the modes' names in NVIDIA's header of class B197.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.maxwell.headers import TIC, TSC


def _grid(symbol: str) -> tuple[int, int]:
    found = re.match(r"MODE_(\d)X(\d)", symbol)
    assert found is not None
    return int(found[1]), int(found[2])


SAMPLE_GRIDS: Final[Mapping[int, tuple[int, int]]] = {
    number: _grid(symbol) for symbol, number in TIC["BL"]["MULTI_SAMPLE_COUNT"].values.symbols.items()
}
"""Mode to samples across and down: a multisampled surface is so many times larger."""
ANISOTROPIES: Final[Mapping[int, int]] = {
    number: int(symbol.split("_")[1]) for symbol, number in TSC["MAX_ANISOTROPY"].values.symbols.items()
}
"""MAX_ANISOTROPY to the most samples along the longer side of a footprint."""
