"""The kernels of the vertex side: from a draw's vertices to shaded vertices and lists of primitives.

`next_piece` makes the window, the slots and the primitives of a piece; `run_vertices` shades its slots, 32 at a time,
and threads can share them.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.graphics.input.assembly import assemble_run, carry_over, new_run
from pocketgpu.maxwell.graphics.input.indices import assign_slots, read_numbers, word
from pocketgpu.maxwell.graphics.input.vertex_records import (
    ATTRIBUTE,
    BASE_INSTANCE,
    ELEMENTS,
    INPUT,
    INPUT_PAGE,
    INSTANCE_NUMBERS,
    WANTED,
)
from pocketgpu.maxwell.graphics.programs.run_stage import run_stage
from pocketgpu.maxwell.graphics.records import PAGE_DUMP, PAGE_ONE, PAGE_ZERO, PRIMITIVES, VERTICES
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, VECTOR


def _put(k: Lang, record: Value, name: str, v: Value | int) -> None:
    k.store(I32, record + INPUT.offsets[name], v)


@kernel(lanes=32, record=I32)
def next_piece(k: Lang, record: Value) -> None:
    """The next piece of a draw: numbers, slots, primitives. `record`: its INPUT record.

    Sets VERTICES.COUNT and PRIMITIVES.COUNT to what must be shaded and drawn, and MORE if another piece follows. A
    piece takes as many whole instances as fit; an instance that is larger than a window is split.
    """
    get = lambda name: word(k, record, name)
    capacity, count, instances, numbers = get("CAPACITY"), get("COUNT"), get("INSTANCES"), get("NUMBERS")
    kept = get("CARRIED")
    for i in k.range(0, kept):
        k.store(I32, numbers + (i << 2), k.load(I32, get("CARRY") + (i << 2)))
    filled, used, listed, going = k.var(kept), k.var(0), k.var(0), k.var(1)
    for _ in k.loop(lambda: going.value != 0):
        position, carried = get("POSITION"), get("CARRIED")
        begin = filled.value - carried
        amount = k.min(count - position, capacity - filled.value)
        for _ in k.when(position == 0):
            _put(k, record, "PRIMITIVE", get("FIRST_PRIMITIVE"))
        read_numbers(k, record, position, amount, numbers + (filled.value << 2))
        filled.value = filled.value + amount
        used.value = assign_slots(k, record, begin, filled.value - begin, used.value)
        ends = position + amount >= count
        listed.value = _assemble(k, record, begin, filled.value, ends, listed.value)
        _put(k, record, "POSITION", k.select(ends, 0, position + amount))
        done = get("DONE_INSTANCES") + k.select(ends, 1, 0)
        _put(k, record, "DONE_INSTANCES", done)
        more = done < instances
        going.value = k.select(ends & more & (count <= capacity - filled.value), 1, 0)
        _put(k, record, "MORE", k.select(more, 1, 0))
    k.store(I32, record + (INPUT.VERTICES + VERTICES.COUNT), used.value)
    k.store(I32, record + (INPUT.PRIMITIVES + PRIMITIVES.COUNT), listed.value)


def _assemble(k: Lang, record: Value, begin: Value, end: Value, ends: Value, listed: Value) -> Value:
    """Primitives of places begin .. end-1, run by run. ends: the instance ends there."""
    numbers = word(k, record, "NUMBERS")
    restarts, restart = word(k, record, "RESTARTS") != 0, word(k, record, "RESTART")
    at, total = k.var(begin), k.var(listed)
    for _ in k.loop(lambda: at.value < end):
        start = at.value
        stop = k.branch(restarts, lambda: _find(k, numbers, start, end, restart), lambda: end)
        ended = (stop < end) | ends
        total.value = assemble_run(k, record, start, stop, ended, total.value)
        for _ in k.when(ended):
            new_run(k, record)
        for _ in k.when(~ended):
            carry_over(k, record, start, stop)
        at.value = stop + 1
    # A restart can be the last of a piece.
    for _ in k.when(ends):
        new_run(k, record)
    return total.value


def _find(k: Lang, numbers: Value, start: Value, end: Value, wanted: Value) -> Value:
    """The first place at or after start with that number, or `end`."""
    at, found = k.var(start), k.var(end)
    for _ in k.loop(lambda: at.value < found.value):
        v = k.load(I32, numbers + (at.value << 2), LANES)
        ballot = k.ballot((v == wanted) & (k.iota() + at.value < end))
        for _ in k.when(ballot != 0):
            found.value = at.value + k.trailing_zeros(ballot)
        at.value = at.value + LANES
    return found.value


def clear_page(k: Lang, page: Value, vectors: Value) -> None:
    """Write the constant vectors of a page, and zero to its slots."""
    k.store(I32, page + PAGE_ZERO, k.splat(0))
    k.store(F32, page + PAGE_ONE, k.splat(k.f32(1.0)))
    for i in k.range(PAGE_DUMP, vectors * VECTOR, VECTOR):
        k.store(I32, page + i, k.splat(0))


@kernel(lanes=32, record=I32, slot=I32, room=I32, first=I32, last=I32)
def run_vertices(k: Lang, record: Value, slot: Value, room: Value, first: Value, last: Value) -> None:
    """Fetch and shade vertices of pages first .. last-1 of the piece.

    :param record: offset of the INPUT record. slot, room: of the thread's slot for programs, and of its room for inputs
        (INPUT_PAGE bytes and a page of INPUT_VECTORS).
    """
    get = lambda name: word(k, record, name)
    count = k.load(I32, record + (INPUT.VERTICES + VERTICES.COUNT))
    pages, size = (k.load(I32, record + (INPUT.VERTICES + w)) for w in (VERTICES.PAGES, VERTICES.PAGE_SIZE))
    launch, page = get("LAUNCH"), room + INPUT_PAGE
    careful = k.load(I64, record + INPUT.FETCH_CAREFUL)
    vertex_id, instance_id = page + get("VERTEX_ID_AT"), page + get("INSTANCE_ID_AT")
    attributes, shade, instances = get("ATTRIBUTES"), get("SHADE"), get("SHADE_INSTANCES")
    clear_page(k, page, get("INPUT_VECTORS"))
    k.store(I32, page + get("INTEGER_ONE_AT"), k.splat(1))
    k.store(I32, room + BASE_INSTANCE, get("BASE_INSTANCE"))
    for p in k.range(first, last):
        at = p << 7
        some = k.iota() + (p << 5) < count
        # Lanes without a vertex read the inputs of the first one.
        one, other = k.load(I32, shade + at, LANES), k.load(I32, instances + at, LANES)
        number = k.select(some, one, k.lane(one, 0))
        instance = k.select(some, other, k.lane(other, 0))
        k.store(I32, room + ELEMENTS, number + get("BASE_VERTEX"))
        k.store(I32, room + INSTANCE_NUMBERS, instance)
        k.store(I32, room + WANTED, k.ballot(some))
        k.store(I32, vertex_id, number + get("ID_OFFSET"))
        k.store(I32, instance_id, instance)
        for a in k.range(0, get("ATTRIBUTE_COUNT")):
            entry = attributes + a * ATTRIBUTE.size
            k.invoke(k.load(I64, entry), entry, room, careful)
        out = pages + p * size
        clear_page(k, out, get("OUTPUT_VECTORS"))
        k.store(I32, slot + BLOCK.IN_AT, page)
        k.store(I32, slot + BLOCK.OUT_AT, out)
        k.store(I32, slot + BLOCK.NUMBER, k.lane(number, 0))
        run_stage(k, launch, slot, k.ballot(some))
