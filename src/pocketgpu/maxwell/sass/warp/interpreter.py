"""Programs as data: a loop that reads instruction after instruction, and one kernel for each operation.

Each operation's kernel is made once and serves every program. What it computes is the same function that specialised
code takes. Registers are in the warp's record, so that either executor can go on where the other stopped.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.sass.program.control import LEAVES, Action, StackEntry
from pocketgpu.maxwell.sass.program.steps import ALWAYS
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Unit, bits
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace, first_lane
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, DONE, LAUNCH, NOT_BUILT, STEP, WAITING, WARP, WARPS
from pocketgpu.maxwell.sass.warp.divergence import Divergence, Goal, Number, Site, To, Way, instruction_at
from pocketgpu.maxwell.sass.warp.encoding import BY_BANK, BY_REGISTER, EXITS
from pocketgpu.maxwell.sass.warp.record_machine import RecordMachine


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, at=I32, mask=I32)
def interpret(k: Lang, launch: Value, slot: Value, warp: Value, at: Value, mask: Value, *, op: str) -> None:
    """One instruction of operation `op`, for the lanes of a mask. at: arena offset of the instruction."""
    record = slot + WARPS + warp * k.load(I32, launch + LAUNCH.WARP_STRIDE)
    machine = RecordMachine(k, WarpPlace(k, launch, slot, warp, record), at)
    lanes = k.mask_of(mask)
    if op in OPERATIONS:
        machine.operate(op, lanes)
    else:
        machine.other_instruction(op, lanes)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def interpret_warp(k: Lang, launch: Value, slot: Value, warp: Value) -> None:
    """Run a warp until it ends, waits or has had its turn, whatever the program is."""
    record = slot + WARPS + warp * k.load(I32, launch + LAUNCH.WARP_STRIDE)
    _Loop(WarpPlace(k, launch, slot, warp, record)).run()


class _Loop(Divergence):
    """The interpreter's loop: guards, control flow, and calls of the kernels that execute instructions."""

    def __init__(self, place: WarpPlace) -> None:
        super().__init__(place)
        k = place.k
        load = lambda word: k.load(I32, place.record + word)
        self.stack.depth.value = load(WARP.DEPTH)
        self.alive.value, self.saved.value = load(WARP.ALIVE), load(WARP.SAVED)
        self.active = k.var(load(WARP.ACTIVE))
        first = place.of_launch(LAUNCH.START)
        self.pc = k.var(k.select(load(WARP.STARTED) != 0, load(WARP.RESUME), first))
        self.left = k.var(place.of_launch(LAUNCH.SLICE))
        self.lane_steps = k.var(k.i64(0))
        self.running = k.var(1)
        self.last = k.var(0)
        """The instruction that was executed last."""
        self.program, self.count = place.of_launch(LAUNCH.PROGRAM), place.of_launch(LAUNCH.INSTRUCTIONS)

    @property
    def active_lanes(self) -> Value:
        return self.active.value

    def set_active_lanes(self, lanes: Value) -> None:
        self.active.value = lanes

    # -- the loop ---------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """A turn of the warp."""
        k = self.k
        for _ in k.loop(lambda: self.running.value != 0):
            pc = self.pc.value
            outside = (pc < 0) | (pc >= self.count)
            for _ in k.when(outside):
                self._go(self.astray(self.last.value))
            for _ in k.when(~outside):
                self.last.value = pc
                self._step(pc, self.program + pc * STEP.size)
        self.check_stack()
        self._keep()

    def _keep(self) -> None:
        """Leave in the record what the next turn goes on with."""
        k, record = self.k, self.place.record
        words = {
            WARP.STATE: self.state.value, WARP.ALIVE: self.alive.value, WARP.ACTIVE: self.active.value,
            WARP.RESUME: self.pc.value, WARP.DEPTH: self.stack.depth.value, WARP.SAVED: self.saved.value,
            WARP.STARTED: 1,
        }  # fmt: skip
        for word, v in words.items():
            k.store(I32, record + word, v)
        spent = self.place.of_launch(LAUNCH.SLICE) - self.left.value
        k.store(I64, record + WARP.STEPS, k.load(I64, record + WARP.STEPS) + k.to_i64(spent))
        k.store(I64, record + WARP.LANE_STEPS, k.load(I64, record + WARP.LANE_STEPS) + self.lane_steps.value)

    def _step(self, index: Value, at: Value) -> None:
        """Instruction `index`, at offset `at`."""
        k = self.k
        self.at, self.site = at, Site(index)
        self.left.value = self.left.value - 1
        self.lane_steps.value = self.lane_steps.value + k.to_i64(k.popcount(self.active.value))
        self.taken = self._guard()
        cases: dict[Action, Callable[[], Way]] = {
            Action.EXECUTE: self._execute, Action.NOTHING: lambda: Goal.NEXT, Action.PUSH: self._push,
            Action.BRANCH: lambda: self.branch(self.site, self._word(STEP.TARGET), self.taken),
            Action.JUMP: lambda: self.jump(self.site, self._entry() == StackEntry.CALLED, self.taken, self._landing()),
            Action.LEAVE: self._leave, Action.BARRIER: self._barrier, Action.REFUSE: self._refuse,
            Action.ALL_LANES: self._all_lanes, Action.OWN_LANES: self._own_lanes,
        }  # fmt: skip
        k.switch(self._word(STEP.FLOW), [lambda case=cases[action]: self._go(case()) for action in Action])
        over = (self.running.value != 0) & (self.left.value < 0)
        for _ in k.when(over):
            self.running.value = 0

    def _guard(self) -> Value:
        """The active lanes that the instruction holds for, by its guard and its test of the condition code."""
        k, guard = self.k, self._word(STEP.GUARD)
        p = k.load(I32, self.place.record + WARP.PREDICATES + ((guard & 7) << 2))
        taken = k.var(self.active.value & (p ^ k.select((guard & 8) != 0, -1, 0)))
        test = guard.lsr(4) & 31
        for _ in k.when(test != ALWAYS):
            machine = RecordMachine(k, self.place, self.at)
            unit = Unit(k, {"test": test}, flags=machine.flags)
            taken.value = taken.value & k.ballot(bits.test_flags(unit))
        return taken.value

    def _word(self, offset: int) -> Value:
        """A word of the instruction."""
        return self.k.load(I32, self.at + offset)

    def _go(self, way: Way) -> None:
        """Take the warp where it goes on."""
        if isinstance(way, tuple):
            condition, then, otherwise = way
            self.k.branch(condition, lambda: self._go(then), lambda: self._go(otherwise))
        elif isinstance(way, To):
            self.pc.value = way.index
        elif way is Goal.NEXT:
            self.pc.value = self.site.following
        elif way is Goal.POP:
            target, mask = self.pop(self.last.value)
            self._go((mask == 0, Goal.END, To(target)))
        else:
            self.state.value = DONE
            self.running.value = 0

    # -- instructions -----------------------------------------------------------------------------------------------
    def _invoke(self, lanes: Value) -> None:
        k, p = self.k, self.place
        k.invoke(k.load(I64, self.at + STEP.HANDLE), p.launch, p.slot, p.warp, self.at, lanes)

    def _execute(self) -> Way:
        taken = self.taken
        for _ in self.k.when(taken != 0):
            self._invoke(taken)
        return Goal.NEXT

    def _refuse(self) -> Way:
        """An instruction of the 3D engine."""
        taken = self.taken
        for _ in self.k.when(taken != 0):
            self.fault(NOT_BUILT, self.site.index, taken)
            self._invoke(taken)
        return Goal.NEXT

    def _all_lanes(self) -> Way:
        self.activate_all()
        return Goal.NEXT

    def _own_lanes(self) -> Way:
        self.activate_saved()
        return Goal.NEXT

    def _push(self) -> Way:
        self.push(self._entry(), self._target(), self.site.index)
        return Goal.NEXT

    def _leave(self) -> Way:
        entry = self._entry()
        kinds = [(kind, entry == kind) for kind in sorted(set(LEAVES.values()))]
        return self.leave(self.site, entry == EXITS, kinds, self.taken)

    def _barrier(self) -> Way:
        taken = self.taken
        for _ in self.k.when(taken != 0):
            self._invoke(taken)
            self.state.value = WAITING
            self.running.value = 0
        return Goal.NEXT

    # -- targets ----------------------------------------------------------------------------------------------------
    def _entry(self) -> Value:
        return self._word(STEP.ENTRY)

    def _target(self) -> Value:
        """The instruction that it names: known, or by a word of a constant bank."""
        k = self.k

        def from_bank() -> Value:
            offset = self._word(STEP.OFFSET) & (BANK_SIZE - 4)
            constants = self.place.of_launch(LAUNCH.CONSTANTS)
            address = k.load(I32, constants + self._word(STEP.BASE) * BANK_SIZE + offset)
            return instruction_at(k, address, self.count)

        by_bank = self._word(STEP.TARGET_ADDRESS) == BY_BANK
        found: Value = k.branch(by_bank, from_bank, lambda: self._word(STEP.TARGET))
        return found

    def _landing(self) -> tuple[Number, Value]:
        """See `Divergence.jump`."""
        k, taken = self.k, self.taken

        def together() -> tuple[Value, Value]:
            return self._target(), taken

        def each() -> tuple[Value, Value]:
            machine = RecordMachine(k, self.place, self.at)
            address = machine.register(self._word(STEP.BASE)) + self._word(STEP.OFFSET)
            index = instruction_at(k, address, self.count)
            first = first_lane(self.place, index, taken)
            return first, k.ballot(index == first) & taken

        found: tuple[Value, Value] = k.branch(self._word(STEP.TARGET_ADDRESS) == BY_REGISTER, each, together)
        return found


__all__ = ["interpret", "interpret_warp"]
