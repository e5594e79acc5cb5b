"""The divergence stack of a warp, in its record."""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value, Var, kernel
from pocketgpu.maxwell.sass.thread_memory.access import WarpPlace
from pocketgpu.maxwell.sass.thread_memory.work import ENTRY, LAUNCH, STACK_ENTRIES, WARP

_NO_KIND = -1
"""A kind that no entry has, so that all entries are above the nearest one of it."""


@kernel(lanes=32, at=I32, depth=I32, kind=I32, leaving=I32)
def unstack(k: Lang, at: Value, depth: Value, kind: Value, leaving: Value) -> None:
    """Take lanes out of the entries of a stack above the nearest of a kind."""
    i = k.var(depth - 1)
    for _ in k.loop(lambda: (i.value >= 0) & (k.load(I32, at + k.max(i.value, 0) * ENTRY.size + ENTRY.KIND) != kind)):
        place = at + i.value * ENTRY.size + ENTRY.MASK
        k.store(I32, place, k.load(I32, place) & ~leaving)
        i.value = i.value - 1


class Stack:
    """Entries (kind, target instruction, mask) in a warp's record; `depth` counts them.

    overflow: the number of the instruction whose entry did not fit and was lost, plus one; 0 while all fitted.
    """

    def __init__(self, place: WarpPlace, depth: Var) -> None:
        k = place.k
        self.k, self.place, self.depth = k, place, depth
        self.unstack = place.handle(LAUNCH.UNSTACK)
        self.overflow = k.var(0)

    @property
    def at(self) -> Value:
        return self.place.record + WARP.STACK

    def push(self, kind: int | Value, target: int | Value, mask: Value, index: int | Value) -> None:
        """Push an entry for instruction `index`."""
        k = self.k
        depth = self.depth.value
        fits = depth < STACK_ENTRIES
        number = index + 1 if isinstance(index, Value) else k.i32(index + 1)
        self.overflow.value = k.select(fits | (self.overflow.value != 0), self.overflow.value, number)
        place = self.at + k.min(depth, STACK_ENTRIES - 1) * ENTRY.size
        for word, v in ((ENTRY.KIND, kind), (ENTRY.TARGET, target), (ENTRY.MASK, mask)):
            k.store(I32, place + word, v if isinstance(v, Value) else k.i32(v))
        self.depth.value = k.min(depth + 1, STACK_ENTRIES)

    def leave(self, kind: int, lanes: Value) -> None:
        """Take lanes out of all entries above the nearest of a kind (out of all if there is none)."""
        self.k.invoke(self.unstack, self.at, self.depth.value, self.k.i32(kind), lanes)

    def drop(self, lanes: Value) -> None:
        """Take lanes out of all entries."""
        self.k.invoke(self.unstack, self.at, self.depth.value, self.k.i32(_NO_KIND), lanes)

    def pop(self) -> tuple[Value, Value]:
        """(target, mask) of the first entry from the top that still has lanes; the mask is 0 if there is none."""
        k = self.k
        mask, target = k.var(0), k.var(0)
        for _ in k.loop(lambda: (mask.value == 0) & (self.depth.value > 0)):
            depth = self.depth.value - 1
            place = self.at + depth * ENTRY.size
            target.value = k.load(I32, place + ENTRY.TARGET)
            mask.value = k.load(I32, place + ENTRY.MASK)
            self.depth.value = depth
        return target.value, mask.value


__all__ = ["Stack", "unstack"]
