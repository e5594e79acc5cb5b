"""Running blocks of threads: warps in turns of bounded length, and barriers."""

from __future__ import annotations

from functools import partial

from pocketgpu.lanes import I32, I64, Lang, Value, Var, kernel
from pocketgpu.maxwell.sass.thread_memory.access import note_fault
from pocketgpu.maxwell.sass.thread_memory.work import (
    ALL_VOTED,
    BARRIERS,
    BLOCK,
    DONE,
    FINISHED,
    LANES,
    LAUNCH,
    LEFT,
    READY,
    REGISTERS,
    ROW_GOES_ON,
    RUNNING,
    SHARED_CLEAR,
    SOME_VOTED,
    STUCK,
    TURN_OVER,
    VECTOR,
    VOTES,
    WAITING,
    WARP,
    WARPS,
    Barrier,
)

EVERY = (1 << BARRIERS) - 1
"""All barriers, a bit for each."""
LONG = 1 << 28
"""Steps after which a run of blocks returns to Python: some seconds."""


@kernel(lanes=32, slot=I32, warp=I32, instruction=I32, lane=I32, kind=I32)
def fault(k: Lang, slot: Value, warp: Value, instruction: Value, lane: Value, kind: Value) -> None:
    """Note a fault that has no address."""
    zero = k.i32(0)
    note_fault(k, slot, kind, lane & (LANES - 1), zero, zero, (instruction, warp, zero))


def _begin(k: Lang, launch: Value, slot: Value, number: Value) -> None:
    """Set up block `number` of the grid."""
    of = lambda word: k.load(I32, launch + word)
    width, height = of(LAUNCH.GRID), of(LAUNCH.GRID + 4)
    row = k.udiv(number, width)
    k.store(I32, slot + BLOCK.X, number - row * width)
    plane = k.udiv(row, height)
    k.store(I32, slot + BLOCK.Y, row - plane * height)
    k.store(I32, slot + BLOCK.Z, plane)
    k.store(I32, slot + BLOCK.NUMBER, number)
    k.store(I32, slot + BLOCK.STATUS, RUNNING)
    count, stride, threads = of(LAUNCH.WARPS), of(LAUNCH.WARP_STRIDE), of(LAUNCH.THREADS)
    k.store(I32, slot + BLOCK.LIVE, count)
    for n in range(BARRIERS):
        k.store(I32, slot + BLOCK.ARRIVED + 4 * n, 0)
        k.store(I32, slot + BLOCK.EXPECTED + 4 * n, 0)
        k.store(I32, slot + BLOCK.COUNT + 4 * n, 0)
        k.store(I32, slot + BLOCK.ALL + 4 * n, 1)
        k.store(I32, slot + BLOCK.SOME + 4 * n, 0)
    for warp in k.range(0, count):
        record = slot + WARPS + warp * stride
        left = threads - warp * LANES
        mask = k.select(left >= LANES, -1, (1 << k.max(left, 0)) - 1)
        for name, v in (("RESUME", 0), ("DEPTH", 0), ("STARTED", 0), ("RESULT", 0), ("STATE", READY)):
            k.store(I32, record + WARP.offsets[name], v)
        k.store(I32, record + WARP.ACTIVE, mask)
        k.store(I32, record + WARP.ALIVE, mask)
        k.store(I64, record + WARP.STEPS, 0)
        k.store(I64, record + WARP.LANE_STEPS, 0)
        # An executor that takes a warp up in the middle must find registers that were not written as zero.
        for _ in k.when(of(LAUNCH.CLEAR) != 0):
            for i in k.range(0, stride - REGISTERS, VECTOR):
                k.store(I32, record + REGISTERS + i, k.splat(0))
            for n in range(7):
                k.store(I32, record + WARP.PREDICATES + 4 * n, 0)
            for n in range(4):
                k.store(I32, record + WARP.FLAGS + 4 * n, 0)
        k.store(I32, record + WARP.PREDICATES + 28, -1)
    # Shared and local memory begin as zero, so that every run gives the same result.
    for size, at in _cleared(k, launch):
        for i in k.range(0, size, SHARED_CLEAR):
            k.store(I32, slot + at + i, k.splat(0))


def _cleared(k: Lang, launch: Value) -> list[tuple[Value, Value]]:
    """(bytes, offset in a slot) of the memory that is cleared for a block."""
    of = lambda word: k.load(I32, launch + word)
    local = of(LAUNCH.WARPS) * of(LAUNCH.LOCAL_STRIDE)
    return [(of(LAUNCH.SHARED_SIZE), of(LAUNCH.SHARED_AT)), (local, of(LAUNCH.LOCAL_AT))]


