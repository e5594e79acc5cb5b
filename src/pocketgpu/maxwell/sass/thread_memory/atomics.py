"""Atomic operations: one kernel, which all programs share, goes lane by lane in order.

Operations on integers that commute and return nothing may run on several threads of the host at once, with the host's
own atomic instructions. Launches with other operations run on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pocketgpu.lanes import I32, I64, Lang, Type, Value, kernel
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.sass.semantics.convert import half_to_f32, pack16
from pocketgpu.maxwell.sass.semantics.float32 import canonical
from pocketgpu.maxwell.sass.semantics.unit import Unit
from pocketgpu.maxwell.sass.thread_memory.access import DATA, HIGH, LOW, PAGE, SHARED, note_fault, windows
from pocketgpu.maxwell.sass.thread_memory.work import (
    LANES,
    LAUNCH,
    MISALIGNED,
    OUTSIDE_LOCAL,
    OUTSIDE_SHARED,
    SCRATCH,
    UNMAPPED,
    VECTOR,
)

ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, INVALID, SAFEADD = range(11)
"""Operations by their number in ATOM. What INVALID does is not known; here it exchanges."""
NOTHING, SWAP = 14, 15
"""The last number without an operation, which leaves memory as it is; the number of compare-and-swap here."""
_HOST_STEPS = {ADD: "add", MIN: "min", MAX: "max", AND: "and", OR: "or", XOR: "xor"}
"""Operations that the host has as one step, by their names in `Lang.atomic`."""
# Types by their number in ATOM.
U32, S32, U64, F32_ADD, F16_ADD, S64 = range(6)
OPERAND, SECOND = DATA, DATA + 2
"""Scratch vectors of the operand, two words, and of what a compare-and-swap stores, two words."""


def _flushed(k: Lang, x: Value) -> Value:
    bits = k.bits_i32(x)
    return k.bits_f32(k.select((bits & 0x7F800000) == 0, bits & -0x80000000, bits))


def _add_f32(k: Lang, old: Value, v: Value) -> Value:
    """The bits of a sum, denormal numbers flushed."""
    total = _flushed(k, k.bits_f32(old)) + _flushed(k, k.bits_f32(v))
    return canonical(_flushed(k, total))


def _add_f16(k: Lang, old: Value, v: Value) -> Value:
    """Two sums of halves, denormal numbers flushed."""
    flushed = lambda x: k.select((x & 0x7C00) == 0, x & 0x8000, x)
    wide = lambda x: k.to_f64(half_to_f32(Unit(k, {}), flushed(x)))
    half = lambda x, y: flushed(_sum16(k, wide(x) + wide(y)))
    return half(old & 0xFFFF, v & 0xFFFF) | (half(old.lsr(16), v.lsr(16)) << 16)


def _sum16(k: Lang, x: Value) -> Value:
    """An f64, the exact sum of two halves, as a half. The conversion is written for lane vectors."""
    return k.lane(pack16(Unit(k, {}), k.splat(k.bits_i64(x), type=I64), 0), 0)


def _combine(k: Lang, op: Value, type: Value, old: Value, v: Value, second: Value, wide: bool) -> Value:
    """The new value in memory, for words (i32) or pairs (i64)."""
    signed = (type == S32) | (type == S64)
    less = k.select(signed, old < v, old.below(v))
    zero = 0 * old
    stored: dict[int, Callable[[], Value]] = {
        ADD: lambda: old + v, MIN: lambda: k.select(less, old, v), MAX: lambda: k.select(less, v, old),
        INC: lambda: k.select(old.below(v), old + 1, zero),
        DEC: lambda: k.select((old == 0) | v.below(old), v, old - 1),
        AND: lambda: old & v, OR: lambda: old | v, XOR: lambda: old ^ v, EXCH: lambda: v, INVALID: lambda: v,
        SAFEADD: lambda: old + v,
        SWAP: lambda: k.select(old == v, second, old),
    }  # fmt: skip
    cases = [stored.get(number, lambda: old) for number in range(SWAP + 1)]
    if wide:
        return k.switch(op, cases)

    def plain() -> Value:
        return k.switch(op, cases)

    floats = [plain, plain, plain, lambda: _add_f32(k, old, v), lambda: _add_f16(k, old, v), plain]
    return k.switch(type, floats)


def _in_shared(start: Value, size: Value, offset: Value, total: Value) -> tuple[Value, Value]:
    """Whether an access is inside of shared memory, and its place in the arena."""
    return (offset <= size - total) & (offset >= 0), start + offset


def _in_page(k: Lang, low: Value, high: Value, in_local: Value, total: Value) -> tuple[Value, Value]:
    """Whether an access of global memory is inside of a page that is open so far, and its place in the arena."""
    va = (k.to_i64(high) << 32) | k.to_i64(low, False)
    word, place = page_table.entry(k, va), low & (PAGE - 1)
    inside = (va.lsr(page_table.ADDRESS_BITS) == 0) & (word != 0) & (place <= page_table.last_place(word, total))
    return inside & ~in_local, (word & -PAGE) + place


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32)
def atomic(k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value) -> None:
    """One operation for each lane of a mask. what: operation, type << 4, space << 8, wide << 12, no result << 13.

    The old value goes where the operand was.
    """
    op, type, space = what & 15, (what >> 4) & 15, (what >> 8) & 15
    wide, silent = ((what >> 12) & 1) != 0, ((what >> 13) & 1) != 0
    total = k.select(wide, 8, 4)
    scratch = slot + SCRATCH
    shared_size = k.load(I32, launch + LAUNCH.SHARED_SIZE)
    shared_at = slot + k.load(I32, launch + LAUNCH.SHARED_AT)
    host_step = silent & (space != SHARED) & (type != F32_ADD) & (type != F16_ADD)
    plain = (op == ADD) | (op == AND) | (op == OR) | (op == XOR) | (op == MIN) | (op == MAX)
    host_step = host_step & plain
    for lane in k.range(0, LANES):
        for _ in k.when((mask.lsr(lane) & 1) != 0):
            column = scratch + (lane << 2)
            low, high = k.load(I32, column + LOW * VECTOR), k.load(I32, column + HIGH * VECTOR)
            in_shared, in_local, offset = windows(k, launch, space, low, high)
            within = partial(_in_shared, shared_at, shared_size, offset, total)
            inside, place = k.branch(in_shared, within, partial(_in_page, k, low, high, in_local, total))
            aligned = (low & (total - 1)) == 0
            good = inside & aligned
            cell = column + OPERAND * VECTOR
            for _ in k.when(~good):
                kind = k.select(in_shared, OUTSIDE_SHARED, k.select(in_local, OUTSIDE_LOCAL, UNMAPPED))
                kind = k.select(aligned, kind, MISALIGNED)
                note_fault(k, slot, kind, lane, low, high, (instruction, warp, total))
                k.store(I32, cell, 0)
                k.store(I32, cell + VECTOR, 0)
            for _ in k.when(good):
                for _ in k.when(~in_shared):
                    page_table.stamp(k, place)

                def pair(at: Value) -> Value:
                    return (k.to_i64(k.load(I32, at + VECTOR)) << 32) | k.to_i64(k.load(I32, at), False)

                def one(place: Value = place, cell: Value = cell) -> None:
                    old, v = k.load(I32, place), k.load(I32, cell)
                    second = k.load(I32, cell + (SECOND - OPERAND) * VECTOR)
                    k.store(I32, place, _combine(k, op, type, old, v, second, False))
                    k.store(I32, cell, old)

                def two(place: Value = place, cell: Value = cell) -> None:
                    old, v = k.load(I64, place), pair(cell)
                    k.store(I64, place, _combine(k, op, type, old, v, pair(cell + (SECOND - OPERAND) * VECTOR), True))
                    k.store(I32, cell, k.low32(old))
                    k.store(I32, cell + VECTOR, k.low32(old.lsr(32)))

                def on_host(place: Value = place, cell: Value = cell) -> None:
                    signed = (type == S32) | (type == S64)
                    names = [_HOST_STEPS.get(number, "add") for number in range(XOR + 1)]

                    def step(name: str, kind: Type, v: Value) -> None:
                        k.atomic(name, kind, place, v)

                    def both(name: str, kind: Type, v: Value) -> None:
                        if name not in ("min", "max"):
                            step(name, kind, v)
                            return
                        k.branch(signed, lambda: step(name, kind, v), lambda: step("u" + name, kind, v))

                    def words() -> None:
                        v = k.load(I32, cell)
                        k.switch(op, [lambda n=n: both(n, I32, v) for n in names])

                    def pairs() -> None:
                        v = pair(cell)
                        k.switch(op, [lambda n=n: both(n, I64, v) for n in names])

                    k.branch(wide, pairs, words)

                k.branch(host_step, on_host, lambda: k.branch(wide, two, one))


def wide_type(type: int) -> bool:
    """Whether an operand type has 64 bits."""
    return type in (U64, S64)
