"""Which registers a sent file may write. The program of the probe has the same list: tools/make_probe_facts.py."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA

_BEGINNINGS: Final = ("PSC", "PPF_", "PDC0_ADDRESS", "PDC1_ADDRESS", "VRAM_POWER")
_DISPLAY: Final = ("FORMAT", "SELECT", "STRIDE", "BORDER_COLOR")
"""What may be written of each display controller. Timing is left alone: a screen may not like all of it."""
_COLOR_TABLE: Final = ("LUT_INDEX", "LUT_DATA")
_FILLS: Final = ("TOP_FILL", "BOTTOM_FILL")

SHOWN: Final = frozenset(
    [EXTERNAL[f"PDC{unit}_{name}"].address for unit in range(2) for name in _DISPLAY]
    + [one.address for one in EXTERNAL if one.name.startswith(("PDC0_ADDRESS", "PDC1_ADDRESS"))]
    + [LCD[name].address for name in _FILLS]
)
"""Registers that say what a screen shows; the program puts them back."""

WRITTEN: Final = SHOWN.union(
    [one.address for one in PICA],
    [one.address for one in EXTERNAL if one.name.startswith(_BEGINNINGS)],
    [EXTERNAL[f"PDC{unit}_{name}"].address for unit in range(2) for name in _COLOR_TABLE],
)
"""All registers that a sent file may write."""

__all__ = ["SHOWN", "WRITTEN"]
