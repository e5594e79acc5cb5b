"""Memory accesses that specialised code does without a call: words side by side, or the same word, for half a warp.

A block of a program with such accesses gets two forms. The quick form checks before an access that it is simple, once
for all accesses by the same register. If it is not, the careful form goes on, which calls a kernel for each access. So
the quick form has no calls, and values can stay in the registers of the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from pocketgpu.lanes import I32, I64, Lang, Value, Var
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.page_table import ROW_BYTES
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.registers import words_of, writes
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.access import BYTES, PAGE, WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH, NOTED, WARP

HALF = LANES // 2
assert ROW_BYTES == 4 * HALF
_FIRSTS = [0] * HALF + [HALF] * HALF

ROW, ALIKE, GLOBAL_ROW, TWIN_ROW = range(4)
Pair = tuple[Value, Value]


@dataclass(frozen=True)
class InlineAccess:
    """How the quick form does an access.

    kind: a word for each lane side by side in shared memory (ROW) or global memory (GLOBAL_ROW), the same words for all
    lanes of a half (ALIKE), or words side by side which are the same for both halves (TWIN_ROW).
    asks: whether it is checked; a check covers the offsets `low` to `high`, so that later accesses need none.
    """

    kind: int
    asks: bool
    low: int
    high: int


def accesses(
    steps: tuple[Step, ...], body: Iterable[int], twins: frozenset[int] = frozenset()
) -> dict[int, InlineAccess]:  # fmt: skip
    """The accesses with a quick form among instructions that are executed in this order, by number.

    twins: loads that probably are the same for both halves of the lanes.
    """
    found: dict[int, InlineAccess] = {}
    groups: dict[tuple[int, int, bool], list[int]] = {}  # the access that is checked, and those that it covers
    for index in body:
        step = steps[index]
        kind = _kind(step)
        if kind == ROW and index in twins:
            kind = TWIN_ROW
        if kind is not None:
            key = step.base, kind, step.op == "STS"
            group = groups.get(key)
            if step.guarded or kind == GLOBAL_ROW:
                found[index] = InlineAccess(kind, True, step.offset, step.offset)
            elif group is None:
                groups[key] = [index]
                found[index] = InlineAccess(kind, True, step.offset, step.offset)
            else:
                before = found[group[0]]
                found[group[0]] = InlineAccess(kind, True, min(before.low, step.offset), max(before.high, step.offset))
                found[index] = InlineAccess(kind, False, step.offset, step.offset)
        written = writes(step)
        for key in [key for key in groups if key[0] != RZ and written >> key[0] & 1]:
            del groups[key]
    return found


def _kind(step: Step) -> int | None:
    """The quick form of an instruction, if it has one."""
    size = step.mods.get("size", 4) & 7
    bytes = BYTES[size]
    if step.op in ("LDS", "STS"):
        if bytes < 4 or step.offset % bytes or (step.op == "LDS" and step.dest == RZ):
            return None
        if step.op == "STS":
            return ROW if bytes == 4 and step.base != RZ else None
        return ALIKE if bytes > 4 or step.base == RZ else ROW
    if step.op in ("LD", "ST") and step.mods.get("space") and step.mods.get("e") and step.base != RZ:
        wanted = step.op == "ST" or step.dest != RZ
        return GLOBAL_ROW if bytes == 4 and words_of(size) == 1 and wanted else None
    return None


def twins(flow: Flow) -> frozenset[int]:
    """Loads of rows of shared memory that are the same for both halves of a warp, if that is a block's two rows."""
    found = set()
    for block in flow.blocks:
        if block.number not in flow.repeated:
            continue
        for index, same in flow.agreement_of_halves.within(block.number):
            step = flow.steps[index]
            if step.op == "LDS" and _kind(step) == ROW and same >> step.base & 1:
                found.add(index)
    return frozenset(found)


def _pattern(k: Lang) -> Value:
    return k.pattern_of([4 * (i % HALF) for i in range(LANES)])


def _whole(k: Lang, mask: Value) -> Value:
    """Whether a mask holds for all lanes."""
    return k.ballot(mask) == -1


