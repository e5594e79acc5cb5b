"""Kinds of pages: the memory layout of a mapping's bytes. Source: public drivers of the Tegra X1 (libnx names them)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

HIGHEST: Final = 0xFF

KINDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "pitch": 0x00, "z16": 0x01, "s8z24": 0x11, "s8": 0x2A, "z24s8": 0x46, "zf32": 0x7B, "zf32_x24s8": 0xC3,
        "c32_2cra": 0xDB, "c64_2cra": 0xE9, "c128_2c": 0xF4, "pitch_no_swizzle": 0xFD, "generic_16bx2": 0xFE,
        "invalid": 0xFF,
    }
)  # fmt: skip
"""Numbers by the names that drivers and recordings use. Every kind but 0 can hold block-linear surfaces."""


def kind_number(kind: str | int) -> int:
    """The number of a page kind given by number, by name, or as "kind_0xNN".

    :raises ValueError: there is no such kind.
    """
    number = kind
    if isinstance(number, str):
        text = number.lower()
        number = KINDS.get(text, -1)
        if number < 0 and text.startswith("kind_0x"):
            try:
                number = int(text[5:], 16)
            except ValueError:
                number = -1
    if not 0 <= number <= HIGHEST:
        raise ValueError(f"there is no page kind {kind!r}")
    return number
