"""A program as machine code: one lane for each thread of a warp, registers as variables, blocks as a graph.

The code runs one warp until it ends, waits at a barrier, or its turn is over, and leaves everything that matters in the
warp's record then. Writes of registers spare lanes that are not at work only where those may need the old value.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from pocketgpu.lanes import BOOL, I32, I64, Jump, Lang, Value, Var, kernel
from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.isa.operand import PT, RZ, Const, Indirect
from pocketgpu.maxwell.sass.program.control import BRANCHES, ENDS, LEAVES, NOTHING, PUSHES, Entry, divides
from pocketgpu.maxwell.sass.program.flow import Flow, likely_functions
from pocketgpu.maxwell.sass.program.registers import ALL, FLAGS_BIT, PREDICATE_BIT, words_of
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step, step_of
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Flags, Unit, bits, float32
from pocketgpu.maxwell.sass.stages.stage_io import NONE, PIXEL
from pocketgpu.maxwell.sass.thread_memory.access import DATA, Place
from pocketgpu.maxwell.sass.thread_memory.work import (
    BAD_TARGET,
    DONE,
    LANES,
    LAUNCH,
    LEFT,
    READY,
    REGISTERS,
    STACK_EMPTY,
    STACK_FULL,
    VECTOR,
    WAITING,
    WARP,
    WARPS,
)
from pocketgpu.maxwell.sass.warp.functions import called, function_index
from pocketgpu.maxwell.sass.warp.inline_access import (
    ALIKE,
    GLOBAL_ROW,
    Access,
    GlobalRow,
    SharedRows,
    accesses,
    repeated,
)
from pocketgpu.maxwell.sass.warp.machine import Machine
from pocketgpu.maxwell.sass.warp.stack import Stack, instruction_at

LONG = 250
"""Instructions of a program from which on its code is made in a hurry."""


@lru_cache(maxsize=64)
def flow_of(code: bytes, start: int, indirect: tuple[int, ...], outputs: tuple[int, ...] = ()) -> Flow:
    """The flow of a program given as its bytes. outputs: registers that matter at its end. Raises SassError."""
    program = decode_program(code)
    steps = tuple(step_of(program, i) for i in range(len(program)))
    return Flow(steps, start, tuple(sorted({*indirect, *likely_functions(steps)})), outputs)


class Warp(Machine):
    """The warp that specialised code runs."""

    def __init__(
        self, k: Lang, place: Place, flow: Flow, count: bool, stage: int = NONE, outputs: tuple[int, ...] = ()
    ) -> None:  # fmt: skip
        self.record = k.to_i64(place.record)
        super().__init__(k, place, Stack(place, k.var(0)))
        self.stage, self.outputs = stage, outputs
        self.spared = k.var(0)  # the lanes at work outside of SAM and RAM
        self.flow, self.count, self.residence = flow, count, Residence(flow)
        self.active = k.var(k.iota() < 0)
        self.alive = k.var(0)
        self.left = k.var(0)
        self.resume = k.var(0)
        self.state = k.var(READY)
        self.lane_steps = k.var(k.i64(0))
        zero, no = k.splat(0), k.iota() < 0
        written = flow.written
        self.variables = {n: k.var(zero) for n in range(RZ) if written >> n & 1}
        self.predicates = {n: k.var(no) for n in range(PT) if written >> (PREDICATE_BIT + n) & 1}
        self.codes = [k.var(no) for _ in range(4)] if written >> FLAGS_BIT & 1 else []
        # Registers, in this block, that may hold a "no number" in another form than the one: in lanes of which mask.
        self.floats: dict[int, Value] = {}
        self.guarded = False
        self.everyone = k.iota() >= 0
        self.rows = SharedRows(place)
        self.called = called(flow) if stage == NONE else {}
        self.quick: dict[int, Access] = {}
        """Accesses that the block being written does itself, and for those that ask where the careful form is."""
        self.careful: dict[int, int] = {}

    # -- registers --------------------------------------------------------------------------------------------------
    def register(self, n: int) -> Value:
        if n in self.floats:
            self._settle(n)
        var = self.variables.get(n)
        return self.k.splat(0) if var is None else var.value

    def _settle(self, n: int) -> None:
        """Give what is no number its one form. Lanes that were spared may hold anything."""
        mask, var, k = self.floats.pop(n), self.variables[n], self.k
        word = var.value
        x = k.bits_f32(word)
        nan = (x != x) & mask
        var.value = k.select(nan, float32.CANONICAL_NAN, word)

    def operand(self, source: Any, letter: str) -> list[Value]:
        # Float operations may see a number that is none in any form.
        if letter == "f" and source.kind == "reg" and source.n in self.floats:
            return [self.k.bits_f32(self._signed(self.variables[source.n].value, source))]
        return super().operand(source, letter)

    def set_register(self, n: int, v: Value, mask: Value) -> None:
        var = self.variables.get(n)
        if var is None:
            return
        if n in self.floats and self.guarded:
            self._settle(n)
        self.floats.pop(n, None)
        self._write(n, var, self.k.fit(v, I32, LANES), mask)

    def set_part(self, n: int, v: Value, mask: Value) -> None:
        guarded, self.guarded = self.guarded, True
        self.set_register(n, v, mask)
        self.guarded = guarded

    def _write(self, n: int, var: Var, v: Value, mask: Value) -> None:
        var.value = self.k.select(mask, v, var.value) if self.guarded or not self._plain(n) else v

    def _plain(self, n: int) -> bool:
        """Whether lanes that are not at work do not need what a register has."""
        return not self.flow.kept >> n & 1

    def set_float(self, n: int, v: Value, mask: Value) -> None:
        var = self.variables.get(n)
        if var is None:
            return
        before = self.floats.get(n)
        self._write(n, var, self.k.bits_i32(v), mask)
        self.floats[n] = mask if before is None or not self.guarded else before | mask

    def settle_all(self) -> None:
        """Before a block ends."""
        for n in list(self.floats):
            self._settle(n)

    def predicate(self, n: int) -> Value:
        var = self.predicates.get(n)
        if var is None:
            return self.everyone if n == PT else ~self.everyone
        return var.value

    def set_predicate(self, n: int, v: Value, mask: Value) -> None:
        var = self.predicates.get(n)
        if var is None:
            return
        plain = not self.guarded and not self.flow.kept >> (PREDICATE_BIT + n) & 1
        var.value = v if plain else (v & mask) | (var.value & ~mask)

    def flags(self) -> Flags:
        if not self.codes:
            no = ~self.everyone
            return Flags(no, no, no, no)
        return Flags(*(v.value for v in self.codes))

    def set_flags(self, flags: Flags, mask: Value) -> None:
        k = self.k
        plain = not self.guarded and not self.flow.kept >> FLAGS_BIT & 1
        for var, v in zip(self.codes, (flags.carry, flags.overflow, flags.sign, flags.zero), strict=True):
            v = k.fit(v, BOOL, LANES)
            var.value = v if plain else (v & mask) | (var.value & ~mask)

    # -- the record -------------------------------------------------------------------------------------------------
    def enter(self) -> Any:
        """Take the warp up from its record, or begin it."""
        k, record = self.k, self.record
        self.left.value = self.place.of_launch(LAUNCH.SLICE)
        self.alive.value = k.load(I32, record + WARP.ALIVE)
        self.resume.value = k.load(I32, record + WARP.RESUME)
        self.active.value = k.mask_of(k.load(I32, record + WARP.ACTIVE))
        self.stack.depth.value = k.load(I32, record + WARP.DEPTH)
        return None

    def restore(self, wanted: int = ALL) -> None:
        """Registers from the record, those of a set."""
        k, record = self.k, self.record
        for n, var in self.variables.items():
            if wanted >> n & 1:
                var.value = k.load(I32, record + (REGISTERS + VECTOR * n), LANES)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                var.value = k.mask_of(k.load(I32, record + (WARP.PREDICATES + 4 * n)))
        for n, var in enumerate(self.codes):
            if wanted >> FLAGS_BIT & 1:
                var.value = k.mask_of(k.load(I32, record + (WARP.FLAGS + 4 * n)))

    def keep(self, wanted: int = ALL) -> None:
        """Leave in the record what a later run goes on with: registers of a set, and where it goes on."""
        k, record = self.k, self.record
        self.put_away(wanted)
        k.store(I32, record + WARP.STARTED, 1)
        k.store(I32, record + WARP.RESUME, self.resume.value)
        k.store(I32, record + WARP.ACTIVE, k.ballot(self.active.value))
        k.store(I32, record + WARP.DEPTH, self.stack.depth.value)

    def put_away(self, wanted: int) -> None:
        """Registers of a set into the record."""
        k, record = self.k, self.record
        for n, var in self.variables.items():
            if wanted >> n & 1 and n not in self.outputs:
                k.store(I32, record + (REGISTERS + VECTOR * n), var.value)
        self._put_outputs(self.alive.value)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                k.store(I32, record + (WARP.PREDICATES + 4 * n), k.ballot(var.value))
        for n, var in enumerate(self.codes):
            if wanted >> FLAGS_BIT & 1:
                k.store(I32, record + (WARP.FLAGS + 4 * n), k.ballot(var.value))

    def _put_outputs(self, lanes: Value) -> None:
        """Registers that others look at when the program has ended into the record, those of some lanes (a ballot)."""
        if self.outputs:
            mask = self.k.mask_of(lanes)
            for n in self.outputs:
                self.k.store(I32, self.record + (REGISTERS + VECTOR * n), self.register(n), mask)

    def leave(self) -> None:
        """The last thing that every run does."""
        k, record = self.k, self.record
        k.store(I32, record + WARP.STATE, self.state.value)
        k.store(I32, record + WARP.ALIVE, self.alive.value)
        spent = self.place.of_launch(LAUNCH.SLICE) - self.left.value
        k.store(I64, record + WARP.STEPS, k.load(I64, record + WARP.STEPS) + k.to_i64(spent))
        if self.count:
            k.store(I64, record + WARP.LANE_STEPS, k.load(I64, record + WARP.LANE_STEPS) + self.lane_steps.value)

    # -- the graph --------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """All of it."""
        flow, places = self.flow, self.residence
        if len(flow.reached) > LONG:
            self.k.hurry()
        blocks: list[Any] = []

        def add(block: Any) -> int:
            blocks.append(block)
            return len(blocks) - 1

        fixed = (self._enter, self._pop, self._again, self._later, self._suspend, self._end)
        self.names = {f.__name__.removeprefix("_"): add(f) for f in fixed}
        self.number = {b.first: add(partial(self._block, b)) for b in flow.blocks}
        # For each instruction where a turn can end the block that notes it.
        loops = {i for b in flow.blocks for i in flow.after(b.last) if i <= b.last and i in flow.block_at}
        self.turn = {index: add(partial(self._turn_over, index)) for index in sorted(loops)}
        barriers = [b for b in flow.blocks if flow.steps[b.last].op == "BAR"]
        points = sorted({b.last + 1 for b in barriers if b.last + 1 in flow.block_at})
        self.after_barrier = {index: add(partial(self._go_on_at, index)) for index in points}
        # While nothing is in the record only, one way to keep everything does for all.
        self.simple = places.whole or not barriers
        self.back = {}
        for index in flow.returns if places.whole else places.come_back:
            wanted = places.back(flow.block_at[index])
            self.back[index] = add(partial(self._store, wanted, self.number[index])) if wanted else self.number[index]
        self.stop: dict[int, int] = {}
        self.astray: dict[int, int] = {}
        self.edge: dict[tuple[int, int], int] = {}
        for b in flow.blocks:
            wanted = places.to_stack(b.number)
            pop = self.names["pop"]
            if places.may_stop(b.number):
                self.stop[b.number] = add(partial(self._store, wanted, pop)) if wanted else pop
            if places.goes_astray(b.number):
                self.astray[b.number] = add(partial(self._astray, b))
            for target in places.directly(b.number):
                wanted = places.edge(b.number, target)
                if wanted:
                    first = flow.blocks[target].first
                    self.edge[b.number, first] = add(partial(self._step_over, wanted, b, first))
        self._add_careful(add)
        self.k.graph(blocks)

    def _add_careful(self, add: Any) -> None:
        """Blocks with quick accesses have a careful form, in pieces from one access that asks to the next."""
        self.tails: dict[int, int] = {}
        self.pieces: dict[int, dict[int, int]] = {}
        worth = repeated(self.flow)
        for b in self.flow.blocks:
            quick = accesses(self.flow.steps, b.first, b.last) if b.number in worth else {}
            if not quick:
                continue
            ends = self.flow.steps[b.last].op in ENDS
            end = b.last if ends else b.last + 1
            asking = [index for index, access in quick.items() if access.asks]
            self.tails[b.number] = add(partial(self._tail, b))
            pieces = self.pieces[b.number] = {}
            following = self.tails[b.number]
            for index, stop in reversed(list(zip(asking, [*asking[1:], end], strict=True))):
                following = pieces[index] = add(partial(self._piece, index, stop, following))

    def _piece(self, first: int, stop: int, following: int) -> int:
        """Some instructions of a block in its careful form."""
        self.floats, self.quick = {}, {}
        for index in range(first, stop):
            self._instruction(self.flow.steps[index])
        self.settle_all()
        return following

    def _tail(self, block: Any) -> Any:
        """The end of a block that has two forms."""
        self.floats, self.quick = {}, {}
        return self._end_of(block)

    def _store(self, wanted: int, following: int) -> int:
        """Registers into the record that the code from here on does not have in variables."""
        self.put_away(wanted)
        return following

    def _step_over(self, wanted: int, block: Any, index: int) -> Any:
        self.put_away(wanted)
        return self._in_turn(index, block)

    def _enter(self) -> Any:
        k = self.k
        self.enter()
        started = k.load(I32, self.record + WARP.STARTED) != 0
        points = tuple(self.after_barrier)
        again = Jump(self.resume.value, (*(self.after_barrier[i] for i in points), self.names["again"]), points)
        return (started, again, self.number[self.flow.start])

    def _go_on_at(self, index: int) -> Any:
        """After a barrier."""
        self.restore(self.residence.resumed(self.flow.block_at[index]))
        return self.number[index]

    def _dispatch(self) -> Jump:
        """Go on at the instruction `resume`, where the stack says to."""
        return Jump(self.resume.value, (*self.back.values(), self.names["suspend"]), tuple(self.back))

    def _again(self) -> Any:
        """Go on where a turn ended, or another executor stopped: all registers are in the record."""
        self.restore()
        self.state.value = LEFT  # unless one of these is the place
        known = self.flow.returns
        return Jump(self.resume.value, (*(self.number[i] for i in known), self.names["end"]), known)

    def _pop(self) -> Any:
        k = self.k
        target, mask = self.stack.pop()
        self.resume.value = target
        self.active.value = k.mask_of(mask)
        self.state.value = k.select(mask == 0, DONE, LEFT)
        for _ in k.when((mask == 0) & (self.alive.value != 0)):
            self._fault(STACK_EMPTY, k.i32(0), self.alive.value)
        # Lanes that wait for themselves come back here for ever.
        return (mask == 0, self.names["end"], (self.left.value < 0, self.names["later"], self._dispatch()))

    def _later(self) -> Any:
        """The turn is over before the lanes that were taken from the stack go on."""
        self.state.value = READY
        if self.simple:
            return self.names["suspend"]
        self.keep(self.residence.stack_local)
        return self.names["end"]

    def _suspend(self) -> Any:
        if self.simple:
            self.keep()
        return self.names["end"]

    def _end(self) -> int:
        k = self.k
        for _ in k.when(self.stack.overflow.value != 0):
            self._fault(STACK_FULL, self.stack.overflow.value - 1, k.i32(1))
            self.state.value = DONE
        self.leave()
        return -1

    def _fault(self, kind: int, index: Value, lanes: Value) -> None:
        k, p = self.k, self.place
        k.invoke(p.handle(LAUNCH.FAULT), p.slot, p.warp, index, k.trailing_zeros(lanes), k.i32(kind))

    # -- a block ----------------------------------------------------------------------------------------------------
    def _guard(self, step: Step) -> Value:
        """Lanes for which an instruction holds."""
        active = self.active.value
        self.guarded = step.guarded
        if step.guarded:
            active = active & self.predicate_value(step.guard.n, step.guard.negated)
        return active

    def _block(self, block: Any) -> Any:
        flow, k = self.flow, self.k
        self.floats = {}
        self.careful = self.pieces.get(block.number, {})
        self.quick = accesses(flow.steps, block.first, block.last) if self.careful else {}
        last = flow.steps[block.last]
        count = block.last - block.first + 1
        self.left.value = self.left.value - count
        if self.count:
            self.lane_steps.value = self.lane_steps.value + k.to_i64(k.popcount(k.ballot(self.active.value)) * count)
        for index in range(block.first, block.last + (0 if last.op in ENDS else 1)):
            self._instruction(flow.steps[index])
        if block.number in self.tails:
            self.settle_all()
            return self.tails[block.number]
        return self._end_of(block)

    def _end_of(self, block: Any) -> Any:
        """The last instruction of a block, if it is one of flow, and what comes next."""
        last = self.flow.steps[block.last]
        if last.op not in ENDS:
            self.settle_all()
            return self._to(block.last + 1, block)
        mask = self._guard(last)
        if last.test != ALWAYS:
            self.guarded = True
            unit = Unit(self.k, {"test": last.test}, flags=self.flags)
            mask = mask & bits.test_flags(unit)
        self.settle_all()
        return self._flow(last, mask, block)

    def arithmetic(self, step: Step, mask: Value) -> None:
        if step.index not in self.called:
            super().arithmetic(step, mask)
            return
        k, p = self.k, self.place
        (x,) = self.operand(step.sources[0], "s")
        p.put(DATA, k.bits_i32(x))
        index = function_index(step.mods["fn"], step.mods["sat"])
        k.invoke(p.handle(LAUNCH.FUNCTION + 8 * index), p.slot)
        self.set_register(step.dest, p.take(DATA), mask)

    # -- memory -----------------------------------------------------------------------------------------------------
    def load(self, step: Step, mask: Value) -> None:
        access = self.quick.get(step.index)
        if access is None:
            super().load(step, mask)
        elif access.kind == GLOBAL_ROW:
            self.set_register(step.dest, self._global_row(step, mask).load(), mask)
            self.set_result(step, self.everyone, mask)
        else:
            self._ask_shared(step, access, mask)
            get = self.rows.alike if access.kind == ALIKE else self.rows.row
            base = self.register(step.base)
            found = [get(base, step.offset + 4 * n) for n in range(words_of(step.mods.get("size", 4)))]
            for n, v in enumerate(found):
                self.set_register(step.dest + n, v, mask)

    def store(self, step: Step, mask: Value) -> None:
        access = self.quick.get(step.index)
        if access is None:
            super().store(step, mask)
            return
        if access.kind == GLOBAL_ROW:
            self._global_row(step, mask).store(self.word(step.sources[-1]))
        else:
            self._ask_shared(step, access, mask)
            self.rows.store_row(self.register(step.base), step.offset, self.word(step.sources[-1]))

    def _ask_shared(self, step: Step, access: Access, mask: Value) -> None:
        if not access.asks:
            return
        k, bytes = self.k, 4 * words_of(step.mods.get("size", 4))
        good = self.rows.good(access.kind, self.register(step.base), mask, access.low, access.high, bytes)
        if step.op == "STS":
            good = good & (k.ballot(mask) == -1)
        self._unless(good, step)

    def _global_row(self, step: Step, mask: Value) -> GlobalRow:
        row = GlobalRow(self.k, self.register(step.base), self.register(step.base + 1), mask, step.offset)
        good = row.good & (self.k.ballot(mask) == -1) if step.op == "ST" else row.good
        self._unless(good, step)
        return row

    def _unless(self, good: Value, step: Step) -> None:
        """Go over to the careful form of the block before an instruction."""
        floats = dict(self.floats)
        self.k.escape(~good, self.careful[step.index], self.settle_all)
        self.floats = floats

    def _instruction(self, step: Step) -> None:
        if step.op in NOTHING:
            return
        if step.op in PUSHES:
            self._push(step)
            return
        if step.op in ("SAM", "RAM"):
            self._all_lanes(step.op == "SAM")
            return
        mask = self._guard(step)
        if step.test != ALWAYS:
            mask = mask & bits.test_flags(Unit(self.k, {"test": step.test}, flags=self.flags))
        if step.op in OPERATIONS:
            self.arithmetic(step, mask)
        else:
            self.other(step, self.active.value, mask)

    def _all_lanes(self, on: bool) -> None:
        """SAM: all lanes that have not ended are at work, RAM: those before. So helpers of derivatives take part that
        other branches hold."""
        if self.stage == PIXEL:
            k = self.k
            if on:
                self.spared.value = k.ballot(self.active.value)
            self.active.value = k.mask_of(self.alive.value if on else self.spared.value)

    def _push(self, step: Step) -> None:
        k = self.k
        if step.target is not None:
            self.stack.push(PUSHES[step.op], step.target, k.ballot(self.active.value), step.index)
        else:
            target = self._constant_target(step)
            self.stack.push(PUSHES[step.op], target, k.ballot(self.active.value), step.index)

    def _constant_target(self, step: Step) -> Value:
        """The instruction that a word of a constant bank names; -1 for none."""
        k = self.k
        if not isinstance(step.indirect, Const):
            return k.i32(-1)
        address = k.lane(self.constant(step.indirect.bank, step.indirect.offset), 0)
        return instruction_at(k, address, len(self.flow.steps))

    def _to(self, index: int, block: Any) -> Any:
        """Go on at an instruction; backwards only while the turn lasts."""
        if index not in self.number:
            return self.astray[block.number]
        over = self.edge.get((block.number, index))
        return self._in_turn(index, block) if over is None else over

    def _in_turn(self, index: int, block: Any) -> Any:
        if index > block.last:
            return self.number[index]
        return (self.left.value < 0, self.turn[index], self.number[index], False)

    def _turn_over(self, index: int) -> Any:
        self.resume.value = index
        self.state.value = READY
        if self.simple:
            return self.names["suspend"]
        self.keep(self.residence.local[self.flow.block_at[index]])
        return self.names["end"]

    def _astray(self, block: Any) -> Any:
        """Control runs past the end of the program, or to where nothing is."""
        lanes = self.k.ballot(self.active.value)
        self._fault(BAD_TARGET, self.k.i32(block.last), lanes)
        self._lose(lanes)
        return self.stop[block.number]

    def _flow(self, step: Step, mask: Value, block: Any) -> Any:
        k, following = self.k, step.index + 1
        if step.op == "BAR":
            return self._barrier(step, mask, following, block)
        if step.op == "BRA" and not divides(step) and step.indirect is None:
            return self._to(-1 if step.target is None else step.target, block)
        taken, here = k.ballot(mask), k.ballot(self.active.value)
        if step.op == "BRA" and step.indirect is None:
            return self._branch(step, taken, here, following, block)
        if step.op in BRANCHES:
            return self._jump(step, mask, taken, here, following, block)
        return self._stop(step, taken, here, following, block)

    def _branch(self, step: Step, taken: Value, here: Value, following: int, block: Any) -> Any:
        """Lanes that do not branch go on first; those that do wait on the stack."""
        k = self.k
        rest = here & ~taken
        if step.target is None:
            for _ in k.when(taken != 0):
                self._fault(BAD_TARGET, k.i32(step.index), taken)
                self._lose(taken)
            self.active.value = k.mask_of(rest)
            return (rest != 0, self._to(following, block), self.stop[block.number])
        both = (taken != 0) & (rest != 0)
        for _ in k.when(both):
            self.stack.push(Entry.DIVERGED, step.target, taken, step.index)
            self.active.value = k.mask_of(rest)
        return (rest != 0, self._to(following, block), self._to(step.target, block))

    def _jump(self, step: Step, mask: Value, taken: Value, here: Value, following: int, block: Any) -> Any:
        """CAL, BRX, JMX, and branches through constants: one target at a time, the other lanes wait on the stack."""
        k = self.k
        rest = here & ~taken
        going = k.var(taken)
        if step.op == "CAL":
            if divides(step):
                for _ in k.when((rest != 0) & (taken != 0)):
                    self.stack.push(Entry.DIVERGED, following, rest, step.index)
            for _ in k.when(taken != 0):
                self.stack.push(Entry.CALLED, following, taken, step.index)
        elif divides(step):
            for _ in k.when((rest != 0) & (taken != 0)):
                self.stack.push(Entry.DIVERGED, following, rest, step.index)
        if step.indirect is None:
            target = -1 if step.target is None else step.target
            self.active.value = k.mask_of(k.select(taken == 0, here, taken))
            if not divides(step):
                return self._to(target, block)
            return (taken == 0, self._to(following, block), self._to(target, block))
        index = self._target(step)
        first = self._uniform(index, k.mask_of(taken))
        same = k.ballot(mask & (index == first))
        others = taken & ~same
        for _ in k.when(others != 0):
            self.stack.push(Entry.DIVERGED, step.index, others, step.index)
        going.value = same
        self.active.value = k.mask_of(k.select(taken == 0, here, same))
        self.resume.value = first
        self.state.value = LEFT
        suspended = (self.left.value < 0, self.names["suspend"], self._dispatch())
        for _ in k.when((first < 0) & (taken != 0)):
            self._fault(BAD_TARGET, k.i32(step.index), taken)
            self._lose(same)
        away = (first < 0, self.names["pop"], suspended)
        if not divides(step):
            return away
        return (taken == 0, self._to(following, block), away)

    def _lose(self, lanes: Value) -> None:
        """End lanes."""
        self.stack.drop(lanes)
        self.alive.value = self.alive.value & ~lanes

    def _target(self, step: Step) -> Value:
        """Instructions that the lanes jump to."""
        k = self.k
        if isinstance(step.indirect, Indirect):
            start = step.address + 8 if step.op == "BRX" else 0
            address = self.register(step.indirect.register) + (step.indirect.offset + start)
            return instruction_at(k, address, len(self.flow.steps))
        if isinstance(step.indirect, Const) and step.indirect.register is None:
            return k.splat(self._constant_target(step))
        return k.splat(-1)

    def _stop(self, step: Step, taken: Value, here: Value, following: int, block: Any) -> Any:
        """SYNC, EXIT, BRK, CONT, RET: lanes that stop here."""
        k = self.k
        rest = here & ~taken
        if step.op == "EXIT":
            for _ in k.when(taken != 0):
                self._put_outputs(taken)
                self._lose(taken)
        elif step.op in LEAVES:
            for _ in k.when(taken != 0):
                self.stack.leave(LEAVES[step.op], taken)
        if not divides(step):
            return self.stop[block.number]
        self.active.value = k.mask_of(rest)
        return (rest == 0, self.stop[block.number], self._to(following, block))

    def _barrier(self, step: Step, mask: Value, following: int, block: Any) -> Any:
        k = self.k
        self.arrive(step, mask)
        self.resume.value = following
        self.state.value = WAITING
        target, places = self.flow.block_at.get(following), self.residence
        if target is None:
            self.keep(places.to_stack(block.number) | places.stack_local)
        else:
            self.keep(places.barrier(block.number, target))
        wait = self.names["end"]
        if not step.guarded:
            return wait
        # All lanes of the warp arrive together; where the guard is false for all of them none does.
        return (k.any(mask), wait, self._to(following, block))


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stride: int, count: bool,
) -> None:  # fmt: skip
    """Run a warp until it ends, waits or has had its turn. stride: bytes of a warp's record."""
    flow = flow_of(code, start, indirect)
    record = slot + WARPS + warp * stride
    place = Place(k, launch, slot, warp, record)
    Warp(k, place, flow, count).run()


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_stage_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stage: int, outputs: tuple[int, ...],
) -> None:  # fmt: skip
    """Run the only warp of a stage of graphics. outputs: registers that its record has for each lane that ended."""
    flow = flow_of(code, start, indirect, outputs)
    record = slot + WARPS
    Warp(k, Place(k, launch, slot, warp, record), flow, False, stage, outputs).run()


__all__ = ["Var", "flow_of", "run_stage_warp", "run_warp"]
