"""Events of launches: faults of threads, warps that hang, grids that take too long."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import EventLog
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.thread_memory.work import (
    BLOCK,
    DONE,
    FAULT,
    FAULT_TEXT,
    FAULTS,
    LANES,
    MAX_THREADS,
    NO_TEXTURE,
    WAITING,
    WARP,
    WARPS,
    SlotLayout,
)

Words = NDArray[np.int32]


class Reasons(Protocol):
    """Knows why a handle of a texture is a bad one."""

    def reason(self, handle: int) -> str:
        """The reason, "" if there is none."""


class Reports:
    """Events of one launch. grid: its blocks in x, y, z. ids: numbers of threads in x, y, z, as threads see them."""

    def __init__(
        self, code: Code, grid: tuple[int, int, int], ids: Words, events: EventLog, textures: Reasons, place: str
    ) -> None:  # fmt: skip
        self.code, self.grid, self.ids = code, grid, ids
        self.events, self.textures, self.place = events, textures, place

    def _fault(self, text: str, count: int = 1) -> None:
        self.events.report("fault", "compute.fault", f"{self.code.name}{text}", self.place, count)

    def _hang(self, text: str) -> None:
        self.events.report("hang", "compute.hang", f"{self.code.name}{text}", self.place)

    def _block(self, number: int) -> str:
        width, height, _ = self.grid
        return f"({number % width}, {number // width % height}, {number // (width * height)})"

    def _thread(self, warp: int, lane: int) -> str:
        x, y, z = self.ids.reshape(3, MAX_THREADS)[:, (warp * LANES + lane) % MAX_THREADS].tolist()
        return f"({x}, {y}, {z})"

    def faults(self, slot: Words) -> int:
        """Report the faults that are noted in a slot, and clear them there; returns how many there were."""
        count = int(slot[BLOCK.FAULT_COUNT // 4])
        if not count:
            return 0
        slot[BLOCK.FAULT_COUNT // 4] = 0
        records = slot[BLOCK.FAULT_LIST // 4 :][: FAULTS * FAULT.size // 4].reshape(FAULTS, FAULT.size // 4)
        for row in records[: min(count, FAULTS)].tolist():
            fault = {name: row[at // 4] for name, at in FAULT.offsets.items()}
            low = fault["LOW"] & 0xFFFFFFFF
            va = low | (fault["HIGH"] & 0xFFFFFFFF) << 32
            text = FAULT_TEXT[fault["KIND"]].format(va=va, low=low, size=fault["SIZE"])
            if fault["KIND"] == NO_TEXTURE:
                text += f": {self.textures.reason(low)}"
            where = f"block {self._block(fault['NUMBER'])}, thread {self._thread(fault['WARP'], fault['LANE'])}"
            index = fault["INSTRUCTION"]
            name = self.code.flow.steps[index].name
            self._fault(f"+{self.code.offset_at(index)} ({name}): {text}; {where}")
        if count > FAULTS:
            self._fault(": further faults", count - FAULTS)
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
        return f"the loop from {self.code.offset_at(first)} to {self.code.offset_at(last)}"


def warps_of(slot: Words, layout: SlotLayout) -> list[Words]:
    """The records of a slot's warps. slot: its words, all of them."""
    starts = [(WARPS + warp * layout.warp_stride) // 4 for warp in range(layout.warps)]
    return [slot[start : start + WARP.size // 4] for start in starts]


__all__ = ["Reports", "warps_of"]
