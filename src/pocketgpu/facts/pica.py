"""The internal registers of the GPU, ids 0x000 to 0x2FF: what command lists write.

Offsets are register ids; id n also answers the ARM11 at physical address 0x10401000 + 4 n. Ids that no source
describes are present with known=False, so that every id has a register and tools can name what they meet.

The table is n3ds/pica.tsv with its parts. Source: 3dbrew GPU/Internal Registers where a register says nothing else.
Names are the wiki's without the GPUREG_ prefix, which works as an alias.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.registers import Bank, RegisterBlock
from pocketgpu.facts.n3ds.blocks import block

BANK: Final = Bank("pica", 0x10401000, 4)

WIKI: Final = "3dbrew GPU/Internal Registers"

COUNT: Final = 0x300
"""Number of register ids."""

ATTRIBUTES: Final = 12
"""Vertex attributes, and loaders that fetch them."""
LOADER_STEP: Final = 3
"""Ids from a register of one loader to the same one of the next."""
IMMEDIATE_INDEX: Final = 15
"""In FIXEDATTRIB_INDEX: the words that follow are vertices to draw."""
OUTPUT_MAPS: Final = 7
"""Output registers of vertices that can have meanings, SH_OUTMAP_O0 and so on."""
SHADER_REGISTERS: Final = 16
"""Input registers of a shader unit, and output registers of one."""
FLOAT_UNIFORMS: Final = 96
"""Float uniforms of a shader unit; each has four components."""
LIGHT_TABLES: Final = 24
"""Numbers of lighting look-up tables; some of them have no table."""

LIST_ALIGNMENT: Final = 16
"""Bytes: command lists start at multiples of it, and of their sizes only whole ones count."""
START_LIST: Final = 1
"""The bit that starts a list when it is written to CMDBUF_JUMP0 or CMDBUF_JUMP1 from outside; in a list any value
jumps."""
FINALIZE_VALUE: Final = 0x12345678
"""What drivers write to FINALIZE, and what IRQ_CMP0 compares it with unless a program changes that."""

PICA: Final[RegisterBlock] = block(BANK, "pica", WIKI, size=COUNT, also="GPUREG_")
"""All internal registers; offsets are ids."""