def _arrive(k: Lang, slot: Value, record: Value) -> None:
    """A warp has come to a barrier: count it. It goes on at once if it only arrives."""
    number, kind = k.load(I32, record + WARP.BARRIER), k.load(I32, record + WARP.BARRIER_KIND)
    value, count = k.load(I32, record + WARP.BARRIER_VALUE), k.load(I32, record + WARP.BARRIER_COUNT)
    at = slot + (number << 2)
    add = lambda word, v: k.store(I32, at + word, k.load(I32, at + word) + v)
    add(BLOCK.ARRIVED, LANES)
    add(BLOCK.COUNT, value & VOTES)
    k.store(I32, at + BLOCK.EXPECTED, count)
    k.store(I32, at + BLOCK.ALL, k.load(I32, at + BLOCK.ALL) & k.select((value & ALL_VOTED) != 0, 1, 0))
    k.store(I32, at + BLOCK.SOME, k.load(I32, at + BLOCK.SOME) | k.select((value & SOME_VOTED) != 0, 1, 0))
    k.store(I32, record + WARP.STATE, k.select(kind == Barrier.ARRIVE, READY, WAITING))


def _store_result(k: Lang, record: Value, count: Value, whole: Value, some: Value) -> None:
    """The result of a reduction at a barrier into a warp's record. whole, some: 1 if all or any lanes voted for."""
    kind = k.load(I32, record + WARP.BARRIER_KIND)
    result = k.select(kind == Barrier.AND, -whole, k.select(kind == Barrier.OR, -some, count))
    for _ in k.when(kind >= Barrier.POPC):
        k.store(I32, record + WARP.RESULT, result)


def _release(k: Lang, launch: Value, slot: Value, touched: Value) -> Value:
    """Open the barriers of a set (a bit for each) at which all warps have arrived; returns whether there were any."""
    count, stride = k.load(I32, launch + LAUNCH.WARPS), k.load(I32, launch + LAUNCH.WARP_STRIDE)
    opened = k.var(0)
    everyone = k.load(I32, slot + BLOCK.LIVE) * LANES
    left = k.var(touched)
    for _ in k.loop(lambda: left.value != 0):
        number = k.trailing_zeros(left.value)
        left.value = left.value & (left.value - 1)
        at = slot + (number << 2)
        arrived, expected = k.load(I32, at + BLOCK.ARRIVED), k.load(I32, at + BLOCK.EXPECTED)
        wanted = k.select(expected == 0, everyone, (expected + (LANES - 1)) & -LANES)
        for _ in k.when((arrived > 0) & (arrived >= wanted)):
            opened.value = 1
            total, whole, some = (k.load(I32, at + w) for w in (BLOCK.COUNT, BLOCK.ALL, BLOCK.SOME))
            for warp in k.range(0, count):
                record = slot + WARPS + warp * stride
                state, own = k.load(I32, record + WARP.STATE), k.load(I32, record + WARP.BARRIER)
                for _ in k.when((state == WAITING) & (own == number)):
                    k.store(I32, record + WARP.STATE, READY)
                    _store_result(k, record, total, whole, some)
            for word, v in ((BLOCK.ARRIVED, 0), (BLOCK.EXPECTED, 0), (BLOCK.COUNT, 0), (BLOCK.ALL, 1), (BLOCK.SOME, 0)):
                k.store(I32, at + word, v)
    return opened.value


def _after_turn(
    k: Lang, place: tuple[Value, Value, Value], warp: Value, before: Value, left: Var, touched: Var
) -> None:
    """Take account of what a warp has done.

    place: launch, slot, handle of the code that goes on where the first cannot. before: the warp's steps until then.
    left: steps that the block has; touched: barriers that may open.
    """
    launch, slot, fallback = place
    record = slot + WARPS + warp * k.load(I32, launch + LAUNCH.WARP_STRIDE)
    for _ in k.when(k.load(I32, record + WARP.STATE) == LEFT):
        for _ in k.when(fallback != 0):
            k.store(I32, record + WARP.STATE, READY)
            k.invoke(fallback, launch, slot, warp)
    state = k.load(I32, record + WARP.STATE)
    for _ in k.when(state == WAITING):
        _arrive(k, slot, record)
        touched.value = touched.value | (1 << k.load(I32, record + WARP.BARRIER))
    left.value = left.value - (k.load(I64, record + WARP.STEPS) - before)
    for _ in k.when((state == DONE) | (state == LEFT)):
        touched.value = EVERY
        k.store(I32, record + WARP.STATE, DONE)
        k.store(I32, slot + BLOCK.LIVE, k.load(I32, slot + BLOCK.LIVE) - 1)
        for word in ("STEPS", "LANE_STEPS"):
            total = slot + BLOCK.offsets[word]
            k.store(I64, total, k.load(I64, total) + k.load(I64, record + WARP.offsets[word]))


