"""A program as machine code: one lane for each thread of a warp, registers as variables, blocks as a graph.

The code runs one warp until it ends, waits at a barrier, or its turn is over. Then it leaves everything that matters in
the warp's record. What an instruction does to registers and memory is in `variable_machine.py`, what it does to the
active lanes in `divergence.py`. Here is which block follows which, and what moves between variables and the record on
the way (`program/residence.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pocketgpu.lanes import I32, I64, Jump, LaneError, Lang, Next, Value, kernel
from pocketgpu.maxwell.sass.isa.operand import Const, Indirect
from pocketgpu.maxwell.sass.program.control import ENDS, LEAVES, PUSHES, Action, action_of, divides
from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.parts import cost_of
from pocketgpu.maxwell.sass.program.registers import ALL, reads, reads_words, writes
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.program.steps import ALWAYS, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Unit, bits
from pocketgpu.maxwell.sass.stages.stage import NONE, PIXEL
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace, first_lane
from pocketgpu.maxwell.sass.thread_memory.work import AT_BARRIER, BEGUN, DONE, LAUNCH, LEFT, READY, WAITING, WARP, WARPS
from pocketgpu.maxwell.sass.warp.divergence import Divergence, Goal, Number, Site, To, Way, instruction_at
from pocketgpu.maxwell.sass.warp.inline_access import accesses, twins
from pocketgpu.maxwell.sass.warp.known_addresses import KnownAddresses, sums_of
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.observer import Observer

LONG = 250
"""From so many plain instructions on, code is made with few passes (`Lang.hurry`)."""
TANGLED = 2000
"""From so many registers on that matter at the beginning of a block, summed over blocks, long code leaves variables in
memory."""


class Specialised(Divergence):
    """A program as a graph: its blocks, and nodes between them that store registers or end a turn.

    count: whether steps times active lanes are counted. outputs: registers that others read after the program.
    half_rows: whether a row of a block's threads is half a warp, so that both halves often load the same. part: which
    part of a long program (`program/parts.py`) the code is of; at an instruction of another one its turn ends.
    """

    def __init__(
        self,
        place: WarpPlace,
        flow: Flow,
        count: bool,
        stage: int = NONE,
        outputs: tuple[int, ...] = (),
        observer: Observer | None = None,
        half_rows: bool = False,
        part: int = 0,
    ) -> None:
        super().__init__(place)
        k = place.k
        if observer is not None and not k.numpy:
            raise LaneError("only the NumPy evaluator runs code with an observer")
        self.flow, self.count, self.observer = flow, count, observer
        self.residence = Residence(flow)
        self.blocks = [b for b in flow.blocks if flow.part_of(b.first) == part]
        self.pixels = stage == PIXEL
        self.active = k.var(k.iota() < 0)
        self.left = k.var(0)
        self.resume = k.var(0)
        self.lane_steps = k.var(k.i64(0))
        self.machine = VariableMachine(k, place, flow, stage, outputs)
        self.machine.active = lambda: self.active_lanes
        same = twins(flow) if half_rows else frozenset[int]()
        repeated = lambda b: accesses(flow.steps, b.body, same) if b.number in flow.repeated else {}
        self.inline = {b.number: repeated(b) for b in self.blocks}
        """For each block the accesses of memory that its code does itself, by instruction."""
        self.machine.known = KnownAddresses(k, flow.steps, self.inline.values())
        self.saves = any(flow.steps[i].op == "SAM" for i in flow.reached)
        self.nodes: list[Callable[[], Next]] = []

    # -- lanes ------------------------------------------------------------------------------------------------------
    @property
    def active_lanes(self) -> Value:
        return self.k.ballot(self.active.value)

    def set_active_lanes(self, lanes: Value) -> None:
        self.machine.known.forget()
        self.active.value = self.k.mask_of(lanes)

    def ending(self, lanes: Value) -> None:
        self.machine.put_outputs(lanes)

    # -- the record -------------------------------------------------------------------------------------------------
    def _take_up(self) -> None:
        """Take the warp up from its record, but for its registers."""
        k, record = self.k, self.place.word(0)
        self.left.value = self.place.of_launch(LAUNCH.SLICE)
        self.alive.value = k.load(I32, record + WARP.ALIVE)
        self.resume.value = k.load(I32, record + WARP.RESUME)
        self.active.value = k.mask_of(k.load(I32, record + WARP.ACTIVE))
        self.stack.depth.value = k.load(I32, record + WARP.DEPTH)
        if self.saves:
            self.saved.value = k.load(I32, record + WARP.SAVED)
        self.machine.known.forget()

    def _keep(self, wanted: int = ALL, started: int = BEGUN) -> None:
        """Leave in the record what a later run goes on with: registers of a set, and where it goes on."""
        k, record = self.k, self.place.word(0)
        self.machine.put_away(wanted, self.alive.value)
        k.store(I32, record + WARP.STARTED, started)
        k.store(I32, record + WARP.RESUME, self.resume.value)
        self._keep_lanes()

    def _keep_lanes(self) -> None:
        """Leave the active lanes in the record, those that wait, and what is known of their addresses."""
        k, record = self.k, self.place.word(0)
        if not self.flow.steady:
            k.store(I32, record + WARP.ACTIVE, k.ballot(self.active.value))
            k.store(I32, record + WARP.DEPTH, self.stack.depth.value)
        if self.saves:
            k.store(I32, record + WARP.SAVED, self.saved.value)
        k.store(I32, record + WARP.KNOWN, self.machine.known.bits.value)

    def _leave_counts(self) -> None:
        """Store the state and the counts, at the end of every turn."""
        k, record = self.k, self.place.word(0)
        k.store(I32, record + WARP.STATE, self.state.value)
        k.store(I32, record + WARP.ALIVE, self.alive.value)
        self._count_steps()

    def _count_steps(self) -> Value:
        """Store the counts; returns the steps of this turn."""
        k, record = self.k, self.place.word(0)
        spent = self.place.of_launch(LAUNCH.SLICE) - self.left.value
        k.store(I64, record + WARP.STEPS, k.load(I64, record + WARP.STEPS) + k.to_i64(spent))
        if self.count:
            k.store(I64, record + WARP.LANE_STEPS, k.load(I64, record + WARP.LANE_STEPS) + self.lane_steps.value)
        return spent

    # -- the graph --------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Write the code of the program."""
        flow, places, add = self.flow, self.residence, self._add
        if flow.cuts or sum(cost_of(flow.steps[i]) for i in flow.reached) > LONG:
            self.k.hurry(in_memory=sum(flow.live_in[b.number].bit_count() for b in self.blocks) > TANGLED)
        if self.observer is not None:
            self.observer.begins(self.machine)
        add(self._enter)
        self.pop_node, self.again = add(self._pop), add(self._again)
        self.later, self.suspend, self.end = add(self._later), add(self._suspend), add(self._end)
        self.number = {b.first: add(partial(self._block, b)) for b in self.blocks}
        # For each instruction before which a turn can end: the node that ends it.
        loops = {i for b in self.blocks for i in flow.after(b.last) if i <= b.last and i in flow.block_at}
        elsewhere = flow.block_at.keys() - self.number.keys()
        self.turn = {index: add(partial(self._turn_over, index)) for index in sorted(loops | elsewhere)}
        self.number |= {index: self.turn[index] for index in elsewhere}
        barriers = [b for b in flow.blocks if flow.steps[b.last].op == "BAR"]
        points = sorted({b.last + 1 for b in barriers if b.last + 1 in flow.block_at.keys() - elsewhere})
        self.caught_up = {index: add(partial(self._catch_up, index)) for index in flow.early}
        self.after_barrier = {index: add(partial(self._go_on_at, index)) for index in points}
        # If no register is in the record only, one node that stores all of them is enough.
        self.simple = places.whole or not barriers
        self.back = {}
        for index in flow.returns if places.whole else places.come_back:
            wanted = places.back(flow.block_at[index])
            self.back[index] = add(partial(self._store, wanted, self.number[index])) if wanted else self.number[index]
        comes = {flow.blocks[n].first for b in flow.blocks if b.first in elsewhere for n in places.directly(b.number)}
        self.points = tuple(sorted({*flow.returns, *comes} - elsewhere))
        """Where the code can be entered in the middle."""
        self._add_ways_out()
        self._add_careful()
        self.k.graph(self.nodes)

    def _add(self, node: Callable[[], Next]) -> int:
        def begun() -> Next:
            self.machine.begin()
            return node()

        self.nodes.append(begun)
        return len(self.nodes) - 1

    def _add_ways_out(self) -> None:
        """Nodes that store registers between the end of a block and the next one."""
        flow, places = self.flow, self.residence
        self.stop: dict[int, int] = {}
        self.lost: dict[int, int] = {}
        self.edge: dict[tuple[int, int], int] = {}
        for b in self.blocks:
            wanted = places.to_stack(b.number)
            if places.may_stop(b.number):
                pop = self.pop_node
                self.stop[b.number] = self._add(partial(self._store, wanted, pop)) if wanted else pop
            if places.goes_astray(b.number):
                self.lost[b.number] = self._add(partial(self._lost, b))
            for target in places.directly(b.number):
                wanted = places.edge(b.number, target)
                if wanted:
                    first = flow.blocks[target].first
                    self.edge[b.number, first] = self._add(partial(self._step_over, wanted, b, first))

    def _add_careful(self) -> None:
        """The careful forms of blocks, in pieces from one access that is checked to the next (`inline_access.py`)."""
        self.tails: dict[int, int] = {}
        self.pieces: dict[int, dict[int, int]] = {}
        for b in self.blocks:
            inline = self.inline[b.number]
            if not inline:
                continue
            body = self._inner(b)
            asking = [n for n, index in enumerate(body) if index in inline and inline[index].asks]
            self.tails[b.number] = self._add(partial(self._tail, b))
            pieces = self.pieces[b.number] = {}
            following = self.tails[b.number]
            for n, stop in reversed(list(zip(asking, [*asking[1:], len(body)], strict=True))):
                following = pieces[body[n]] = self._add(partial(self._piece, body[n:stop], following))

    def _inner(self, block: CodeBlock) -> tuple[int, ...]:
        """The instructions of a block without the one that ends it."""
        return block.body[:-1] if self.flow.steps[block.last].op in ENDS else block.body

    def _store(self, wanted: int, following: int) -> Next:
        """Store registers that are not in variables from here on."""
        self.machine.put_away(wanted, self.alive.value)
        return following

    def _step_over(self, wanted: int, block: CodeBlock, index: int) -> Next:
        self.machine.put_away(wanted, self.alive.value)
        return self._in_turn(index, block)

    # -- beginning and ending a turn --------------------------------------------------------------------------------
    def _enter(self) -> Next:
        self._take_up()
        started = self.k.load(I32, self.place.word(WARP.STARTED))
        points = tuple(self.after_barrier)
        resumed = Jump(self.resume.value, (*(self.after_barrier[i] for i in points), self.again), points)
        return (started == 0, self.number[self.flow.start], (started == AT_BARRIER, resumed, self.again))

    def _go_on_at(self, index: int) -> Next:
        """After a barrier."""
        self.machine.known.bits.value = self.k.load(I32, self.place.word(WARP.KNOWN))
        self.machine.restore(self.residence.resumed(self.flow.block_at[index]))
        return self.number[index]

    def _dispatch(self) -> Next:
        """Go on at the instruction `resume`, where the stack says to."""
        return Jump(self.resume.value, (*self.back.values(), self.suspend), tuple(self.back))

    def _again(self) -> Next:
        """Go on where a turn ended, or another executor stopped: all registers are in the record."""
        self.machine.restore()
        self.state.value = LEFT  # if none of these is the place
        nodes = (self.caught_up.get(i, self.number[i]) for i in self.points)
        return Jump(self.resume.value, (*nodes, self.end), self.points)

    def _catch_up(self, index: int) -> Next:
        """Another executor has stopped at a barrier: leave the record as compiled code does there."""
        written = 0
        for early in self.flow.early.get(index, ()):
            step = self.flow.steps[early]
            self._instruction(step)
            written |= writes(step)
        self.machine.settle_all()
        self.machine.put_away(written, self.alive.value)
        return self.number[index]

    def _pop(self) -> Next:
        target, mask = self.pop(0)
        self.resume.value = target
        self.state.value = self.k.select(mask == 0, DONE, LEFT)
        # Lanes that wait for each other come back here without end.
        return (mask == 0, self.end, (self.left.value < 0, self.later, self._dispatch()))

    def _later(self) -> Next:
        """The turn ends before the lanes go on that were taken from the stack."""
        self.state.value = READY
        if self.simple:
            return self.suspend
        self._keep(self.residence.stack_local)
        return self.end

    def _turn_over(self, index: int) -> Next:
        """The turn ends before a block runs again."""
        self.resume.value = index
        self.state.value = READY
        if self.simple:
            return self.suspend
        self._keep(self.residence.local[self.flow.block_at[index]])
        return self.end

    def _suspend(self) -> Next:
        if self.simple:
            self._keep()
        return self.end

    def _end(self) -> Next:
        self.check_stack()
        self._leave_counts()
        return -1

    # -- a block ----------------------------------------------------------------------------------------------------
    def _block(self, block: CodeBlock) -> Next:
        flow, k = self.flow, self.k
        careful = self.pieces.get(block.number)
        waiting = ALL if self.residence.recorded(block.number) else 0
        if careful:
            self.machine.begin(self.inline[block.number], careful, sums_of(flow, block), waiting)
        else:
            self.machine.begin(waiting=waiting)
        count = block.last - block.first + 1
        self.left.value = self.left.value - count
        if self.count:
            self.lane_steps.value = self.lane_steps.value + k.to_i64(k.popcount(k.ballot(self.active.value)) * count)
        for index in self._inner(block):
            self._instruction(flow.steps[index])
        if block.number in self.tails:
            self._settle(block, reads(flow.steps[block.last]))
            return self.tails[block.number]
        return self._end_of(block)

    def _settle(self, block: CodeBlock, more: int = 0) -> None:
        """At the end of a block: have those registers in variables that the code after it takes from there."""
        places = self.residence
        for target in places.directly(block.number):
            more |= places.local[target]
        self.machine.fetch(more | (places.stack_local if places.may_stop(block.number) else 0))
        # No other executor and no observer sees registers here, unless all of them are in variables for it.
        words = self.flow.words_after(block.number) | reads_words(self.flow.steps[block.last])
        self.machine.settle_all(ALL if places.whole else words)

    def _piece(self, body: tuple[int, ...], following: int) -> Next:
        """Some instructions of a block in its careful form."""
        for index in body:
            self._instruction(self.flow.steps[index])
        self.machine.settle_all()
        return following

    def _tail(self, block: CodeBlock) -> Next:
        """The end of a block that has two forms."""
        return self._end_of(block)

    def _end_of(self, block: CodeBlock) -> Next:
        """The last instruction of a block, if it is one of control flow, and what comes next."""
        last = self.flow.steps[block.last]
        if last.op not in ENDS:
            self._settle(block)
            return self._to(block.last + 1, block)
        self._notify(last)
        mask = self._mask(last)
        self._settle(block)
        if last.op == "BAR":
            return self._barrier(last, mask, block)
        return self._go(self._flow(last, mask), block)

    def _notify(self, step: Step) -> None:
        """Notify the observer that the warp is about to execute an instruction."""
        if self.observer is not None:
            self.observer.comes_to(step, self.active.value)

    def _mask(self, step: Step) -> Value:
        """The active lanes that an instruction holds for."""
        mask = self.machine.guard(step, self.active.value)
        if step.test != ALWAYS:
            self.machine.guarded = True
            mask = mask & bits.test_flags(Unit(self.k, {"test": step.test}, flags=self.machine.flags))
        if self.observer is not None:
            self.observer.holds_for(mask)
        return mask

    def _instruction(self, step: Step) -> None:
        """An instruction that does not end a block."""
        self._notify(step)
        action = action_of(step, self.pixels)
        if action is Action.NOTHING:
            return
        if action is Action.PUSH:
            target = self._constant_target(step) if step.target is None else step.target
            self.push(PUSHES[step.op], target, step.index)
        elif action is Action.ALL_LANES:
            self.activate_all()
        elif action is Action.OWN_LANES:
            self.activate_saved()
        else:
            mask = self._mask(step)
            if step.op in OPERATIONS:
                self.machine.arithmetic(step, mask)
            else:
                self.machine.other(step, self.active.value, mask)

    # -- control flow -----------------------------------------------------------------------------------------------
    def _flow(self, step: Step, mask: Value) -> Way:
        """What the last instruction of a block does to the active lanes, and where they go on."""
        action, at = action_of(step), Site(step.index, divides(step), self.flow.divides(step))
        if action is Action.BRANCH and not at.conditional:
            return To(_known(step))
        shared = None if at.divides else self.machine.shared_guard(step)
        if action is Action.BRANCH and shared is not None:
            return (shared, To(_known(step)), Goal.NEXT)
        taken = self.k.ballot(mask)
        if action is Action.BRANCH:
            return self.branch(at, _known(step), taken)
        if action is Action.JUMP:
            return self.jump(at, step.op == "CAL", taken, self._landing(step, taken))
        entries = [(LEAVES[step.op], True)] if step.op in LEAVES else []
        return self.leave(at, step.op == "EXIT", entries, taken)

    def _landing(self, step: Step, taken: Value) -> tuple[Number, Value]:
        """See `Divergence.jump`."""
        k = self.k
        if step.indirect is None:
            return _known(step), taken
        if isinstance(step.indirect, Indirect):
            start = step.address + 8 if step.op == "BRX" else 0
            address = self.machine.register(step.indirect.register) + (step.indirect.offset + start)
            index = instruction_at(k, address, len(self.flow.steps))
            first = first_lane(self.place, index, taken)
            return first, k.ballot(index == first) & taken
        return self._constant_target(step), taken

    def _constant_target(self, step: Step) -> Value:
        """The instruction that a word of a constant bank names; -1 for none."""
        k = self.k
        if not isinstance(step.indirect, Const) or step.indirect.register is not None:
            return k.i32(-1)
        address = k.lane(self.machine.constant(step.indirect.bank, step.indirect.offset), 0)
        return instruction_at(k, address, len(self.flow.steps))

    def _go(self, way: Way, block: CodeBlock) -> Next:
        """The edge of the graph for a way out of a block."""
        if isinstance(way, tuple):
            condition, then, otherwise = way
            return (condition, self._go(then, block), self._go(otherwise, block))
        if isinstance(way, Goal):
            return self._to(block.last + 1, block) if way is Goal.NEXT else self.stop.get(block.number, self.pop_node)
        if isinstance(way.index, int):
            return self._to(way.index, block)
        self.resume.value = way.index
        self.state.value = LEFT
        return (self.left.value < 0, self.suspend, self._dispatch())

    def _to(self, index: int, block: CodeBlock) -> Next:
        """Go on at an instruction; backwards only while the turn lasts."""
        if index not in self.number:
            return self.lost[block.number]
        over = self.edge.get((block.number, index))
        return self._in_turn(index, block) if over is None else over

    def _in_turn(self, index: int, block: CodeBlock) -> Next:
        if index > block.last:
            return self.number[index]
        return (self.left.value < 0, self.turn[index], self.number[index], False)

    def _lost(self, block: CodeBlock) -> Next:
        """Control goes past the end of the program, or to a place without an instruction."""
        return self._go(self.astray(block.last), block)

    def _barrier(self, step: Step, mask: Value, block: CodeBlock) -> Next:
        k, following = self.k, block.last + 1
        self.machine.arrive(step, mask)
        self.resume.value = following
        self.state.value = WAITING
        target, places = self.flow.block_at.get(following), self.residence
        if target is None:
            self._keep(places.to_stack(block.number) | places.stack_local, AT_BARRIER)
        else:
            self._keep(places.barrier(block.number, target), AT_BARRIER)
        if not step.guarded:
            return self.end
        # All lanes of the warp arrive together; where the guard is false for all of them none does.
        return (k.any(mask), self.end, self._to(following, block))


def _known(step: Step) -> int:
    """The instruction that a step names, -1 if there is none."""
    return -1 if step.target is None else step.target


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_stage_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stage: int, outputs: tuple[int, ...], part: int = 0, observer: Observer | None = None,
) -> None:  # fmt: skip
    """Run the only warp of a stage of graphics, in one part of its program. outputs: registers that its record has for
    each lane that ended."""
    flow = flow_of(code, start, indirect, outputs, as_written=observer is not None)
    place = WarpPlace(k, launch, slot, warp, slot + WARPS)
    Specialised(place, flow, False, stage, outputs, observer, part=part).run()


__all__ = ["Specialised", "run_stage_warp"]