class NotedPages:
    """The pages or runs of the last access by an address, one for each half of the lanes, in the warp's record.

    number: which of NOTED_PAGES the address has; None: none.
    """

    def __init__(self, p: WarpPlace, number: int | None, bits: Var, bit: int) -> None:
        """bits: a variable with a bit that says whether the pages are noted."""
        self.k, self.p, self.number, self.bits, self.bit = p.k, p, number, bits, bit

    def _words(self) -> Iterator[Value]:
        assert self.number is not None
        for half in range(2):
            yield self.p.word(WARP.PAGES + (2 * self.number + half) * NOTED.size)

    def look(self, addresses: list[Value]) -> tuple[Value, list[Value]]:
        """(whether both addresses are in the pages that are noted, their places in the arena)."""
        k = self.k
        if self.number is None:
            return k.i32(0) != 0, [k.i32(0), k.i32(0)]
        inside, places = self.inside(addresses)
        return ((self.bits.value & self.bit) != 0) & inside, places

    def inside(self, addresses: list[Value]) -> tuple[Value, list[Value]]:
        """(whether both addresses are in these pages, which are noted, their places in the arena)."""
        k, found, places = self.k, self.k.i32(0) == 0, []
        for va, at in zip(addresses, self._words(), strict=True):
            place = va - k.load(I64, at + NOTED.START)
            found = found & place.below(k.to_i64(k.load(I32, at + NOTED.BYTES)))
            places.append(k.load(I32, at + NOTED.PLACE) + k.low32(place))
        return found, places

    def note(self, good: Value, pages: list[tuple[Value, Value, Value]]) -> None:
        """Note pages if they are good. pages: (address, in how many bytes an access may begin, arena offset)."""
        if self.number is None:
            return
        k = self.k
        for at, (start, bytes, place) in zip(self._words(), pages, strict=True):
            k.store(I64, at + NOTED.START, start)
            k.store(I32, at + NOTED.BYTES, bytes)
            k.store(I32, at + NOTED.PLACE, place)
        self.bits.value = (self.bits.value & ~self.bit) | k.select(good, self.bit, 0)


class SharedRows:
    """Words of shared memory by an address register; offsets are part of the loads and stores."""

    def __init__(self, p: WarpPlace) -> None:
        self.k, self.p = p.k, p
        self._start = p.k.to_i64(p.slot + p.of_launch(LAUNCH.SHARED_AT))

    def good(self, kind: int, base: Value, mask: Value, low: int, high: int, bytes: int) -> Value:
        """Whether lanes of a mask access words side by side, or the same word, in bounds with offsets low to high."""
        k = self.k
        firsts = k.splat(k.lane(base, 0)) if kind == TWIN_ROW else k.shuffle(base, _FIRSTS)
        wanted = base == firsts if kind == ALIKE else (base - firsts) == _pattern(k)
        limit = self.p.of_launch(LAUNCH.SHARED_SIZE) - ((bytes if kind == ALIKE else ROW_BYTES) - 1)
        limit = k.max(limit, 0)
        a = k.lane(base, 0)
        b = a if kind == TWIN_ROW else k.lane(base, HALF)
        good = _whole(k, wanted | ~mask) & (((a | b) & (bytes - 1)) == 0)
        for offset in {low, high}:
            good = good & (a + offset).below(limit) & (b + offset).below(limit)
        return good

    # firsts: the addresses of the first lane of each half, without the offset of the instruction.
    def _places(self, firsts: Pair, offset: int) -> Pair:
        a, b = ((self._start + self.k.to_i64(first)) + offset for first in firsts)
        return a, b

    def row(self, firsts: Pair, offset: int) -> Value:
        """A word for each lane, side by side."""
        k = self.k
        x, y = (k.load(I32, at, HALF) for at in self._places(firsts, offset))
        return k.shuffle(x, list(range(LANES)), y)

    def twin_row(self, firsts: Pair, offset: int) -> Value:
        """A word for each lane of a half, side by side."""
        k = self.k
        x = k.load(I32, (self._start + k.to_i64(firsts[0])) + offset, HALF)
        return k.shuffle(x, [i % HALF for i in range(LANES)])

    def alike(self, firsts: Pair, offset: int) -> Value:
        """One word for each half."""
        k = self.k
        x, y = (k.splat(k.load(I32, at), HALF) for at in self._places(firsts, offset))
        return k.shuffle(x, list(range(LANES)), y)

    def store_row(self, firsts: Pair, offset: int, v: Value) -> None:
        """Words side by side, all lanes."""
        k = self.k
        for n, at in enumerate(self._places(firsts, offset)):
            k.store(I32, at, k.shuffle(v, list(range(n * HALF, (n + 1) * HALF))))


