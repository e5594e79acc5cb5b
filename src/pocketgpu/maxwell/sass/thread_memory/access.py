"""Memory of threads: global memory through the page table, shared and local memory of a slot, constant banks.

All programs share one kernel for each space and size (`memory`). It is fastest where all lanes are in one page, or in
bounds of shared or local memory; it is a little slower where lanes have pages of their own. Other accesses go lane by
lane (`access`). A place that cannot be reached reads as zero, and a fault with instruction, lane, warp and block is
noted.
"""

from __future__ import annotations

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.lanes import BOOL, I8, I16, I32, I64, U8, U16, Lang, Value, Var, kernel
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.sass.thread_memory.work import (
    BLOCK,
    FAULT,
    FAULTS,
    LANES,
    LAUNCH,
    MISALIGNED,
    OUTSIDE_LOCAL,
    OUTSIDE_SHARED,
    SCRATCH,
    UNMAPPED,
    VECTOR,
    memory_index,
)

GENERIC, GLOBAL, SHARED, LOCAL = range(4)
WINDOW = 1 << 24
"""Bytes of the windows through which generic addresses reach shared and local memory."""
_TYPES = (U8, I8, U16, I16, I32, I32, I32, I32)
BYTES = (1, 1, 2, 2, 4, 8, 16, 16)
PAGE = PAGE_SIZE

# Scratch vectors of a call: lower and upper words of addresses, then the data.
LOW, HIGH, DATA, ROOM = 0, 1, 2, 6


class WarpPlace:
    """Arena offsets of a warp's records (scalars, i32).

    warp, record: its number and its record; variables where code runs one warp after the other.
    """

    def __init__(self, k: Lang, launch: Value, slot: Value, warp: Value | Var, record: Value | Var) -> None:
        self.k, self.launch, self.slot, self._warp, self._record = k, launch, slot, warp, record
        self.scratch = slot + SCRATCH
        # As 64 bits, so that an offset added to them becomes part of the address of a load or store.
        self._launch, self._slot, self._scratch = (k.to_i64(v) for v in (launch, slot, self.scratch))

    @property
    def warp(self) -> Value:
        """The number of the warp in its block."""
        return self._warp.value if isinstance(self._warp, Var) else self._warp

    @property
    def record(self) -> Value:
        """The arena offset of the warp's record."""
        return self._record.value if isinstance(self._record, Var) else self._record

    def word(self, word: int) -> Value:
        """The arena offset (i64) of a word of the warp's record."""
        return self.k.to_i64(self.record) + word

    def put_of_block(self, word: int, v: Value | int) -> None:
        self.k.store(I32, self._slot + word, v)

    def of_launch(self, word: int) -> Value:
        return self.k.load(I32, self._launch + word)

    def of_block(self, word: int) -> Value:
        return self.k.load(I32, self._slot + word)

    def vector(self, n: int) -> Value:
        """Offset of a scratch vector."""
        return self.scratch + n * VECTOR

    def put(self, n: int, v: Value) -> None:
        self.k.store(I32, self._scratch + n * VECTOR, self.k.fit(v, I32, LANES))

    def take(self, n: int) -> Value:
        return self.k.load(I32, self._scratch + n * VECTOR, LANES)

    def handle(self, word: int) -> Value:
        return self.k.load(I64, self._launch + word)


def first_lane(place: WarpPlace, v: Value, lanes: Value) -> Value:
    """The value that the first of some lanes (a ballot) has, as a scalar; that of lane 0 if there are no lanes."""
    k = place.k
    place.put(ROOM, v)
    return k.load(I32, place.vector(ROOM) + ((k.trailing_zeros(lanes) & 31) << 2))


