"""Events of launches: faults of threads, warps that hang, grids that take too long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import EventLog
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.faults import Buffer, Fault, Three, nearest
from pocketgpu.maxwell.sass.thread_memory.work import (
    BLOCK,
    DONE,
    FAULT,
    FAULT_NAMES,
    FAULT_TEXT,
    FAULTS,
    LANES,
    MAX_THREADS,
    MISALIGNED,
    NO_TEXTURE,
    OUTSIDE_LOCAL,
    OUTSIDE_SHARED,
    UNMAPPED,
    WAITING,
    WARP,
    WARPS,
    WITH_ADDRESS,
    SlotLayout,
)
from pocketgpu.wording import counted

Words = NDArray[np.int32]
MOST_FAULTS = 1000
"""Faults of a launch that are kept; further ones are counted, and kept if their instruction has none yet."""
_ACCESS = {"LD": "load", "ST": "store", "AT": "atomic", "RE": "atomic"}
"""What instructions do to memory, by the first letters of their names: LDG, STS, ATOM, RED."""


class Reasons(Protocol):
    """Knows why a handle of a texture is a bad one."""

    def reason(self, handle: int) -> str:
        """The reason, "" if there is none."""


class Reports:
    """Events and faults of one launch.

    grid: its blocks in x, y, z. ids: numbers of threads in x, y, z, as threads see them. buffers: gives the memory that
    the program may reach, as far as its launcher knows it; it is asked at the first fault.
    """

    def __init__(
        self,
        code: Code,
        grid: Three,
        ids: Words,
        events: EventLog,
        textures: Reasons,
        place: str,
        buffers: Callable[[], Sequence[Buffer]] = tuple,
    ) -> None:
        self.code, self.grid, self.ids = code, grid, ids
        self.events, self.textures, self.place = events, textures, place
        self._ask = buffers
        self.found: list[Fault] = []
        """The first faults, up to MOST_FAULTS, and the first ones of further instructions."""
        self._numbers: set[int] = set()

    @cached_property
    def buffers(self) -> Sequence[Buffer]:
        """The memory that the program may reach."""
        return self._ask()

    def _report(self, text: str, count: int = 1) -> None:
        self.events.report("fault", "compute.fault", text, self.place, count)

    def _hang(self, text: str) -> None:
        self.events.report("hang", "compute.hang", f"{self.code.name}{text}", self.place)

    def _block(self, number: int) -> Three:
        width, height, _ = self.grid
        return number % width, number // width % height, number // (width * height)

    def _thread(self, warp: int, lane: int) -> Three:
        x, y, z = self.ids.reshape(3, MAX_THREADS)[:, (warp * LANES + lane) % MAX_THREADS].tolist()
        return x, y, z

    def _fault(self, words: dict[str, int]) -> Fault:
        kind, index = words["KIND"], words["INSTRUCTION"]
        low = words["LOW"] & 0xFFFFFFFF
        va = low | (words["HIGH"] & 0xFFFFFFFF) << 32
        cause = FAULT_TEXT[kind].format(va=va, low=low, size=words["SIZE"])
        name, size = self.code.flow.steps[index].name, words["SIZE"]
        access = _ACCESS.get(name[:2], "")
        near = nearest(self.buffers, va) if kind in (UNMAPPED, MISALIGNED) else None
        if near is not None and kind == MISALIGNED and near.distance(va):
            near = None  # perhaps an address in shared or local memory
        if kind == NO_TEXTURE:
            cause += f": {self.textures.reason(low)}"
        elif near is not None:
            cause = f"{access} of {counted(size, 'byte')} at {va:#x}" if kind == UNMAPPED else cause
            cause += f", {near.relation(va, size if kind == UNMAPPED else 0)}"
        address = low if kind in (OUTSIDE_SHARED, OUTSIDE_LOCAL) else va
        return Fault(
            self.code.name, FAULT_NAMES[kind], cause, access, index, self.code.origin_of(index), name,
            self.code.text_of(index), self.code.line_of(index), self._block(words["NUMBER"]),
            self._thread(words["WARP"], words["LANE"]), address if kind in WITH_ADDRESS else None, size, near,
            self.code.file,
        )  # fmt: skip

    def faults(self, slot: Words) -> int:
        """Report the faults that are noted in a slot, and clear them there; returns how many there were."""
        count = slot.item(BLOCK.FAULT_COUNT // 4)
        if not count:
            return 0
        slot[BLOCK.FAULT_COUNT // 4] = 0
        records = slot[BLOCK.FAULT_LIST // 4 :][: FAULTS * FAULT.size // 4].reshape(FAULTS, FAULT.size // 4)
        for row in records[: min(count, FAULTS)].tolist():
            fault = self._fault({name: row[at // 4] for name, at in FAULT.offsets.items()})
            self._report(str(fault))
            if len(self.found) < MOST_FAULTS or fault.number not in self._numbers:
                self._numbers.add(fault.number)
                self.found.append(fault)
        if count > FAULTS:
            self._report(f"{self.code.name}: further faults", count - FAULTS)
        return count

    def hang(self, slot: Words, layout: SlotLayout) -> None:
        """Report where the warps of a block hang."""
        number = int(slot[BLOCK.NUMBER // 4])
        reported = set()
        for words in warps_of(slot, layout):
            state, resume = int(words[WARP.STATE // 4]), int(words[WARP.RESUME // 4])
            if state == DONE or (state, resume) in reported:
                continue
            reported.add((state, resume))
            if state == WAITING:
                barrier = int(words[WARP.BARRIER // 4])
                what = f"warps wait at barrier {barrier} before {self.code.offset_at(resume)} and nobody comes"
            else:
                what = f"{self._loop(resume)} does not end"
            self._hang(f": {what}; block {self._block(number)}")

    def endless(self, budget: int) -> None:
        """Report that the grid has used up its steps."""
        self._hang(f": more than {budget} instructions; the rest of the grid is left out")

    def _loop(self, resume: int) -> str:
        """The innermost loop that an instruction is in, from where a branch goes back to, to that branch."""
        flow = self.code.flow
        loops = [(target, i) for i in flow.reached if (target := flow.steps[i].target) is not None]
        first, last = max((loop for loop in loops if loop[0] <= resume <= loop[1]), default=(resume, resume))
        lines = [line for index in (first, last) if (line := self.code.line_of(index)) is not None]
        named = f" ({'lines' if len(set(lines)) > 1 else 'line'} {' to '.join(map(str, dict.fromkeys(lines)))})"
        return f"the loop from {self.code.offset_at(first)} to {self.code.offset_at(last)}{named if lines else ''}"


def warps_of(slot: Words, layout: SlotLayout) -> list[Words]:
    """The records of a slot's warps. slot: its words, all of them."""
    starts = [(WARPS + warp * layout.warp_stride) // 4 for warp in range(layout.warps)]
    return [slot[start : start + WARP.size // 4] for start in starts]


__all__ = ["Reports", "warps_of"]