class RowPlaces:
    """Words side by side for each half of the lanes, at two arena offsets (i32)."""

    def __init__(self, k: Lang, places: list[Value]) -> None:
        self.k, self.places = k, places

    def load(self) -> Value:
        """A word for each lane."""
        k = self.k
        x, y = (k.load(I32, at, HALF) for at in self.places)
        return k.shuffle(x, list(range(LANES)), y)

    def store(self, v: Value) -> None:
        """Words of all lanes."""
        k = self.k
        for n, at in enumerate(self.places):
            page_table.stamp(k, at)
            page_table.stamp(k, at + (ROW_BYTES - 4))  # in a run it may be another page
            k.store(I32, at, k.shuffle(v, list(range(n * HALF, (n + 1) * HALF))))


def row_addresses(k: Lang, lows: Pair, highs: Pair, offset: int) -> list[Value]:
    """The addresses (i64) of the first lane of each half. lows, highs: their words without the offset."""
    return [
        ((k.to_i64(upper) << 32) | k.to_i64(first, False)) + offset for first, upper in zip(lows, highs, strict=True)
    ]


def aligned(k: Lang, addresses: list[Value]) -> Value:
    """Whether addresses are those of words."""
    return (k.low32(reduce(or_, addresses)) & 3) == 0


class GlobalRow(RowPlaces):
    """Words of global memory side by side, for each half of the lanes inside one page or run.

    inside: whether they are in pages that threads reach (a scalar).
    """

    def __init__(self, k: Lang, lows: Pair, highs: Pair, offset: int, noted: NotedPages) -> None:
        """lows, highs: words of the addresses of the first lane of each half, without the offset of the instruction."""
        self._lows = lows
        addresses = row_addresses(k, lows, highs, offset)
        found, places = noted.look(addresses)
        known = lambda: (k.i32(0) == 0, *places)
        self.k = k
        good, *places = k.branch(found, known, lambda: self._find(addresses, noted), usual=True)
        super().__init__(k, places)
        self.inside = good & aligned(k, addresses)

    def _find(self, addresses: list[Value], noted: NotedPages) -> tuple[Value, ...]:
        """Whether the words are inside, and their places. Their run is noted, or else their pages."""
        k = self.k
        good, start, places, offset = page_table.run(k, addresses[0])
        good = good & (addresses[1] - start).below(k.to_i64(places))

        def of_run() -> tuple[Value, ...]:
            noted.note(good, [(start, places, offset)] * 2)
            return (good, *(k.low32(va - start) + offset for va in addresses))

        found: tuple[Value, ...] = k.branch(good, of_run, lambda: self._find_pages(addresses, noted), usual=True)
        return found

    def _find_pages(self, addresses: list[Value], noted: NotedPages) -> tuple[Value, ...]:
        k = self.k
        good, places, pages = k.i32(0) == 0, [], []
        for va in addresses:
            word, place = page_table.entry(k, va), k.low32(va) & (PAGE - 1)
            last = page_table.last_place(word, ROW_BYTES)
            good = good & (word != 0) & (va.lsr(page_table.ADDRESS_BITS) == 0) & (place <= last)
            places.append((word & -PAGE) + place)
            pages.append((va - k.to_i64(place), last + 1, word & -PAGE))
        noted.note(good, pages)
        return (good, *places)

    def side_by_side(self, low: Value, high: Value, mask: Value) -> Value:
        """Whether the addresses of lanes of a mask, as 64 bits, are those of words side by side (a scalar)."""
        k, (first, second) = self.k, self._lows
        same = ((low - k.shuffle(low, _FIRSTS)) == _pattern(k)) & (high == k.shuffle(high, _FIRSTS))
        unbroken = first.below(1 - ROW_BYTES) & second.below(1 - ROW_BYTES)
        return _whole(k, same | ~mask) & unbroken


__all__ = [
    "ALIKE", "GLOBAL_ROW", "ROW", "TWIN_ROW", "GlobalRow", "InlineAccess", "RowPlaces", "SharedRows", "accesses",
    "aligned", "row_addresses", "twins",
]  # fmt: skip