def note_fault(
    k: Lang, slot: Value, kind: Value | int, lane: Value, low: Value, high: Value, about: tuple[Value, ...]
) -> None:
    """Note a fault of one lane; about: (instruction, warp, bytes), scalars.

    When the list is full, the first fault of a further instruction takes the place of one of many of the same.
    """
    instruction, warp, size = about
    count = k.load(I32, slot + BLOCK.FAULT_COUNT)
    k.store(I32, slot + BLOCK.FAULT_COUNT, k.min(count, 0x7FFFFFFE) + 1)
    place, wide = k.var(count), k.to_i64(slot)
    for _ in k.when(count >= FAULTS, usual=False):
        before, is_new = k.var(-1), k.var(True)
        for n in k.range(0, FAULTS):
            # With 64 bits no address is prepared where there is no fault.
            noted = k.load(I32, wide + (k.to_i64(n) * FAULT.size + (BLOCK.FAULT_LIST + FAULT.INSTRUCTION)))
            place.value = k.select(noted == before.value, n, place.value)
            before.value = noted
            is_new.value = is_new.value & (noted != instruction)
        place.value = k.select(is_new.value, place.value, FAULTS)
    for _ in k.when(place.value < FAULTS):
        at = wide + (k.to_i64(place.value) * FAULT.size + BLOCK.FAULT_LIST)
        words = {
            "INSTRUCTION": instruction, "LANE": lane, "WARP": warp, "NUMBER": k.load(I32, slot + BLOCK.NUMBER),
            "LOW": low, "HIGH": high, "KIND": kind if isinstance(kind, Value) else k.i32(kind), "SIZE": size,
        }  # fmt: skip
        for name, v in words.items():
            k.store(I32, at + FAULT.offsets[name], v)


def _width(k: Lang, size: Value) -> tuple[Value, Value]:
    """(bytes of one element, words of it) of a size code."""
    small = k.select(size < 2, 1, k.select(size < 4, 2, 4))
    return small, k.select(size == 5, 2, k.select(size >= 6, 4, 1))


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32)
def access(k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value) -> None:
    """Load or store for each lane of a mask. what: size code, space << 4, store << 8.

    Addresses are in the scratch vectors LOW and HIGH, the data from DATA on, where results go to as well.
    """
    size, space, store = what & 15, (what >> 4) & 15, ((what >> 8) & 1) != 0
    element, words = _width(k, size)
    total = k.select(words == 1, element, words << 2)
    scratch = slot + SCRATCH
    shared_size, local_size = k.load(I32, launch + LAUNCH.SHARED_SIZE), k.load(I32, launch + LAUNCH.LOCAL_SIZE)
    shared_at = slot + k.load(I32, launch + LAUNCH.SHARED_AT)
    local_at = slot + k.load(I32, launch + LAUNCH.LOCAL_AT) + warp * k.load(I32, launch + LAUNCH.LOCAL_STRIDE)
    for lane in k.range(0, LANES):
        for _ in k.when((mask.lsr(lane) & 1) != 0):
            column = scratch + (lane << 2)
            low, high = k.load(I32, column + LOW * VECTOR), k.load(I32, column + HIGH * VECTOR)
            in_shared, in_local, offset = windows(k, launch, space, low, high)
            is_global = ~in_shared & ~in_local
            aligned = (low & (total - 1)) == 0
            va = (k.to_i64(high) << 32) | k.to_i64(low, False)
            word = page_table.entry(k, va)
            inside = (va.lsr(page_table.ADDRESS_BITS) == 0) & (word != 0)
            inside = inside & ((low & (PAGE - 1)) <= page_table.last_place(word, total))
            fits_shared = (offset <= shared_size - total) & (offset >= 0)
            fits_local = (offset <= local_size - total) & (offset >= 0)
            good = k.select(in_shared, fits_shared, k.select(in_local, fits_local, inside)) & aligned
            for _ in k.when(~good):
                kind = k.select(in_shared, OUTSIDE_SHARED, k.select(in_local, OUTSIDE_LOCAL, UNMAPPED))
                kind = k.select(aligned, kind, MISALIGNED)
                note_fault(k, slot, kind, lane, low, high, (instruction, warp, total))
            # Local memory of a warp is stored word by word, with the lanes of a word adjacent.
            place = k.select(in_shared, shared_at + offset, (word & -PAGE) + (low & (PAGE - 1)))
            for _ in k.when(store & good & is_global):
                page_table.stamp(k, place)
            for n in k.range(0, words):
                at = k.select(in_local, local_at + (((offset >> 2) + n) << 7) + (lane << 2), place + (n << 2))
                at = k.select(in_local, at + (offset & 3), at)
                cell = column + DATA * VECTOR + (n << 7)

                def put(at: Value = at, cell: Value = cell) -> None:
                    v = k.load(I32, cell)
                    writers = [lambda: k.store(U8, at, v), lambda: k.store(U16, at, v), lambda: k.store(I32, at, v)]
                    k.switch(k.select(size < 2, 0, k.select(size < 4, 1, 2)), writers)

                def get(at: Value = at, cell: Value = cell) -> None:
                    kinds = (U8, I8, U16, I16, I32)
                    k.store(I32, cell, k.switch(size, [lambda t=t: k.load(t, at) for t in kinds]))

                def nothing(cell: Value = cell) -> None:
                    k.store(I32, cell, 0)

                k.switch(
                    k.select(good, k.select(store, 0, 1), k.select(store, 2, 3)), [put, get, lambda: None, nothing]
                )


