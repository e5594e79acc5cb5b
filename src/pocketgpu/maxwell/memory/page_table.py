"""The page table for kernels, from GPU virtual addresses to arena offsets; the layout of a GPU's memory in the arena.

Addresses have 40 bits and pages 4 KiB: two levels of 14 bits each. A word of the upper level is the arena offset of a
lower table. A word of a lower table is the arena offset of a page; the bits below 4096 are the number of bytes at the
page's end that threads of programs may not reach (`GpuMemory.close_after`). Both are 0 where nothing is mapped, and
that needs no test: a table at offset 0 is all zeros, and a page at offset 0 reads as zero.

The offsets are constants, so that machine code that looks up addresses is the same for every GPU.

==============  =====================================================================================
zeros           128 KiB that are never written: the table and the page of everything unmapped
root            the upper level
books           words that kernels and Python share (`VERSION`, `MISSED`)
versions        a stamp for each page of the arena: `Arena.page_versions`, where kernels can write it
staging         1 MiB through which surfaces are copied piece by piece (`surface_copy.py`)
tables          the lower level, as many tables as are in use
physical        the bytes of backings
tail guard      room for a whole vector that starts in the last page
work            host scratch
==============  =====================================================================================
"""

from __future__ import annotations

from pocketgpu.arena import ARENA_LIMIT, PAGE_SHIFT, PAGE_SIZE
from pocketgpu.lanes import I32, I64, Lang, Value
from pocketgpu.struct_words import Struct

ADDRESS_BITS = 40
ADDRESS_SPACE = 1 << ADDRESS_BITS
LEVEL_BITS = 14
TABLE_SHIFT = PAGE_SHIFT + LEVEL_BITS
"""A lower table maps 2^26 bytes."""
TABLE_WORDS = 1 << LEVEL_BITS
TABLE_SIZE = 4 * TABLE_WORDS
MAX_TABLES = 1024

ZEROS_SIZE = 2 * TABLE_SIZE
ROOT = ZEROS_SIZE
BOOKS = ROOT + TABLE_SIZE
VERSION = BOOKS
"""Word: the stamp for written pages; `GpuMemory.open_version` sets it."""
MISSED = BOOKS + 8
"""64 bits: bytes that kernels could not access since the last `GpuMemory.take_missed`."""
RUNS = 8
"""So many runs are in the books: addresses that threads reach and that lie in the arena in one piece (`runs.py`)."""
ROW_BYTES = 64
"""Bytes that are accessed at once where a run is looked up."""
RUN = Struct(f"START:{2 * RUNS}", f"PLACES:{2 * RUNS}", f"OFFSET:{RUNS}", start=BOOKS + 4096)
"""Words of runs: addresses (64 bits), in how many bytes a row may begin (64 bits; 0: no run), arena offsets."""
VERSIONS = BOOKS + TABLE_SIZE
STAGING = VERSIONS + 4 * (ARENA_LIMIT >> PAGE_SHIFT)
STAGING_SIZE = 1 << 20
TABLES = STAGING + STAGING_SIZE
PHYSICAL = TABLES + MAX_TABLES * TABLE_SIZE


def entry(k: Lang, va: Value) -> Value:
    """The lower table's word for addresses (i64, a scalar or lanes): 0 where nothing is mapped.

    Bits of an address above the lower 40 are ignored.
    """
    upper = k.low32(va.lsr(TABLE_SHIFT)) & (TABLE_WORDS - 1)
    lower = k.low32(va.lsr(PAGE_SHIFT)) & (TABLE_WORDS - 1)
    if va.lanes == 1:
        return k.load(I32, k.load(I32, (upper << 2) + ROOT) + (lower << 2))
    return k.gather(I32, k.gather(I32, (upper << 2) + ROOT) + (lower << 2))


def translate(k: Lang, va: Value) -> tuple[Value, Value]:
    """Arena offsets (i64) of addresses (i64, a scalar or lanes), and whether they are mapped.

    The offset of an unmapped address is in the zeros: reads may use it, writes must not. The result holds for the rest
    of the address's page of 4096 bytes, not beyond.
    """
    word = entry(k, va)
    return k.to_i64(word & -PAGE_SIZE) + (va & (PAGE_SIZE - 1)), word != 0


def run(k: Lang, va: Value) -> tuple[Value, Value, Value, Value]:
    """(whether a row at an address (i64, a scalar) is inside of a run; its start, PLACES (i32) and arena offset)."""
    inside = k.ballot((va - k.load(I64, RUN.START, RUNS)).below(k.load(I64, RUN.PLACES, RUNS)))
    n = k.trailing_zeros(inside) & (RUNS - 1)
    start, places = k.load(I64, (n << 3) + RUN.START), k.load(I32, (n << 3) + RUN.PLACES)
    return inside != 0, start, places, k.load(I32, (n << 2) + RUN.OFFSET)


def closed_bytes(word: Value) -> Value:
    """How many bytes at the end of a page threads may not reach, from the page's word: 0, but where a buffer ends."""
    return word & (PAGE_SIZE - 1)


def last_place(word: Value, bytes: Value | int) -> Value:
    """The last place in a page (from 0) where threads may access so many bytes, from the page's word."""
    return (PAGE_SIZE - bytes) - closed_bytes(word)


def stamp(k: Lang, offset: Value, mask: Value | None = None) -> None:
    """Stamp the pages of these arena offsets (a scalar or lanes, i32 or i64) as written.

    Before a kernel that stamps runs, its caller calls `GpuMemory.open_version`.
    """
    at = k.low32(offset) if offset.type is I64 else offset
    place, version = (at.lsr(PAGE_SHIFT) << 2) + VERSIONS, k.load(I32, VERSION)
    if place.lanes > 1:
        k.scatter(I32, place, version, mask)
    elif mask is None:
        k.store(I32, place, version)
    else:
        for _ in k.when(mask):
            k.store(I32, place, version)


def miss(k: Lang, bytes: Value) -> None:
    """Count bytes (a scalar, i32) that a kernel could not access; `GpuMemory.take_missed` returns the sum."""
    k.store(I64, MISSED, k.load(I64, MISSED) + k.to_i64(bytes))
