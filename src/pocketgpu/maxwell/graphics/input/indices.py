"""The numbers of a draw's vertices, and the slots where each vertex is shaded once.

Numbers come from an index buffer of 8, 16 or 32 bits, from the pushbuffer, or are counted. Indices after the buffer's
limit, or where nothing is mapped, are 0. Source: class header B197 (SET_INDEX_BUFFER_*); reads after the limit are not
documented, 0 is what robust access of other interfaces requires.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, I64, U8, U16, Lang, Type, Value
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT, TABLE_BITS
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.sass.thread_memory.work import LANES

_SIGN = -0x80000000


def word(k: Lang, record: Value, name: str) -> Value:
    """A word of an INPUT record."""
    return k.load(I32, record + INPUT.offsets[name])


def read_numbers(k: Lang, record: Value, position: Value, count: Value, at: Value) -> None:
    """Write numbers position .. position+count-1 of the draw to arena offset `at`, as whole vectors."""
    size, room = word(k, record, "INDEX_BYTES"), word(k, record, "INDEX_ROOM")
    source, first = word(k, record, "INDEX_AT"), word(k, record, "FIRST")
    lane = k.iota()
    end = position + count
    for i in k.range(position, end, LANES):
        n = lane + i

        def quick(type: Type, shift: int, i: Value = i) -> Value:
            return k.load(type, source + (i << shift), LANES)

        def careful(i: Value = i) -> Value:
            return _read_carefully(k, record, size, i, end)

        def indexed(i: Value = i) -> Value:
            good = ~room.below(k.min(i + LANES, end))
            which = k.select(good, k.select(size == 4, 2, k.select(size == 2, 1, 0)), 3)
            ways = [lambda: quick(U8, 0), lambda: quick(U16, 1), lambda: quick(I32, 2), careful]
            found: Value = k.switch(which, ways)
            return found

        def counted(n: Value = n) -> Value:
            return n + first

        numbers = k.branch(size == 0, counted, indexed)
        k.store(I32, at + ((i - position) << 2), numbers)


def _read_carefully(k: Lang, record: Value, size: Value, position: Value, end: Value) -> Value:
    """Read indices byte by byte, looking up each address; 0 for those that cannot be read."""
    n = k.iota() + position
    start, limit = (k.load(I64, record + w) for w in (INPUT.SOURCE, INPUT.LIMIT))
    address = k.to_i64(n, False) * k.to_i64(size) + start
    wanted = n.below(end)
    inside = (address + (k.to_i64(size) - 1) <= limit) & wanted
    found = k.var(k.splat(0))
    missed = k.var(k.splat(0))
    for byte in k.range(0, size):
        offset, mapped = page_table.translate(k, address + k.to_i64(byte))
        value = k.gather(U8, offset, inside & mapped)
        found.value = found.value | (value << (byte << 3))
        missed.value = missed.value + k.select(inside & ~mapped, 1, 0)
    _count_missed(k, missed.value)
    return found.value


def _count_missed(k: Lang, missed: Value) -> None:
    total = k.reduce("add", missed)
    for _ in k.when(total != 0):
        k.atomic("add", I64, page_table.MISSED, k.to_i64(total))


def assign_slots(k: Lang, record: Value, window: Value, count: Value, used: Value) -> Value:
    """Assign slots to places window .. window+count-1, beginning with slot `used`; returns the new number of used
    slots.

    Numbers in a narrow range are shaded as that range. Others get a slot when they first appear; a table of fixed size
    remembers recent ones, so a number may be shaded again after a long gap.
    """
    numbers, slots = word(k, record, "NUMBERS"), word(k, record, "SLOTS")
    restarts, restart = word(k, record, "RESTARTS") != 0, word(k, record, "RESTART")
    lane = k.iota()
    low, high = k.var(k.splat(0x7FFFFFFF)), k.var(k.splat(_SIGN))
    end = window + count
    for i in k.range(window, end, LANES):
        v = k.load(I32, numbers + (i << 2), LANES)
        means = (lane + i < end) & ~((v == restart) & restarts)
        order = v ^ _SIGN  # signed comparison then gives the unsigned order
        low.value = k.select(means, k.min(order, low.value), low.value)
        high.value = k.select(means, k.max(order, high.value), high.value)
    first, last = k.reduce("min", low.value), k.reduce("max", high.value)
    none = first > last
    first, last = first ^ _SIGN, last ^ _SIGN
    span = last - first

    def as_range() -> Value:
        for i in k.range(window, end, LANES):
            v = k.load(I32, numbers + (i << 2), LANES)
            means = ~((v == restart) & restarts)
            k.store(I32, slots + (i << 2), k.select(means, v - first + used, 0))
        shaded = k.select(none, 0, span + 1)
        _list(k, record, used, shaded, first)
        return used + shaded

    found: Value = k.branch(none | span.below(count), as_range, lambda: _by_table(k, record, window, end, used))
    return found


def _list(k: Lang, record: Value, used: Value, count: Value, first: Value) -> None:
    """Record that slots used .. used+count-1 are the numbers `first`, `first` + 1 and so on."""
    shade, instances = word(k, record, "SHADE"), word(k, record, "SHADE_INSTANCES")
    instance = word(k, record, "INSTANCE") + word(k, record, "DONE_INSTANCES")
    for i in k.range(0, count, LANES):
        at = (used + i) << 2
        k.store(I32, shade + at, k.iota() + (first + i))
        k.store(I32, instances + at, k.splat(instance))


def _by_table(k: Lang, record: Value, window: Value, end: Value, used: Value) -> Value:
    """Assign slots in the order in which numbers appear."""
    numbers, slots, table = (word(k, record, name) for name in ("NUMBERS", "SLOTS", "TABLE"))
    shade, instances = word(k, record, "SHADE"), word(k, record, "SHADE_INSTANCES")
    restarts, restart = word(k, record, "RESTARTS") != 0, word(k, record, "RESTART")
    instance = word(k, record, "INSTANCE") + word(k, record, "DONE_INSTANCES")
    top = k.var(used)
    for i in k.range(window, end):
        v = k.load(I32, numbers + (i << 2))
        at = table + ((v & ((1 << TABLE_BITS) - 1)) << 2)
        known = k.load(I32, at)
        # A table entry is valid if its slot is of this part of the window and has that number.
        fits = (known >= used) & (known < top.value)
        same = k.load(I32, shade + (k.select(fits, known, used) << 2)) == v
        old = (fits & same) | (restarts & (v == restart))
        for _ in k.when(~old):
            k.store(I32, at, top.value)
            k.store(I32, shade + (top.value << 2), v)
            k.store(I32, instances + (top.value << 2), instance)
            top.value = top.value + 1
        k.store(I32, slots + (i << 2), k.select(old, known, top.value - 1))
    return top.value
