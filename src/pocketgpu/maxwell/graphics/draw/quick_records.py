"""Records in the work area that Python and the kernel `quick` share.

There is one QUICK. An ENTRY is a known state: the values of its registers, and all that is set up for a draw in it. A
READ is a set of registers that entries depend on. A LOGGED describes a draw that a kernel has made, until Python takes
it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.engines.threed.drawn import LOGGED
from pocketgpu.maxwell.graphics.draw.native import WALK_SIZE
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.host.layout import BOUND_WORDS, FILE_WORDS, MACRO_WORDS
from pocketgpu.maxwell.sass.thread_memory.work import BANKS, LANES, VECTOR
from pocketgpu.struct_words import Struct

ASKED_WORDS = ("TOPOLOGY", "INDEX_BYTES", "FIRST", "COUNT", "INSTANCE", "PRIMITIVE")
"""The words of QUICK with the draw that Python requests."""
QUICK = Struct(
    "WALK_CALL:2",  # handle of native.walk
    "PASSED:2",  # 64 bits: passed samples that are not yet added to the counters
    "ON",  # whether the walk of a pushbuffer may make draws
    "MOST",  # how many, until it returns to Python
    "ASKS",  # ASKED while Python requests a draw's set-up, SET_UP after it was done
    *ASKED_WORDS,
    "CURRENT",  # the ENTRY that is set up, 0: none
    "TOUCHED",  # whether anything was set up since Python last checked
    "TABLE",  # offsets of ENTRY records by their hash
    "READS", "READ_COUNT",  # READ records, at multiples of READ_ROOM
    "INPUT", "WALK", "REGION", "FRAGMENTS",  # records of the draw
    "BOOK", "CHANGES", "POOLS",  # textures: the book; BOOK.CHANGES (0: none) and pools for which spans are valid
    "SPANS", "SPAN_COUNT",  # SPAN records of the sources of textures
    "LOG", "LOG_END",  # where the next LOGGED goes, and the end of the room
    "WHOLES", "WHOLE_COUNT",  # whole register files with bindings, which logged draws differ from, and their number
    "WORK",  # work done since Python last checked
)  # fmt: skip
WALKING, ASKED, SET_UP = range(3)
"""QUICK.ASKS: the walk of a pushbuffer calls to have a draw made; Python requests the set-up of a draw; the set-up is
done."""

SPAN = Struct("PAGE", "PAGES", "VERSION")
"""Pages of the arena, and the newest version among them when the SPAN was made."""
BANK = Struct(
    "BOUND", "WANTED",  # where the channel has its BOUND (0: nothing is ever bound), the most bytes that programs read
    "LOW", "HIGH", "ROOM",  # what was bound at the last draw
    "SOURCE", "SIZE", "PAGE", "PAGES",  # so: where the bytes are in the arena, how many, their pages
    "VERSION",  # of those pages when the bytes were copied; NEVER: they were not
    "TARGET", "FILLED",  # where the bytes go, and the word with the number of bytes that are there
)  # fmt: skip
"""A constant bank of a program."""
NEVER = -1
COPY = Struct("SOURCE", "TARGET", "SIZE")
"""A part of the set-up: bytes of the entry that are copied into the work area, whole vectors."""

MOST_BANKS, MOST_WINDOWS, MOST_COPIES, MOST_CODE = 2 * BANKS, 9, 8, 2
KEY_WORDS = MACRO_WORDS
"""Registers after these are parameters of macros."""
MOST_SPANS = 128
KEY_VECTORS = KEY_WORDS // LANES

READ = Struct("COUNT", f"AT:{KEY_VECTORS}", f"BITS:{KEY_VECTORS}")
"""A set of registers, as the vectors of the register file that have some: where each begins, and which of its words are
in the set. The words' factors for the hash follow at READ_FACTORS, a vector for each; 0 for words that are not in the
set."""

ENTRY = Struct(
    "HASH", "CHANNEL", "TOPOLOGY", "INDEX_BYTES",
    "READ",  # the READ of the registers that were read to prepare the draw
    "ALONE",  # whether kernels can make such draws without Python
    "USES_START", "ADDS_BASE",  # of VertexPlan
    "INDEX_AT", "INDEX_ROOM",  # the piece of memory with the index buffer, and its bytes
    "COUNTS", "TEXTURED", "POOLS",  # whether samples are counted, whether textures are read, and from which pools
    "SLOTS:2",  # of the programs, on the first thread
    "CODE_COUNT", f"CODE:{MOST_CODE * SPAN.size // 4}",  # SPAN records of the programs
    "WINDOW_COUNT", f"WINDOWS:{MOST_WINDOWS * SPAN.size // 4}",  # SPAN records of what is drawn to
    "COPY_COUNT", f"COPIES:{MOST_COPIES * COPY.size // 4}",
    "BANK_COUNT", f"BANKS:{MOST_BANKS * BANK.size // 4}",
)  # fmt: skip


def whole_vectors(size: int) -> int:
    """Bytes of the vectors for so many bytes."""
    return (size + VECTOR - 1) // VECTOR * VECTOR


INPUT_BYTES, WALK_BYTES = whole_vectors(INPUT.size), whole_vectors(WALK_SIZE)
ENTRY_KEY = whole_vectors(ENTRY.size)
ENTRY_INPUT = ENTRY_KEY + VECTOR * KEY_VECTORS
ENTRY_WALK = ENTRY_INPUT + INPUT_BYTES
ENTRY_DATA = ENTRY_WALK + WALK_BYTES
"""Offset in an ENTRY of the vectors of registers that its READ selects, the initial INPUT and WALK records, and what
COPY records refer to."""
ENTRY_ROOM = 32 << 10
MOST_ENTRIES = 1024
READ_FACTORS = whole_vectors(READ.size)
READ_ROOM = READ_FACTORS + VECTOR * KEY_VECTORS
MOST_READS = 32
TABLE_BITS = 12
TABLE_WORDS = 1 << TABLE_BITS
HASH = 0x9E3779B1
"""The upper bits of a hash times this are its first index in the table."""
PROBES = 16
"""Places of the table that are searched for an entry."""

MOST_CHANGES = 96
"""If more words differ, a whole register file is stored."""
LOG_SIZE = 1 << 20
MOST_WHOLES = 64
MOST_LOGGED = LOGGED.size + 8 * MOST_CHANGES
"""Bytes of the largest LOGGED."""
MOST_WORK = 1 << 17
"""Work after which `quick` returns to Python, a fraction of a second: pixels of boxes in units of 256, and vertices in
units of 32."""

_MIX = ((16, 0x85EBCA6B), (13, 0xC2B2AE35))
"""Shifts and factors that make neighbouring numbers unlike each other."""


@cache
def factors() -> NDArray[np.uint32]:
    """An odd number for each register, as if by chance. (NumPy's random numbers take 5 ms to import.)"""
    found = np.arange(1, KEY_WORDS + 1, dtype=np.uint32) * np.uint32(HASH)
    for shift, factor in _MIX:
        found = (found ^ (found >> np.uint32(shift))) * np.uint32(factor)
    return found | np.uint32(1)


WHOLE_BYTES = 4 * (FILE_WORDS + BOUND_WORDS)
"""Bytes of a register file, and the bindings of constants after it."""
