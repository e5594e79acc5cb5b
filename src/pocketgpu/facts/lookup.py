"""Finds a register of any block by address or words; for tools and event texts."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.registers import Register, RegisterBlock
from pocketgpu.facts.external import EXTERNAL, LCD, USER_OFFSET
from pocketgpu.facts.pica import PICA

BLOCKS: Final[tuple[RegisterBlock, ...]] = (PICA, EXTERNAL, LCD)
"""All register blocks."""


def physical(address: int) -> int:
    """Physical address of a device's virtual address in programs; physical ones are returned unchanged."""
    return address - USER_OFFSET if 0x1EB00000 <= address < 0x1F000000 else address


def register_at(address: int) -> Register | None:
    """The register at a physical or virtual address, or None."""
    place = physical(address)
    for block in BLOCKS:
        found = block.at(place)
        if found is not None:
            return found
    return None


def register_named(name: str) -> Register | None:
    """The register of that name or alias, or None. Names are unique over all blocks."""
    for block in BLOCKS:
        found = block.get(name)
        if found is not None:
            return found
    return None


def search(text: str) -> list[Register]:
    """Registers of all blocks whose names or descriptions contain all words of `text`."""
    return [register for block in BLOCKS for register in block.search(text)]
