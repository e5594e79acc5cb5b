"""What quick draws (quick.py) are told by Python and tell it, as records in the work area.

QUICK is there once. An ENTRY is one state that was seen before: what registers must be for it, and all that a draw in
this state sets up. A LOGGED is one draw that was made, until Python takes it.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.constants import GROUPS
from pocketgpu.maxwell.engines.threed.drawn import LOGGED
from pocketgpu.maxwell.graphics.draw.native import WALK_SIZE
from pocketgpu.maxwell.graphics.draw.plan_words import PLAN_WORDS
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.host.layout import FILE_WORDS, MACRO_WORDS
from pocketgpu.maxwell.sass.thread_memory.work import BANKS, VECTOR
from pocketgpu.struct_words import Struct

QUICK = Struct(
    "WALK_CALL:2",  # handle of native.walk
    "PASSED:2",  # 64 bits: samples that passed and that counters have not heard of
    "CURRENT",  # the ENTRY that everything is set up for, 0: none
    "TOUCHED",  # whether anything was set up since Python looked
    "TABLE",  # offsets of ENTRY records by their hash
    "MASKS:2",  # bits of registers that an ENTRY depends on: of draws without and with an index buffer
    "FACTORS",  # what registers are multiplied with for the hash
    "INPUT", "WALK", "REGION", "FRAGMENTS",  # records of the draw
    "BOOK", "CHANGES", "POOLS",  # textures: the book; BOOK.CHANGES (0: none) and pools for which spans are right
    "SPANS", "SPAN_COUNT",  # SPAN records of what textures were made of
    "LOG", "LOG_END",  # where the next LOGGED goes, and the end of the room
    "WHOLES", "WHOLE_COUNT",  # whole register files, which logged draws differ from, and how many there are
    "WORK",  # work done since Python looked
)  # fmt: skip

SPAN = Struct("PAGE", "PAGES", "VERSION")
"""Pages of the arena, and the newest version among them as it was."""
BANK = Struct("SOURCE", "TARGET", "SIZE", "FILLED", "PAGE", "PAGES", "VERSION")
"""A constant bank: where its bytes come from and go to, the word that tells how many bytes the bank has, the pages that
they come from, and the version of those that was copied."""
COPY = Struct("SOURCE", "TARGET", "SIZE")
"""A part of the set-up: bytes of the entry to a place in the work area, a multiple of a vector."""

MOST_BANKS, MOST_WINDOWS, MOST_COPIES, MOST_CODE = 2 * BANKS, 9, 8, 2
KEY_WORDS = MACRO_WORDS
"""Registers behind these are parameters of macros."""
MOST_SPANS = 128

ENTRY = Struct(
    "HASH", "CHANNEL", "TOPOLOGY", "INDEX_BYTES", f"GROUPS:{len(GROUPS)}",
    "USES_START", "ADDS_BASE",  # of VertexPlan
    "INDEX_AT", "INDEX_ROOM",  # the piece of memory with the index buffer, and its bytes
    "COUNTS", "TEXTURED", "POOLS",  # whether samples are counted, whether textures are read, out of which pools
    "SLOTS:2",  # of the programs, on the first thread
    "CODE_COUNT", f"CODE:{MOST_CODE * SPAN.size // 4}",  # SPAN records of the programs
    "WINDOW_COUNT", f"WINDOWS:{MOST_WINDOWS * SPAN.size // 4}",  # SPAN records of what is drawn to
    "COPY_COUNT", f"COPIES:{MOST_COPIES * COPY.size // 4}",
    "BANK_COUNT", f"BANKS:{MOST_BANKS * BANK.size // 4}",
)  # fmt: skip


def whole_vectors(size: int) -> int:
    """Bytes of the vectors that hold so many."""
    return (size + VECTOR - 1) // VECTOR * VECTOR


INPUT_BYTES, WALK_BYTES = whole_vectors(INPUT.size), whole_vectors(WALK_SIZE)
ENTRY_KEY = whole_vectors(ENTRY.size)
ENTRY_INPUT = ENTRY_KEY + 4 * KEY_WORDS
ENTRY_WALK = ENTRY_INPUT + INPUT_BYTES
ENTRY_DATA = ENTRY_WALK + WALK_BYTES
"""Where an ENTRY has its registers, the INPUT and WALK records at their beginning, and what COPY records name."""
ENTRY_ROOM = 32 << 10
MOST_ENTRIES = 1024
TABLE_BITS = 12
TABLE_WORDS = 1 << TABLE_BITS
HASH = 0x9E3779B1
"""A hash times this, the upper bits of the product: the first place to look at."""
PROBES = 16
"""Places of the table that are looked at for an entry."""

MOST_CHANGES = 96
"""Words that differ, beyond which a whole register file is kept."""
LOG_SIZE = 1 << 20
MOST_WHOLES = 64
MOST_LOGGED = LOGGED.size + 8 * MOST_CHANGES
"""Bytes of the largest LOGGED."""
MOST_WORK = 1 << 17
"""Pixels of boxes in 256, and vertices in 32, after which Python is let in between: a fraction of a second."""

_ALWAYS = re.compile(
    "SET_VERTEX_STREAM_[AB]_LOCATION_[AB]|SET_VERTEX_STREAM_LIMIT_[AB]_[AB]|SET_TEX_(HEADER|SAMPLER)_POOL_[ABC]"
    "|SET_SHADER_LOCAL_MEMORY_.*|SET_(GLOBAL_)?RENDER_ENABLE_.*|SET_STATISTICS_COUNTER"
)
"""What is no part of a plan, but of an entry."""
_INDEXED = re.compile("SET_INDEX_BUFFER_[A-E]")


def _words(names: re.Pattern[str]) -> list[int]:
    return [word for method in B197 if names.fullmatch(method.name) for word in method.words()]


@cache
def masks() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Which registers an entry depends on, all ones for each: without and with an index buffer."""
    plain = np.zeros(KEY_WORDS, np.uint32)
    plain[PLAN_WORDS[PLAN_WORDS < KEY_WORDS]] = 0xFFFFFFFF
    plain[_words(_ALWAYS)] = 0xFFFFFFFF
    indexed = plain.copy()
    indexed[_words(_INDEXED)] = 0xFFFFFFFF
    return plain, indexed


@cache
def factors() -> NDArray[np.uint32]:
    """An odd number for each register."""
    rng = np.random.default_rng(0x3D)
    return rng.integers(0, 1 << 32, KEY_WORDS, np.uint32) | np.uint32(1)


WHOLE_BYTES = 4 * FILE_WORDS
