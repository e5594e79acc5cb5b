"""Addresses that were found to be simple, so that code need not check them again (`inline_access.py`).

For each kind of access by each register there is a bit. It is set when a check succeeds, and cleared when the register
is written or other lanes become active. Adding the same to all lanes keeps lanes side by side: then the bit of an
address in global memory passes to the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, reads, writes
from pocketgpu.maxwell.sass.program.steps import ALWAYS, OperandSource, Step
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import NOTED_PAGES
from pocketgpu.maxwell.sass.warp.inline_access import GLOBAL_ROW, InlineAccess, NotedPages

MOST = 22
"""Kinds of accesses of a program that are remembered. There are bits for these, and for the pages that are noted."""

PAGES = ((1 << NOTED_PAGES) - 1) << MOST
"""The bits of pages."""

Key = tuple[int, ...]


@dataclass(frozen=True)
class Sum:
    """An addition of 64 bits by two instructions, `low` and `high`: what it adds is the same in all lanes.

    base, dest: the first registers of the pairs.
    """

    low: int
    high: int
    base: int
    dest: int


class KnownAddresses:
    """The bits of a program, in a variable of its code."""

    def __init__(self, k: Lang, steps: tuple[Step, ...], inline: Iterable[Mapping[int, InlineAccess]]) -> None:
        self.k, self.bits = k, k.var(0)
        self._keys: dict[Key, int] = {}
        self._bases: dict[int, int] = {}
        """For a register the bits that its writes clear."""
        for accesses in inline:
            for index, access in accesses.items():
                if access.asks and not steps[index].guarded and len(self._keys) < MOST:
                    self._add(steps[index], access)
        self._passing: dict[int, Value] = {}

    @staticmethod
    def _key(step: Step, access: InlineAccess) -> Key:
        if access.kind == GLOBAL_ROW:
            return (access.kind, step.base)
        return access.kind, step.base, access.low, access.high, step.mods.get("size", 4) & 7, int(step.op == "STS")

    def _add(self, step: Step, access: InlineAccess) -> None:
        bit = self._keys.setdefault(self._key(step, access), 1 << len(self._keys))
        for n in (step.base, step.base + 1) if access.kind == GLOBAL_ROW else (step.base,):
            self._bases[n] = self._bases.get(n, 0) | bit

    def pages(self, p: WarpPlace, step: Step) -> NotedPages:
        """Where the pages of an access of global memory are noted."""
        number = self.page_number(step.base)
        return NotedPages(p, number, self.bits, 1 << (MOST + (number or 0)))

    def page_number(self, n: int) -> int | None:
        """Which of NOTED_PAGES addresses in register `n` have; None: none."""
        rows = self._rows()
        return rows.index((GLOBAL_ROW, n)) if (GLOBAL_ROW, n) in rows else None

    @property
    def page_count(self) -> int:
        """How many addresses have noted pages."""
        return len(self._rows())

    def _rows(self) -> list[Key]:
        return [key for key in self._keys if key[0] == GLOBAL_ROW][:NOTED_PAGES]

    def bit(self, step: Step, access: InlineAccess) -> int:
        """The bit of an access; 0 if it has none."""
        return 0 if step.guarded else self._keys.get(self._key(step, access), 0)

    def ask(self, step: Step, access: InlineAccess, check: Callable[[], Value]) -> Value:
        """Whether the access is simple (a scalar): known, or checked and then known."""
        bit = self.bit(step, access)
        if not bit:
            return check()
        k = self.k

        def checked() -> Value:
            good = check()
            self.bits.value = self.bits.value | k.select(good, bit, 0)
            return good

        good: Value = k.branch((self.bits.value & bit) != 0, lambda: k.i32(0) == 0, checked, usual=True)
        return good

    def write(self, n: int) -> None:
        """A register is written."""
        bits = self._bases.get(n, 0)
        if bits:
            self.bits.value = self.bits.value & ~bits

    def forget(self) -> None:
        """Other lanes may be active now."""
        if self._keys:
            self.bits.value = 0

    # -- sums -------------------------------------------------------------------------------------------------------
    def passes(self, sums: Iterable[Sum]) -> tuple[Sum, ...]:
        """Those of some sums whose base and result have bits."""
        keys = self._keys
        return tuple(s for s in sums if {(GLOBAL_ROW, s.base), (GLOBAL_ROW, s.dest)} <= keys.keys())

    def before_sum(self, one: Sum) -> None:
        """The lower words are about to be added."""
        self._passing[one.high] = self.bits.value & self._keys[GLOBAL_ROW, one.base]

    def after_sum(self, one: Sum) -> None:
        """The upper words have been added."""
        known = self._passing.pop(one.high) != 0
        self.bits.value = self.bits.value | self.k.select(known, self._keys[GLOBAL_ROW, one.dest], 0)


class SureAddresses(KnownAddresses):
    """The same where the code needs certain bits to be set, and leaves otherwise: then it is known what others become.

    bits: those at the beginning, as they were found. needed: those of them that must be set.
    """

    needed = _cleared = _set = 0

    def begin(self, bits: Value) -> None:
        """Begin with what is known so far."""
        self.bits.value = bits
        self.needed = self._cleared = self._set = 0

    def need(self, bits: int) -> Value:
        """Whether bits are set (a scalar)."""
        bits &= ~self._set
        self.needed |= bits
        return self.k.i32(0) != 0 if bits & self._cleared else (self.bits.value & bits) == bits

    def need_base(self, one: Sum) -> Value:
        """Whether what is added to is known (a scalar)."""
        return self.need(self._keys[GLOBAL_ROW, one.base])

    def write(self, n: int) -> None:
        bits = self._bases.get(n, 0)
        self._cleared, self._set = self._cleared | bits, self._set & ~bits

    def before_sum(self, one: Sum) -> None:
        bit = self._keys[GLOBAL_ROW, one.base]
        self._sure = bit & (self._set | self.needed & ~self._cleared)

    def after_sum(self, one: Sum) -> None:
        if self._sure:
            self._set |= self._keys[GLOBAL_ROW, one.dest]

    def now(self) -> Value | None:
        """What is known now; None: what was known at the beginning."""
        cleared = self._cleared & ~self._set
        if not cleared and not self._set & ~self.needed:
            return None
        return self.bits.value & ~cleared | self._set


def sums_of(flow: Flow, block: CodeBlock) -> list[Sum]:
    """The additions of a block that add the same to the addresses of all lanes."""
    found: list[Sum] = []
    waiting: dict[int, tuple[int, int]] = {}  # by the lower result: the instruction, and the base
    for index, same in flow.agreement.within(block.number):
        step = flow.steps[index]
        base = _base(step, same) if step.op == "IADD" else None
        if step.mods.get("x") and base is not None and not step.cc:
            low, first = waiting.get(step.dest - 1, (-1, RZ))
            if low >= 0 and base == first + 1:
                found.append(Sum(low, index, first, step.dest - 1))
        written = writes(step)
        # The carry, the lower result and the upper base must still be what they were.
        if written >> FLAGS_BIT & 1:
            waiting = {}
        waiting = {d: (low, b) for d, (low, b) in waiting.items() if not (written >> d | written >> (b + 1)) & 1}
        if base is not None and step.cc and not step.mods.get("x"):
            waiting[step.dest] = (index, base)
    return found


def addend(step: Step, base: int) -> OperandSource:
    """What an addition to a register adds: its other source."""
    return step.sources[1] if step.sources[0].kind == "reg" and step.sources[0].n == base else step.sources[0]


def _base(step: Step, same: int) -> int | None:
    """The register to which an addition adds the same in all lanes; None if it is no such addition."""
    plain = not step.guarded and step.test == ALWAYS and not step.mods.get("sat") and step.dest != RZ
    if not plain or any(s.negated or s.absolute for s in step.sources):
        return None
    varied = [s.n for s in step.sources if s.kind == "reg" and s.n != RZ and not same >> s.n & 1]
    others = [s for s in step.sources if s.kind != "reg" or s.n == RZ or same >> s.n & 1]
    return varied[0] if len(varied) == 1 and len(others) == 1 and reads(step) else None


__all__ = ["PAGES", "KnownAddresses", "Sum", "SureAddresses", "addend", "sums_of"]
