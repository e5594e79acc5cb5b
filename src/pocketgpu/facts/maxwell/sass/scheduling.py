"""The scheduling field of instructions, and the names of special registers.

Three instructions share a 64-bit control word before them; instruction k has the 21 bits from 21 * k up. They change no
result; the fields control when an instruction may issue.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.maxwell.sass.table import rows

CONTROL_BITS: Final = 21
CONTROL: Final = {
    field.name: field
    for field in (
        Field("stall", 0, 4, doc="cycles to wait after issue; 0 without yield issues the next one together with this"),
        Field("yield", 4, 1, doc="clear: the scheduler may prefer another warp"),
        Field("write_barrier", 5, 3, doc="scoreboard to signal when the result is written; 7: none"),
        Field("read_barrier", 8, 3, doc="scoreboard to signal when the operands have been read; 7: none"),
        Field("wait", 11, 6, doc="scoreboards to wait for before issue, a bit each"),
        Field("reuse", 17, 4, doc="operands a, b, c to keep in the operand cache"),
    )
}
"""Fields of the 21 bits of one instruction."""

NO_BARRIER: Final = 7

SPECIAL_REGISTERS: Final = {int(number, 16): name for number, name in rows("special_registers.tsv")}
"""Special register names by number; numbers without a name print as SR and the number."""

RESULT_LATER: Final = frozenset({
    "AL2P", "ALD", "ATOM", "ATOMS", "B2R", "DADD", "DFMA", "DMNMX", "DMUL", "DSET", "DSETP", "F2F", "F2I", "FLO",
    "HADD2", "HADD2_32I", "HFMA2", "HFMA2_32I", "HMUL2", "HMUL2_32I", "HSET2", "HSETP2", "I2F", "I2I", "IMAD",
    "IMAD32I", "IMADSP", "IMUL", "IMUL32I", "IPA", "ISBERD", "LD", "LDC", "LDG", "LDL", "LDS", "MUFU", "OUT", "PIXLD",
    "POPC", "S2R", "SHFL", "SUATOM", "SULD", "TEX", "TEXS", "TLD", "TLD4", "TLD4S", "TLDS", "TMML", "TXA", "TXD",
    "TXQ",
})  # fmt: skip
"""Operations whose result comes after an unknown time, so that code must wait for their write barrier. Source: what
programs by NVIDIA's compiler and by this console's compiler do; those of the same unit for operations in none."""

READ_LATER: Final = frozenset({"AST", "RED", "ST", "STG", "STL", "STS", "SURED", "SUST"})
"""Operations without a result that read their operands after an unknown time, so that code must wait for their read
barrier before it overwrites them. Source: as above."""
