"""Control flow of a warp, for both executors: what branches, calls and stops do to its lanes and to its stack.

A warp has active lanes, and a stack of entries (kind, target, mask) with lanes that wait. An instruction of control
flow holds for some of the active lanes (`taken`). A method of `Divergence` does what the instruction does, and returns
where the warp goes on: a `Way`. The executor takes the warp there: specialised code by an edge of its graph, the
interpreter by setting the number of the next instruction.

Numbers and properties of an instruction are Python ints and bools in specialised code, and scalars in the interpreter.
Sets of lanes are ballots: a scalar i32 with a bit for each lane.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto

from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, WORD
from pocketgpu.maxwell.sass.program.control import StackEntry
from pocketgpu.maxwell.sass.semantics.known import Flag, both, opposite
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
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

    index: its number. conditional: whether it can hold for no active lane. divides: whether it can hold for some of
    the active lanes.
    """

    index: Number
    conditional: bool = True
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

    alive: lanes that have not ended. saved: lanes that were active before SAM. Both are ballots. state: of the warp at
    the end of this turn (READY, WAITING, DONE, LEFT).
    """

    def __init__(self, place: WarpPlace) -> None:
        self.k, self.place = place.k, place
        self.stack = Stack(place, place.k.var(0))
        self.saved = place.k.var(0)
        self.alive = place.k.var(0)
        self.state = place.k.var(READY)

    # -- provided by executors --------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def active_lanes(self) -> Value:
        """The active lanes."""

    @abstractmethod
    def set_active_lanes(self, lanes: Value) -> None:
        """Make these lanes active, and no others."""

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

    def activate_all(self) -> None:
        """SAM: all lanes that have not ended become active, so that helper pixels take part in derivatives."""
        self.saved.value = self.active_lanes
        self.set_active_lanes(self.alive.value)

    def activate_saved(self) -> None:
        """RAM: the lanes that were active before SAM become active again."""
        self.set_active_lanes(self.saved.value)

    # -- instructions -----------------------------------------------------------------------------------------------
    def push(self, kind: int | Value, target: Number, index: Number) -> None:
        """SSY, PBK, PCNT and others: the active lanes will come back at a target."""
        self.stack.push(kind, target, self.active_lanes, index)

    def branch(self, at: Site, target: Number, taken: Value) -> Way:
        """BRA: the lanes that do not branch go on first, those that do wait on the stack.

        If there is no instruction at the target, the lanes that branch are lost. Where the branch does not divide, the
        executor sees to that (`astray`).
        """
        k = self.k
        if not at.divides:
            return (taken != 0, To(target), Goal.NEXT)
        rest = self.active_lanes & ~taken
        astray: Flag = target < 0
        for _ in self._where(astray, lambda: taken != 0):
            self.fault(BAD_TARGET, at.index, taken)
            self.lose(taken)
        for _ in k.when((taken != 0) & (rest != 0)):
            for _ in k.when(opposite(astray)):
                self.stack.push(StackEntry.DIVERGED, target, taken, at.index)
            self.set_active_lanes(rest)
        return (rest != 0, Goal.NEXT, fork(astray, Goal.POP, To(target)))

    def jump(self, at: Site, calls: Flag, taken: Value, landing: tuple[Number, Value]) -> Way:
        """CAL, BRX, JMX, and branches through constants.

        Lanes that do not jump wait on the stack. Lanes with the same target as the first lane that jumps go on there.
        Lanes with other targets wait on the stack, to do the instruction again.

        :param calls: whether the lanes come back after it (CAL).
        :param landing: the target of the first lane that jumps, and the lanes of `taken` with this target.
        """
        k, here = self.k, self.active_lanes
        if at.divides:
            rest = here & ~taken
            for _ in k.when((rest != 0) & (taken != 0)):
                self.stack.push(StackEntry.DIVERGED, at.following, rest, at.index)
        for _ in self._where(calls, lambda: taken != 0):
            self.stack.push(StackEntry.CALLED, at.following, taken, at.index)
        first, same = landing
        if same is not taken:
            others = taken & ~same
            for _ in k.when(others != 0):
                self.stack.push(StackEntry.DIVERGED, at.index, others, at.index)
        if at.divides:
            self.set_active_lanes(k.select(taken == 0, here, same))
        elif same is not taken:
            self.set_active_lanes(same)
        astray: Flag = first < 0
        for _ in self._where(astray, lambda: taken != 0):
            self.fault(BAD_TARGET, at.index, taken)
            self.lose(same)
        way = fork(astray, Goal.POP, To(first))
        return (taken == 0, Goal.NEXT, way) if at.conditional else way

    def leave(self, at: Site, exits: Flag, entries: Sequence[tuple[int, Flag]], taken: Value) -> Way:
        """SYNC, EXIT, BRK, CONT, RET: lanes stop here, and go on where the stack says.

        exits: whether they end. entries: kinds, and whether the lanes leave all entries above the nearest of that kind.
        With neither they only wait for the topmost entry (SYNC).
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
        if not at.conditional:
            return Goal.POP
        if not at.divides:
            return (taken == 0, Goal.NEXT, Goal.POP)
        rest = self.active_lanes & ~taken
        self.set_active_lanes(rest)
        return (rest == 0, Goal.POP, Goal.NEXT)

    def astray(self, index: Number) -> Way:
        """There is no instruction where control goes after instruction `index`: the active lanes are lost."""
        lanes = self.active_lanes
        self.fault(BAD_TARGET, index, lanes)
        self.lose(lanes)
        return Goal.POP

    def pop(self, index: Number) -> tuple[Value, Value]:
        """Take the topmost entry that still has lanes: (where they go on, the lanes); no lanes if there is no such
        entry.

        The lanes become active. Lanes that are left over without an entry are a fault of instruction `index`.
        """
        k = self.k
        target, mask = self.stack.pop()
        self.set_active_lanes(mask)
        for _ in k.when((mask == 0) & (self.alive.value != 0)):
            self.fault(STACK_EMPTY, index, self.alive.value)
        return target, mask

    def check_stack(self) -> None:
        """At the end of a turn: if an entry did not fit onto the stack, note a fault and end the warp."""
        k = self.k
        for _ in k.when(self.stack.overflow.value != 0):
            self.fault(STACK_FULL, self.stack.overflow.value - 1, k.i32(1))
            self.state.value = DONE

    def _where(self, flag: Flag, condition: Callable[[], Value]) -> Iterator[None]:
        """`for _ in` this: if a flag and a condition hold. A flag that is known as false leaves no code."""
        if flag is not False:
            wanted = both(flag, condition())
            yield from self.k.when(wanted)


__all__ = ["Divergence", "Goal", "Number", "Site", "To", "Way", "fork", "instruction_at"]
