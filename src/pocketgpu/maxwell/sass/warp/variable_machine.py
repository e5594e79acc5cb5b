"""A warp with its registers in variables: what specialised code does for one instruction.

A write changes inactive lanes as well if they do not need the old value, because that is faster. A block of the program
may do simple accesses of memory itself (`inline_access.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pocketgpu.lanes import BOOL, I32, Lang, Value, Var
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.registers import ALL, FLAGS_BIT, PREDICATE_BIT, words_of
from pocketgpu.maxwell.sass.program.steps import ALWAYS, OperandSource, Step
from pocketgpu.maxwell.sass.semantics import Flags, float32
from pocketgpu.maxwell.sass.stages.pixels import with_effect
from pocketgpu.maxwell.sass.stages.stage import NONE
from pocketgpu.maxwell.sass.thread_memory.access import DATA, WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH, REGISTERS, VECTOR, WARP, function_index
from pocketgpu.maxwell.sass.warp.functions import called
from pocketgpu.maxwell.sass.warp.inline_access import (
    ALIKE,
    GLOBAL_ROW,
    HALF,
    TWIN_ROW,
    GlobalRow,
    InlineAccess,
    RowPlaces,
    SharedRows,
)
from pocketgpu.maxwell.sass.warp.known_addresses import KnownAddresses, Sum
from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine


class VariableMachine(WarpMachine):
    """A warp whose registers are variables of the code, one for each that the program writes.

    guarded: whether the instruction at hand may hold for only some of the active lanes.
    """

    def __init__(self, k: Lang, place: WarpPlace, flow: Flow, stage: int = NONE, outputs: tuple[int, ...] = ()) -> None:
        super().__init__(k, place)
        self.stage, self.flow, self.outputs = stage, flow, outputs
        zero, no = k.splat(0), k.iota() < 0
        written = flow.written
        self.variables = {n: k.var(zero) for n in range(RZ) if written >> n & 1}
        always = flow.agreement.always
        self.shared = {n for n in range(PT) if (written & always) >> (PREDICATE_BIT + n) & 1}
        """Predicates that are the same in all active lanes: their variables are scalars."""
        predicates = [n for n in range(PT) if written >> (PREDICATE_BIT + n) & 1]
        self.predicates = {n: k.var(False if n in self.shared else no) for n in predicates}
        self.codes = [k.var(no) for _ in range(4)] if written >> FLAGS_BIT & 1 else []
        self._nans: dict[int, Value] = {}
        """Registers that may hold, in this block, a NaN other than the canonical one: in lanes of which mask."""
        self.guarded = False
        self.everyone = k.iota() >= 0
        self._rows = SharedRows(place)
        self._called = called(flow) if stage == NONE else {}
        self._inline: Mapping[int, InlineAccess] = {}
        self._careful: dict[int, int] = {}
        self._sums: dict[int, Callable[[], None]] = {}
        self._waiting = 0
        self.active: Callable[[], Value] = lambda: k.i32(-1)
        """Gives the active lanes, as a ballot."""
        self.known = KnownAddresses(k, flow.steps, ())

    def begin(
        self,
        inline: Mapping[int, InlineAccess] | None = None,
        careful: dict[int, int] | None = None,
        sums: Iterable[Sum] = (),
        waiting: int = 0,
    ) -> None:
        """Begin a block.

        inline: accesses of memory that the block does itself, by number of the instruction. careful: for accesses that
        are checked, the node of the graph to go on with if they are not simple. sums: of addresses, see
        `known_addresses.py`. waiting: registers (a set) that are in the record still; each is loaded when it is needed.
        """
        self._waiting = waiting
        self._nans, self._inline, self._careful = {}, inline or {}, careful or {}
        self._sums = {}
        for one in self.known.passes(sums):
            self._sums[one.low], self._sums[one.high] = (
                partial(self.known.before_sum, one), partial(self.known.after_sum, one)
            )  # fmt: skip

    # -- registers --------------------------------------------------------------------------------------------------
    def register(self, n: int) -> Value:
        if n in self._nans:
            self._settle(n)
        self.fetch(1 << n)
        var = self.variables.get(n)
        return self.k.splat(0) if var is None else var.value

    def _settle(self, n: int) -> None:
        """Make the NaNs of a register canonical, in the lanes that wrote floats."""
        mask, var, k = self._nans.pop(n), self.variables[n], self.k
        word = var.value
        x = k.bits_f32(word)
        nan = (x != x) & mask
        var.value = k.select(nan, float32.CANONICAL_NAN, word)

    def settle_all(self, wanted: int = ALL) -> None:
        """Make the NaNs of a set of registers canonical, before a block ends."""
        for n in list(self._nans):
            if wanted >> n & 1:
                self._settle(n)

    def float_word(self, n: int) -> Value:
        return self.variables[n].value if n in self._nans else self.register(n)

    def operand(self, source: OperandSource, letter: str) -> list[Value]:
        # Float operations do not tell one NaN from another.
        if letter == "f" and source.kind == "reg" and source.n in self._nans:
            return [self.k.bits_f32(self._signed(self.variables[source.n].value, source))]
        return super().operand(source, letter)

    def set_register(self, n: int, v: Value, mask: Value) -> None:
        var = self.variables.get(n)
        if var is None:
            return
        if n in self._nans and self.guarded:
            self._settle(n)
        self._nans.pop(n, None)
        self._write(n, var, self.k.fit(v, I32, LANES), mask)

    def set_part(self, n: int, v: Value, mask: Value) -> None:
        guarded, self.guarded = self.guarded, True
        self.set_register(n, v, mask)
        self.guarded = guarded

    def _write(self, n: int, var: Var, v: Value, mask: Value) -> None:
        self.known.write(n)
        self._replace(n)
        var.value = self.k.select(mask, v, var.value) if self._spares(n) else v

    def _replace(self, bit: int) -> None:
        """A register is about to be written: load it if lanes keep what they have."""
        if self._spares(bit):
            self.fetch(1 << bit)
        self._waiting &= ~(1 << bit)

    def _spares(self, bit: int) -> bool:
        """Whether a write of a register (a bit of a set) must leave lanes outside of its mask as they are."""
        return self.guarded or bool(self.flow.kept >> bit & 1)

    def set_float(self, n: int, v: Value, mask: Value) -> None:
        var = self.variables.get(n)
        if var is None:
            return
        before = self._nans.get(n)
        self._write(n, var, self.k.bits_i32(v), mask)
        if not self._spares(n):
            mask = self.everyone  # all lanes hold floats now
        self._nans[n] = mask if before is None or not self.guarded else before | mask

    def predicate(self, n: int) -> Value:
        self.fetch(1 << (PREDICATE_BIT + n))
        var = self.predicates.get(n)
        if var is None:
            return self.everyone if n == PT else ~self.everyone
        return self.k.fit(var.value, BOOL, LANES)

    def shared_guard(self, step: Step) -> Value | None:
        """The guard of an instruction as a scalar, if it is the same in all active lanes."""
        if step.guard.n not in self.shared or step.test != ALWAYS:
            return None
        self.fetch(1 << (PREDICATE_BIT + step.guard.n))
        v = self.predicates[step.guard.n].value
        return ~v if step.guard.negated else v

    def set_predicate(self, n: int, v: Value, mask: Value) -> None:
        var = self.predicates.get(n)
        if var is not None:
            if n in self.shared:
                self._write_shared(n, var, v, mask)
                return
            self._replace(PREDICATE_BIT + n)
            self._write_mask(PREDICATE_BIT + n, var, v, mask)

    def _write_shared(self, n: int, var: Var, v: Value, mask: Value) -> None:
        k = self.k
        found = k.ballot(v & mask) != 0
        if self.guarded:
            self.fetch(1 << (PREDICATE_BIT + n))
            found = k.select(k.ballot(mask) != 0, found, var.value)
        self._waiting &= ~(1 << (PREDICATE_BIT + n))
        var.value = found

    def flags(self) -> Flags:
        if not self.codes:
            no = ~self.everyone
            return Flags(no, no, no, no)
        self.fetch(1 << FLAGS_BIT)
        return Flags(*(v.value for v in self.codes))

    def set_flags(self, flags: Flags, mask: Value) -> None:
        self._replace(FLAGS_BIT)
        for var, v in zip(self.codes, (flags.carry, flags.overflow, flags.sign, flags.zero), strict=True):
            self._write_mask(FLAGS_BIT, var, self.k.fit(v, BOOL, LANES), mask)

    def _write_mask(self, bit: int, var: Var, v: Value, mask: Value) -> None:
        var.value = (v & mask) | (var.value & ~mask) if self._spares(bit) else v

    def look(self, n: int, lane: int) -> int:
        """What a register of a lane holds now; of predicates 0 or 1, of the condition code a bit for each flag.

        n: as a bit of a set of registers. Only the NumPy evaluator can tell.
        """
        if n < PREDICATE_BIT:
            if n in self._nans:
                self._settle(n)
            var = self.variables.get(n)
        elif n < FLAGS_BIT:
            var = self.predicates.get(n - PREDICATE_BIT)
        else:
            return sum(_in_lane(code, lane) << bit for bit, code in enumerate(self.codes))
        return 0 if var is None else _in_lane(var, lane)

    # -- the record -------------------------------------------------------------------------------------------------
    def restore(self, wanted: int = ALL) -> None:
        """Registers of a set from the record."""
        k, record = self.k, self.place.word(0)
        for n, var in self.variables.items():
            if wanted >> n & 1:
                var.value = k.load(I32, record + (REGISTERS + VECTOR * n), LANES)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                word = k.load(I32, record + (WARP.PREDICATES + 4 * n))
                var.value = (word & self.active()) != 0 if n in self.shared else k.mask_of(word)
        for n, var in enumerate(self.codes):
            if wanted >> FLAGS_BIT & 1:
                var.value = k.mask_of(k.load(I32, record + (WARP.FLAGS + 4 * n)))

    def clear(self, wanted: int) -> None:
        """Zero in the registers of a set."""
        k = self.k
        for n, var in self.variables.items():
            if wanted >> n & 1:
                var.value = k.splat(0)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                var.value = k.fit(False, BOOL, 1 if n in self.shared else LANES)
        for var in self.codes if wanted >> FLAGS_BIT & 1 else ():
            var.value = k.fit(False, BOOL, LANES)

    def fetch(self, wanted: int) -> None:
        """Load the registers of a set that are in the record still."""
        here = wanted & self._waiting
        if here:
            self._waiting &= ~here
            self.restore(here)

    def put_away(self, wanted: int, alive: Value) -> None:
        """Registers of a set into the record. alive: lanes (a ballot) whose outputs are to be put there as well."""
        k, record = self.k, self.place.word(0)
        wanted &= ~self._waiting
        for n, var in self.variables.items():
            if wanted >> n & 1 and n not in self.outputs:
                k.store(I32, record + (REGISTERS + VECTOR * n), var.value)
        self.put_outputs(alive)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                word = k.select(var.value, -1, 0) if n in self.shared else k.ballot(var.value)
                k.store(I32, record + (WARP.PREDICATES + 4 * n), word)
        for n, var in enumerate(self.codes):
            if wanted >> FLAGS_BIT & 1:
                k.store(I32, record + (WARP.FLAGS + 4 * n), k.ballot(var.value))

    def put_outputs(self, lanes: Value) -> None:
        """Store output registers of some lanes (a ballot), for readers after the program has ended."""
        if self.outputs:
            mask = self.k.mask_of(lanes)
            for n in self.outputs:
                self.k.store(I32, self.place.word(REGISTERS + VECTOR * n), self.register(n), mask)

    # -- instructions -----------------------------------------------------------------------------------------------
    def guard(self, step: Step, active: Value) -> Value:
        """The active lanes for which the guard of an instruction is true."""
        self.guarded = step.guarded
        if step.guarded:
            active = active & self.predicate_value(step.guard.n, step.guard.negated)
        return active

    def arithmetic(self, step: Step, mask: Value) -> None:
        if step.index not in self._called:
            if step.index in self._sums and not step.mods.get("x"):
                self._sums[step.index]()
            super().arithmetic(step, mask)
            if step.index in self._sums and step.mods.get("x"):
                self._sums[step.index]()
            return
        k, p = self.k, self.place
        (x,) = self.operand(step.sources[0], "s")
        p.put(DATA, k.bits_i32(x))
        index = function_index(step.mods["fn"], step.mods["sat"])
        k.invoke(p.handle(LAUNCH.FUNCTION + 8 * index), p.slot)
        self.set_register(step.dest, p.take(DATA), mask)

    def load(self, step: Step, mask: Value) -> None:
        access = self._inline.get(step.index)
        if access is None:
            super().load(step, mask)
        elif access.kind == GLOBAL_ROW:
            self.set_register(step.dest, self.global_row(step, access, mask).load(), mask)
            self.set_result(step, self.everyone, mask)
        else:
            self.ask_shared(step, access, mask)
            for n, v in enumerate(self.shared_words(step, access)):
                self.set_register(step.dest + n, v, mask)

    def shared_words(self, step: Step, access: InlineAccess) -> list[Value]:
        """What a simple access loads from shared memory."""
        get = {ALIKE: self._rows.alike, TWIN_ROW: self._rows.twin_row}.get(access.kind, self._rows.row)
        firsts = self.firsts(step.base)
        return [get(firsts, step.offset + 4 * n) for n in range(words_of(step.mods.get("size", 4)))]

    def store(self, step: Step, mask: Value) -> None:
        access = self._inline.get(step.index)
        if access is None:
            super().store(step, mask)
        elif access.kind == GLOBAL_ROW:
            mask = with_effect(self, mask)
            self.global_row(step, access, mask).store(self.word(step.sources[-1]))
        else:
            self.ask_shared(step, access, mask)
            self._rows.store_row(self.firsts(step.base), step.offset, self.word(step.sources[-1]))

    def firsts(self, n: int) -> tuple[Value, Value]:
        """What a register holds in the first lane of each half."""
        k = self.k
        if n != RZ and self._waiting >> n & 1:  # the rest of it need not be loaded
            low, high = (k.load(I32, self.place.word(REGISTERS + VECTOR * n + 4 * lane)) for lane in (0, HALF))
            return low, high
        return k.lane(self.register(n), 0), k.lane(self.register(n), HALF)

    def _glance(self, n: int) -> Value:
        """What a register holds, for a check that is rarely done: it stays where it is."""
        if n != RZ and self._waiting >> n & 1:
            return self.k.load(I32, self.place.word(REGISTERS + VECTOR * n), LANES)
        return self.register(n)

    def ask_shared(self, step: Step, access: InlineAccess, mask: Value) -> None:
        if not access.asks:
            return
        k, bytes = self.k, 4 * words_of(step.mods.get("size", 4))

        def check() -> Value:
            good = self._rows.good(access.kind, self._glance(step.base), mask, access.low, access.high, bytes)
            return good & (k.ballot(mask) == -1) if step.op == "STS" else good

        self._unless(self.known.ask(step, access, check), step)

    def global_row(self, step: Step, access: InlineAccess, mask: Value) -> RowPlaces:
        low, high = step.base, step.base + 1
        row = GlobalRow(self.k, self.firsts(low), self.firsts(high), step.offset, self.known.pages(self.place, step))
        check = lambda: row.side_by_side(self._glance(low), self._glance(high), mask)
        good = row.inside & self.known.ask(step, access, check)
        good = good & (self.k.ballot(mask) == -1) if step.op == "ST" else good
        self._unless(good, step)
        return row

    def _unless(self, good: Value, step: Step) -> None:
        """Go on with the careful form of the block, before the instruction, if an access is not simple."""
        nans, waiting = dict(self._nans), self._waiting

        def before() -> None:
            self.fetch(waiting)
            self.settle_all()

        self.k.escape(~good, self._careful[step.index], before)
        self._nans, self._waiting = nans, waiting


def _in_lane(var: Var, lane: int) -> int:
    raw: Any = np.asarray(var.value.raw)
    return int(raw if raw.ndim == 0 else raw[lane]) & 0xFFFFFFFF


__all__ = ["VariableMachine"]
