"""Facts about the Tegra X1's GPU (GM20B): methods of its classes, structures in memory, formats.

Names are those of NVIDIA's public headers; the names of Switchbrew's page are aliases. Importing this reads no table.
"""

from __future__ import annotations

from pocketgpu.facts.maxwell.classes import (
    A140,
    B0B5,
    B06F,
    B1C0,
    B197,
    CLASSES,
    SUBCHANNELS,
    TWOD,
    WORDS,
    Method,
    MethodBlock,
)
from pocketgpu.facts.maxwell.headers import GPFIFO, QMD, SPH, TIC, TSC, BitField, BitStructure, tic_of

__all__ = [
    "A140",
    "B0B5",
    "B06F",
    "B1C0",
    "B197",
    "CLASSES",
    "GPFIFO",
    "QMD",
    "SPH",
    "SUBCHANNELS",
    "TIC",
    "TSC",
    "TWOD",
    "WORDS",
    "BitField",
    "BitStructure",
    "Method",
    "MethodBlock",
    "tic_of",
]


def __dir__() -> list[str]:
    return [*__all__]
