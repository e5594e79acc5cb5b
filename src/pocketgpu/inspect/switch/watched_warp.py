"""Programs watched instruction by instruction: the specialised code of `sass.specialise`, run by NumPy, which tells
where it is. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import numpy as np

from pocketgpu.lanes import I32, Lang, Value, Var, kernel
from pocketgpu.maxwell.sass.program.control import ENDS
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, PREDICATE_BIT
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.access import Place
from pocketgpu.maxwell.sass.thread_memory.work import WARPS
from pocketgpu.maxwell.sass.warp.specialise import Warp, flow_of


class WatchedWarp(Warp):
    """A warp that names its place (`sass.at`), who is active (`sass.active`), and for whom an instruction holds
    (`sass.taken`). The listener is handed the warp itself first (`sass.warp`), to look at its registers."""

    def __init__(self, k: Lang, place: Place, *more: Any) -> None:
        super().__init__(k, place, *more)
        self._name("sass.warp", self)

    def _name(self, name: str, value: Any) -> None:
        self.k.probe(name, value)

    def _tell(self, step: Step) -> None:
        self._name("sass.at", self.k.i32(step.index))
        self._name("sass.active", self.active.value)

    def _instruction(self, step: Step) -> None:
        self._tell(step)
        super()._instruction(step)

    def _end_of(self, block: Any) -> Any:
        last = self.flow.steps[block.last]
        if last.op in ENDS:
            self._tell(last)
        return super()._end_of(block)

    def _guard(self, step: Step) -> Value:
        mask = super()._guard(step)
        self._name("sass.taken", mask)
        return mask

    def look(self, n: int, lane: int) -> int:
        """A register of a lane now; of predicates and flags (numbers as `flow.reads` has them) 0 or 1."""
        if n < PREDICATE_BIT:
            var: Var | None = self.variables.get(n)
        elif n < FLAGS_BIT:
            var = self.predicates.get(n - PREDICATE_BIT)
        else:
            return sum(_of(code, lane) << bit for bit, code in enumerate(self.codes))
        return 0 if var is None else _of(var, lane)


def _of(var: Var, lane: int) -> int:
    raw = np.asarray(var.value.raw)
    return int(raw if raw.ndim == 0 else raw[lane]) & 0xFFFFFFFF


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def watched_stage_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stage: int, outputs: tuple[int, ...],
) -> None:  # fmt: skip
    """`specialise.run_stage_warp`, watched."""
    flow = flow_of(code, start, indirect, outputs)
    WatchedWarp(k, Place(k, launch, slot, warp, slot + WARPS), flow, False, stage, outputs).run()


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def watched_warp(
    k: Lang, launch: Value, slot: Value, warp: Value, *, code: bytes, start: int, indirect: tuple[int, ...],
    stride: int, count: bool,
) -> None:  # fmt: skip
    """`specialise.run_warp`, watched."""
    flow = flow_of(code, start, indirect)
    record = slot + WARPS + warp * stride
    WatchedWarp(k, Place(k, launch, slot, warp, record), flow, count).run()
