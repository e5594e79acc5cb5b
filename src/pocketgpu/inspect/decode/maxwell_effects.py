"""The effects of the Switch's methods as a table: effects by name, and the role that a method has in a draw."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import A140, B0B5, B06F, B1C0, B197, TWOD, MethodBlock
from pocketgpu.inspect.decode.rows import EFFECTS
from pocketgpu.maxwell.host.layout import CLASS_FILES, FILE_WORDS, FILES, HOST_FILE

NONE, BEGIN, END, DRAW, WHOLE, INLINE = range(6)
"""Roles in a draw: a method opens it, closes it, draws in between, does all three, or gives an index to it."""
ROLE_AT: Final = 16
"""The lowest bit of the role in a word of the table, above the effects."""

_ROLES: Final = {
    "BEGIN": BEGIN,
    "END": END,
    "DRAW_VERTEX_ARRAY": DRAW,
    "DRAW_INDEX_BUFFER": DRAW,
    "DRAW_AUTO": DRAW,
    "DRAW_ZERO_INDEX": DRAW,
    "DRAW_INLINE_INDEX": INLINE,
    "DRAW_INLINE_INDEX2X16": INLINE,
    "DRAW_INLINE_INDEX4X8": INLINE,
    **{
        f"DRAW_{what}_BEGIN_END_INSTANCE_{order}": WHOLE
        for what in ("VERTEX_ARRAY", "INDEX_BUFFER32", "INDEX_BUFFER16", "INDEX_BUFFER8")
        for order in ("FIRST", "SUBSEQUENT")
    },
}

_EFFECTS: Final[tuple[tuple[MethodBlock, str, str], ...]] = (
    *((block, "LAUNCH_DMA", "copy") for block in (B197, B1C0, A140)),
    *((block, "LOAD_INLINE_DATA", "inline") for block in (B197, B1C0, A140)),
    *((block, "LOAD_CONSTANT_BUFFER", "constant") for block in (B197,)),
    *((block, "SET_REPORT_SEMAPHORE_D", "report") for block in (B197, B1C0)),
    (B197, "CLEAR_SURFACE", "clear"),
    (B1C0, "SEND_SIGNALING_PCAS_B", "launch"),
    (B0B5, "LAUNCH_DMA", "copy"),
    (TWOD, "PIXELS_FROM_MEMORY_SRC_Y0_INT", "copy"),
    (B06F, "SEMAPHORED", "report"),
    (B06F, "SYNCPOINTB", "report"),
    *((block, name, "macro") for block in (B197, TWOD) for name in ("CALL_MME_MACRO", "CALL_MME_DATA")),
    *((B197, name, "upload") for name in ("LOAD_MME_INSTRUCTION_RAM", "LOAD_MME_START_ADDRESS_RAM")),
)


@cache
def effect_table() -> NDArray[np.int32]:
    """(FILES, FILE_WORDS): effects of each method, and its role in draws at `ROLE_AT`."""
    table = np.zeros((FILES, FILE_WORDS), np.int32)
    file_of = {class_id: file for file, class_id in enumerate(CLASS_FILES)} | {B06F.class_id: HOST_FILE}
    for block, name, effect in _EFFECTS:
        table[file_of[block.class_id], list(block[name].words())] |= EFFECTS[effect]
    for name, role in _ROLES.items():
        table[file_of[B197.class_id], list(B197[name].words())] |= role << ROLE_AT
    table[FILES - 1] = EFFECTS["ignored"]
    table.flags.writeable = False
    return table
