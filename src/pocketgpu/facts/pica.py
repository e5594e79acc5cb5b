"""The internal registers of the GPU, ids 0x000 to 0x2FF, which command lists write.

Offsets are register ids; the ARM11 sees id n at physical address 0x10401000 + 4 n. Undocumented ids are present with
known=False, so that every id has a register and tools can name it.

The table is n3ds/pica.tsv with its parts. Source: 3dbrew GPU/Internal Registers unless a register has another. Names
are the wiki's without the GPUREG_ prefix, which works as an alias.
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
"""Number of vertex attributes, and of loaders that fetch them."""
LOADER_STEP: Final = 3
"""Ids from a register of one loader to the same register of the next."""
IMMEDIATE_INDEX: Final = 15
"""Value of FIXEDATTRIB_INDEX: the words that follow are vertices to draw."""
OUTPUT_MAPS: Final = 7
"""Number of vertex outputs with a semantic, SH_OUTMAP_O0 and so on."""
SHADER_REGISTERS: Final = 16
"""Number of input registers of a shader unit, and of its output registers."""
FLOAT_UNIFORMS: Final = 96
"""Number of float uniforms of a shader unit; each has four components."""
SHADER_TEMPORARIES: Final = 16
"""Number of temporary registers of a shader unit."""
BOOLEAN_UNIFORMS: Final = 16
"""Number of boolean uniforms of a shader unit. The geometry unit sets the last one after each of its runs."""
INTEGER_UNIFORMS: Final = 4
"""Number of integer uniforms of a shader unit; each has four octets."""
LIGHT_TABLES: Final = 24
"""Number of table numbers for lighting look-up tables; some of them have no table."""

LIST_ALIGNMENT: Final = 16
"""Bytes: command lists start at multiples of this, and their sizes are rounded down to it."""
START_LIST: Final = 1
"""The bit that starts a list when it is written to CMDBUF_JUMP0 or CMDBUF_JUMP1 from outside; in a list any value
jumps."""
FINALIZE_VALUE: Final = 0x12345678
"""The value that drivers write to FINALIZE, and that IRQ_CMP0 compares it with unless a program changes that."""

PICA: Final[RegisterBlock] = block(BANK, "pica", WIKI, size=COUNT, also="GPUREG_")
"""All internal registers; offsets are ids."""


__all__ = ["PICA"]


def __dir__() -> list[str]:
    return [*__all__]
