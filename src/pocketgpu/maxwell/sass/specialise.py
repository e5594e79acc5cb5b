"""A program as machine code: one lane for each thread of a warp, registers as variables, blocks as a graph.

The code runs one warp until it ends, waits at a barrier, or its turn is over, and leaves everything that matters in the
warp's record then. Writes of registers spare lanes that are not at work only where those may need the old value.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from ...lanes import BOOL, I32, I64, Jump, Lang, Value, Var, kernel
from . import flow as flows
from .access import Place
from .control import Stack, instruction_at
from .decoder import decode_program
from .flow import CALLED, DIVERGED, FLAGS_BIT, LEAVES, NOTHING, PREDICATE_BIT, PUSHES, Flow, divides
from .isa import PT, RZ, Const, Indirect
from .machine import Machine
from .semantics import OPERATIONS, Flags, Unit, bits, float32
from .steps import ALWAYS, Step, step_of
from .work import (
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


@lru_cache(maxsize=64)
def flow_of(code: bytes, start: int, indirect: tuple[int, ...]) -> Flow:
    """The flow of a program given as its bytes. Raises SassError."""
    program = decode_program(code)
    steps = tuple(step_of(program, i) for i in range(len(program)))
    return Flow(steps, start, tuple(sorted({*indirect, *flows.likely_functions(steps)})))


class Warp(Machine):
    """The warp that specialised code runs."""

    def __init__(self, k: Lang, place: Place, flow: Flow, count: bool) -> None:
        self.record = place.record
        super().__init__(k, place, Stack(place, k.var(0)))
        self.flow, self.count = flow, count
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

    def restore(self, wanted: int = flows.ALL) -> None:
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

    def keep(self, wanted: int = flows.ALL) -> None:
        """Registers into the record, those of a set."""
        k, record = self.k, self.record
        for n, var in self.variables.items():
            if wanted >> n & 1:
                k.store(I32, record + (REGISTERS + VECTOR * n), var.value)
        for n, var in self.predicates.items():
            if wanted >> (PREDICATE_BIT + n) & 1:
                k.store(I32, record + (WARP.PREDICATES + 4 * n), k.ballot(var.value))
        for n, var in enumerate(self.codes):
            if wanted >> FLAGS_BIT & 1:
                k.store(I32, record + (WARP.FLAGS + 4 * n), k.ballot(var.value))
        k.store(I32, record + WARP.STARTED, 1)
        k.store(I32, record + WARP.RESUME, self.resume.value)
        k.store(I32, record + WARP.ACTIVE, k.ballot(self.active.value))
        k.store(I32, record + WARP.DEPTH, self.stack.depth.value)

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
        flow = self.flow
        self.names = {name: n for n, name in enumerate(("enter", "pop", "again", "suspend", "end"))}
        shift = len(self.names)
        self.number = {index: shift + n for index, n in flow.block_at.items()}
        # For each instruction where a turn can end the block that notes it.
        self.turn = {index: shift + len(flow.blocks) + n for n, index in enumerate(flow.returns)}
        points = sorted(
            {b.last + 1 for b in flow.blocks if flow.steps[b.last].op == "BAR" and b.last + 1 in flow.block_at}
        )
        first = shift + len(flow.blocks) + len(flow.returns)
        self.after_barrier = {index: first + n for n, index in enumerate(points)}
        blocks: list[Any] = [self._enter, self._pop, self._again, self._suspend, self._end]
        blocks += [partial(self._block, b) for b in flow.blocks]
        blocks += [partial(self._turn_over, index) for index in flow.returns]
        blocks += [partial(self._go_on_at, index) for index in points]
        self.astray = len(blocks)
        blocks += [partial(self._astray, b.last) for b in flow.blocks]
        self.k.graph(blocks)

    def _enter(self) -> Any:
        k = self.k
        self.enter()
        started = k.load(I32, self.record + WARP.STARTED) != 0
        points = tuple(self.after_barrier)
        again = Jump(self.resume.value, (*(self.after_barrier[i] for i in points), self.names["again"]), points)
        return (started, again, self.number[self.flow.start])

    def _wanted(self, index: int) -> int:
        """Registers that matter at an instruction that begins a block, those of waiting lanes as well."""
        return self.flow.live_in[self.flow.block_at[index]] | self.flow.kept

    def _go_on_at(self, index: int) -> Any:
        """After a barrier."""
        self.restore(self._wanted(index))
        return self.number[index]

    def _dispatch(self) -> Jump:
        """Go on at the instruction `resume`."""
        known = self.flow.returns
        targets = tuple(self.number[i] for i in known)
        return Jump(self.resume.value, (*targets, self.names["suspend"]), known)

    def _again(self) -> Any:
        self.restore()
        self.state.value = LEFT  # unless the dispatch finds where to go
        return self._dispatch()

    def _pop(self) -> Any:
        k = self.k
        target, mask = self.stack.pop()
        self.resume.value = target
        self.active.value = k.mask_of(mask)
        self.state.value = k.select(mask == 0, DONE, LEFT)
        for _ in k.when((mask == 0) & (self.alive.value != 0)):
            self._fault(STACK_EMPTY, k.i32(0), self.alive.value)
        return (mask == 0, self.names["end"], self._dispatch())

    def _suspend(self) -> Any:
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
        steps = flow.steps
        last = steps[block.last]
        count = block.last - block.first + 1
        self.left.value = self.left.value - count
        if self.count:
            self.lane_steps.value = self.lane_steps.value + k.to_i64(k.popcount(k.ballot(self.active.value)) * count)
        ends = last.op in flows.ENDS
        for index in range(block.first, block.last + (0 if ends else 1)):
            self._instruction(steps[index])
        if ends:
            mask = self._guard(last)
            if last.test != ALWAYS:
                self.guarded = True
                unit = Unit(k, {"test": last.test}, flags=self.flags)
                mask = mask & bits.test_flags(unit)
            self.settle_all()
            return self._flow(last, mask, block)
        self.settle_all()
        return self._to(block.last + 1, block)

    def _instruction(self, step: Step) -> None:
        if step.op in NOTHING:
            return
        if step.op in PUSHES:
            self._push(step)
            return
        mask = self._guard(step)
        if step.op in OPERATIONS:
            self.arithmetic(step, mask)
        else:
            self.other(step, self.active.value, mask)

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
        number = self.number.get(index)
        if number is None:
            return self.astray + block.number
        if index > block.last:
            return number
        return (self.left.value < 0, self.turn[index], number)

    def _turn_over(self, index: int) -> Any:
        self.resume.value = index
        self.state.value = READY
        return self.names["suspend"]

    def _astray(self, index: int) -> Any:
        """Control runs past the end of the program, or to where nothing is."""
        lanes = self.k.ballot(self.active.value)
        self._fault(BAD_TARGET, self.k.i32(index), lanes)
        self._lose(lanes)
        return self.names["pop"]

    def _flow(self, step: Step, mask: Value, block: Any) -> Any:
        k, following = self.k, step.index + 1
        if step.op == "BAR":
            return self._barrier(step, mask, following, block)
        if step.op == "BRA" and not divides(step) and step.indirect is None:
            return self._to(-1 if step.target is None else step.target, block)
        taken, here = k.ballot(mask), k.ballot(self.active.value)
        if step.op == "BRA" and step.indirect is None:
            return self._branch(step, taken, here, following, block)
        if step.op in flows.BRANCHES:
            return self._jump(step, mask, taken, here, following, block)
        return self._stop(step, taken, here, following, block)

    def _branch(self, step: Step, taken: Value, here: Value, following: int, block: Any) -> Any:
        """Lanes that do not branch go on first; those that do wait on the stack."""
        k = self.k
        target = -1 if step.target is None else step.target
        rest = here & ~taken
        both = (taken != 0) & (rest != 0)
        for _ in k.when(both):
            self.stack.push(DIVERGED, target, taken, step.index)
            self.active.value = k.mask_of(rest)
        return (rest != 0, self._to(following, block), self._to(target, block))

    def _jump(self, step: Step, mask: Value, taken: Value, here: Value, following: int, block: Any) -> Any:
        """CAL, BRX, JMX, and branches through constants: one target at a time, the other lanes wait on the stack."""
        k = self.k
        rest = here & ~taken
        going = k.var(taken)
        if step.op == "CAL":
            if divides(step):
                for _ in k.when((rest != 0) & (taken != 0)):
                    self.stack.push(DIVERGED, following, rest, step.index)
            for _ in k.when(taken != 0):
                self.stack.push(CALLED, following, taken, step.index)
        elif divides(step):
            for _ in k.when((rest != 0) & (taken != 0)):
                self.stack.push(DIVERGED, following, rest, step.index)
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
            self.stack.push(DIVERGED, step.index, others, step.index)
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
                self._lose(taken)
        elif step.op in LEAVES:
            for _ in k.when(taken != 0):
                self.stack.leave(LEAVES[step.op], taken)
        if not divides(step):
            return self.names["pop"]
        self.active.value = k.mask_of(rest)
        return (rest == 0, self.names["pop"], self._to(following, block))

    def _barrier(self, step: Step, mask: Value, following: int, block: Any) -> Any:
        k = self.k
        self.arrive(step, mask)
        self.resume.value = following
        self.state.value = WAITING
        wait = self.names["suspend"]
        if following in self.after_barrier:
            self.keep(self._wanted(following))
            wait = self.names["end"]
        if not step.guarded:
            return wait
        # All lanes of the warp arrive together; where the guard is false for all of them none does.
        return (k.any(mask), wait, self.number.get(following, self.astray + block.number))


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


__all__ = ["Var", "flow_of", "run_warp"]
