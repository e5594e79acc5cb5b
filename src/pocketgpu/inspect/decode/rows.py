"""The row of a decoded word (`ROW`), and the names of the numbers in it.

Rows are in the order of the stream: each word has one row, whether the GPU reached it or not. Methods that macros issue
come after the word that started them, if they are requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

ROW: Final = np.dtype(
    [
        ("address", "<u8"),
        ("word", "<u4"),
        ("old", "<u4"),
        ("new", "<u4"),
        ("draw", "<i4"),
        ("frame", "<i4"),
        ("list", "<i4"),
        ("position", "<u4"),
        ("segment", "<i4"),
        ("id", "<u2"),
        ("effect", "<u2"),
        ("what", "u1"),
        ("mask", "u1"),
        ("subchannel", "u1"),
        ("block", "u1"),
    ]
)
"""A row for each word, 48 bytes.

address: guest address of the word, physical on a 3DS, the GPU's on a Switch; 0 if the stream was not in memory. word:
the word itself. old, new: value of the register before and after it; both 0 if the word is not a write. draw: number in
its frame of the draw that the word belongs to, up to and including the word that triggers the draw; -1 after the last
draw of a frame. frame: -1 after the last frame. list: number of the list (3DS, in its frame; register writes and GX
commands have numbers of their own) or of the submission (Switch, in the recording). position: index of the word in its
list or segment. segment: index of its row in `Stream.table`. id: register id, word of a method, word offset of an
external register, or index of the word in a GX command or GPFIFO entry. effect: a sum of `EFFECTS`. what: of `WHAT`.
mask: bit n: byte n is written. subchannel: of a method; for a GX command, its number. block: of `BLOCKS`.
"""

Rows: TypeAlias = NDArray[np.void]
Words: TypeAlias = NDArray[np.uint32]

WHAT: Final = (
    "header",  # of a list entry or a packet
    "parameter",  # a word that is written to a register
    "immediate",  # a header that has its value in it
    "padding",  # keeps entries at multiples of 8 bytes; on a Switch, a word 0 that does nothing
    "not_reached",  # after the end of a list or segment
    "garbage",  # not a valid header (in raw dumps only)
    "issued",  # not a word of the stream: a method that a macro issues, with its value as the word
    "address",  # of a register that the processor writes
    "command",  # of a GX command
    "entry",  # of a GPFIFO entry
)
"""Kinds of words, by number."""
HEADER, PARAMETER, IMMEDIATE, PADDING, NOT_REACHED, GARBAGE, ISSUED, ADDRESS, COMMAND, ENTRY = range(len(WHAT))

BLOCKS: Final = ("b197", "b1c0", "a140", "902d", "b0b5", "b06f", "unbound", "pica", "external", "lcd", "gx", "gpfifo")
"""The block of an id, by number: classes of the Switch in the order of their register files, then the others."""
PICA_BLOCK, EXTERNAL_BLOCK, LCD_BLOCK, GX_BLOCK, GPFIFO_BLOCK = range(7, 12)
HOST_BLOCK = 5

EFFECTS: Final[Mapping[str, int]] = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            "draw",  # triggers a draw
            "jump",  # continues in another list
            "interrupt",  # raises the list's interrupt
            "upload",  # a word for a memory that the register fills
            "macro",  # calls a macro or is a parameter of one
            "inline",  # inline data
            "constant",  # a word for a constant buffer
            "list",  # starts a command list
            "fill",
            "transfer",
            "clear",
            "launch",
            "copy",  # copies or blits, or gives the target of inline data
            "report",  # a value for the processor: semaphores, syncpoints, counters
            "ignored",  # no register is there
            "changed",  # the register now differs from its value at the last draw
        )
    )
}
"""Effects of a word, by name: bits of `ROW`'s effect."""
CHANGED: Final = EFFECTS["changed"]
DATA: Final = EFFECTS["upload"] | EFFECTS["inline"] | EFFECTS["constant"]
"""Effects of words that are data for a memory: the value of the register has no meaning."""


def effect_names(effect: int) -> list[str]:
    """The names of the bits that are set, without "changed"."""
    return [name for name, bit in EFFECTS.items() if effect & bit and bit != CHANGED]
