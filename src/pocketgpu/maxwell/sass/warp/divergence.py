"""Control flow of a warp, once for both executors: what branches, calls and stops do to its lanes and to its stack.

A warp has lanes at work and a stack of entries (kind, target, mask) with lanes that wait. An instruction of control
flow holds for some of the lanes at work (`taken`). A method of `Divergence` does what the instruction does and returns
where the warp goes on, a `Way`. An executor takes the warp there: specialised code by the edges of a graph, the
interpreter by the number of the next instruction.

What is known of an instruction is a Python number or bool in specialised code, and a scalar in the interpreter. Sets of
lanes are ballots: a scalar i32 with a bit for each lane.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, WORD
from pocketgpu.maxwell.sass.program.control import Entry
from pocketgpu.maxwell.sass.semantics.known import Flag, both, opposite
from pocketgpu.maxwell.sass.thread_memory.access import Place
from pocketgpu.maxwell.sass.thread_memory.work import BAD_TARGET, DONE, LAUNCH, READY, STACK_EMPTY, STACK_FULL
from pocketgpu.maxwell.sass.warp.stack import Stack

Number = int | Value
"""Number of an instruction; negative where none is."""


class Goal(Enum):
    """Where a warp goes on, apart from instructions that are named."""

    NEXT = auto()
    """At the instruction after this one."""
    POP = auto()
    """Where the stack says."""
    END = auto()
    """Nowhere: it has ended."""


@dataclass(frozen=True, slots=True, eq=False)
class To:
    """The way to an instruction of the program."""

    index: Number


Way = Goal | To | tuple[Value, "Way", "Way"]
"""Where a warp goes on; (condition, way, way) where a scalar decides."""


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction of control flow.

    index: its number. divides: whether it can hold for only some of the lanes at work.
    """

    index: Number
    divides: bool = True

    @property
    def following(self) -> Number:
        """The instruction after it."""
        return self.index + 1


def fork(flag: Flag, then: Way, otherwise: Way) -> Way:
    """One of two ways."""
    if isinstance(flag, bool):
        return then if flag else otherwise
    return (flag, then, otherwise)


