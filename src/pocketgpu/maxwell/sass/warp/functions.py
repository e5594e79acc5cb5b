"""Functions of the multi-function unit that specialised code calls as kernels, because their code is long.

Sine, cosine, powers and logarithms take about a hundred operations each. Only loops have them in their own code,
because the call would cost time there, and only if they are few.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value, kernel
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS, Unit
from pocketgpu.maxwell.sass.thread_memory.access import DATA
from pocketgpu.maxwell.sass.thread_memory.work import LANES, SCRATCH, VECTOR

FUNCTIONS = 4
"""The functions that can be called are the first ones of MUFU."""
INLINE = 4
"""Up to so many of them are put into the code of loops."""


@kernel(lanes=32, slot=I32)
def function(k: Lang, slot: Value, *, fn: int, saturated: int) -> None:
    """MUFU of the scratch vector DATA of a slot, in place, for all lanes."""
    at = slot + (SCRATCH + DATA * VECTOR)
    unit = Unit(k, {"fn": fn, "sat": saturated})
    k.store(I32, at, OPERATIONS["MUFU"].run(unit, k.bits_f32(k.load(I32, at, LANES))))


def called(flow: Flow) -> dict[int, Step]:
    """Instructions of a program that call a function, by their number."""
    long = {i: flow.steps[i] for i in sorted(flow.reached) if flow.steps[i].op == "MUFU"}
    long = {i: step for i, step in long.items() if step.mods["fn"] < FUNCTIONS}
    loops = {i for b in flow.blocks if b.number in flow.repeated for i in range(b.first, b.last + 1)} & long.keys()
    return {i: step for i, step in long.items() if len(loops) > INLINE or i not in loops}


__all__ = ["FUNCTIONS", "called", "function"]
