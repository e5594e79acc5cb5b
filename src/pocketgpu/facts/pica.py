"""The internal registers of the GPU, ids 0x000 to 0x2FF: what command lists write.

Offsets are register ids; id n also answers the ARM11 at physical address 0x10401000 + 4 n. Ids that no source
describes are present with known=False, so that every id has a register and tools can name what they meet.

The table is n3ds/pica.tsv with its parts. Source: 3dbrew GPU/Internal Registers where a register says nothing else.
Names are the wiki's without the GPUREG_ prefix, which works as an alias.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.n3ds.blocks import block
from pocketgpu.facts.registers import Bank, RegisterBlock

BANK: Final = Bank("pica", 0x10401000, 4)

WIKI: Final = "3dbrew GPU/Internal Registers"

COUNT: Final = 0x300
"""Number of register ids."""

PICA: Final[RegisterBlock] = block(BANK, "pica", WIKI, size=COUNT, also="GPUREG_")
"""All internal registers; offsets are ids."""