def windows(
    k: Lang, launch: Value, space: Value, low: Value, high: Value
) -> tuple[Value, Value, Value]:  # fmt: skip
    """(in shared memory, in local memory, offset there) of addresses in a space."""
    shared_window, local_window = (k.load(I32, launch + w) for w in (LAUNCH.SHARED_WINDOW, LAUNCH.LOCAL_WINDOW))
    generic = (space == GENERIC) & (high == 0)
    from_shared, from_local = low - shared_window, low - local_window
    in_shared = (space == SHARED) | (generic & from_shared.below(WINDOW))
    in_local = (space == LOCAL) | (generic & from_local.below(WINDOW))
    offset = k.select(in_shared, k.select(space == SHARED, low, from_shared), k.select(space == LOCAL, low, from_local))
    return in_shared, in_local, offset


def slow(p: WarpPlace, instruction: Value, mask: Value, what: Value | int) -> None:
    """Call `access`; addresses and data are in scratch."""
    k = p.k
    number = k.ballot(mask)
    wanted = what if isinstance(what, Value) else k.i32(what)
    k.invoke(p.handle(LAUNCH.ACCESS), p.launch, p.slot, p.warp, instruction, number, wanted)


def _all(k: Lang, mask: Value) -> Value:
    """Whether a mask holds for all lanes."""
    return k.ballot(mask) == -1


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32)
def memory(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, *, space: int, size: int,
    store: bool,
) -> None:  # fmt: skip
    """Load or store for the lanes of a mask, one kernel for each space and size; addresses and data are in scratch."""
    p = WarpPlace(k, launch, slot, warp, slot)
    low = p.take(LOW)
    high = p.take(HIGH) if space == GLOBAL else k.splat(0)
    lanes = k.mask_of(mask)
    what = size | space << 4 | int(store) << 8
    good, offsets = _quick(p, space, size, low, high, lanes, mask, store)
    step, count = VECTOR if space == LOCAL else 4, words(size)

    def careful() -> None:
        if space != GLOBAL:
            p.put(HIGH, high)
        k.invoke(p.handle(LAUNCH.ACCESS), launch, slot, warp, instruction, mask, k.i32(what))

    def each() -> None:
        for n in range(count):
            if store:
                k.scatter(_TYPES[size], offsets + step * n, p.take(DATA + n), lanes)
            else:
                p.put(DATA + n, k.gather(_TYPES[size], k.select(lanes, offsets, 0) + step * n))

    def row() -> None:
        if store:
            k.store(_TYPES[size], first, p.take(DATA))
        else:
            p.put(DATA, k.load(_TYPES[size], first, LANES))

    def quick() -> None:
        if count == 1:
            # All lanes side by side are one piece of memory.
            row_of_all = offsets == first + k.pattern_of([BYTES[size] * n for n in range(LANES)])
            k.branch((mask == -1) & _all(k, row_of_all), row, each)
        else:
            each()

    first = k.lane(offsets, 0)
    k.branch(good, quick, careful, usual=True)