def instruction_at(k: Lang, address: Value, count: Number) -> Value:
    """Number of the instruction at a code address (a scalar or lanes, i32), of `count`; -1 where none is."""
    place = (address >> 3) & (BUNDLE // WORD - 1)
    index = (address >> 5) * 3 + k.max(place, 1) - 1
    good = ((address & (WORD - 1)) == 0) & index.below(count)
    return k.select(good, index, -1)


class Divergence(ABC):
    """The lanes of a warp and their stack.

    alive: lanes that have not ended; spared: lanes that were at work before SAM; both as ballots. state: what the warp
    comes to in this turn (READY, WAITING, DONE, LEFT).
    """

    def __init__(self, place: Place) -> None:
        self.k, self.place = place.k, place
        self.stack = Stack(place, place.k.var(0))
        self.spared = place.k.var(0)
        self.alive = place.k.var(0)
        self.state = place.k.var(READY)

    # -- what an executor gives -------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def here(self) -> Value:
        """The lanes at work."""

    @abstractmethod
    def put_to_work(self, lanes: Value) -> None:
        """Have these lanes work from here on, and no others."""

    def ending(self, lanes: Value) -> None:  # noqa: B027 - most executors have nothing to do
        """Lanes are about to end by EXIT."""

    # -- lanes ------------------------------------------------------------------------------------------------------
    def fault(self, kind: int, index: Number, lanes: Value) -> None:
        """Note a fault of the first of some lanes at an instruction."""
        k, p = self.k, self.place
        number = index if isinstance(index, Value) else k.i32(index)
        k.invoke(p.handle(LAUNCH.FAULT), p.slot, p.warp, number, k.trailing_zeros(lanes), k.i32(kind))

    def lose(self, lanes: Value) -> None:
        """End lanes, wherever they wait."""
        self.stack.drop(lanes)
        self.alive.value = self.alive.value & ~lanes

    def work_with_all(self) -> None:
        """SAM: all lanes that have not ended are at work. Helpers of derivatives take part so that branches hold."""
        self.spared.value = self.here
        self.put_to_work(self.alive.value)

    def work_with_spared(self) -> None:
        """RAM: the lanes that were at work before SAM are at work again."""
        self.put_to_work(self.spared.value)

    # -- instructions -----------------------------------------------------------------------------------------------
    def push(self, kind: int | Value, target: Number, index: Number) -> None:
        """SSY, PBK, PCNT and others: the lanes at work will come back at a target."""
        self.stack.push(kind, target, self.here, index)

    def branch(self, at: Site, target: Number, taken: Value) -> Way:
        """BRA: the lanes that do not branch go on first, those that do wait on the stack.

        Lanes that branch to where no instruction is are lost.
        """
        k = self.k
        rest = self.here & ~taken
        astray: Flag = target < 0
        for _ in self._where(astray, lambda: taken != 0):
            self.fault(BAD_TARGET, at.index, taken)
            self.lose(taken)
        for _ in k.when((taken != 0) & (rest != 0)):
            for _ in k.when(opposite(astray)):
                self.stack.push(Entry.DIVERGED, target, taken, at.index)
            self.put_to_work(rest)
        return (rest != 0, Goal.NEXT, fork(astray, Goal.POP, To(target)))

    def jump(self, at: Site, calls: Flag, taken: Value, landing: tuple[Number, Value]) -> Way:
        """CAL, BRX, JMX, and branches through constants.

        Lanes that do not jump wait on the stack. Of those that do, the ones that jump where the first of them does go
        on; the others wait to do the instruction again.

        :param calls: whether the lanes come back after it (CAL).
        :param landing: where the first of the lanes jumps, and which of `taken` jump there too.
        """
        k, here = self.k, self.here
        if at.divides:
            rest = here & ~taken
            for _ in k.when((rest != 0) & (taken != 0)):
                self.stack.push(Entry.DIVERGED, at.following, rest, at.index)
        for _ in self._where(calls, lambda: taken != 0):
            self.stack.push(Entry.CALLED, at.following, taken, at.index)
        first, same = landing
        if same is not taken:
            others = taken & ~same
            for _ in k.when(others != 0):
                self.stack.push(Entry.DIVERGED, at.index, others, at.index)
        if at.divides:
            self.put_to_work(k.select(taken == 0, here, same))
        elif same is not taken:
            self.put_to_work(same)
        astray: Flag = first < 0
        for _ in self._where(astray, lambda: taken != 0):
            self.fault(BAD_TARGET, at.index, taken)
            self.lose(same)
        way = fork(astray, Goal.POP, To(first))
        return (taken == 0, Goal.NEXT, way) if at.divides else way

    def leave(self, at: Site, exits: Flag, entries: Sequence[tuple[int, Flag]], taken: Value) -> Way:
        """SYNC, EXIT, BRK, CONT, RET: lanes stop here, and go on where the stack says.

        exits: whether they end. entries: kinds of entries, and whether the lanes leave all entries above the nearest of
        the kind. With neither they wait for the topmost entry (SYNC).
        """
        k = self.k
        if exits is not False or entries:
            for _ in k.when(taken != 0):
                for _ in k.when(exits):
                    self.ending(taken)
                    self.lose(taken)
                for kind, leaves in entries:
                    for _ in k.when(leaves):
                        self.stack.leave(kind, taken)
        if not at.divides:
            return Goal.POP
        rest = self.here & ~taken
        self.put_to_work(rest)
        return (rest == 0, Goal.POP, Goal.NEXT)

    def astray(self, index: Number) -> Way:
        """Control has come to where no instruction is, after instruction `index`: the lanes at work are lost."""
        lanes = self.here
        self.fault(BAD_TARGET, index, lanes)
        self.lose(lanes)
        return Goal.POP

    def pop(self, index: Number) -> tuple[Value, Value]:
        """Take the topmost entry that still has lanes: (where they go on, the lanes), no lanes if there is none.

        The lanes are at work then. index: of the instruction that is told where lanes wait for an entry that is not
        there.
        """
        k = self.k
        target, mask = self.stack.pop()
        self.put_to_work(mask)
        for _ in k.when((mask == 0) & (self.alive.value != 0)):
            self.fault(STACK_EMPTY, index, self.alive.value)
        return target, mask

    def check_stack(self) -> None:
        """At the end of a turn: a warp whose stack had no room for an entry has a fault, and has ended."""
        k = self.k
        for _ in k.when(self.stack.overflow.value != 0):
            self.fault(STACK_FULL, self.stack.overflow.value - 1, k.i32(1))
            self.state.value = DONE

    def _where(self, flag: Flag, condition: Callable[[], Value]) -> Iterator[None]:
        """`for _ in` this: where a flag and a condition hold, without code for either if the flag is known as false."""
        if flag is not False:
            wanted = both(flag, condition())
            yield from self.k.when(wanted)


__all__ = ["Divergence", "Goal", "Number", "Site", "To", "Way", "fork", "instruction_at"]
