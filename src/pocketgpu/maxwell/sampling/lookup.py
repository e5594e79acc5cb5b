"""Finding the record of a texture by its handle, inside kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pocketgpu.lanes import F32, I32, I64, Lang, Type, Value
from pocketgpu.lanes.values import Operand
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sampling.records import BOOK, ENTRY_WORDS, GOOD, HASH, PROBES, RECORD, TABLE_BITS, V_HANDLE
from pocketgpu.maxwell.sass.thread_memory.access import note_fault
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, BLOCK, LANES, LAUNCH, NO_TEXTURE, SCRATCH, VECTOR

_MULTIPLIER = HASH - (1 << 32)


@dataclass
class Request:
    """One call of a kernel of this package: its arguments, and the scratch vectors.

    lanes, first: those that are worked on; all, or a part of them.
    """

    k: Lang
    launch: Value
    slot: Value
    warp: Value
    instruction: Value
    what: Value
    lanes: int = LANES
    first: Value | int = 0

    def part(self, first: Value, lanes: int) -> Request:
        """The same call for some of its lanes."""
        return Request(self.k, self.launch, self.slot, self.warp, self.instruction, self.what, lanes, first)

    def mask(self, ballot: Value) -> Value:
        """The mask of the lanes with this ballot, in which the first lane of the request is the lowest bit."""
        if self.lanes == LANES:
            return self.k.mask_of(ballot)
        own = self.k.pattern_of([1 << n for n in range(self.lanes)])
        return (self.splat(ballot) & own) == own

    def parts(self, ballot: Value) -> Iterator[tuple[Request, Value]]:
        """For lanes of a ballot: the same call for as many lanes as a register holds, with the ballot of those; in
        turn, without those that have no lane. The loop must run to its end."""
        k = self.k
        count = k.register_lanes
        for first in k.range(0, self.lanes, count):
            bits = ballot.lsr(first) & self.whole(count)
            for _ in k.when(bits != 0):
                yield self.part(first, count), bits

    def whole(self, lanes: int = 0) -> int:
        """The ballot of all lanes of the request, or of so many."""
        return (1 << (lanes or self.lanes)) - 1

    def scratch(self, n: Value | int) -> Value:
        """Arena offset of the lanes in a scratch vector."""
        return self.slot + (self.first << 2) + (SCRATCH + n * VECTOR)

    def splat(self, v: Operand, type: Type = I32) -> Value:
        """The same value in the lanes."""
        return self.k.splat(v, self.lanes, type)

    def take(self, n: Value | int, type: Type = I32) -> Value:
        """A scratch vector, I32 or F32."""
        return self.k.load(type, self.scratch(n), self.lanes)

    def put(self, n: int, v: Value, mask: Value | None) -> None:
        """Write lanes of a scratch vector of words; all without a mask."""
        self.k.store(I32, self.scratch(n), self.k.fit(v, I32, self.lanes), mask)

    def bits(self, field: tuple[int, int]) -> Value:
        """A field of the call's word."""
        low, width = field
        return self.what.lsr(low) & ((1 << width) - 1)

    def fault(self, kind: int, lanes: Value, low: Value) -> None:
        """Record a fault of the first of some lanes."""
        k = self.k
        lane = k.trailing_zeros(lanes) & 31
        note_fault(k, self.slot, kind, lane, low, k.i32(0), (self.instruction, self.warp, k.i32(0)))


class Record:
    """The record of a texture at an arena offset."""

    def __init__(self, k: Lang, at: Value) -> None:
        self.k, self.at = k, at

    def word(self, name: str, n: int = 0) -> Value:
        return self.k.load(I32, self.at + (RECORD.offsets[name] + 4 * n))

    def number(self, name: str, n: int = 0) -> Value:
        """A word that is an f32."""
        return self.k.load(F32, self.at + (RECORD.offsets[name] + 4 * n))

    def flag(self, bit: int) -> Value:
        return (self.word("FLAGS") & bit) != 0


def find(request: Request, handle: Value, use: int) -> Value:
    """Arena offset of the record of a handle (a scalar). If it is not in the table, the host makes it."""
    k = request.k
    book = k.load(I32, request.launch + LAUNCH.TEXTURES)
    place, found = k.var((handle * _MULTIPLIER).lsr(32 - TABLE_BITS) + use), k.var(0)
    left = k.var(PROBES)
    for _ in k.loop(lambda: (left.value != 0) & (found.value == 0)):
        at = book + BOOK.TABLE + ((place.value & ((1 << TABLE_BITS) - 1)) * (4 * ENTRY_WORDS))
        same = (k.load(I32, at) == handle) & (k.load(I32, at + 4) == use + 1)
        found.value = k.select(same, k.load(I32, at + 8), 0)
        place.value = place.value + 1
        left.value = left.value - 1
    for _ in k.when(found.value == 0):
        answer = request.slot + BLOCK.ANSWER
        k.invoke(k.load(I64, book + BOOK.RESOLVE), answer, handle, k.i32(use))
        found.value = k.load(I32, answer)
    return found.value


def _using(request: Request, handle: Value) -> Value:
    """The ballot of the lanes whose handle is this one."""
    return request.k.ballot(request.take(V_HANDLE) == handle)


def each_texture(request: Request, mask: Value, handle: Value, use: int, body: Callable[[Record, Value], None]) -> None:
    """Run `body` with a record and the lanes (a ballot) that use it, for each different handle among the active lanes.

    handle: number of a word of the bank of handles; below 0, handles are in a scratch vector. A bad handle uses the
    record of bad handles, and is recorded as a fault.
    """
    k = request.k
    launch = request.launch
    bank = k.load(I32, launch + LAUNCH.CONSTANTS) + k.load(I32, launch + LAUNCH.TEXTURE_BANK) * BANK_SIZE
    fixed = handle >= 0
    known = k.load(I32, k.select(fixed, bank + ((handle << 2) & (BANK_SIZE - 4)), 0))
    left = k.var(mask)
    for _ in k.loop(lambda: left.value != 0):
        first = k.trailing_zeros(left.value) & 31
        column = request.slot + (SCRATCH + V_HANDLE * VECTOR)
        one = k.select(fixed, known, k.load(I32, column + (first << 2)))
        same: Value = k.branch(fixed, lambda: k.i32(-1), partial(_using, request, one))
        here = left.value & same
        record = Record(k, find(request, one, use))
        for _ in k.when(~record.flag(GOOD)):
            request.fault(NO_TEXTURE, here, one)
        body(record, here)
        left.value = left.value & ~here


__all__ = ["Record", "Request", "each_texture", "find"]