def words(size: int) -> int:
    """Words of a size."""
    return max(BYTES[size] // 4, 1)


def _call(
    p: WarpPlace, space: int, size: int, store: bool, low: Value, high: Value, mask: Value, instruction: Value
) -> None:
    """Call the kernel of an access; the data of stores is in scratch already."""
    k = p.k
    p.put(LOW, low)
    if space not in (SHARED, LOCAL):
        p.put(HIGH, high)
    number = k.ballot(mask)
    if space == GENERIC:
        k.invoke(p.handle(LAUNCH.ACCESS), p.launch, p.slot, p.warp, instruction, number, k.i32(size | int(store) << 8))
        return
    handle = p.handle(LAUNCH.MEMORY + 8 * memory_index(space, size, store))
    k.invoke(handle, p.launch, p.slot, p.warp, instruction, number)


def load(
    p: WarpPlace, space: int, size: int, low: Value, high: Value, mask: Value, instruction: Value
) -> list[Value]:  # fmt: skip
    """Words that the lanes of a mask load; other lanes get any value. size: the code of the size."""
    _call(p, space, size, False, low, high, mask, instruction)
    return [p.take(DATA + n) for n in range(words(size))]


def store(
    p: WarpPlace, space: int, size: int, low: Value, high: Value, data: list[Value], mask: Value, instruction: Value
) -> None:
    """Store words of the lanes of a mask."""
    for n, v in enumerate(data):
        p.put(DATA + n, v)
    _call(p, space, size, True, low, high, mask, instruction)


def _quick(
    p: WarpPlace, space: int, size: int, low: Value, high: Value, mask: Value, number: Value, writes: bool
) -> tuple[Value, Value]:  # fmt: skip
    """(whether the fast way is right for all lanes of the mask, arena offsets)."""
    k, size_bytes = p.k, BYTES[size]
    aligned = (low & (size_bytes - 1)) == 0
    if space == SHARED:
        limit = p.of_launch(LAUNCH.SHARED_SIZE) - (size_bytes - 1)
        inside = low.below(k.max(limit, 0)) & aligned
        return _all(k, inside | ~mask), low + (p.slot + p.of_launch(LAUNCH.SHARED_AT))
    if space == LOCAL:
        limit = p.of_launch(LAUNCH.LOCAL_SIZE) - (size_bytes - 1)
        inside = low.below(k.max(limit, 0)) & aligned
        start = p.slot + p.of_launch(LAUNCH.LOCAL_AT) + p.warp * p.of_launch(LAUNCH.LOCAL_STRIDE)
        return _all(k, inside | ~mask), ((low >> 2) << 7) + (low & 3) + (k.iota() << 2) + start
    # One page for all lanes: that of the first active one.
    at = p.vector(LOW) + ((k.trailing_zeros(number) & 31) << 2)
    low0, high0 = k.load(I32, at), k.load(I32, at + VECTOR)
    va = (k.to_i64(high0) << 32) | k.to_i64(low0, False)
    word = page_table.entry(k, va)
    mapped = (word != 0) & (va.lsr(page_table.ADDRESS_BITS) == 0)
    same = (((low ^ low0) & -PAGE) == 0) & (high == high0) & aligned
    page = word & -PAGE

    def ends() -> Value:
        return _all(k, same & ((low & (PAGE - 1)) <= page_table.last_place(word, size_bytes)) | ~mask)

    # In a page that is open to its end, an aligned access is inside.
    one_page = k.branch(page_table.closed_bytes(word) == 0, lambda: _all(k, same | ~mask), ends)

    def together() -> tuple[Value, Value]:
        if writes:
            for _ in k.when(number != 0):
                page_table.stamp(k, page)
        return k.fit(True, BOOL, 1), (low & (PAGE - 1)) + page

    def each() -> tuple[Value, Value]:
        own = (k.to_i64(high) << 32) | k.to_i64(low, False)
        pages = page_table.entry(k, k.select(mask, own, 0))
        inside = (pages != 0) & (own.lsr(page_table.ADDRESS_BITS) == 0) & aligned
        inside = inside & ((low & (PAGE - 1)) <= page_table.last_place(pages, size_bytes))
        good, offsets = _all(k, inside | ~mask), (pages & -PAGE) + (low & (PAGE - 1))
        if writes:
            for _ in k.when(good):
                page_table.stamp(k, offsets, mask)
        return good, offsets

    good, offsets = k.branch(one_page & (mapped | (number == 0)), together, each)
    return good, offsets