def _in_a_row(k: Lang, launch: Value, slot: Value, function: Value, room: Value) -> None:
    """Run the warps from their beginning in one call, as long as they meet at the same barriers."""
    count, stride = k.load(I32, launch + LAUNCH.WARPS), k.load(I32, launch + LAUNCH.WARP_STRIDE)
    again = k.var(True)
    for _ in k.loop(lambda: again.value):
        k.store(I32, slot + BLOCK.ROW, count)
        k.invoke(function, launch, slot, k.i32(0))
        spent = k.var(k.i64(0))
        for warp in k.range(0, count):
            spent.value = spent.value + k.load(I64, slot + WARPS + warp * stride + WARP.STEPS)
        again.value = (k.load(I32, slot + BLOCK.ROW) == ROW_GOES_ON) & (spent.value <= room)
    k.store(I32, slot + BLOCK.ROW, 0)


@kernel(lanes=32, launch=I32, slot=I32, function=I64, fallback=I64, first=I32, last=I32)
def run_blocks(
    k: Lang, launch: Value, slot: Value, function: Value, fallback: Value, first: Value, last: Value
) -> None:  # fmt: skip
    """Run blocks first..last-1 of the grid one after the other in a slot, until one has used up its turns.

    It also returns after LONG steps. first = -1: continue the block that is in the slot. Then BLOCK.STATUS is
    the status of the last block, and BLOCK.NUMBER its number. function: handle of the code that runs a warp; fallback:
    of the code that goes on where the first cannot (0: none).
    """
    count, stride = k.load(I32, launch + LAUNCH.WARPS), k.load(I32, launch + LAUNCH.WARP_STRIDE)
    number = k.var(first)
    status = k.var(RUNNING)
    stop = k.var(last)
    for _ in k.when(first < 0):
        number.value = k.load(I32, slot + BLOCK.NUMBER)
        stop.value = number.value + 1
        k.store(I32, slot + BLOCK.STATUS, RUNNING)
    # Steps before a barrier count as well, because a loop around a barrier can be endless.
    room = k.to_i64(k.load(I32, launch + LAUNCH.TURNS)) * k.to_i64(k.load(I32, launch + LAUNCH.SLICE)) * k.to_i64(count)
    left = k.var(room)

    # Clearing memory takes time: a vector counts as a step.
    cleared = k.var(k.i64(0))
    clearing = sum((k.to_i64(size.lsr(VECTOR.bit_length() - 1)) for size, _ in _cleared(k, launch)), k.i64(0))

    def more() -> Value:
        short = k.load(I64, slot + BLOCK.STEPS) + cleared.value < LONG
        return (number.value < stop.value) & ((status.value == RUNNING) | (status.value == FINISHED)) & short

    # Barriers that may open: those at which a warp has arrived, and all of them after a warp has ended.
    touched = k.var(EVERY)
    account = partial(_after_turn, k, (launch, slot, fallback), left=left, touched=touched)

    for _ in k.loop(more):
        left.value = room
        status.value = RUNNING
        for _ in k.when(first >= 0):
            _begin(k, launch, slot, number.value)
            cleared.value = cleared.value + clearing
            _in_a_row(k, launch, slot, function, room)
            for warp in k.range(0, count):
                account(warp, k.i64(0))
            over = k.select(left.value < 0, TURN_OVER, RUNNING)
            status.value = k.select(k.load(I32, slot + BLOCK.LIVE) == 0, FINISHED, over)
        for _ in k.loop(lambda: status.value == RUNNING):
            ran = k.var(0)
            # The warps may have met at a barrier, or ended.
            opened = k.var(_release(k, launch, slot, touched.value))
            touched.value = 0
            for warp in k.range(0, count):
                record = slot + WARPS + warp * stride
                for _ in k.when(k.load(I32, record + WARP.STATE) == READY):
                    ran.value = 1
                    before = k.load(I64, record + WARP.STEPS)
                    k.invoke(function, launch, slot, warp)
                    account(warp, before)
            live = k.load(I32, slot + BLOCK.LIVE)
            moved = (ran.value != 0) | (opened.value != 0)
            status.value = k.select(
                live == 0, FINISHED, k.select(~moved, STUCK, k.select(left.value < 0, TURN_OVER, RUNNING))
            )
        k.store(I32, slot + BLOCK.STATUS, status.value)
        for _ in k.when(status.value == FINISHED):
            number.value = number.value + 1


def pass_barrier(k: Lang, record: Value) -> None:
    """Let the only warp of a block go on after a barrier; its own votes are the result."""
    value = k.load(I32, record + WARP.BARRIER_VALUE)
    whole, some = (k.select((value & bit) != 0, 1, 0) for bit in (ALL_VOTED, SOME_VOTED))
    _store_result(k, record, value & VOTES, whole, some)
    k.store(I32, record + WARP.STATE, READY)
