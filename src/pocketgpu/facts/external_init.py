"""Sets of register values that programs begin with, as the documents and drivers list them.

An `InitSet` is written in order; `values` gives what it says of each register. Where the wiki's lists contradict the
rest of the field they are kept as they stand here, and facts/external.py has the values that work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.external import EXTERNAL, GBATEK, WIKI
from pocketgpu.facts.pica import PICA

_DRIVER: Final = "the public driver library libn3ds"


@dataclass(frozen=True, slots=True)
class InitSet:
    """writes: (physical address, value) in order."""

    name: str
    doc: str
    source: str
    writes: tuple[tuple[int, int], ...]

    @property
    def values(self) -> Mapping[int, int]:
        """Value by physical address, the last one written."""
        return MappingProxyType(dict(self.writes))


def _set(name: str, doc: str, source: str, base: int, *parts: Mapping[int, int]) -> InitSet:
    return InitSet(name, doc, source, tuple((base + at, value) for part in parts for at, value in part.items()))


POWER_ON: Final = _set(
    "power-on",
    "What some registers hold before the system software has written them.",
    GBATEK,
    EXTERNAL.base,
    {0x004: 0x300, 0x050: 0x1111EF00, 0x054: 0x112},
)

GPU_INIT: Final = _set(
    "gpu-init",
    "What the wiki's map of registers says is written when the GPU is started; the backlights are kept on.",
    WIKI,
    EXTERNAL.base,
    {0x050: 0x22221200, 0x054: 0xFF2, 0x0C0: 0x20000000},
    {0x1000: 0, 0x1080: 0x12345678, 0x10C0: 0xFFFFFFF0, 0x10D0: 1},
)

NNGX_INIT: Final = _set(
    "nngx",
    "The wiki's lists of what nngxInitialize writes for the top screen. Three values of the vertical timing (0x42C, "
    "0x430, 0x434) lie past the last line there; drivers write 0x192.",
    WIKI,
    EXTERNAL.base + 0x400,
    {0x00: 0x1C2, 0x04: 0xD1, 0x08: 0x1C1, 0x0C: 0x1C1, 0x10: 0, 0x14: 0xCF, 0x18: 0xD1, 0x1C: 0x1C501C1},
    {0x20: 0x10000, 0x24: 0x19D, 0x28: 2, 0x2C: 0x1C2, 0x30: 0x1C2, 0x34: 0x1C2, 0x38: 1, 0x3C: 2},
    {0x40: 0x1960192, 0x44: 0, 0x48: 0, 0x5C: 0x19000F0, 0x60: 0x1C100D1, 0x64: 0x1920002, 0x70: 0x80340, 0x9C: 0},
    {0x68: 0x18300000, 0x6C: 0x18300000, 0x94: 0x18300000, 0x98: 0x18300000, 0x78: 1, 0x74: 0x10501},
)

_ORDER: Final = (
    *("HTOTAL", "HSTART", "HBR", "HFP", "HSYNC", "HBP", "HBL", "HIRQ", "FETCH"),
    *("VTOTAL", "VSTART", "VBORDER", "VBLANK", "VSYNC", "VBP", "VTOP", "VIRQ", "VCLOCK", "POLARITY"),
    *("SIZE", "HPICTURE", "VPICTURE", "LATCH"),
)


def _span(low: int, high: int) -> int:
    return high << 16 | low


def _timing(name: str, doc: str, unit: int, **values: int) -> InitSet:
    """The timing registers of one controller: the reset values, with `values` instead of some."""
    registers = [(EXTERNAL[f"PDC{unit}_{part}"], part) for part in _ORDER]
    return InitSet(name, doc, _DRIVER, tuple((r.address, values.get(part, r.reset)) for r, part in registers))


_LONG: Final = {
    **{"VTOTAL": 827, "VBORDER": 802, "VBLANK": 802, "VSYNC": 802},
    **{"VIRQ": _span(802, 806), "VPICTURE": _span(2, 802)},
}

TOP_FLAT: Final = _timing("top-flat", "Timing of the top screen with 400 lines (gsp's mode 0).", 0)
TOP_WIDE: Final = _timing(
    "top-wide",
    "Timing of the top screen with 800 lines of one picture (gsp's mode 1).",
    0,
    SIZE=_span(240, 800),
    **_LONG,
)
TOP_STEREO: Final = _timing("top-stereo", "Timing of the top screen with two pictures (gsp's mode 2).", 0, **_LONG)
BOTTOM: Final = _timing("bottom", "Timing of the bottom screen.", 1)

TOP_MODES: Final = (TOP_FLAT, TOP_WIDE, TOP_STEREO)
"""Timing of the top screen by gsp's number of the mode."""


def _by_name(sets: Iterable[InitSet]) -> Mapping[str, InitSet]:
    return MappingProxyType({each.name: each for each in sets})


INITS: Final = _by_name((POWER_ON, GPU_INIT, NNGX_INIT, *TOP_MODES, BOTTOM))
"""All of them by name."""

assert all(EXTERNAL.at(address) or PICA.at(address) for each in INITS.values() for address in each.values)
